//! The type supports of stock ROS 2 and its Fast CDR, from the libraries of the wheels.

use std::collections::HashMap;
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::Mutex;

use feros_interface::TypeName;
use feros_interop::prefix_of_ros2;
use feros_typesupport::ffi;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY};

/// A language for which rosidl generates messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
}

/// Both languages.
pub(crate) const LANGUAGES: [Language; 2] = [Language::C, Language::Cpp];

impl Language {
    fn suffix(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
        }
    }
}

const FAST_CDR: &str = "libfastcdr.so.2";

/// The libraries of stock ROS 2. Opened libraries stay open.
pub(crate) struct Wheels {
    folders: Vec<PathBuf>,
    opened: Mutex<HashMap<String, &'static Library>>,
}

impl Wheels {
    /// Finds the libraries; `None` if the environment says that stock ROS 2 is not available.
    pub(crate) fn find() -> Option<Self> {
        let prefix = prefix_of_ros2()?;
        let mut folders = vec![prefix.join("lib")];
        // The third-party libraries of a wheel lie beside the Python packages.
        for python in std::fs::read_dir(prefix.join("lib")).unwrap() {
            let Ok(packages) = std::fs::read_dir(python.unwrap().path().join("site-packages"))
            else {
                continue;
            };
            let carried = packages.map(|entry| entry.unwrap().path());
            folders.extend(carried.filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("ros_") && name.ends_with(".libs")
            }));
        }
        let wheels = Self { folders, opened: Mutex::default() };
        // Debian 13 installs an older Fast CDR of the same name, which the loader would find first.
        if wheels.path_of(FAST_CDR).is_some() {
            wheels.open(FAST_CDR);
        }
        Some(wheels)
    }

    /// Adds a folder to search for libraries.
    pub(crate) fn add_folder(&mut self, folder: PathBuf) {
        self.folders.insert(0, folder);
    }

    /// Opens a library and the libraries that it needs. The loader does not find the needed
    /// libraries by itself, since the environment of a test has no path to them, but it finds a
    /// library by name once that library is open.
    fn open(&self, name: &str) -> &'static Library {
        if let Some(library) = self.opened.lock().unwrap().get(name) {
            return library;
        }
        let path = self.path_of(name).unwrap_or_else(|| panic!("no wheel has {name}"));
        let mut last = String::new();
        loop {
            // SAFETY: the libraries of stock ROS 2 are made to be loaded.
            let error = match unsafe { Library::open(Some(&path), RTLD_LAZY | RTLD_GLOBAL) } {
                Ok(library) => {
                    let library: &'static Library = Box::leak(Box::new(library));
                    self.opened.lock().unwrap().insert(name.to_owned(), library);
                    return library;
                }
                Err(error) => error.to_string(),
            };
            let needed = error.split(": cannot open shared object file").next();
            let needed = needed.and_then(|text| text.rsplit([' ', '"']).next()).unwrap_or("");
            let is_new = needed != name && needed != last;
            assert!(is_new && needed.contains(".so"), "{}: {error}", path.display());
            self.open(needed);
            last = needed.to_owned();
        }
    }

    fn path_of(&self, name: &str) -> Option<PathBuf> {
        self.folders.iter().map(|folder| folder.join(name)).find(|path| path.exists())
    }

    fn function(&self, library: &str, name: &str) -> *mut c_void {
        // SAFETY: only the address is taken.
        let symbol = unsafe { self.open(library).get::<*mut c_void>(name.as_bytes()) };
        symbol.unwrap_or_else(|error| panic!("{library}: {error}")).into_raw()
    }

    /// The type support that a program would pass, which finds the other type supports of the type.
    pub(crate) fn message(
        &self,
        language: Language,
        name: &TypeName,
    ) -> *const ffi::rosidl_message_type_support_t {
        self.type_support(language, name, "message").cast()
    }

    /// The same as [`Wheels::message`], for a service.
    pub(crate) fn service(
        &self,
        language: Language,
        name: &TypeName,
    ) -> *const ffi::rosidl_service_type_support_t {
        self.type_support(language, name, "service").cast()
    }

    fn type_support(&self, language: Language, name: &TypeName, kind: &str) -> *const c_void {
        let (package, suffix) = (&name.package, language.suffix());
        for support in ["introspection_", "fastrtps_"] {
            self.open(&format!("lib{package}__rosidl_typesupport_{support}{suffix}.so"));
        }
        let function = self.function(
            &format!("lib{package}__rosidl_typesupport_{suffix}.so"),
            &format!(
                "rosidl_typesupport_{suffix}__get_{kind}_type_support_handle__{package}__{}__{}",
                name.namespace, name.name
            ),
        );
        // SAFETY: functions with such names have this signature.
        let function: unsafe extern "C" fn() -> *const c_void =
            unsafe { std::mem::transmute(function) };
        // SAFETY: the function has no preconditions.
        unsafe { function() }
    }

    /// Fast CDR, as rmw_fastrtps uses it.
    pub(crate) fn fast_cdr(&self) -> FastCdr {
        let rmw = "librmw_fastrtps_cpp.so";
        // SAFETY: the functions with these names have these signatures.
        unsafe {
            let allocator: unsafe extern "C" fn() -> Allocator = std::mem::transmute(
                self.function("librcutils.so", "rcutils_get_default_allocator"),
            );
            FastCdr {
                serialize: std::mem::transmute::<*mut c_void, Serialize>(
                    self.function(rmw, "rmw_serialize"),
                ),
                deserialize: std::mem::transmute::<*mut c_void, Deserialize>(
                    self.function(rmw, "rmw_deserialize"),
                ),
                fini: std::mem::transmute::<*mut c_void, Fini>(
                    self.function("librcutils.so", "rcutils_uint8_array_fini"),
                ),
                allocator: allocator(),
            }
        }
    }
}

/// `rcutils_allocator_t`: four functions and a state.
#[repr(C)]
#[derive(Clone, Copy)]
struct Allocator([usize; 5]);

/// `rmw_serialized_message_t`.
#[repr(C)]
pub(crate) struct Serialized {
    buffer: *mut u8,
    length: usize,
    capacity: usize,
    allocator: Allocator,
}

type Serialize = unsafe extern "C" fn(
    *const c_void,
    *const ffi::rosidl_message_type_support_t,
    *mut Serialized,
) -> i32;
type Deserialize = unsafe extern "C" fn(
    *const Serialized,
    *const ffi::rosidl_message_type_support_t,
    *mut c_void,
) -> i32;
type Fini = unsafe extern "C" fn(*mut Serialized) -> i32;

/// The functions with which stock ROS 2 serializes.
pub(crate) struct FastCdr {
    serialize: Serialize,
    deserialize: Deserialize,
    fini: Fini,
    allocator: Allocator,
}

impl FastCdr {
    /// A buffer that grows as needed.
    pub(crate) fn buffer(&self) -> Serialized {
        let (buffer, allocator) = (std::ptr::null_mut(), self.allocator);
        Serialized { buffer, length: 0, capacity: 0, allocator }
    }

    /// Frees the memory of a buffer.
    pub(crate) fn free(&self, mut buffer: Serialized) {
        // SAFETY: the buffer is valid, and nobody uses it again.
        assert_eq!(unsafe { (self.fini)(&raw mut buffer) }, 0);
    }

    /// Writes a message to a buffer.
    ///
    /// # Safety
    /// The message has the type of `ty`.
    pub(crate) unsafe fn serialize(
        &self,
        ty: *const ffi::rosidl_message_type_support_t,
        message: *const c_void,
        to: &mut Serialized,
    ) {
        // SAFETY: by this function's contract.
        assert_eq!(unsafe { (self.serialize)(message, ty, to) }, 0);
    }

    /// Reads a message; bytes after it are ignored.
    ///
    /// # Safety
    /// The message has the type of `ty`.
    pub(crate) unsafe fn deserialize(
        &self,
        ty: *const ffi::rosidl_message_type_support_t,
        bytes: &[u8],
        message: *mut c_void,
    ) {
        let (buffer, len) = (bytes.as_ptr().cast_mut(), bytes.len());
        let allocator = self.allocator;
        let from = Serialized { buffer, length: len, capacity: len, allocator };
        // SAFETY: by this function's contract; the bytes are only read.
        assert_eq!(unsafe { (self.deserialize)(&raw const from, ty, message) }, 0);
    }
}

impl Serialized {
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: `length` bytes were written.
        unsafe { std::slice::from_raw_parts(self.buffer, self.length) }
    }
}
