//! The prefix that packages are installed in: its other packages, the check that they would still
//! load, and the installation.

use std::path::{Path, PathBuf};

use feros_component::index::Index;
use feros_component::install::{Installed, copy, install, write};
use feros_component::library::{Library, exported_symbols};
use feros_component::stamp::Stamp;

use super::cargo::Built;
use super::crates::Crates;
use super::error::BuildError;
use super::package::ComponentPackage;

/// The limit on the bytes of a record.
const MOST_BYTES: u64 = 16 << 20;

/// The limit on the differences that an error names.
const MOST_DIFFERENCES: usize = 5;

/// A folder with `lib` and `share`.
pub(crate) struct Prefix {
    folder: PathBuf,
}

/// A package of the prefix that is not built now.
#[derive(Debug)]
pub(crate) struct OtherPackage {
    name: String,
    /// The folder of its sources, if this command installed it.
    folder: Option<PathBuf>,
    stamps: Vec<Stamp>,
}

impl Prefix {
    pub(crate) fn new(folder: PathBuf) -> Self {
        // Files name the prefix, so its path must not depend on the folder of the next command.
        Self { folder: std::path::absolute(&folder).unwrap_or(folder) }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The versions of the last build.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.record("Cargo.lock")
    }

    /// A file in which this command records its builds.
    fn record(&self, name: &str) -> PathBuf {
        self.folder.join("share/feros_component").join(name)
    }

    /// The packages of the prefix that this build leaves unchanged, as far as they can be read.
    pub(crate) fn others(&self, packages: &[ComponentPackage]) -> Vec<OtherPackage> {
        let index = Index::new([self.folder.clone()]);
        let names = index.packages().into_iter();
        let names = names.filter(|name| packages.iter().all(|package| package.name != *name));
        let other = |name: String| {
            let record = self.record("packages").join(&name);
            let folder = feros_files::read_to_string(&record, MOST_BYTES).ok();
            let entries = index.components(&name).unwrap_or_default();
            let stamp = |entry: &feros_component::index::IndexEntry| {
                Library::read(&entry.library).ok()?.stamp(&entry.plugin).cloned()
            };
            let stamps: Vec<Stamp> = entries.iter().filter_map(stamp).collect();
            OtherPackage { name, folder: folder.map(|path| path.trim_end().into()), stamps }
        };
        names.map(other).filter(|other| !other.stamps.is_empty()).collect()
    }

    /// Whether the prefix has packages of components besides these.
    pub(crate) fn has_others(&self, names: &[&str]) -> bool {
        let index = Index::new([self.folder.clone()]);
        index.packages().iter().any(|name| !names.contains(&name.as_str()))
    }

    /// Checks that the packages that this build leaves unchanged use the same crates. The check is
    /// cheap, so it comes before anything is compiled.
    pub(crate) fn check_crates(
        &self,
        crates: &Crates,
        others: &[OtherPackage],
        packages: &[ComponentPackage],
    ) -> Result<(), BuildError> {
        let recorded = feros_files::read_to_string(&self.record("crates.txt"), MOST_BYTES);
        let Ok(recorded) = recorded else { return Ok(()) };
        let differences = crates.differences(&Crates::from_text(&recorded));
        if others.is_empty() || differences.is_empty() {
            return Ok(());
        }
        Err(self.refusal(others.iter(), packages, &differences))
    }

    /// Checks that the packages that this build leaves unchanged fit the build: by their stamps,
    /// and by the symbols of the shared libraries, which also reveal differences that no list
    /// contains.
    pub(crate) fn check_stamps(
        &self,
        built: &Built,
        others: &[OtherPackage],
        packages: &[ComponentPackage],
    ) -> Result<(), BuildError> {
        let Some(library) = built.libraries.first() else { return Ok(()) };
        let library = Library::read(library)?;
        let stamp = library.plugins().next().and_then(|plugin| library.stamp(plugin));
        let is_other = self.has_other_symbols(&built.shared)?;
        let differs =
            |other: &&OtherPackage| is_other || other.stamps.iter().any(|its| Some(its) != stamp);
        let mut differing = others.iter().filter(differs).peekable();
        if differing.peek().is_none() {
            return Ok(());
        }
        Err(self.refusal(differing, packages, &[]))
    }

    /// Whether the prefix has one of the shared libraries with other symbols: a library that was
    /// linked with the old one would not find its symbols in the new one.
    fn has_other_symbols(&self, shared: &[PathBuf]) -> Result<bool, BuildError> {
        for built in shared {
            let there = self.folder.join("lib").join(built.file_name().unwrap_or_default());
            if there.is_file() && exported_symbols(&there)? != exported_symbols(built)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn refusal<'a>(
        &self,
        others: impl Iterator<Item = &'a OtherPackage>,
        packages: &[ComponentPackage],
        differences: &[String],
    ) -> BuildError {
        let others: Vec<&OtherPackage> = others.collect();
        let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
        let mut command = "feros component build".to_owned();
        let mut add = |text: String| command.extend([" ", &text]);
        for package in packages {
            add(package.folder.display().to_string());
        }
        for other in &others {
            let folder = other.folder.as_ref().map(|folder| folder.display().to_string());
            add(folder.unwrap_or_else(|| format!("FOLDER_OF_{}", other.name.to_uppercase())));
        }
        add(format!("--prefix {}", self.folder.display()));
        let mut named = differences.iter().take(MOST_DIFFERENCES).cloned().collect::<Vec<_>>();
        if differences.len() > named.len() {
            named.push(format!("and {} more", differences.len() - named.len()));
        }
        BuildError::OtherPackages {
            prefix: self.folder.clone(),
            names: names.join(", "),
            differences: named.iter().map(|line| format!("; {line}")).collect(),
            command,
            index: self.folder.join("share/ament_index/resource_index/feros_components"),
        }
    }

    /// Installs all files: first the files that others need, the index last.
    pub(crate) fn install(
        &self,
        built: &Built,
        packages: &[ComponentPackage],
        crates: &Crates,
        lock_file: &Path,
    ) -> Result<Vec<Installed>, BuildError> {
        let place = |files: &[PathBuf], folder: &str| -> Result<(), BuildError> {
            for file in files {
                let name = file.file_name().unwrap_or_default();
                copy(file, &self.folder.join(folder).join(name))?;
            }
            Ok(())
        };
        place(&built.shared, "lib")?;
        place(&built.containers, "lib/feros_component")?;
        write(&self.record("crates.txt"), &crates.text())?;
        copy(lock_file, &self.lock_file())?;
        let mut installed = Vec::new();
        for (package, library) in packages.iter().zip(&built.libraries) {
            let record = self.record("packages").join(&package.name);
            write(&record, &format!("{}\n", package.folder.display()))?;
            let marker = self.folder.join("share/ament_index/resource_index/packages");
            write(&marker.join(&package.name), "")?;
            installed.push(install(library, &package.name, &self.folder)?);
        }
        Ok(installed)
    }
}
