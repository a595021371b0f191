//! Finds the packages below a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::error::PackageFault;
use super::manifest::{Manifest, is_package_name, toml_in};

/// Files that make this command, like colcon, pass over their folder.
const IGNORED: [&str; 3] = ["COLCON_IGNORE", "AMENT_IGNORE", "CATKIN_IGNORE"];

/// The number of folder levels in which packages are searched.
const DEEPEST: usize = 12;

/// The way in which a package is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rust,
    Python,
    /// A `CMakeLists.txt` says which files are installed.
    Cmake,
    /// There is nothing to build.
    Files,
}

/// A package.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) folder: PathBuf,
    pub(super) kind: Kind,
    /// Whether there is a `package.xml`.
    pub(super) has_manifest: bool,
    /// The packages that must be built before.
    pub(super) dependencies: BTreeSet<String>,
    /// The other packages that it needs when it runs.
    pub(super) run_dependencies: BTreeSet<String>,
}

/// The packages and crates below a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) packages: Vec<Package>,
    /// Packages that cannot be read, by name or folder.
    pub(super) faults: Vec<(String, PackageFault)>,
    /// The folders of all crates, whether they are packages or libraries that packages use.
    pub(super) crates: Vec<PathBuf>,
}

impl Found {
    /// Looks for packages in a folder, which may itself be a package.
    pub(super) fn below(folder: &Path) -> Self {
        let mut found = Self::default();
        found.visit(folder, &mut BTreeSet::new(), 0);
        found
    }

    fn visit(&mut self, folder: &Path, visited: &mut BTreeSet<PathBuf>, depth: usize) {
        let Ok(folder) = folder.canonicalize() else { return };
        let is_ignored = IGNORED.iter().any(|name| folder.join(name).exists());
        if is_ignored || depth > DEEPEST || !visited.insert(folder.clone()) {
            return;
        }
        let is_package = folder.join("package.xml").is_file();
        let cargo = crate_in(&folder);
        if let Some(Ok(cargo)) = &cargo
            && cargo.contains_key("package")
        {
            self.crates.push(folder.clone());
        }
        let package = match cargo {
            Some(Err(fault)) => Some(Err(fault)),
            Some(Ok(cargo)) if is_package || is_of_feros(&cargo) => {
                Some(Package::read(&folder, is_package, Some(&cargo)))
            }
            None if is_package => Some(Package::read(&folder, is_package, None)),
            _ => None,
        };
        let is_leaf = package.is_some() && !is_workspace(&folder);
        match package {
            None => {}
            Some(Err(fault)) => self.faults.push((folder.display().to_string(), fault)),
            Some(Ok(package)) => self.add(package),
        }
        if !is_leaf {
            for inside in folders_in(&folder) {
                self.visit(&inside, visited, depth + 1);
            }
        }
    }

    fn add(&mut self, package: Package) {
        match self.packages.iter().find(|other| other.name == package.name) {
            None => self.packages.push(package),
            Some(other) => {
                let fault = PackageFault::OneName(other.folder.clone());
                self.faults.push((package.folder.display().to_string(), fault));
            }
        }
    }
}

impl Package {
    fn read(
        folder: &Path,
        has_manifest: bool,
        cargo: Option<&Table>,
    ) -> Result<Self, PackageFault> {
        let table = cargo.and_then(|cargo| cargo.get("package")).and_then(Value::as_table);
        let name = table.and_then(|table| table.get("name")?.as_str());
        if !has_manifest {
            let path = folder.join("Cargo.toml");
            let name = name.ok_or_else(|| PackageFault::file(&path, "the package has no name"))?;
            if !is_package_name(name) {
                return Err(PackageFault::file(&path, format!("{name:?} is not a package name")));
            }
            let version = table.and_then(|table| table.get("version")?.as_str());
            return Ok(Self {
                name: name.to_owned(),
                version: version.unwrap_or("0.0.0").to_owned(),
                folder: folder.to_owned(),
                kind: Kind::Rust,
                has_manifest,
                dependencies: BTreeSet::new(),
                run_dependencies: BTreeSet::new(),
            });
        }
        let manifest = Manifest::read(&folder.join("package.xml"))?;
        let kind = kind(folder, manifest.build_type.as_deref());
        if kind == Kind::Rust {
            let path = folder.join("Cargo.toml");
            let cargo = name.ok_or_else(|| {
                PackageFault::file(
                    &path,
                    "package.xml says ament_cargo, but there is no Cargo.toml with a package name \
                     beside it",
                )
            })?;
            if cargo != manifest.name {
                return Err(PackageFault::TwoNames { ros: manifest.name, cargo: cargo.to_owned() });
            }
        }
        Ok(Self {
            name: manifest.name,
            version: manifest.version,
            folder: folder.to_owned(),
            kind,
            has_manifest,
            dependencies: manifest.dependencies,
            run_dependencies: manifest.run_dependencies,
        })
    }
}

/// The kind that `package.xml` names, or else the kind that the files of the package suggest.
fn kind(folder: &Path, build_type: Option<&str>) -> Kind {
    let has = |names: &[&str]| names.iter().any(|name| folder.join(name).is_file());
    match build_type {
        Some("ament_cargo" | "cargo") => Kind::Rust,
        Some("ament_python") => Kind::Python,
        Some("ament_cmake" | "cmake" | "catkin") => Kind::Cmake,
        _ if has(&["Cargo.toml"]) => Kind::Rust,
        _ if has(&["setup.py", "setup.cfg", "pyproject.toml"]) => Kind::Python,
        _ if has(&["CMakeLists.txt"]) => Kind::Cmake,
        _ => Kind::Files,
    }
}

/// The `Cargo.toml` of a folder, if it has one.
fn crate_in(folder: &Path) -> Option<Result<Table, PackageFault>> {
    toml_in(folder, "Cargo.toml").transpose()
}

/// Whether a crate is a package without `package.xml`: it depends on Feros.
fn is_of_feros(cargo: &Table) -> bool {
    let dependencies = cargo.get("dependencies").and_then(Value::as_table);
    let depends = |name: &str| dependencies.is_some_and(|all| all.contains_key(name));
    cargo.contains_key("package") && (depends("feros") || depends("feros-component"))
}

fn is_workspace(folder: &Path) -> bool {
    matches!(crate_in(folder), Some(Ok(cargo)) if cargo.contains_key("workspace"))
}

/// The folders in a folder, in the order of their names, without those that tools made.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let is_hidden =
        |path: &Path| path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| !is_hidden(path) && !path.join("CACHEDIR.TAG").exists()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn manifest(name: &str, build_type: &str) -> String {
        format!(
            "<package><name>{name}</name><export><build_type>{build_type}</build_type></export>\
             </package>"
        )
    }

    #[test]
    fn packages_of_all_kinds_are_found() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| write(root.path(), name, text);
        put("arm/package.xml", &manifest("arm", "ament_cargo"));
        put("arm/Cargo.toml", "[package]\nname = \"arm\"\n");
        put("arm/inner/package.xml", &manifest("inner", "ament_python"));
        put("deep/er/gui/package.xml", &manifest("gui", "ament_python"));
        put("msgs/package.xml", &manifest("msgs", "ament_cmake"));
        put("bare/Cargo.toml", "[package]\nname = \"bare\"\n[dependencies]\nferos = \"0.1\"\n");
        put("library/Cargo.toml", "[package]\nname = \"library\"\n");
        put("space/Cargo.toml", "[workspace]\nmembers = [\"one\"]\n");
        put("space/one/package.xml", "<package><name>one</name></package>");
        put("off/COLCON_IGNORE", "");
        put("off/package.xml", &manifest("off", ""));
        put("target/CACHEDIR.TAG", "");
        put("target/x/package.xml", &manifest("x", ""));
        let found = Found::below(root.path());
        let kinds: Vec<_> =
            found.packages.iter().map(|package| (package.name.as_str(), package.kind)).collect();
        assert_eq!(
            kinds,
            [
                ("arm", Kind::Rust),
                ("bare", Kind::Rust),
                ("gui", Kind::Python),
                ("msgs", Kind::Cmake),
                ("one", Kind::Files)
            ]
        );
        let crates: Vec<_> = found.crates.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(crates, ["arm", "bare", "library"]);
        assert!(found.faults.is_empty(), "{:?}", found.faults);
    }

    #[test]
    fn every_fault_is_found() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| write(root.path(), name, text);
        put("a/package.xml", &manifest("a", ""));
        put("b/package.xml", &manifest("a", ""));
        put("c/package.xml", "<package>");
        put("d/package.xml", &manifest("d", "ament_cargo"));
        put("e/package.xml", &manifest("e", ""));
        put("e/Cargo.toml", "[package]\nname = \"f\"\n");
        put("g/Cargo.toml", "[package\n");
        let found = Found::below(root.path());
        let faults: String = found.faults.iter().map(|(_, fault)| format!("{fault}\n")).collect();
        for words in
            ["also that of", "not XML", "says ament_cargo", "Cargo.toml f:", "g/Cargo.toml"]
        {
            assert!(faults.contains(words), "{words:?} is not in {faults}");
        }
        assert_eq!((found.faults.len(), found.packages.len()), (5, 1));
    }
}
