//! The structures of `rosidl_runtime_c` and of both introspection packages, as the headers of ROS 2
//! Jazzy and Kilted declare them; `tests/it/layouts.rs` compares them with the headers. [`lyrical`]
//! has the structures with more fields in ROS 2 Lyrical.

#![allow(non_camel_case_types)] // the names are those of the headers

use std::ffi::{CStr, c_char, c_int, c_void};

/// The identifier of introspection for C messages.
pub const INTROSPECTION_C: &CStr = c"rosidl_typesupport_introspection_c";
/// The identifier of introspection for C++ messages.
pub const INTROSPECTION_CPP: &CStr = c"rosidl_typesupport_introspection_cpp";

/// Looks up the type support with an identifier; returns null if there is no such type support. May
/// throw an exception if the type support belongs to C++.
pub type MessageFind = unsafe extern "C" fn(
    *const rosidl_message_type_support_t,
    *const c_char,
) -> *const rosidl_message_type_support_t;

/// The same as [`MessageFind`], for services.
pub type ServiceFind = unsafe extern "C" fn(
    *const rosidl_service_type_support_t,
    *const c_char,
) -> *const rosidl_service_type_support_t;

/// The hash of a type: the RIHS version and the value.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct rosidl_type_hash_t {
    /// 1 for RIHS01; 0 if there is no hash.
    pub version: u8,
    /// The SHA-256 hash of the type's description.
    pub value: [u8; 32],
}

/// The type support of a message.
#[repr(C)]
#[derive(Debug)]
pub struct rosidl_message_type_support_t {
    /// The identifier of the type support.
    pub typesupport_identifier: *const c_char,
    /// For introspection: [`MessageMembers`].
    pub data: *const c_void,
    /// Finds the same type in another type support.
    pub func: Option<MessageFind>,
    /// The type's hash.
    pub get_type_hash_func: Option<
        unsafe extern "C" fn(*const rosidl_message_type_support_t) -> *const rosidl_type_hash_t,
    >,
    /// The type's description.
    pub get_type_description_func:
        Option<unsafe extern "C" fn(*const rosidl_message_type_support_t) -> *const c_void>,
    /// The sources of the description.
    pub get_type_description_sources_func:
        Option<unsafe extern "C" fn(*const rosidl_message_type_support_t) -> *const c_void>,
}

/// The type support of a service.
#[repr(C)]
#[derive(Debug)]
pub struct rosidl_service_type_support_t {
    /// The identifier of the type support.
    pub typesupport_identifier: *const c_char,
    /// For introspection: [`ServiceMembers`].
    pub data: *const c_void,
    /// Finds the same type in another type support.
    pub func: Option<ServiceFind>,
    /// The request's type support.
    pub request_typesupport: *const rosidl_message_type_support_t,
    /// The response's type support.
    pub response_typesupport: *const rosidl_message_type_support_t,
    /// The event's type support.
    pub event_typesupport: *const rosidl_message_type_support_t,
    /// Creates an event message.
    pub event_message_create_handle_function: Option<
        unsafe extern "C" fn(
            *const c_void,
            *mut c_void,
            *const c_void,
            *const c_void,
        ) -> *mut c_void,
    >,
    /// Destroys an event message.
    pub event_message_destroy_handle_function:
        Option<unsafe extern "C" fn(*mut c_void, *mut c_void) -> bool>,
    /// The type's hash.
    pub get_type_hash_func: Option<
        unsafe extern "C" fn(*const rosidl_service_type_support_t) -> *const rosidl_type_hash_t,
    >,
    /// The type's description.
    pub get_type_description_func:
        Option<unsafe extern "C" fn(*const rosidl_service_type_support_t) -> *const c_void>,
    /// The sources of the description.
    pub get_type_description_sources_func:
        Option<unsafe extern "C" fn(*const rosidl_service_type_support_t) -> *const c_void>,
}

/// One field of a message, with its functions for arrays and sequences.
#[repr(C)]
#[derive(Debug)]
pub struct MessageMember {
    /// The field's name.
    pub name_: *const c_char,
    /// The type of the field; see [`field_type`].
    pub type_id_: u8,
    /// The bound of a string; 0 if it has no bound.
    pub string_upper_bound_: usize,
    /// The type support of a nested message, from the same introspection.
    pub members_: *const rosidl_message_type_support_t,
    /// Whether the field is part of the key.
    pub is_key_: bool,
    /// Whether the field is an array or a sequence.
    pub is_array_: bool,
    /// The number of elements of an array, or the bound of a sequence; 0 for a sequence without a
    /// bound.
    pub array_size_: usize,
    /// Whether `array_size_` is the bound of a sequence.
    pub is_upper_bound_: bool,
    /// The offset of the field in the message.
    pub offset_: u32,
    /// The default value.
    pub default_value_: *const c_void,
    /// Returns the number of elements.
    pub size_function: Option<unsafe extern "C" fn(*const c_void) -> usize>,
    /// Returns one element for reading.
    pub get_const_function: Option<unsafe extern "C" fn(*const c_void, usize) -> *const c_void>,
    /// Returns one element for writing.
    pub get_function: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    /// Copies one element out of the sequence.
    pub fetch_function: Option<unsafe extern "C" fn(*const c_void, usize, *mut c_void)>,
    /// Copies one element into the sequence.
    pub assign_function: Option<unsafe extern "C" fn(*mut c_void, usize, *const c_void)>,
    /// Changes the number of elements; see [`Resize`].
    pub resize_function: Option<Resize>,
}

/// `resize_function` of C++, which throws if there is not enough memory. The C function returns
/// whether there was enough memory, and is called as a [`ResizeC`].
pub type Resize = unsafe extern "C" fn(*mut c_void, usize);

/// `resize_function` of C, which returns false if there is not enough memory.
pub type ResizeC = unsafe extern "C" fn(*mut c_void, usize) -> bool;

/// `init_function`: its second argument, such as [`MESSAGE_INIT_ALL`], selects the fields that it
/// initializes.
pub type Init = unsafe extern "C" fn(*mut c_void, c_int);

/// `fini_function`.
pub type Fini = unsafe extern "C" fn(*mut c_void);

/// Initializes all fields with their defaults.
pub const MESSAGE_INIT_ALL: c_int = 0;

/// The description of a message.
#[repr(C)]
#[derive(Debug)]
pub struct MessageMembers {
    /// The namespace, such as `std_msgs__msg` in C and `std_msgs::msg` in C++.
    pub message_namespace_: *const c_char,
    /// The name, such as `String`.
    pub message_name_: *const c_char,
    /// The number of fields.
    pub member_count_: u32,
    /// The size of the struct, in bytes.
    pub size_of_: usize,
    /// Whether any field is part of a key.
    pub has_any_key_member_: bool,
    /// The fields.
    pub members_: *const MessageMember,
    /// Initializes a message in the given memory.
    pub init_function: Option<Init>,
    /// Finalizes a message, but does not free the memory of its struct.
    pub fini_function: Option<Fini>,
}

/// The description of a service.
#[repr(C)]
#[derive(Debug)]
pub struct ServiceMembers {
    /// The namespace, such as `std_srvs__srv` in C and `std_srvs::srv` in C++.
    pub service_namespace_: *const c_char,
    /// The name, such as `SetBool`.
    pub service_name_: *const c_char,
    /// The request.
    pub request_members_: *const MessageMembers,
    /// The response.
    pub response_members_: *const MessageMembers,
    /// The event.
    pub event_members_: *const MessageMembers,
}

/// A C sequence with elements of any type. In ROS 2 Lyrical, sequences of primitives are
/// [`lyrical::PrimitiveSequence`]s.
#[repr(C)]
#[derive(Debug)]
pub struct Sequence {
    /// A pointer to the elements; null if the capacity is 0.
    pub data: *mut c_void,
    /// The number of elements.
    pub size: usize,
    /// The number of elements for which there is memory.
    pub capacity: usize,
}

/// `rosidl_runtime_c__String`.
#[repr(C)]
#[derive(Debug)]
pub struct rosidl_runtime_c__String {
    /// The characters and a NUL.
    pub data: *mut c_char,
    /// The number of characters, without the NUL.
    pub size: usize,
    /// The number of bytes for which there is memory; it is 0 only if `data` is null.
    pub capacity: usize,
}

/// `rosidl_runtime_c__U16String`.
#[repr(C)]
#[derive(Debug)]
pub struct rosidl_runtime_c__U16String {
    /// The code units and a NUL.
    pub data: *mut u16,
    /// The number of code units, without the NUL.
    pub size: usize,
    /// The number of code units for which there is memory; it is 0 only if `data` is null.
    pub capacity: usize,
}

/// The structures that have more fields in ROS 2 Lyrical than in ROS 2 Jazzy and Kilted. They were
/// written from published information only (ros2/rosidl#942 and #943), and never run with Lyrical.
pub mod lyrical {
    /// One field of a message.
    #[repr(C)]
    #[derive(Debug)]
    pub struct MessageMember {
        /// The fields of the earlier distributions.
        pub member: super::MessageMember,
        /// Whether the field is a `uint8[]` that may be outside of the memory of the CPU. In a C++
        /// message, it is a `rosidl::Buffer`; in a C message, a [`PrimitiveSequence`].
        pub is_rosidl_buffer_: bool,
    }

    /// A C sequence whose elements are primitives.
    #[repr(C)]
    #[derive(Debug)]
    pub struct PrimitiveSequence {
        /// The fields of the earlier distributions.
        pub sequence: super::Sequence,
        /// Whether `data` points to a `rosidl::Buffer`, 0 or 1. It is a number here, because a host
        /// program may have stored any byte.
        pub is_rosidl_buffer: u8,
        /// Whether the sequence owns the `rosidl::Buffer`, 0 or 1.
        pub owns_rosidl_buffer: u8,
    }
}

/// The values of [`MessageMember::type_id_`].
#[allow(missing_docs)] // the names say everything
pub mod field_type {
    pub const FLOAT: u8 = 1;
    pub const DOUBLE: u8 = 2;
    pub const LONG_DOUBLE: u8 = 3;
    pub const CHAR: u8 = 4;
    pub const WCHAR: u8 = 5;
    pub const BOOLEAN: u8 = 6;
    pub const OCTET: u8 = 7;
    pub const UINT8: u8 = 8;
    pub const INT8: u8 = 9;
    pub const UINT16: u8 = 10;
    pub const INT16: u8 = 11;
    pub const UINT32: u8 = 12;
    pub const INT32: u8 = 13;
    pub const UINT64: u8 = 14;
    pub const INT64: u8 = 15;
    pub const STRING: u8 = 16;
    pub const WSTRING: u8 = 17;
    pub const MESSAGE: u8 = 18;
}

/// A string of a description; empty if the pointer is null.
///
/// # Safety
/// `text` is null or ends with NUL.
pub(crate) unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by this function's contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
