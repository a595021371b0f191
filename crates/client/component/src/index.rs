//! The index of components: a file under a prefix lists the components of one package and their
//! libraries.
//!
//! The file `<prefix>/share/ament_index/resource_index/feros_components/<package>` has a line
//! `plugin;library` for each component, with the library's path relative to the prefix. Prefixes
//! come from `FEROS_PREFIX_PATH`, then `AMENT_PREFIX_PATH`, then the default prefix; the first
//! prefix that has the package wins, as in the ament index. Components for rclcpp are listed in the
//! same form under `rclcpp_components`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use feros_files::{listed_prefixes, searched_prefixes};

use crate::plugin::is_name;

/// The folder of the ament index, below a prefix.
pub(crate) const RESOURCES: &str = "share/ament_index/resource_index";
/// The resource type of Feros's components.
pub(crate) const COMPONENTS: &str = "feros_components";
/// The limit on the size of a package's list of components.
const MOST_BYTES: u64 = 1 << 20;
const CPP_COMPONENTS: &str = "rclcpp_components";

/// The prefixes under which packages are installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    prefixes: Vec<PathBuf>,
}

/// A component of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// The name, such as `pipeline::Camera`.
    pub plugin: String,
    /// The library with the component.
    pub library: PathBuf,
    /// The prefix whose index lists the component.
    pub prefix: PathBuf,
}

/// Why the components of a package cannot be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// No prefix contains the package.
    #[error(
        "package {package:?} has no components: there is no {COMPONENTS}/{package} under \
         {searched}; set FEROS_PREFIX_PATH to the prefix of its installation, or build it (feros \
         component build)"
    )]
    UnknownPackage {
        /// The package.
        package: String,
        /// The prefixes that were searched.
        searched: String,
    },
    /// The package has only components for stock containers.
    #[error(
        "package {package:?} has only components of rclcpp ({CPP_COMPONENTS}): they are C++ plugins, which only a stock \
         container can load"
    )]
    OnlyCpp {
        /// The package.
        package: String,
    },
    /// A line of the file cannot be used.
    #[error("{file}, line {line}: {text:?} does not have the form plugin;library")]
    InvalidLine {
        /// The file.
        file: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
    /// The file cannot be read.
    #[error("{file} cannot be read: {source}")]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The index names a file outside of the prefix.
    #[error(
        "{library} is {target}, which lies outside of the prefix {prefix}: a container loads only what is installed in a prefix; \
         install it there (feros component register)"
    )]
    OutsidePrefix {
        /// The library as the index names it.
        library: PathBuf,
        /// The file itself, with symbolic links followed.
        target: PathBuf,
        /// The prefix.
        prefix: PathBuf,
    },
}

impl IndexEntry {
    /// The file of the library, with symbolic links followed. If the file is missing, returns the
    /// path from the index, so that reading the file reports the error.
    ///
    /// # Errors
    /// When the file lies outside of the prefix.
    pub fn installed_library(&self) -> Result<PathBuf, IndexError> {
        let Ok(target) = self.library.canonicalize() else { return Ok(self.library.clone()) };
        match self.prefix.canonicalize() {
            Ok(prefix) if target.starts_with(&prefix) => Ok(target),
            _ => Err(IndexError::OutsidePrefix {
                library: self.library.clone(),
                target,
                prefix: self.prefix.clone(),
            }),
        }
    }
}

impl Index {
    /// An index of the prefixes that the environment names, followed by the default prefix.
    pub fn from_env() -> Self {
        Self::new(searched_prefixes())
    }

    /// An index of these prefixes, in this order; empty paths are ignored.
    pub fn new(prefixes: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut kept: Vec<PathBuf> = Vec::new();
        for prefix in prefixes {
            if !prefix.as_os_str().is_empty() && !kept.contains(&prefix) {
                kept.push(prefix);
            }
        }
        Self { prefixes: kept }
    }

    /// The prefixes, in the order in which they are searched.
    pub fn prefixes(&self) -> &[PathBuf] {
        &self.prefixes
    }

    /// The packages that have components, sorted.
    pub fn packages(&self) -> Vec<String> {
        self.packages_with(COMPONENTS)
    }

    /// The packages that have components for rclcpp, sorted.
    pub fn cpp_packages(&self) -> Vec<String> {
        self.packages_with(CPP_COMPONENTS)
    }

    fn packages_with(&self, kind: &str) -> Vec<String> {
        let folders = self.prefixes.iter().map(|prefix| prefix.join(RESOURCES).join(kind));
        let names = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| is_package_name(name)).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The components of a package, in the order of its file.
    ///
    /// # Errors
    /// When no prefix has the package, or its file cannot be used.
    pub fn components(&self, package: &str) -> Result<Vec<IndexEntry>, IndexError> {
        if let Some((prefix, file)) = self.find(COMPONENTS, package) {
            return read(prefix, &file);
        }
        Err(match self.find(CPP_COMPONENTS, package) {
            Some(_) => IndexError::OnlyCpp { package: package.to_owned() },
            None => self.unknown(package),
        })
    }

    /// The rclcpp components of a package, which only stock containers can load.
    ///
    /// # Errors
    /// The same as for [`Index::components`].
    pub fn cpp_components(&self, package: &str) -> Result<Vec<IndexEntry>, IndexError> {
        let found = self.find(CPP_COMPONENTS, package);
        found.map_or_else(|| Err(self.unknown(package)), |(prefix, file)| read(prefix, &file))
    }

    fn find(&self, kind: &str, package: &str) -> Option<(&Path, PathBuf)> {
        if !is_package_name(package) {
            return None;
        }
        let file = |prefix: &'_ PathBuf| prefix.join(RESOURCES).join(kind).join(package);
        let mut files = self.prefixes.iter().map(|prefix| (prefix.as_path(), file(prefix)));
        files.find(|(_, file)| file.is_file())
    }

    fn unknown(&self, package: &str) -> IndexError {
        let searched = if self.prefixes.is_empty() {
            "any prefix (FEROS_PREFIX_PATH and AMENT_PREFIX_PATH are empty)".to_owned()
        } else {
            listed_prefixes(&self.prefixes)
        };
        IndexError::UnknownPackage { package: package.to_owned(), searched }
    }
}

pub(crate) fn read(prefix: &Path, file: &Path) -> Result<Vec<IndexEntry>, IndexError> {
    let text = feros_files::read_to_string(file, MOST_BYTES)
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
                    prefix: prefix.to_owned(),
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

pub(crate) fn is_package_name(name: &str) -> bool {
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
    fn unknown_components_are_refused_with_the_reason() {
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
    fn pipes_are_refused_without_a_wait() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let said = [
            read(folder.path(), &pipe).unwrap_err().to_string(),
            crate::library::needed_libraries(&pipe).unwrap_err().to_string(),
            crate::library::exported_symbols(&pipe).unwrap_err().to_string(),
            crate::library::Library::read(&pipe).unwrap_err().to_string(),
        ];
        assert!(said.iter().all(|said| said.contains("not a regular file")), "{said:#?}");
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
    fn a_library_lies_in_the_prefix_that_names_it() {
        let prefix = prefix_with(COMPONENTS, "demo", "");
        let outside = tempfile::tempdir().unwrap();
        let folder = prefix.path().join("lib");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("libinside.so"), "").unwrap();
        let other = outside.path().join("libother.so");
        fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink("libinside.so", folder.join("liblink.so")).unwrap();
        std::os::unix::fs::symlink(&other, folder.join("libaway.so")).unwrap();
        let name = outside.path().file_name().unwrap().to_str().unwrap();
        let lines = format!(
            "demo::A;lib/libinside.so\ndemo::B;lib/liblink.so\ndemo::C;lib/libmissing.so\n\
             demo::D;lib/libaway.so\ndemo::E;{}\ndemo::F;lib/../../{name}/libother.so\n",
            other.display()
        );
        fs::write(prefix.path().join(RESOURCES).join(COMPONENTS).join("demo"), lines).unwrap();
        let entries = Index::new([prefix.path().into()]).components("demo").unwrap();
        let found: Vec<_> = entries.iter().map(IndexEntry::installed_library).collect();
        let inside = folder.join("libinside.so").canonicalize().unwrap();
        assert_eq!(found[0].as_ref().unwrap(), &inside);
        assert_eq!(found[1].as_ref().unwrap(), &inside);
        assert_eq!(found[2].as_ref().unwrap(), &folder.join("libmissing.so"));
        for refused in &found[3..] {
            let error = refused.as_ref().unwrap_err();
            assert!(matches!(error, IndexError::OutsidePrefix { .. }), "{error}");
        }
    }

    #[test]
    fn components_of_rclcpp_are_listed_apart() {
        let prefix = prefix_with(CPP_COMPONENTS, "composition", "composition::Talker;lib/l.so\n");
        let index = Index::new([prefix.path().into()]);
        assert_eq!(index.packages(), [""; 0]);
        assert_eq!(index.cpp_packages(), ["composition"]);
        assert_eq!(index.cpp_components("composition").unwrap()[0].plugin, "composition::Talker");
        let unknown = index.cpp_components("../composition");
        assert!(matches!(unknown, Err(IndexError::UnknownPackage { .. })), "{unknown:?}");
    }
}
