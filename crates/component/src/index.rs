//! The index of components: a package lists its plugins and their libraries in a file under each
//! prefix.
//!
//! `<prefix>/share/ament_index/resource_index/feros_components/<package>`, a line `plugin;library`
//! for each component, the library relative to the prefix. Prefixes come from `FEROS_PREFIX_PATH`,
//! then `AMENT_PREFIX_PATH`; the first that has the package wins, as in the ament index.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::library::{Library, LibraryError};
use crate::plugin::is_name;

/// Environment variables with prefixes, separated by colons.
pub const PREFIX_VARIABLES: [&str; 2] = ["FEROS_PREFIX_PATH", "AMENT_PREFIX_PATH"];

const RESOURCES: &str = "share/ament_index/resource_index";
const COMPONENTS: &str = "feros_components";
const CPP_COMPONENTS: &str = "rclcpp_components";

/// The prefixes under which packages are installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    prefixes: Vec<PathBuf>,
}

/// A component that a package has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// The name, such as `pipeline::Camera`.
    pub plugin: String,
    /// The library that has it.
    pub library: PathBuf,
}

/// Why the components of a package cannot be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// No prefix has it.
    #[error(
        "package {package:?} has no components: no {COMPONENTS}/{package} under {searched}; set FEROS_PREFIX_PATH to where \
         it is installed, or register its library (feros component register)"
    )]
    UnknownPackage {
        /// The package.
        package: String,
        /// Where was looked.
        searched: String,
    },
    /// The components are for another library.
    #[error(
        "package {package:?} has only components of rclcpp ({CPP_COMPONENTS}): they are C++ plugins, which only a stock \
         container can load"
    )]
    OnlyCpp {
        /// The package.
        package: String,
    },
    /// A line of the file cannot be used.
    #[error("{file}, line {line}: {text:?} is not plugin;library")]
    InvalidLine {
        /// The file.
        file: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
    /// The file cannot be read.
    #[error("{file} cannot be read: {source}")]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Why a library was not registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The file is not a component library.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A package cannot have this name.
    #[error("a package cannot be named {0:?}: letters, digits, _ and - are allowed")]
    PackageName(String),
    /// The entries of the package that are there cannot be used.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A file could not be written.
    #[error("{path} cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// What was registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The components, by name.
    pub plugins: Vec<String>,
    /// Where their library lies now.
    pub library: PathBuf,
    /// The file that names them.
    pub resource: PathBuf,
}

impl Index {
    /// The prefixes that the environment names.
    pub fn from_env() -> Self {
        let paths = PREFIX_VARIABLES.iter().filter_map(env::var_os);
        Self::new(paths.flat_map(|paths| env::split_paths(&paths).collect::<Vec<_>>()))
    }

    /// These prefixes, in this order; empty ones do not count.
    pub fn new(prefixes: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut kept: Vec<PathBuf> = Vec::new();
        for prefix in prefixes {
            if !prefix.as_os_str().is_empty() && !kept.contains(&prefix) {
                kept.push(prefix);
            }
        }
        Self { prefixes: kept }
    }

    /// Where is looked, the first first.
    pub fn prefixes(&self) -> &[PathBuf] {
        &self.prefixes
    }

    /// Packages that have components, sorted.
    pub fn packages(&self) -> Vec<String> {
        let folders = self.prefixes.iter().map(|prefix| prefix.join(RESOURCES).join(COMPONENTS));
        let names = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| is_package_name(name)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The components of a package, in the order of its file.
    ///
    /// # Errors
    /// When no prefix has the package, or its file cannot be used.
    pub fn components(&self, package: &str) -> Result<Vec<IndexEntry>, IndexError> {
        let find = |kind: &str| {
            let file = |prefix: &PathBuf| {
                (prefix.clone(), prefix.join(RESOURCES).join(kind).join(package))
            };
            let found = self.prefixes.iter().map(file).find(|(_, file)| file.is_file());
            found.filter(|_| is_package_name(package))
        };
        if let Some((prefix, file)) = find(COMPONENTS) {
            return read(&prefix, &file);
        }
        Err(match find(CPP_COMPONENTS) {
            Some(_) => IndexError::OnlyCpp { package: package.to_owned() },
            None => {
                let searched: Vec<_> =
                    self.prefixes.iter().map(|p| p.display().to_string()).collect();
                let searched = if searched.is_empty() {
                    "any prefix (FEROS_PREFIX_PATH and AMENT_PREFIX_PATH are empty)".to_owned()
                } else {
                    searched.join(", ")
                };
                IndexError::UnknownPackage { package: package.to_owned(), searched }
            }
        })
    }
}

/// Puts a library into a prefix (as `lib/<file>`, unless it lies in the prefix already) and its
/// components into the index, in place of what the package had under the same names.
///
/// # Errors
/// When it has no components, or something cannot be written. The index is changed last, and as a
/// whole.
pub fn register(
    library: &Path,
    package: &str,
    prefix: &Path,
) -> Result<Registration, RegisterError> {
    if !is_package_name(package) {
        return Err(RegisterError::PackageName(package.to_owned()));
    }
    let contents = Library::read(library)?;
    let plugins: Vec<String> = contents.plugins().map(str::to_owned).collect();
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| RegisterError::Write { path, source }
    };
    fs::create_dir_all(prefix).map_err(failed(prefix))?;
    let prefix = prefix.canonicalize().map_err(failed(prefix))?;
    let library = library.canonicalize().map_err(failed(library))?;
    let installed = if library.starts_with(&prefix) {
        library
    } else {
        let name = library.file_name().expect("a file that was read has a name");
        let target = prefix.join("lib").join(name);
        replace(&target, &fs::read(&library).map_err(failed(&library))?)
            .map_err(failed(&target))?;
        target
    };
    let resource = prefix.join(RESOURCES).join(COMPONENTS).join(package);
    let before = if resource.is_file() { read(&prefix, &resource)? } else { Vec::new() };
    let kept = before.into_iter().filter(|entry| !plugins.contains(&entry.plugin));
    let new = plugins
        .iter()
        .map(|plugin| IndexEntry { plugin: plugin.clone(), library: installed.clone() });
    let lines: String = kept
        .chain(new)
        .map(|entry| {
            let library = entry.library.strip_prefix(&prefix).unwrap_or(&entry.library);
            format!("{};{}\n", entry.plugin, library.display())
        })
        .collect();
    replace(&resource, lines.as_bytes()).map_err(failed(&resource))?;
    Ok(Registration { plugins, library: installed, resource })
}

/// Writes a file beside its place and then moves it there: who reads meanwhile, or has it mapped,
/// keeps the old one.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let temporary = path.with_extension(format!("new-{}", std::process::id()));
    let written = fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(content)?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        // Best effort: what failed is reported, the leftover is not worth a second error.
        drop(fs::remove_file(&temporary));
    }
    written
}

fn read(prefix: &Path, file: &Path) -> Result<Vec<IndexEntry>, IndexError> {
    let text = fs::read_to_string(file)
        .map_err(|source| IndexError::Unreadable { file: file.to_owned(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| match line.split_once(';') {
            Some((plugin, library))
                if is_name(plugin) && !library.is_empty() && !library.contains(';') =>
            {
                Ok(IndexEntry {
                    plugin: plugin.to_owned(),
                    library: prefix.join(library.trim_end()),
                })
            }
            _ => Err(IndexError::InvalidLine {
                file: file.to_owned(),
                line: number + 1,
                text: line.chars().take(200).collect(),
            }),
        })
        .collect()
}

fn is_package_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix_with(kind: &str, package: &str, text: &str) -> tempfile::TempDir {
        let prefix = tempfile::tempdir().unwrap();
        let folder = prefix.path().join(RESOURCES).join(kind);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(package), text).unwrap();
        prefix
    }

    #[test]
    fn the_first_prefix_wins_and_paths_are_of_the_prefix() {
        let first =
            prefix_with(COMPONENTS, "demo", "demo::A;lib/liba.so\n\ndemo::B;/opt/libb.so\n");
        let second = prefix_with(COMPONENTS, "demo", "demo::C;lib/libc.so\n");
        fs::write(second.path().join(RESOURCES).join(COMPONENTS).join("other"), "").unwrap();
        let index = Index::new([first.path().into(), PathBuf::new(), second.path().into()]);
        assert_eq!(index.packages(), ["demo", "other"]);
        let found = index.components("demo").unwrap();
        let expected =
            [("demo::A", first.path().join("lib/liba.so")), ("demo::B", "/opt/libb.so".into())];
        let found: Vec<_> = found.iter().map(|e| (e.plugin.as_str(), e.library.clone())).collect();
        assert_eq!(found, expected);
        assert!(index.components("other").unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_found_says_why() {
        let prefix =
            prefix_with(CPP_COMPONENTS, "composition", "composition::Talker;lib/libtalker.so\n");
        let index = Index::new([prefix.path().into()]);
        assert!(matches!(index.components("composition"), Err(IndexError::OnlyCpp { .. })));
        let unknown = index.components("nothing").unwrap_err();
        assert!(unknown.to_string().contains(&prefix.path().display().to_string()), "{unknown}");
        for hostile in ["", "../feros_components/x", "/etc/passwd", "a/b"] {
            assert!(
                matches!(index.components(hostile), Err(IndexError::UnknownPackage { .. })),
                "{hostile}"
            );
        }
    }

    #[test]
    fn a_bad_line_is_named() {
        for bad in ["demo::A", "demo::A;", ";lib/a.so", "demo::A;lib/a.so;more", "demo A;lib/a.so"]
        {
            let prefix = prefix_with(COMPONENTS, "demo", &format!("demo::Z;lib/z.so\n{bad}\n"));
            let error = Index::new([prefix.path().into()]).components("demo").unwrap_err();
            assert!(
                matches!(&error, IndexError::InvalidLine { line: 2, text, .. } if text == bad),
                "{error}"
            );
        }
    }

    #[test]
    fn only_component_libraries_are_registered() {
        let prefix = tempfile::tempdir().unwrap();
        let text = prefix.path().join("libtext.so");
        fs::write(&text, "no library").unwrap();
        assert!(matches!(
            register(&text, "demo", prefix.path()),
            Err(RegisterError::Library(LibraryError::NotALibrary { .. }))
        ));
        let missing = prefix.path().join("libmissing.so");
        assert!(matches!(
            register(&missing, "demo", prefix.path()),
            Err(RegisterError::Library(LibraryError::File { .. }))
        ));
        assert!(matches!(
            register(&text, "a/b", prefix.path()),
            Err(RegisterError::PackageName(_))
        ));
        assert_eq!(Index::new([prefix.path().into()]).packages(), [""; 0]);
    }
}
