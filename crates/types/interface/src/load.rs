//! Reads packages of definitions from folders: from the folder of a package, a folder of packages,
//! or installation prefixes.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::name::{Namespace, TypeName, is_package_name};
use crate::parse::{MAX_DEFINITION_BYTES, ParseError, ParseErrorKind, parse_interface};
use crate::set::{InsertError, InterfaceSet};
use crate::tree::Interface;

/// The error of a folder or file that could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A folder or file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A definition is not UTF-8.
    #[error("`{}` is not UTF-8 text: save it in that encoding", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
    },
    /// A definition violates the rules. The error names the file, the line and the column.
    #[error(transparent)]
    Parse(ParseError),
    /// A name is defined twice in a package.
    #[error("`{}`: {source}", path.display())]
    Insert {
        /// The second definition.
        path: PathBuf,
        /// The name.
        source: InsertError,
    },
    /// A folder contains no package.
    #[error(
        "no interface package in `{}`: expected a folder with `msg/*.msg`, `srv/*.srv` or `action/*.action`, or a \
         folder of such folders",
        path.display()
    )]
    NoPackage {
        /// The folder.
        path: PathBuf,
    },
    /// A folder with definitions cannot be a package because of its name.
    #[error(
        "`{name}`, the package in `{}`, is not a package name: use lower-case letters, digits and single underscores",
        path.display()
    )]
    PackageName {
        /// The folder.
        path: PathBuf,
        /// The name.
        name: String,
    },
}

/// The result of a search through many packages.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// The packages that were loaded.
    pub packages: Vec<String>,
    /// The packages and files that could not be loaded. A package with a fault is left out
    /// completely.
    pub faults: Vec<LoadError>,
}

impl InterfaceSet {
    /// Loads a package: a folder with `msg/*.msg`, `srv/*.srv` or `action/*.action`.
    ///
    /// The name of the package is read from its `package.xml`; without that file, it is the name of
    /// the folder. If the set already contains a package with that name, it is replaced completely.
    /// Returns the name.
    ///
    /// # Errors
    /// Fails if the folder is not a package, or if one of its definitions cannot be read. After an
    /// error, the set is unchanged.
    pub fn load_package_dir(&mut self, path: impl AsRef<Path>) -> Result<String, LoadError> {
        let path = path.as_ref();
        let files = definition_files(path)?;
        if files.is_empty() {
            return Err(LoadError::NoPackage { path: path.to_owned() });
        }
        let package = package_name(path)?;
        let mut loaded = InterfaceSet::new();
        for (namespace, file) in files {
            let interface = read_definition(&package, namespace, &file)?;
            loaded.insert(interface).map_err(|source| LoadError::Insert { path: file, source })?;
        }
        self.replace_package(&package, loaded);
        Ok(package)
    }

    /// Loads the package in this folder, or all packages if it is a folder of packages.
    ///
    /// # Errors
    /// Fails if there is no package, or if one of the packages cannot be loaded.
    pub fn load_dir(&mut self, path: impl AsRef<Path>) -> Result<Vec<String>, LoadError> {
        let path = path.as_ref();
        if is_package_dir(path) {
            return Ok(vec![self.load_package_dir(path)?]);
        }
        let mut packages = Vec::new();
        for dir in package_dirs(path)? {
            packages.push(self.load_package_dir(dir)?);
        }
        if packages.is_empty() {
            return Err(LoadError::NoPackage { path: path.to_owned() });
        }
        Ok(packages)
    }

    /// Loads the packages of all prefixes, each from `<prefix>/share/<package>`.
    ///
    /// If two prefixes contain the same package, the package of the earlier prefix is used, as in
    /// stock ROS 2. A prefix that does not exist is skipped without a report, because the
    /// environments of stock ROS 2 name such prefixes. All other problems are reported, and the
    /// remaining packages are loaded.
    pub fn load_prefixes(&mut self, prefixes: impl IntoIterator<Item = PathBuf>) -> LoadReport {
        let mut report = LoadReport::default();
        for prefix in prefixes {
            let share = prefix.join("share");
            if !share.is_dir() {
                continue;
            }
            let dirs = match package_dirs(&share) {
                Ok(dirs) => dirs,
                Err(fault) => {
                    report.faults.push(fault);
                    continue;
                }
            };
            for dir in dirs {
                let shadowed = dir.file_name().is_some_and(|name| {
                    report.packages.iter().any(|package| OsStr::new(package) == name)
                });
                if shadowed {
                    continue;
                }
                match self.load_package_dir(&dir) {
                    Ok(package) => report.packages.push(package),
                    Err(fault) => report.faults.push(fault),
                }
            }
        }
        report
    }

    fn replace_package(&mut self, package: &str, with: InterfaceSet) {
        self.remove_package(package);
        self.absorb(with);
    }
}

fn is_package_dir(path: &Path) -> bool {
    Namespace::ALL.iter().any(|namespace| path.join(namespace.as_str()).is_dir())
}

fn read_dir(path: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let fault = |source| LoadError::Io { path: path.to_owned(), source };
    let mut entries = fs::read_dir(path)
        .map_err(fault)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(fault))
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort();
    Ok(entries)
}

/// The folders directly below `path` that contain definitions.
fn package_dirs(path: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let mut dirs = Vec::new();
    for dir in read_dir(path)? {
        if is_package_dir(&dir) && !definition_files(&dir)?.is_empty() {
            dirs.push(dir);
        }
    }
    Ok(dirs)
}

fn definition_files(package_dir: &Path) -> Result<Vec<(Namespace, PathBuf)>, LoadError> {
    let mut files = Vec::new();
    for namespace in Namespace::ALL {
        let dir = package_dir.join(namespace.as_str());
        if !dir.is_dir() {
            continue;
        }
        for file in read_dir(&dir)? {
            if file.extension() == Some(OsStr::new(namespace.as_str())) {
                files.push((namespace, file));
            }
        }
    }
    Ok(files)
}

fn package_name(dir: &Path) -> Result<String, LoadError> {
    let from_manifest = || {
        let manifest = read_text(&dir.join("package.xml")).ok()?;
        let (_, rest) = manifest.split_once("<name>")?;
        Some(rest.split_once("</name>")?.0.trim().to_owned())
    };
    let from_folder = || {
        let full = dir.canonicalize().ok()?;
        Some(full.file_name()?.to_string_lossy().into_owned())
    };
    let name = from_manifest().or_else(from_folder).unwrap_or_default();
    if is_package_name(&name) {
        Ok(name)
    } else {
        Err(LoadError::PackageName { path: dir.to_owned(), name })
    }
}

fn read_definition(
    package: &str,
    namespace: Namespace,
    file: &Path,
) -> Result<Interface, LoadError> {
    let text = read_text(file)?;
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    parse_interface(&TypeName::new(package, namespace, stem), &text).map_err(|mut error| {
        error.origin = file.display().to_string();
        LoadError::Parse(error)
    })
}

fn read_text(file: &Path) -> Result<String, LoadError> {
    let fault = |source| LoadError::Io { path: file.to_owned(), source };
    let limit = MAX_DEFINITION_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    feros_files::open(file).map_err(fault)?.take(limit).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() > MAX_DEFINITION_BYTES {
        let kind = ParseErrorKind::TooLarge { bytes: bytes.len(), limit: MAX_DEFINITION_BYTES };
        let origin = file.display().to_string();
        return Err(LoadError::Parse(ParseError {
            origin,
            line: 1,
            column: 1,
            kind: Box::new(kind),
        }));
    }
    String::from_utf8(bytes).map_err(|_| LoadError::Encoding { path: file.to_owned() })
}
