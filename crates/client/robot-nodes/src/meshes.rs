//! Tells which meshes of a robot are not installed. Transforms do not need meshes, but a viewer
//! that cannot load a mesh shows the robot without the link, and often says no more than that.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::description::{Mesh, beginning, shown};

/// A mesh that is not installed; its text says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    mesh: Mesh,
    reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Reason {
    /// None of these prefixes has the package.
    Package {
        package: String,
        prefixes: Vec<PathBuf>,
    },
    /// The package has no such file in this folder.
    FileOfPackage {
        folder: PathBuf,
    },
    File,
    RelativePath,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mesh, link) = (&self.mesh.uri, shown(&self.mesh.link));
        write!(formatter, "the mesh {} of the link \"{link}\" is missing: ", shown_path(mesh))?;
        match &self.reason {
            Reason::Package { package, prefixes } => write!(
                formatter,
                "no prefix has the package {}{}; build the package (feros build, colcon) or source \
                 a ROS 2 that has it, and name its prefix in FEROS_PREFIX_PATH",
                shown(package),
                looked_in(prefixes)
            )?,
            Reason::FileOfPackage { folder } => write!(
                formatter,
                "it is not in {}; correct the name, or let the package install the file",
                shown_path(&folder.display().to_string())
            )?,
            Reason::File => formatter.write_str("there is no such file; correct the path")?,
            Reason::RelativePath => formatter.write_str(
                "file:// needs the whole path; write file:///FOLDER/FILE or package://PACKAGE/FILE",
            )?,
        }
        formatter.write_str(" (viewers show the link without it)")
    }
}

/// The longest part of a path in a message.
const LONGEST: usize = 300;

/// A path as a message shows it.
fn shown_path(path: &str) -> String {
    beginning(path, LONGEST)
}

fn looked_in(prefixes: &[PathBuf]) -> String {
    format!(" (looked in {})", feros_files::listed_prefixes(prefixes))
}

/// The meshes given as `package://PACKAGE/FILE` or `file://PATH` that do not exist. A viewer may
/// take other forms, such as `https://`, from elsewhere.
pub(crate) fn missing(meshes: &[Mesh], prefixes: &[PathBuf]) -> Vec<Missing> {
    let reason = |mesh: &Mesh| {
        if let Some(rest) = mesh.uri.strip_prefix("package://") {
            let (package, file) = rest.split_once('/').unwrap_or((rest, ""));
            return in_package(package, file, prefixes);
        }
        let path = mesh.uri.strip_prefix("file://")?;
        let path = path.strip_prefix("localhost").unwrap_or(path);
        if !path.starts_with('/') {
            return Some(Reason::RelativePath);
        }
        (!is_file(Path::new("/"), path)).then_some(Reason::File)
    };
    let of = |mesh: &Mesh| Some(Missing { reason: reason(mesh)?, mesh: mesh.clone() });
    meshes.iter().filter_map(of).collect()
}

fn in_package(package: &str, file: &str, prefixes: &[PathBuf]) -> Option<Reason> {
    let folders = || prefixes.iter().map(|prefix| prefix.join("share").join(package));
    let is_name = !package.is_empty() && package != "." && package != "..";
    match folders().find(|folder| is_name && folder.is_dir()) {
        None => Some(Reason::Package { package: package.to_owned(), prefixes: prefixes.to_vec() }),
        Some(_) if folders().any(|folder| is_file(&folder, file)) => None,
        Some(folder) => Some(Reason::FileOfPackage { folder }),
    }
}

/// Whether a folder has a file, whose name may be written as in a URI.
fn is_file(folder: &Path, name: &str) -> bool {
    let holds = |name: &str| folder.join(name.trim_start_matches('/')).is_file();
    holds(name) || decoded(name).is_some_and(|name| holds(&name))
}

/// A name with its escapes, such as `%20`, decoded; `None` if it has no escapes, or invalid ones.
fn decoded(name: &str) -> Option<String> {
    let (first, parts) = name.split_once('%')?;
    let mut bytes = first.as_bytes().to_vec();
    for part in parts.split('%') {
        let digits = part.get(..2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok().filter(|name| !name.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prefix with `share/arm/meshes/base one.stl`.
    fn prefix() -> tempfile::TempDir {
        let prefix = tempfile::tempdir().unwrap();
        let meshes = prefix.path().join("share/arm/meshes");
        std::fs::create_dir_all(&meshes).unwrap();
        std::fs::write(meshes.join("base one.stl"), "solid").unwrap();
        prefix
    }

    fn told(prefix: &Path, uris: &[&str]) -> Vec<String> {
        let mesh = |uri: &&str| Mesh { uri: (*uri).to_owned(), link: "base".to_owned() };
        let meshes: Vec<Mesh> = uris.iter().map(mesh).collect();
        let prefixes = ["/nothing/here".into(), prefix.to_owned()];
        missing(&meshes, &prefixes).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn meshes_that_are_there_or_elsewhere_are_not_missing() {
        let prefix = prefix();
        let here = prefix.path().display();
        let file = format!("file://{here}/share/arm/meshes/base%20one.stl");
        let local = file.replace("file://", "file://localhost");
        let told = told(
            prefix.path(),
            &[
                "package://arm/meshes/base one.stl",
                "package://arm/meshes/base%20one.stl",
                "package://arm//meshes/base%20one.stl",
                &file,
                &local,
                "https://example.org/base.stl",
                "meshes/relative.stl",
            ],
        );
        assert_eq!(told, [""; 0]);
    }

    #[test]
    fn a_missing_mesh_is_told_with_its_link_and_the_cure() {
        let prefix = prefix();
        let told = told(
            prefix.path(),
            &[
                "package://hand/meshes/palm.stl",
                "package://arm/meshes/bas.stl",
                "file:///nothing/here.stl",
                "file://meshes/base.stl",
                "package://",
                "package://../arm/meshes/base one.stl",
                "package://arm/meshes/base%2.stl",
                "package://arm/%00",
            ],
        );
        let [package, file, path, relative, hostile @ ..] = &told[..] else { panic!("{told:?}") };
        let here = prefix.path().display();
        assert_eq!(
            *package,
            format!(
                "the mesh package://hand/meshes/palm.stl of the link \"base\" is missing: no \
                 prefix has the package hand (looked in /nothing/here (which does not exist), \
                 {here}); build the package (feros build, colcon) or source a ROS 2 that has it, and name its prefix in \
                 FEROS_PREFIX_PATH (viewers show the link without it)"
            )
        );
        let folder = format!("it is not in {here}/share/arm; correct the name, or let the package");
        assert!(file.contains(&folder), "{file}");
        assert!(path.contains("there is no such file; correct the path"), "{path}");
        assert!(relative.contains("write file:///FOLDER/FILE"), "{relative}");
        assert_eq!(hostile.len(), 4, "{hostile:?}");
    }
}
