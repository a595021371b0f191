//! Finds the packages of components in the folders that a user names, with `cargo metadata`.

use std::path::{Path, PathBuf};

use feros_process::EndSignals;
use serde::Deserialize;

use super::cargo::Cargo;
use super::error::BuildError;
use super::feros::Feros;

/// A package whose library registers components.
#[derive(Debug)]
pub(crate) struct ComponentPackage {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// The root of its workspace, which has the build settings and the lock file.
    pub(crate) root: PathBuf,
    pub(crate) feros: Feros,
}

/// The parts of `cargo metadata`'s answer that matter here.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    workspace_root: PathBuf,
}

/// A package as cargo knows it.
#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    version: String,
    source: Option<String>,
    pub(crate) manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for an ordinary dependency, which is not for tests or build scripts.
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    #[serde(default)]
    name: String,
    #[serde(default)]
    kind: Vec<String>,
    crate_types: Vec<String>,
    #[serde(default, rename = "required-features")]
    required_features: Vec<String>,
}

impl Metadata {
    /// Reads the answer of cargo.
    pub(crate) fn from_answer(answer: &str) -> Result<Self, BuildError> {
        serde_json::from_str(answer).map_err(|error| BuildError::Answer {
            command: "cargo metadata".to_owned(),
            reason: error.to_string(),
        })
    }

    /// The packages of the workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The different sources of Feros; `name` is one of its crates.
    pub(crate) fn sources_of(&self, name: &str) -> Result<Vec<Feros>, BuildError> {
        let crates = self.packages.iter().filter(|package| package.name == name);
        crates.map(|of| Feros::of(of.source.as_deref(), &of.version, &of.manifest_path)).collect()
    }
}

impl Package {
    pub(crate) fn depends_on(&self, name: &str) -> bool {
        self.dependencies
            .iter()
            .any(|dependency| dependency.name == name && dependency.kind.is_none())
    }

    pub(crate) fn has_library(&self) -> bool {
        let is_library = |kind: &String| kind == "lib" || kind == "rlib";
        self.targets.iter().any(|target| target.crate_types.iter().any(is_library))
    }

    /// The programs and libraries that a build of the package makes in any case, by name and kind.
    pub(crate) fn made(&self) -> impl Iterator<Item = (&str, &[String])> {
        const NOT_BUILT: [&str; 4] = ["example", "test", "bench", "custom-build"];
        let is_made = |target: &&Target| {
            target.required_features.is_empty()
                && !target.kind.iter().any(|kind| NOT_BUILT.contains(&kind.as_str()))
        };
        let targets = self.targets.iter().filter(is_made);
        targets.map(|target| (target.name.as_str(), target.kind.as_slice()))
    }
}

/// The packages in these folders; at least one.
pub(crate) fn find_packages(
    folders: &[PathBuf],
    signals: &EndSignals,
) -> Result<Vec<ComponentPackage>, BuildError> {
    let mut found: Vec<ComponentPackage> = Vec::new();
    for folder in folders {
        for package in packages_in(folder, signals)? {
            match found.iter().find(|other| other.name == package.name) {
                None => found.push(package),
                Some(other) if other.folder == package.folder => {}
                Some(other) => {
                    return Err(BuildError::OneName {
                        name: package.name,
                        first: other.folder.clone(),
                        second: package.folder,
                    });
                }
            }
        }
    }
    Ok(found)
}

fn packages_in(folder: &Path, signals: &EndSignals) -> Result<Vec<ComponentPackage>, BuildError> {
    let manifest = folder.join("Cargo.toml");
    let manifest = manifest.canonicalize().map_err(|_| BuildError::NoManifest(manifest))?;
    // Cargo would wait for ever if the manifest were a pipe.
    feros_files::open(&manifest).map_err(|error| BuildError::file(&manifest, error))?;
    let folder = manifest.parent().unwrap_or(folder);
    let answer = Cargo::in_folder(folder, signals).metadata(&manifest)?;
    select(&answer, &manifest, folder)
}

/// The folder's own package; if the folder is only a workspace, all of its members that have
/// components.
fn select(
    answer: &str,
    manifest: &Path,
    folder: &Path,
) -> Result<Vec<ComponentPackage>, BuildError> {
    let metadata = Metadata::from_answer(answer)?;
    let members: Vec<&Package> = metadata.members().collect();
    let own = members.iter().find(|package| package.manifest_path == manifest);
    let candidates = own.map_or_else(|| members.clone(), |package| vec![*package]);
    // A package that depends on feros-shared itself is already a library for containers, not a
    // component package.
    let chosen: Vec<&Package> = candidates
        .into_iter()
        .filter(|package| package.depends_on("feros-component"))
        .filter(|package| own.is_some() || !package.depends_on("feros-shared"))
        .collect();
    if chosen.is_empty() {
        return Err(BuildError::NoComponents(folder.to_owned()));
    }
    let component = metadata.packages.iter().find(|package| package.name == "feros-component");
    let component = component.ok_or_else(|| BuildError::NoComponents(folder.to_owned()))?;
    let feros =
        Feros::of(component.source.as_deref(), &component.version, &component.manifest_path)?;
    let package = |package: &Package| {
        if !package.has_library() {
            return Err(BuildError::NoLibrary(package.name.clone()));
        }
        Ok(ComponentPackage {
            name: package.name.clone(),
            folder: package.manifest_path.parent().unwrap_or(folder).to_owned(),
            root: metadata.workspace_root.clone(),
            feros: feros.clone(),
        })
    };
    chosen.into_iter().map(package).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A workspace in `/w` with these members: name, dependency, kind of target.
    fn names(members: &[(&str, &str, &str)], manifest: &str) -> Result<Vec<String>, String> {
        let package = |name: &str, dependency: &str, kind: &str, source: Option<&str>| {
            serde_json::json!({
                "id": name, "name": name, "version": "0.1.0", "source": source,
                "manifest_path": format!("/w/{name}/Cargo.toml"),
                "dependencies": [{"name": dependency, "kind": null}, {"name": "x", "kind": "dev"}],
                "targets": [{"crate_types": [kind]}],
            })
        };
        let registry = Some("registry+https://github.com/rust-lang/crates.io-index");
        let mut packages: Vec<_> =
            members.iter().map(|(name, needs, kind)| package(name, needs, kind, None)).collect();
        packages.push(package("feros-component", "feros", "lib", registry));
        let answer = serde_json::json!({
            "packages": packages, "workspace_root": "/w",
            "workspace_members": members.iter().map(|member| member.0).collect::<Vec<_>>(),
        });
        let selected = select(&answer.to_string(), Path::new(manifest), Path::new("/w"));
        let names = |found: Vec<ComponentPackage>| found.into_iter().map(|p| p.name).collect();
        selected.map(names).map_err(|error| error.to_string())
    }

    #[test]
    fn a_folder_means_its_package_and_a_workspace_its_members() {
        let members = [
            ("camera", "feros-component", "lib"),
            ("camera_library", "feros-shared", "cdylib"),
            ("tool", "clap", "bin"),
            ("arm", "feros-component", "rlib"),
        ];
        assert_eq!(names(&members, "/w/Cargo.toml").unwrap(), ["camera", "arm"]);
        assert_eq!(names(&members, "/w/arm/Cargo.toml").unwrap(), ["arm"]);
        let error = names(&members, "/w/tool/Cargo.toml").unwrap_err();
        assert!(error.contains("cargo add feros feros-component"), "{error}");
    }

    #[test]
    fn a_program_alone_is_told_where_components_belong() {
        let error = names(&[("robot", "feros-component", "bin")], "/w/Cargo.toml").unwrap_err();
        assert!(error.contains("package robot has no library"), "{error}");
    }

    #[test]
    fn a_folder_without_a_package_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        let error = find_packages(&folders, &EndSignals::default()).unwrap_err().to_string();
        assert!(error.starts_with("there is no ") && error.contains("Cargo.toml"), "{error}");
    }
}
