//! The prefix: installs the files of packages, and removes files that a package no longer has.
//!
//! A record names the files of each package, so that no package replaces files of another, and
//! nothing stays behind when a package loses a file or is removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use feros_component::install::{InstallError, copy, write};

use super::error::PackageFault;
use super::files::{Content, Item};
use super::shipped;

/// The folder of the records, below the prefix.
const RECORDS: &str = "share/feros_build";

/// The limit on the size of a record, and of another text that this command writes.
const MOST_BYTES: u64 = 16 << 20;

/// The text of `setup.bash`.
const SETUP: &str = include_str!("setup.bash");

/// A prefix that this command writes.
pub(super) struct Installation {
    prefix: PathBuf,
    /// The owners of all files, by paths below the prefix.
    owners: BTreeMap<PathBuf, String>,
}

/// The record of a package.
struct Record {
    /// The folder of its sources.
    folder: PathBuf,
    files: BTreeSet<PathBuf>,
}

impl Installation {
    /// Opens the prefix, and creates it if necessary.
    ///
    /// # Errors
    /// Returns the reason as text for users: the folder cannot be written, or another tool made it.
    pub(super) fn open(prefix: &Path) -> Result<Self, String> {
        let layout = prefix.join(".colcon_install_layout");
        if layout.is_file() {
            return Err(format!(
                "{} was made by colcon: choose another folder with --prefix",
                prefix.display()
            ));
        }
        let failed = |error: io::Error| format!("{}: {error}", prefix.display());
        fs::create_dir_all(prefix).map_err(failed)?;
        let prefix = prefix.canonicalize().map_err(failed)?;
        let mut owners = BTreeMap::new();
        for (name, record) in records(&prefix) {
            owners.extend(record.files.into_iter().map(|file| (file, name.clone())));
        }
        Ok(Self { prefix, owners })
    }

    /// Installs a package in place of its files in the prefix. `folder` has its sources.
    pub(super) fn install(
        &mut self,
        name: &str,
        folder: &Path,
        items: Vec<Item>,
    ) -> Result<(), PackageFault> {
        // Of two items for one place, the first counts, since builds come before defaults.
        let mut wanted: BTreeMap<PathBuf, Content> = BTreeMap::new();
        for Item { to, content } in items {
            let to: PathBuf = to.components().collect();
            if let Some(owner) = self.owners.get(&to).filter(|owner| *owner != name) {
                return Err(PackageFault::TwoOwners { path: to, owner: owner.clone() });
            }
            wanted.entry(to).or_insert(content);
        }
        let before = read_record(&self.record(name)).map(|record| record.files).unwrap_or_default();
        let files: BTreeSet<PathBuf> = wanted.keys().cloned().collect();
        // The record comes first and names old and new files, so that a later build knows all files
        // even if this process ends in between.
        self.write_record(name, folder, &before.union(&files).cloned().collect())?;
        for (to, content) in wanted {
            self.place(&to, content).map_err(PackageFault::Install)?;
        }
        self.remove(before.difference(&files));
        self.owners.retain(|_, owner| owner != name);
        self.owners.extend(files.iter().map(|file| (file.clone(), name.to_owned())));
        self.write_record(name, folder, &files)
    }

    fn place(&self, to: &Path, content: Content) -> Result<(), InstallError> {
        let target = self.prefix.join(to);
        match content {
            Content::Placed => Ok(()),
            Content::File(from) => copy(&from, &target),
            Content::Program(from) => {
                copy(&from, &target)?;
                make_executable(&target)
            }
            Content::Text(text) => write_changed(&target, &text),
            Content::Script(text) => {
                write_changed(&target, &text)?;
                make_executable(&target)
            }
        }
    }

    /// Removes the packages whose folders below `base` are gone; returns their names.
    pub(super) fn remove_gone(&mut self, base: &Path, present: &BTreeSet<String>) -> Vec<String> {
        let mut gone = Vec::new();
        for (name, record) in records(&self.prefix) {
            let is_gone = !record.folder.exists() || !present.contains(&name);
            if record.folder.starts_with(base) && is_gone {
                self.remove(record.files.iter());
                drop(fs::remove_file(self.record(&name)));
                self.owners.retain(|_, owner| *owner != name);
                gone.push(name);
            }
        }
        gone
    }

    /// Writes `setup.bash` for shells, the programs by which stock ROS 2 starts what this command
    /// contains, and the file that makes colcon skip the prefix.
    pub(super) fn write_setup(&self) -> Result<(), InstallError> {
        let ignore = self.prefix.join("COLCON_IGNORE");
        if !ignore.exists() {
            write(&ignore, "")?;
        }
        for Item { to, content } in shipped::items() {
            self.place(&to, content)?;
        }
        self.place(Path::new("setup.bash"), Content::Text(SETUP.to_owned()))
    }

    /// Removes files, and folders that become empty. A file that cannot be removed stays, which
    /// does no harm.
    fn remove<'a>(&self, files: impl Iterator<Item = &'a PathBuf>) {
        for file in files {
            let path = self.prefix.join(file);
            drop(fs::remove_file(&path));
            for folder in path.ancestors().skip(1).take_while(|folder| **folder != *self.prefix) {
                if fs::remove_dir(folder).is_err() {
                    break;
                }
            }
        }
    }

    fn record(&self, name: &str) -> PathBuf {
        self.prefix.join(RECORDS).join(name)
    }

    fn write_record(
        &self,
        name: &str,
        folder: &Path,
        files: &BTreeSet<PathBuf>,
    ) -> Result<(), PackageFault> {
        let lines: String = files.iter().map(|file| format!("{}\n", file.display())).collect();
        let text = format!("{}\n{lines}", folder.display());
        let path = self.record(name);
        let to = Path::new(RECORDS).join(name);
        self.place(&to, Content::Text(text)).map_err(|error| PackageFault::file(&path, error))
    }
}

/// Writes a file, unless it has this text already.
fn write_changed(target: &Path, text: &str) -> Result<(), InstallError> {
    match feros_files::read_to_string(target, MOST_BYTES) {
        Ok(there) if there == text => Ok(()),
        _ => write(target, text),
    }
}

fn make_executable(target: &Path) -> Result<(), InstallError> {
    fs::set_permissions(target, fs::Permissions::from_mode(0o755))
        .map_err(|source| InstallError::Write { path: target.to_owned(), source })
}

/// The records of all packages.
fn records(prefix: &Path) -> Vec<(String, Record)> {
    let Ok(entries) = fs::read_dir(prefix.join(RECORDS)) else { return Vec::new() };
    let record = |entry: fs::DirEntry| {
        Some((entry.file_name().into_string().ok()?, read_record(&entry.path())?))
    };
    entries.flatten().filter_map(record).collect()
}

/// Reads a record. Lines that lead out of the prefix are left out.
fn read_record(path: &Path) -> Option<Record> {
    let text = feros_files::read_to_string(path, MOST_BYTES).ok()?;
    let mut lines = text.lines();
    let folder = PathBuf::from(lines.next()?);
    let is_inside =
        |path: &PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    let files =
        lines.filter(|line| !line.is_empty()).map(PathBuf::from).filter(is_inside).collect();
    Some(Record { folder, files })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(to: &str, text: &str) -> Item {
        Item::new(to, Content::Text(text.to_owned()))
    }

    fn files(prefix: &Path) -> Vec<String> {
        let all = super::super::files::below(prefix);
        let own = all.into_iter().filter(|file| !file.starts_with(RECORDS));
        own.map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn a_package_loses_what_it_no_longer_has() {
        let root = tempfile::tempdir().unwrap();
        let (prefix, base) = (root.path().join("prefix"), root.path().join("base"));
        fs::create_dir_all(base.join("arm")).unwrap();
        let mut installation = Installation::open(&prefix).unwrap();
        let mut install = |name: &str, items| {
            installation.install(name, &base.join(name), items).map_err(|fault| fault.to_string())
        };
        install("arm", vec![text("share/arm/a", "1"), text("share/arm/deep/b", "2")]).unwrap();
        install("arm", vec![text("share/arm/a", "3"), text("share/arm/a", "ignored")]).unwrap();
        assert_eq!(files(&prefix), ["share/arm/a"]);
        assert!(!prefix.join("share/arm/deep").exists());
        assert_eq!(fs::read_to_string(prefix.join("share/arm/a")).unwrap(), "3");
        let fault = install("leg", vec![text("share/arm/a", "4")]).unwrap_err();
        assert!(fault.contains("belongs to the package arm"), "{fault}");

        // A later build knows the package of each file, and which package has no folder any longer.
        let mut installation = Installation::open(&prefix).unwrap();
        assert!(installation.install("leg", &base, vec![text("share/arm/a", "4")]).is_err());
        let present = BTreeSet::from(["arm".to_owned()]);
        assert_eq!(installation.remove_gone(&base, &present), [""; 0]);
        fs::remove_dir(base.join("arm")).unwrap();
        assert_eq!(installation.remove_gone(&root.path().join("elsewhere"), &present), [""; 0]);
        assert_eq!(installation.remove_gone(&base, &present), ["arm"]);
        assert_eq!(files(&prefix), [""; 0]);
    }

    #[test]
    fn a_record_reaches_only_files_of_the_prefix() {
        let root = tempfile::tempdir().unwrap();
        let prefix = root.path().join("prefix");
        fs::create_dir_all(prefix.join(RECORDS)).unwrap();
        let outside = root.path().join("outside");
        fs::write(&outside, "").unwrap();
        let record = format!("/base/arm\n../outside\n{}\n", outside.display());
        fs::write(prefix.join(RECORDS).join("arm"), record).unwrap();
        let mut installation = Installation::open(&prefix).unwrap();
        assert_eq!(installation.remove_gone(Path::new("/base"), &BTreeSet::new()), ["arm"]);
        assert!(outside.is_file());
    }

    #[test]
    fn a_folder_of_colcon_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(".colcon_install_layout"), "isolated\n").unwrap();
        let Err(problem) = Installation::open(root.path()) else { panic!("it was opened") };
        assert!(problem.contains("--prefix"), "{problem}");
    }
}
