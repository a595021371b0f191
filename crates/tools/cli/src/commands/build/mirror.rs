//! Mirrors a folder of packages, so that one call of cargo builds all crates in it, each in the
//! form that the call needs: a `Cargo.toml` that belongs to the written workspace.
//!
//! Every other file of a crate is a symbolic link. So relative paths in build scripts and in
//! `include!` lead to the same files as in the folder itself.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use super::error::PackageFault;
use super::manifest::toml_in;

/// The kinds of dependencies in a `Cargo.toml`.
const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// A folder of packages and the folder that mirrors it.
pub(super) struct Mirror {
    base: PathBuf,
    place: PathBuf,
    crates: BTreeSet<PathBuf>,
}

impl Mirror {
    /// The mirror of `base` in `place`. `crates` are folders below `base`.
    pub(super) fn new(base: &Path, place: &Path, crates: &[PathBuf]) -> Self {
        let crates = crates.iter().cloned().collect();
        Self { base: base.to_owned(), place: place.to_owned(), crates }
    }

    /// The place of a folder in the mirror. A folder outside of the base has no other place.
    pub(super) fn place_of(&self, folder: &Path) -> PathBuf {
        match folder.strip_prefix(&self.base) {
            Ok(inside) if inside.as_os_str().is_empty() => self.place.clone(),
            Ok(inside) => self.place.join(inside),
            Err(_) => folder.to_owned(),
        }
    }

    /// Makes the links, and removes those of earlier builds. `kept` are names in the mirror itself.
    pub(super) fn link(&self, kept: &[&str]) -> io::Result<()> {
        self.link_folder(&self.base, &self.place, kept)
    }

    fn link_folder(&self, from: &Path, to: &Path, kept: &[&str]) -> io::Result<()> {
        if to.is_symlink() {
            fs::remove_file(to)?;
        }
        fs::create_dir_all(to)?;
        let is_crate = self.crates.contains(from);
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            let text = name.to_string_lossy();
            let is_written = matches!(&*text, "Cargo.lock" | "target") || text == "Cargo.toml";
            if is_written || text.starts_with('.') || kept.contains(&&*text) {
                continue;
            }
            let (source, target) = (from.join(&name), to.join(&name));
            if self.crates.iter().any(|folder| folder.starts_with(&source)) {
                self.link_folder(&source, &target, &[])?;
            } else if fs::read_link(&target).ok().as_ref() != Some(&source) {
                remove(&target)?;
                symlink(&source, &target)?;
            }
            names.insert(name);
        }
        for entry in fs::read_dir(to)? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            let text = name.to_string_lossy();
            let is_kept = kept.contains(&&*text) || (is_crate && text == "Cargo.toml");
            if !names.contains(&name) && !is_kept {
                remove(&path)?;
            }
        }
        Ok(())
    }

    /// The `Cargo.toml` of a crate, as a member of the written workspace.
    pub(super) fn manifest(&self, folder: &Path) -> Result<Table, PackageFault> {
        let mut manifest = read(folder)?;
        let (root, workspace) = workspace_of(folder)?;
        for key in ["workspace", "profile", "patch", "replace"] {
            manifest.remove(key);
        }
        let path = folder.join("Cargo.toml");
        let shared = |table: &str| workspace.get(table).and_then(Value::as_table);
        if let Some(package) = manifest.get_mut("package").and_then(Value::as_table_mut) {
            for key in ["workspace", "readme", "license-file"] {
                package.remove(key);
            }
            for (key, value) in package.iter_mut() {
                if is_inherited(value) {
                    let found = shared("package").and_then(|table| table.get(key));
                    *value = found.cloned().ok_or_else(|| missing(&path, "package", key))?;
                }
            }
        }
        if manifest.get("lints").is_some_and(is_inherited) {
            let lints = workspace.get("lints").cloned();
            manifest.insert("lints".to_owned(), lints.unwrap_or_else(|| Table::new().into()));
        }
        let complete = |table: &mut Table| -> Result<(), PackageFault> {
            for kind in DEPENDENCIES {
                let Some(all) = table.get_mut(kind).and_then(Value::as_table_mut) else { continue };
                for (name, dependency) in all.iter_mut() {
                    let inherited = shared("dependencies").and_then(|table| table.get(name));
                    let mut start = folder;
                    if is_inherited(dependency) {
                        let found =
                            inherited.ok_or_else(|| missing(&path, "dependencies", name))?;
                        if found.get("path").is_some() {
                            start = &root;
                        }
                        *dependency = united(found, dependency);
                    }
                    self.place_path(dependency, start);
                }
            }
            Ok(())
        };
        complete(&mut manifest)?;
        if let Some(targets) = manifest.get_mut("target").and_then(Value::as_table_mut) {
            for (_, target) in targets.iter_mut() {
                target.as_table_mut().map_or(Ok(()), complete)?;
            }
        }
        Ok(manifest)
    }

    /// Makes the path of a dependency absolute; it leads into the mirror if the crate is there.
    fn place_path(&self, dependency: &mut Value, start: &Path) {
        let Some(path) = dependency.get_mut("path") else { return };
        let Some(text) = path.as_str() else { return };
        let real = normal(&start.join(text));
        let place = if self.crates.contains(&real) { self.place_of(&real) } else { real };
        *path = place.to_string_lossy().into_owned().into();
    }

    /// The profiles and patches of the workspaces to which the crates belong, with absolute paths.
    pub(super) fn roots(&self) -> BTreeSet<PathBuf> {
        let root =
            |folder: &PathBuf| workspace_of(folder).map_or_else(|_| folder.clone(), |it| it.0);
        self.crates.iter().map(root).collect()
    }
}

/// Removes a link, a file or a folder, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// The path without `..`, which leads into the folder that a link names.
fn normal(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut normal = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            normal.pop();
        } else {
            normal.push(part);
        }
    }
    normal
}

fn read(folder: &Path) -> Result<Table, PackageFault> {
    let missing = || PackageFault::file(&folder.join("Cargo.toml"), "there is no such file");
    toml_in(folder, "Cargo.toml")?.ok_or_else(missing)
}

/// The root of the workspace that a crate belongs to, and its table `[workspace]`; the crate itself
/// if there is no workspace.
fn workspace_of(folder: &Path) -> Result<(PathBuf, Table), PackageFault> {
    for above in folder.ancestors() {
        if above.join("Cargo.toml").is_file()
            && let Some(Value::Table(workspace)) = read(above)?.remove("workspace")
        {
            return Ok((above.to_owned(), workspace));
        }
    }
    Ok((folder.to_owned(), Table::new()))
}

/// Whether a value is `{ workspace = true }`, perhaps with more keys.
fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// A dependency of the workspace, with the features and the key `optional` of the crate.
fn united(inherited: &Value, own: &Value) -> Value {
    let mut table = match inherited {
        Value::Table(table) => table.clone(),
        version => Table::from_iter([("version".to_owned(), version.clone())]),
    };
    for (key, value) in own.as_table().into_iter().flatten() {
        match (key.as_str(), table.get_mut(key)) {
            ("workspace", _) => {}
            ("features", Some(Value::Array(features))) => {
                features.extend(value.as_array().into_iter().flatten().cloned());
            }
            _ => drop(table.insert(key.clone(), value.clone())),
        }
    }
    Value::Table(table)
}

fn missing(path: &Path, table: &str, key: &str) -> PackageFault {
    let reason = format!("{key} comes from the workspace, which has no {table}.{key}");
    PackageFault::file(path, reason)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn folder_with(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap().join("base");
        for (name, text) in files {
            let path = base.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (root, base)
    }

    #[test]
    fn crates_are_folders_and_everything_else_is_a_link() {
        let (root, base) = folder_with(&[
            ("a/Cargo.toml", ""),
            ("a/src/main.rs", "mod x;"),
            ("a/.git", ""),
            ("msgs/msg/A.msg", "int32 a"),
            ("deep/b/Cargo.toml", ""),
            ("deep/c/d", ""),
        ]);
        let place = root.path().join("mirror");
        let crates = [base.join("a"), base.join("deep/b")];
        let mirror = Mirror::new(&base, &place, &crates);
        mirror.link(&["containers"]).unwrap();
        fs::write(place.join("a/Cargo.toml"), "mine").unwrap();
        fs::create_dir(place.join("containers")).unwrap();
        assert!(place.join("a").is_dir() && !place.join("a").is_symlink());
        assert_eq!(fs::read_link(place.join("a/src")).unwrap(), base.join("a/src"));
        assert_eq!(fs::read_link(place.join("deep/c")).unwrap(), base.join("deep/c"));
        assert!(place.join("a/../msgs/msg/A.msg").is_file() && !place.join("a/.git").exists());

        // The mirror also loses the files that were removed.
        fs::rename(base.join("deep/c"), base.join("c")).unwrap();
        Mirror::new(&base, &place, &crates[..1]).link(&["containers"]).unwrap();
        assert_eq!(fs::read_link(place.join("deep")).unwrap(), base.join("deep"));
        assert!(place.join("c/d").is_file() && place.join("containers").is_dir());
        assert_eq!(fs::read_to_string(place.join("a/Cargo.toml")).unwrap(), "mine");
        assert!(base.join("deep/b/Cargo.toml").is_file(), "the sources are as before");
    }

    #[test]
    fn a_member_gets_the_values_of_its_own_workspace() {
        let (root, base) = folder_with(&[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"a\"]\n[workspace.package]\nversion = \"2.0.0\"\n\
                 [workspace.lints.rust]\nunsafe_code = \"deny\"\n[workspace.dependencies]\n\
                 serde = \"1\"\nlocal = { path = \"b\", features = [\"x\"] }\n",
            ),
            (
                "a/Cargo.toml",
                "[package]\nname = \"a\"\nversion.workspace = true\nreadme = \"R.md\"\n\
                 [lints]\nworkspace = true\n[dependencies]\nserde = { workspace = true, features \
                 = [\"derive\"] }\nlocal = { workspace = true, features = [\"y\"] }\n\
                 far = { path = \"../../far\" }\n[target.'cfg(unix)'.dependencies]\n\
                 b = { path = \"../b\" }\n[profile.dev]\ndebug = 1\n",
            ),
            ("b/Cargo.toml", "[package]\nname = \"b\"\nedition.workspace = true\n"),
        ]);
        let place = root.path().join("mirror");
        let mirror = Mirror::new(&base, &place, &[base.join("a"), base.join("b")]);
        let manifest = mirror.manifest(&base.join("a")).unwrap();
        assert_eq!(manifest["package"]["version"].as_str(), Some("2.0.0"));
        assert!(manifest["package"].get("readme").is_none() && !manifest.contains_key("profile"));
        assert_eq!(manifest["lints"]["rust"]["unsafe_code"].as_str(), Some("deny"));
        let dependencies = &manifest["dependencies"];
        assert_eq!(dependencies["serde"]["features"][0].as_str(), Some("derive"));
        let b = place.join("b");
        assert_eq!(dependencies["local"]["path"].as_str(), b.to_str());
        assert_eq!(dependencies["local"]["features"].as_array().unwrap().len(), 2);
        let far = base.parent().unwrap().join("far");
        assert_eq!(dependencies["far"]["path"].as_str(), far.to_str());
        let of_unix = &manifest["target"]["cfg(unix)"]["dependencies"];
        assert_eq!(of_unix["b"]["path"].as_str(), b.to_str());
        assert_eq!(mirror.roots(), BTreeSet::from([base.clone()]));

        let fault = mirror.manifest(&base.join("b")).unwrap_err().to_string();
        assert!(fault.contains("edition comes from the workspace"), "{fault}");
    }
}
