//! The C interface of the Feros shim over Fast DDS (`shim/feros_fastdds.h`), which is loaded on
//! demand. A program that does not use the engine pays nothing for it and does not need Fast DDS.
//!
//! This crate's build compiles the shim if the headers of Fast DDS 3 or 2 are installed: in
//! `FEROS_FASTDDS_PREFIX`, a sourced ROS 2 installation (`AMENT_PREFIX_PATH`), a Python environment
//! with the ROS 2 wheels (`VIRTUAL_ENV`, or `.venv` next to the sources), or `/usr`. At run time,
//! the shim is searched for at `FEROS_FASTDDS_SHIM`, next to the program, in `../lib`, and where it
//! was built. `shim/api_2.hpp` and `shim/api_3.hpp` contain the differences between the versions.
//!
//! # Invariants
//!
//! No library of Fast DDS is linked or loaded before a program chooses the engine. Messages remain
//! bytes: Fast DDS 3 sends from, receives into and lends the buffers of the shim's pool. A shim of
//! another build whose header differs is refused; `types.rs` repeats the types of the header.
#![allow(non_camel_case_types, reason = "names of the C header")]

mod types;

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

pub use types::*;

/// The interface version that this crate needs. The build computes it from the header, for the shim
/// and for this crate.
const INTERFACE: u32 = match u32::from_str_radix(env!("FEROS_FASTDDS_INTERFACE"), 16) {
    Ok(version) => version,
    Err(_) => panic!("the build gives a number"),
};

/// The reason why the shim cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The shim was not found.
    #[error(
        "the Fast DDS engine was not built: libferos_fastdds.so is in none of {searched}. Install Fast DDS (with \
         ROS 2, `pip install ros-fastdds`, or `apt-get install libfastrtps-dev`), build Feros with --features fastdds and FEROS_FASTDDS_PREFIX \
         set to its prefix, or set FEROS_FASTDDS_SHIM to the file"
    )]
    Missing {
        /// The paths that were searched.
        searched: String,
    },
    /// The shim exists but cannot be loaded.
    #[error(
        "{path} cannot be loaded: {detail}. Does the libfastdds.so of the build still exist? \
         Rebuild, or set LD_LIBRARY_PATH"
    )]
    Broken {
        /// The file.
        path: String,
        /// The error of the loader.
        detail: String,
    },
    /// The shim belongs to another version of Feros.
    #[error(
        "{path} has interface version {found}, but this program needs {INTERFACE}: build both from \
         the same sources"
    )]
    Version {
        /// The file.
        path: String,
        /// The interface version of the file.
        found: u32,
    },
}

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident = $symbol:literal ($($arg:ty),*) $(-> $out:ty)?;)*) => {
        /// The functions of the shim. `feros_fastdds.h` describes them.
        pub struct Shim {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($arg),*) $(-> $out)?,)*
            _library: libloading::Library,
        }

        impl Shim {
            fn bind(library: libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: the signatures are those of `feros_fastdds.h`, whose version has been
                // checked, and the library remains loaded while the functions exist.
                unsafe {
                    $(let $name = *library.get($symbol)?;)*
                    Ok(Self { $($name,)* _library: library })
                }
            }
        }
    };
}

functions! {
    /// The version of Fast DDS with which the shim was compiled.
    fn version = b"feros_fastdds_version\0" () -> *const c_char;
    /// Sets the callback for Fast DDS's log.
    fn set_log = b"feros_fastdds_set_log\0" (on_log);
    /// Creates a participant; returns null on failure.
    fn participant_new = b"feros_fastdds_participant_new\0" (*const participant_options) -> *mut participant;
    /// Deletes a participant.
    fn participant_delete = b"feros_fastdds_participant_delete\0" (*mut participant);
    /// Gets the GUID of a participant.
    fn participant_guid = b"feros_fastdds_participant_guid\0" (*const participant, *mut [u8; 16]);
    /// Makes a participant ignore another participant.
    fn ignore_participant = b"feros_fastdds_ignore_participant\0" (*mut participant, *const [u8; 16]) -> c_int;
    /// Creates a writer; returns null and sets a code on failure.
    fn writer_new = b"feros_fastdds_writer_new\0" (*mut participant, *const endpoint_options, *mut c_int) -> *mut writer;
    /// Deletes a writer.
    fn writer_delete = b"feros_fastdds_writer_delete\0" (*mut writer);
    /// Gets the GUID of a writer.
    fn writer_guid = b"feros_fastdds_writer_guid\0" (*const writer, *mut [u8; 16]);
    /// Changes the USER_DATA that a writer announces.
    fn writer_set_user_data = b"feros_fastdds_writer_set_user_data\0" (*mut writer, *const u8, usize) -> c_int;
    /// Writes a buffer.
    fn write = b"feros_fastdds_write\0" (*mut writer, *mut buffer, i64, *const [u8; 16], i64, *mut i64) -> c_int;
    /// Waits for acknowledgements.
    fn wait_for_acknowledgments = b"feros_fastdds_wait_for_acknowledgments\0" (*mut writer, i64) -> c_int;
    /// Asserts that a writer is alive.
    fn assert_liveliness = b"feros_fastdds_assert_liveliness\0" (*mut writer) -> c_int;
    /// Creates a reader; returns null and sets a code on failure.
    fn reader_new = b"feros_fastdds_reader_new\0" (*mut participant, *const endpoint_options, *mut c_int) -> *mut reader;
    /// Deletes a reader.
    fn reader_delete = b"feros_fastdds_reader_delete\0" (*mut reader);
    /// Gets the GUID of a reader.
    fn reader_guid = b"feros_fastdds_reader_guid\0" (*const reader, *mut [u8; 16]);
    /// Changes the USER_DATA that a reader announces.
    fn reader_set_user_data = b"feros_fastdds_reader_set_user_data\0" (*mut reader, *const u8, usize) -> c_int;
    /// Takes the oldest sample.
    fn take = b"feros_fastdds_take\0" (*mut reader, *mut sample) -> c_int;
    /// Creates a buffer; returns null on failure.
    fn buffer_new = b"feros_fastdds_buffer_new\0" (usize) -> *mut buffer;
    /// Releases a reference to a buffer.
    fn buffer_unref = b"feros_fastdds_buffer_unref\0" (*mut buffer);
    /// Returns the bytes of a buffer.
    fn buffer_bytes = b"feros_fastdds_buffer_bytes\0" (*mut buffer) -> *mut u8;
}

impl Shim {
    /// Returns the shim. The first call loads it. If this fails, later calls return the same error.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn get() -> Result<&'static Self, LoadError> {
        static SHIM: OnceLock<Result<Shim, LoadError>> = OnceLock::new();
        SHIM.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    /// The version of Fast DDS with which the shim was compiled.
    pub fn fastdds_version(&self) -> String {
        // SAFETY: the shim returns a constant.
        unsafe { CStr::from_ptr((self.version)()) }.to_string_lossy().into_owned()
    }
}

/// Returns the paths at which the shim may be. The first path that exists is used.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os("FEROS_FASTDDS_SHIM").filter(|path| !path.is_empty()) {
        return vec![path.into()];
    }
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.parent().map(PathBuf::from).unwrap_or_default();
    let built = option_env!("FEROS_FASTDDS_SHIM_BUILT").map(PathBuf::from);
    let name = format!("{DLL_PREFIX}feros_fastdds{DLL_SUFFIX}");
    [beside.join(&name), beside.join("../lib").join(&name)].into_iter().chain(built).collect()
}

fn load() -> Result<Shim, LoadError> {
    let candidates = candidates();
    let Some(path) = candidates.iter().find(|path| path.is_file()) else {
        let searched: Vec<_> = candidates.iter().map(|path| path.display().to_string()).collect();
        return Err(LoadError::Missing { searched: searched.join(", ") });
    };
    let shown = path.display().to_string();
    let broken = |error: libloading::Error| LoadError::Broken {
        path: shown.clone(),
        detail: error.to_string(),
    };
    // SAFETY: the constructors of the shim and of Fast DDS have no preconditions.
    let library = unsafe { libloading::Library::new(path) }.map_err(broken)?;
    // SAFETY: every version of the shim has this function with this signature.
    let found = unsafe {
        let interface: libloading::Symbol<'_, unsafe extern "C" fn() -> u32> =
            library.get(b"feros_fastdds_interface\0").map_err(broken)?;
        interface()
    };
    if found != INTERFACE {
        return Err(LoadError::Version { path: shown, found });
    }
    Shim::bind(library).map_err(broken)
}

/// The `context` of the options, which the shim passes to callbacks.
pub type Context = *mut c_void;
