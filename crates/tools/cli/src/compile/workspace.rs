//! The workspace that cargo builds: for each package, a one-line crate that turns the package into
//! a library; and the containers.

use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use feros_process::EndSignals;
use toml::{Table, Value};

use super::error::BuildError;
use super::feros::Feros;
use super::package::ComponentPackage;
use crate::notices;

/// How often to check whether another build has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The limit on the bytes of a manifest, and of a file that a build writes.
const MOST_BYTES: u64 = 16 << 20;

/// The container programs, each with the kind of its container.
const CONTAINERS: [(&str, &str); 4] = [
    ("component_container", "SingleThreaded"),
    ("component_container_mt", "MultiThreaded"),
    ("component_container_isolated", "Isolated"),
    ("component_container_process", "Process"),
];

/// The build script of the containers. Installed containers are in `lib/feros_component`, and all
/// libraries in `lib`. Unlike the RUNPATH that linkers write, an RPATH also applies to the
/// dependencies of the libraries.
const CONTAINERS_BUILD: &str = r#"//! Makes the containers look for libraries where both are installed.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-Wl,--disable-new-dtags,-rpath,$ORIGIN/..");
}
"#;

/// The folder for all files of builds; one build at a time uses it.
pub(crate) struct BuildFolder {
    folder: PathBuf,
    workspace: PathBuf,
    _lock: File,
}

impl BuildFolder {
    /// Locks the folder, creating it if necessary; waits for a build that has locked it, until one
    /// of the signals arrives.
    pub(crate) fn lock(folder: &Path, signals: &EndSignals) -> Result<Self, BuildError> {
        let workspace = folder.join("workspace");
        fs::create_dir_all(&workspace).map_err(|error| BuildError::file(&workspace, error))?;
        let folder = folder.canonicalize().map_err(|error| BuildError::file(folder, error))?;
        let path = folder.join("lock");
        let lock = feros_files::create(&path).map_err(|error| BuildError::file(&path, error))?;
        let mut is_waiting = false;
        while let Err(error) = lock.try_lock() {
            if let TryLockError::Error(error) = error {
                return Err(BuildError::file(&path, error));
            }
            if let Some(signal) = signals.received() {
                return Err(BuildError::Signal(signal));
            }
            if !is_waiting {
                is_waiting = true;
                notices::note(format!("waiting, because another build uses {}", folder.display()));
            }
            thread::sleep(LOOK_INTERVAL);
        }
        Ok(Self { workspace: folder.join("workspace"), folder, _lock: lock })
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// A folder for the files of builds of one kind.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Cargo's target folder for builds with these crates. The file name of a shared library does
    /// not depend on its features, so builds with different features must not share a target
    /// folder.
    pub(crate) fn target(&self, crates: &str) -> PathBuf {
        self.folder.join(crates)
    }
}

/// The written workspace.
pub(crate) struct Workspace {
    folder: PathBuf,
    manifest: PathBuf,
    profiles: Table,
    libraries: Vec<String>,
}

impl Workspace {
    /// Writes the workspace. Unchanged files are left alone, so that cargo does not recompile them.
    pub(crate) fn write(
        folder: &Path,
        packages: &[ComponentPackage],
        feros: &Feros,
    ) -> Result<Self, BuildError> {
        let roots = packages.iter().map(|package| package.root.as_path());
        let settings = Settings::of(roots)?;
        let libraries: Vec<String> = packages.iter().map(library_name).collect();
        let members = ["containers".to_owned()].into_iter().chain(libraries.iter().cloned());
        let members: Vec<Value> = members.map(Value::from).collect();
        let root = table([
            ("workspace", table([("resolver", "2".into()), ("members", members.into())])),
            ("profile", settings.profiles.clone().into()),
            ("patch", settings.patches.into()),
        ]);
        let manifest = folder.join("Cargo.toml");
        write(&manifest, &text(&root)?)?;
        write_containers(&folder.join("containers"), feros)?;
        for (of, name) in packages.iter().zip(&libraries) {
            write_library(&folder.join(name), name, (&of.name, &of.folder), feros)?;
        }
        let profiles = settings.profiles;
        Ok(Self { folder: folder.to_owned(), manifest, profiles, libraries })
    }

    pub(crate) fn manifest(&self) -> &Path {
        &self.manifest
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.folder.join("Cargo.lock")
    }

    pub(crate) fn write_lock(&self, text: &str) -> Result<(), BuildError> {
        write(&self.lock_file(), text)
    }

    /// The crates that become libraries, one for each package, in the order of the packages.
    pub(crate) fn libraries(&self) -> &[String] {
        &self.libraries
    }

    /// The settings of a profile, in one line.
    pub(crate) fn profile(&self, name: &str) -> String {
        profile(&self.profiles, name)
    }
}

/// The settings of a profile, in one line.
pub(crate) fn profile(profiles: &Table, name: &str) -> String {
    let settings = profiles.get(name).map(Value::to_string).unwrap_or_default();
    format!("profile {name} {}", settings.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Writes the crate of the containers.
pub(crate) fn write_containers(folder: &Path, feros: &Feros) -> Result<(), BuildError> {
    let shared = ("feros-shared", feros.dependency("feros-shared"));
    let container = ("feros-container", feros.dependency("feros-container"));
    let programs = CONTAINERS.map(|(name, _)| {
        let path = format!("src/bin/{name}.rs");
        table([("name", name.into()), ("path", path.into()), ("test", false.into())])
    });
    let containers = table([
        ("package", package("component_containers")),
        ("dependencies", table([container, shared])),
        ("bin", programs.to_vec().into()),
    ]);
    write(&folder.join("Cargo.toml"), &text(&containers)?)?;
    write(&folder.join("build.rs"), CONTAINERS_BUILD)?;
    for (name, kind) in CONTAINERS {
        let main = format!(
            "//! The container `{name}`.\nfn main() -> std::process::ExitCode {{\n    \
             feros_container::main(feros_container::Kind::{kind}, &feros_shared::stamp())\n}}\n"
        );
        write(&folder.join("src/bin").join(format!("{name}.rs")), &main)?;
    }
    Ok(())
}

/// Writes the crate that turns a package, given by name and folder, into a library.
pub(crate) fn write_library(
    folder: &Path,
    name: &str,
    (of, path): (&str, &Path),
    feros: &Feros,
) -> Result<(), BuildError> {
    let component = table([("package", of.into()), ("path", path_value(path))]);
    let shared = ("feros-shared", feros.dependency("feros-shared"));
    let form = table([("crate-type", vec![Value::from("cdylib")].into()), ("test", false.into())]);
    let library = table([
        ("package", package(name)),
        ("lib", form),
        ("dependencies", table([("component", component), shared])),
    ]);
    write(&folder.join("Cargo.toml"), &text(&library)?)?;
    let line = format!(
        "//! The components of `{of}` as a library that shares one Feros with its container.\n\
         use {{component as _, feros_shared as _}};\n"
    );
    write(&folder.join("src/lib.rs"), &line)
}

/// The build settings of the packages' own workspaces; cargo reads them only from the root of a
/// workspace.
pub(crate) struct Settings {
    pub(crate) profiles: Table,
    pub(crate) patches: Table,
}

impl Settings {
    /// The settings in the workspaces with these roots.
    pub(crate) fn of<'a>(roots: impl Iterator<Item = &'a Path>) -> Result<Self, BuildError> {
        let mut found: Option<(&Path, Self)> = None;
        for root in roots {
            let settings = Self::read(root)?;
            let Some((first, before)) = &found else {
                found = Some((root, settings));
                continue;
            };
            let differ = |table: &str, ours: &Table, theirs: &Table| {
                if ours == theirs {
                    return Ok(());
                }
                Err(BuildError::TwoSettings {
                    table: table.to_owned(),
                    first: first.join("Cargo.toml"),
                    second: root.join("Cargo.toml"),
                })
            };
            differ("profile", &before.profiles, &settings.profiles)?;
            differ("patch", &before.patches, &settings.patches)?;
        }
        let settings = found.map(|(_, settings)| settings);
        let mut settings =
            settings.unwrap_or(Self { profiles: Table::new(), patches: Table::new() });
        complete(&mut settings.profiles);
        Ok(settings)
    }

    fn read(root: &Path) -> Result<Self, BuildError> {
        let path = root.join("Cargo.toml");
        let text = feros_files::read_to_string(&path, MOST_BYTES)
            .map_err(|error| BuildError::file(&path, error))?;
        let mut manifest: Table = text.parse().map_err(|error| BuildError::file(&path, error))?;
        let mut take = |name: &str| match manifest.remove(name) {
            Some(Value::Table(table)) => table,
            _ => Table::new(),
        };
        let (profiles, mut patches) = (take("profile"), take("patch"));
        for (_, registry) in &mut patches {
            let Value::Table(registry) = registry else { continue };
            for (_, patch) in registry.iter_mut() {
                let Some(path) = patch.get_mut("path") else { continue };
                if let Some(relative) = path.as_str() {
                    let place = root.join(relative);
                    let place = place.canonicalize().unwrap_or(place);
                    *path = path_value(&place);
                }
            }
        }
        Ok(Self { profiles, patches })
    }
}

/// Sets the debug information of build dependencies; otherwise cargo chooses it according to the
/// other crates of the build. By default, debug builds have only line tables.
fn complete(profiles: &mut Table) {
    for (name, debug) in [("dev", Value::from("line-tables-only")), ("release", false.into())] {
        let Value::Table(profile) = profiles.entry(name).or_insert_with(|| Table::new().into())
        else {
            continue;
        };
        let debug = profile.entry("debug").or_insert(debug).clone();
        let of_builds = profile.entry("build-override").or_insert_with(|| Table::new().into());
        if let Value::Table(of_builds) = of_builds {
            of_builds.entry("debug").or_insert(debug);
        }
    }
}

/// A crate name that differs between packages of one name in different folders: otherwise their
/// libraries would replace each other in the target folder.
pub(crate) fn library_name(package: &ComponentPackage) -> String {
    let mut hasher = DefaultHasher::new();
    package.folder.hash(&mut hasher);
    let number = hasher.finish() & 0xffff_ffff;
    format!("{}_components_{number:08x}", package.name.replace('-', "_"))
}

pub(crate) fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

pub(crate) fn path_value(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

fn package(name: &str) -> Value {
    table([
        ("name", name.into()),
        ("version", "0.0.0".into()),
        ("edition", "2024".into()),
        ("publish", false.into()),
    ])
}

pub(crate) fn text(manifest: &Value) -> Result<String, BuildError> {
    let text = toml::to_string(manifest).map_err(|error| BuildError::Answer {
        command: "toml".to_owned(),
        reason: error.to_string(),
    })?;
    Ok(format!("# Made by `feros build` or `feros component build`, which overwrites it.\n{text}"))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    if feros_files::read(path, MOST_BYTES).is_ok_and(|content| content == text.as_bytes()) {
        return Ok(());
    }
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| feros_files::write(path, text))
        .map_err(|error| BuildError::file(path, error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn package_in(root: &Path, name: &str, manifest: &str) -> ComponentPackage {
        let folder = root.join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        let registry = Some("registry+https://github.com/rust-lang/crates.io-index");
        let feros = Feros::of(registry, "0.1.0", Path::new("/cargo/c/Cargo.toml")).unwrap();
        ComponentPackage { name: name.to_owned(), root: folder.clone(), folder, feros }
    }

    fn read(path: &Path) -> Table {
        fs::read_to_string(path).unwrap().parse().unwrap()
    }

    #[test]
    fn the_workspace_has_a_library_for_each_package_and_the_containers() {
        let folder = tempfile::tempdir().unwrap();
        let settings =
            "[profile.release]\nlto = true\n[patch.crates-io]\nx = { path = \"../x\" }\n";
        let packages = ["camera", "my-arm"].map(|name| package_in(folder.path(), name, settings));
        // Relative paths are relative to each package.
        let error = Workspace::write(folder.path(), &packages, &packages[0].feros);
        assert!(matches!(error, Err(BuildError::TwoSettings { table, .. }) if table == "patch"));

        let packages = ["camera", "my-arm"]
            .map(|name| package_in(folder.path(), name, "[profile.release]\nlto = true\n"));
        let place = folder.path().join("workspace");
        let workspace = Workspace::write(&place, &packages, &packages[0].feros).unwrap();
        let root = read(workspace.manifest());
        let members = root["workspace"]["members"].as_array().unwrap();
        assert_eq!(members.len(), 3);
        let library = members[2].as_str().unwrap();
        assert!(library.starts_with("my_arm_components_"), "{library}");
        assert_eq!(root["profile"]["release"]["lto"].as_bool(), Some(true));
        assert_eq!(root["profile"]["release"]["build-override"]["debug"].as_bool(), Some(false));
        let debug = |table: &Value| table["debug"].as_str().map(str::to_owned);
        assert_eq!(debug(&root["profile"]["dev"]).as_deref(), Some("line-tables-only"));
        assert_eq!(
            debug(&root["profile"]["dev"]["build-override"]),
            debug(&root["profile"]["dev"])
        );
        let of_library = read(&place.join(library).join("Cargo.toml"));
        assert_eq!(of_library["dependencies"]["component"]["package"].as_str(), Some("my-arm"));
        assert_eq!(of_library["dependencies"]["feros-shared"]["version"].as_str(), Some("=0.1.0"));
        assert_eq!(of_library["lib"]["crate-type"][0].as_str(), Some("cdylib"));
        assert!(place.join("containers/src/bin/component_container_process.rs").is_file());

        let time = || workspace.manifest().metadata().unwrap().modified().unwrap();
        let before = time();
        Workspace::write(&place, &packages, &packages[0].feros).unwrap();
        assert_eq!(time(), before, "an unchanged file is left alone");
    }

    #[test]
    fn packages_of_one_name_in_two_folders_have_two_libraries() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = |root: &Path| library_name(&package_in(root, "camera", ""));
        assert_ne!(name(first.path()), name(second.path()));
        assert_eq!(name(first.path()), name(first.path()));
    }

    #[test]
    fn patches_keep_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        let package = package_in(
            folder.path(),
            "camera",
            "[patch.crates-io]\nferos = { path = \"../feros/crates/client/feros\" }\n",
        );
        let settings = Settings::of([package.root.as_path()].into_iter()).unwrap();
        let path = settings.patches["crates-io"]["feros"]["path"].as_str().unwrap();
        assert_eq!(
            path,
            folder.path().join("camera/../feros/crates/client/feros").to_str().unwrap()
        );
    }

    /// Opening a pipe would block for ever.
    #[test]
    fn a_pipe_in_the_place_of_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["Cargo.toml", "lock"] {
            let made = std::process::Command::new("mkfifo").arg(folder.path().join(name)).status();
            assert!(made.unwrap().success());
        }
        let pipe = folder.path().join("Cargo.toml");
        let errors = [
            Settings::of([folder.path()].into_iter()).err().unwrap(),
            write(&pipe, "").unwrap_err(),
            BuildFolder::lock(folder.path(), &EndSignals::default()).err().unwrap(),
        ];
        for error in errors {
            assert!(error.to_string().contains("it is not a regular file"), "{error}");
        }
    }

    #[test]
    fn one_build_at_a_time_has_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = BuildFolder::lock(folder.path(), &EndSignals::default()).unwrap();
        let file = File::open(first.folder.join("lock")).unwrap();
        assert!(matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
        drop(first);
        assert!(file.try_lock().is_ok());
    }
}
