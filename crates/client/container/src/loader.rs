//! Opens component libraries. This is the only module of the containers with `unsafe`.
//!
//! An opened library stays mapped until the process ends, because other code still refers to the
//! library after its components have been dropped: `tracing` refers to its callsites, threads to
//! the destructors of its thread-locals, and messages on their way to other components to the drop
//! code of their types. Closing the library would leave dangling pointers; an open library costs
//! its pages only once, no matter how many times its components are loaded.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use feros_component::library::{Library, LibraryError, needed_libraries, shared_feros};
use feros_component::plugin::{CONSTRUCTOR_PREFIX, Constructor};
use feros_sync::Mutex;

/// Why a component has no usable constructor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum LoadError {
    /// The file does not contain the component, or does not fit this container.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The system's loader would load a second Feros with the library.
    #[error(
        "{path} was linked with {theirs}, but this container with {ours}: it would bring another Feros into the \
         process; build both with one call of feros component build"
    )]
    OtherFeros { path: PathBuf, theirs: String, ours: String },
    /// This container has a Feros that it shares with no library.
    #[error(
        "{0} is a library, and the container inside the command feros cannot load libraries: run \
         `feros component build` in the folder of the library's package, which also builds \
         containers that can, and set FEROS_PREFIX_PATH to the prefix that it names"
    )]
    NoSharedFeros(PathBuf),
    /// The library and this container have equal stamps, but different symbols.
    #[error(
        "{path} needs a symbol that is not in this container's Feros ({symbol}): the dependencies of Feros have other \
         versions or features there; build both with one call of feros component build"
    )]
    MissingSymbol { path: PathBuf, symbol: String },
    /// The system's loader refused the library before any of its code ran.
    #[error("{path}: {reason}")]
    Open { path: PathBuf, reason: String },
    /// The file changed after this process opened it.
    #[error(
        "{0} has changed since this container opened it, and an opened library stays in use until the process ends: \
         restart the container"
    )]
    Changed(PathBuf),
}

/// The identity of a file when it was opened: device, inode, length, time of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion(u64, u64, u64, i64, i64);

struct Open {
    library: libloading::Library,
    version: FileVersion,
}

/// The libraries that this process has opened; there is one list, because a process has one address
/// space.
static OPEN: Mutex<Option<HashMap<PathBuf, Open>>> = Mutex::new(None);

/// Returns the constructor of a component, after a check that its library fits. Opens the library
/// unless it is already open.
pub(crate) fn constructor(path: &Path, plugin: &str) -> Result<Constructor, LoadError> {
    let failed = |source| LibraryError::File { path: path.to_owned(), source };
    let path = &path.canonicalize().map_err(failed)?;
    let version = version_of(path).map_err(failed)?;
    let file = Library::read(path)?;
    file.check(plugin)?;
    check_shared_feros(path, file.shared_feros())?;
    // The initializers of the library run below while this lock is held. They belong only to the
    // runtime of the language, since no Rust code runs before `main`.
    let mut open = OPEN.lock();
    let open = open.get_or_insert_default();
    if !open.contains_key(path) {
        tracing::info!("Load Library: {}", path.display());
        let flags = libloading::os::unix::RTLD_NOW | libloading::os::unix::RTLD_LOCAL;
        // SAFETY: the stamp shows that the library was built with the same compiler, target and
        // Feros as this program, so its initializers are those of a Rust library. All symbols are
        // bound now: a missing symbol fails here, before any code of the library runs.
        let library = unsafe { libloading::os::unix::Library::open(Some(path), flags) };
        let library = library.map_err(|error| refused(path, &error))?;
        open.insert(path.clone(), Open { library: library.into(), version });
    }
    let library = &open[path];
    if library.version != version {
        return Err(LoadError::Changed(path.clone()));
    }
    let symbol = format!("{CONSTRUCTOR_PREFIX}{plugin}");
    // SAFETY: the file has this symbol and a stamp equal to this program's, so `register!` of the
    // same Feros made the symbol, which therefore has this type. The pointer outlives the borrow,
    // because libraries are never closed (see above).
    let constructor = unsafe { library.library.get::<Constructor>(symbol.as_bytes()) };
    constructor.map(|symbol| *symbol).map_err(|error| refused(path, &error))
}

/// Refuses all libraries if this program has a Feros that it shares with no library.
pub(crate) fn check_program(path: &Path) -> Result<(), LoadError> {
    match own_shared_feros()? {
        Some(_) => Ok(()),
        None => Err(LoadError::NoSharedFeros(path.to_owned())),
    }
}

/// The shared Feros that this program was linked with.
fn own_shared_feros() -> Result<Option<String>, LibraryError> {
    Ok(shared_feros(needed_libraries(Path::new("/proc/self/exe"))?))
}

/// Refuses a library that would load a shared Feros other than this program's. One prefix may
/// contain two, because the file name of a shared Feros from a registry contains a number.
fn check_shared_feros(path: &Path, theirs: Option<&str>) -> Result<(), LoadError> {
    let ours = own_shared_feros()?;
    if ours.as_deref() == theirs {
        return Ok(());
    }
    let named = |name: Option<&str>| name.unwrap_or("its own copy of Feros").to_owned();
    Err(LoadError::OtherFeros {
        path: path.to_owned(),
        theirs: named(theirs),
        ours: named(ours.as_deref()),
    })
}

fn version_of(path: &Path) -> std::io::Result<FileVersion> {
    let m = path.metadata()?;
    Ok(FileVersion(m.dev(), m.ino(), m.len(), m.mtime(), m.mtime_nsec()))
}

/// Converts the refusal of the system's loader; the text is in the source of `libloading`'s error.
fn refused(path: &Path, error: &libloading::Error) -> LoadError {
    let path = path.to_owned();
    let reason = match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    };
    match reason.split_once("undefined symbol: ") {
        Some((_, symbol)) => LoadError::MissingSymbol { path, symbol: symbol.to_owned() },
        None => LoadError::Open { path, reason },
    }
}
