//! Installs component libraries: copies the library into a prefix and adds its components to the
//! index.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::index::{COMPONENTS, IndexEntry, IndexError, RESOURCES, is_package_name, read};
use crate::library::{Library, LibraryError};

/// Why a library was not installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The file is not a component library.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A package cannot have this name.
    #[error("{0:?} is not a valid package name: only letters, digits, _ and - are allowed")]
    PackageName(String),
    /// The package's existing entries in the index cannot be used.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A file could not be read.
    #[error("{path} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("{path} cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// An installed library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The names of the components.
    pub plugins: Vec<String>,
    /// The path at which the library is installed.
    pub library: PathBuf,
    /// The index file that lists the components.
    pub resource: PathBuf,
}

/// Copies a library into a prefix (to `lib/<file>`, unless the library is in the prefix already)
/// and adds its components to the index, where they replace the package's entries with the same
/// names.
///
/// # Errors
/// When the library has no components, or a file cannot be written. The index file is replaced
/// last, in one step.
pub fn register(library: &Path, package: &str, prefix: &Path) -> Result<Installed, InstallError> {
    let plugins = plugins(library, package)?;
    let prefix = made(prefix)?;
    let failed = |source| InstallError::Write { path: library.to_owned(), source };
    let library = library.canonicalize().map_err(failed)?;
    let installed = if library.starts_with(&prefix) {
        library
    } else {
        let target = prefix.join("lib").join(library.file_name().unwrap_or_default());
        copy(&library, &target)?;
        target
    };
    let resource = resource(&prefix, package);
    let mut entries = if resource.is_file() { read(&prefix, &resource)? } else { Vec::new() };
    entries.retain(|entry| !plugins.contains(&entry.plugin));
    write_index(entries, plugins, installed, &prefix, resource)
}

/// Copies the library of a whole package to `lib/lib<package>_components.so` in a prefix; the index
/// then lists only the components of this library for the package.
///
/// # Errors
/// The same as for [`register`].
pub fn install(library: &Path, package: &str, prefix: &Path) -> Result<Installed, InstallError> {
    let plugins = plugins(library, package)?;
    let prefix = made(prefix)?;
    let file = format!("{DLL_PREFIX}{}_components{DLL_SUFFIX}", package.replace('-', "_"));
    let installed = prefix.join("lib").join(file);
    copy(library, &installed)?;
    let resource = resource(&prefix, package);
    write_index(Vec::new(), plugins, installed, &prefix, resource)
}

/// Copies a file with its permissions. The copy is written beside the target and then renamed to
/// it, so that processes that read or map the old file keep that file. A target that already has
/// the same content is not touched.
///
/// # Errors
/// When `from` cannot be read, is a pipe or a device, or `to` cannot be written.
pub fn copy(from: &Path, to: &Path) -> Result<(), InstallError> {
    let unreadable = |source| InstallError::Read { path: from.to_owned(), source };
    if let Ok(linked) = fs::read_link(from)
        && !from.exists()
    {
        let text = format!("it is a link to {}, which does not exist", linked.display());
        return Err(unreadable(io::Error::new(io::ErrorKind::NotFound, text)));
    }
    let mut source = feros_files::open(from).map_err(unreadable)?;
    let metadata = source.metadata().map_err(unreadable)?;
    let is_same = || Ok::<_, io::Error>(fs::read(from)? == fs::read(to)?);
    let has_size = to.metadata().is_ok_and(|target| target.len() == metadata.len());
    if has_size && is_same().unwrap_or(false) {
        return Ok(());
    }
    replace(to, |beside| {
        let mut target = fs::File::create(beside)?;
        io::copy(&mut source, &mut target)?;
        target.set_permissions(metadata.permissions())
    })
}

/// Writes a string to a file; like [`copy`], it writes beside the target and then renames.
///
/// # Errors
/// When the file cannot be written.
pub fn write(to: &Path, text: &str) -> Result<(), InstallError> {
    replace(to, |beside| fs::write(beside, text))
}

fn replace(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), InstallError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".new-{}", std::process::id()));
    let beside = PathBuf::from(beside);
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = folder.and_then(|()| make(&beside)).and_then(|()| fs::rename(&beside, path));
    written.map_err(|source| {
        // Removed if possible. The first error is reported, and a leftover file is not worth a
        // second error.
        drop(fs::remove_file(&beside));
        InstallError::Write { path: path.to_owned(), source }
    })
}

fn plugins(library: &Path, package: &str) -> Result<Vec<String>, InstallError> {
    if !is_package_name(package) {
        return Err(InstallError::PackageName(package.to_owned()));
    }
    Ok(Library::read(library)?.plugins().map(str::to_owned).collect())
}

fn made(prefix: &Path) -> Result<PathBuf, InstallError> {
    let failed = |source| InstallError::Write { path: prefix.to_owned(), source };
    fs::create_dir_all(prefix).and_then(|()| prefix.canonicalize()).map_err(failed)
}

fn resource(prefix: &Path, package: &str) -> PathBuf {
    prefix.join(RESOURCES).join(COMPONENTS).join(package)
}

fn write_index(
    mut entries: Vec<IndexEntry>,
    plugins: Vec<String>,
    library: PathBuf,
    prefix: &Path,
    resource: PathBuf,
) -> Result<Installed, InstallError> {
    let entry = |plugin: &String| IndexEntry {
        plugin: plugin.clone(),
        library: library.clone(),
        prefix: prefix.to_owned(),
    };
    entries.extend(plugins.iter().map(entry));
    let line = |entry: IndexEntry| {
        let library = entry.library.strip_prefix(prefix).unwrap_or(&entry.library);
        format!("{};{}\n", entry.plugin, library.display())
    };
    write(&resource, &entries.into_iter().map(line).collect::<String>())?;
    Ok(Installed { plugins, library, resource })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;

    #[test]
    fn only_component_libraries_are_installed() {
        let prefix = tempfile::tempdir().unwrap();
        let text = prefix.path().join("libtext.so");
        fs::write(&text, "no library").unwrap();
        let missing = prefix.path().join("libmissing.so");
        for put in [register, install] {
            let of = |library: &Path, package| put(library, package, prefix.path()).unwrap_err();
            let error = of(&text, "demo");
            assert!(
                matches!(error, InstallError::Library(LibraryError::NotALibrary { .. })),
                "{error}"
            );
            let error = of(&missing, "demo");
            assert!(matches!(error, InstallError::Library(LibraryError::File { .. })), "{error}");
            let error = of(&text, "a/b");
            assert!(matches!(error, InstallError::PackageName(_)), "{error}");
        }
        assert_eq!(Index::new([prefix.path().into()]).packages(), [""; 0]);
    }

    #[test]
    fn only_a_file_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, link, to] = ["pipe", "link", "to"].map(|name| folder.path().join(name));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        let error = copy(&pipe, &to).unwrap_err().to_string();
        assert!(error.contains("pipe cannot be read: "), "{error}");
        let error = copy(&link, &to).unwrap_err().to_string();
        assert!(error.ends_with("it is a link to nowhere, which does not exist"), "{error}");
        assert!(!to.exists());
    }

    #[test]
    fn a_file_takes_its_place_as_a_whole_and_only_when_it_differs() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("deep/to"));
        fs::write(&from, "one").unwrap();
        fs::set_permissions(&from, fs::Permissions::from_mode(0o755)).unwrap();
        let inode = || to.metadata().unwrap().ino();
        copy(&from, &to).unwrap();
        let first = inode();
        assert_eq!(to.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        copy(&from, &to).unwrap();
        assert_eq!(inode(), first, "the same content is left alone");
        fs::write(&from, "two").unwrap();
        copy(&from, &to).unwrap();
        assert_ne!(inode(), first, "readers of the old file keep it");
        assert_eq!(fs::read_to_string(&to).unwrap(), "two");
        assert_eq!(
            fs::read_dir(to.parent().unwrap()).unwrap().count(),
            1,
            "nothing is left beside"
        );
    }
}
