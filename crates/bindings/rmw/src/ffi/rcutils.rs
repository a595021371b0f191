//! The types that rmw takes from rcutils: allocators, arrays, return codes.

use std::ffi::{c_char, c_void};

/// An allocator: its functions, and the state that is passed to them.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct rcutils_allocator_t {
    pub(crate) allocate: Option<unsafe extern "C" fn(usize, *mut c_void) -> *mut c_void>,
    pub(crate) deallocate: Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>,
    pub(crate) reallocate:
        Option<unsafe extern "C" fn(*mut c_void, usize, *mut c_void) -> *mut c_void>,
    pub(crate) zero_allocate:
        Option<unsafe extern "C" fn(usize, usize, *mut c_void) -> *mut c_void>,
    pub(crate) state: *mut c_void,
}

/// An array of strings, with its allocator.
#[repr(C)]
pub(crate) struct rcutils_string_array_t {
    pub(crate) size: usize,
    pub(crate) data: *mut *mut c_char,
    pub(crate) allocator: rcutils_allocator_t,
}

/// An array of bytes, with its allocator: `rmw_serialized_message_t`.
#[repr(C)]
pub(crate) struct rcutils_uint8_array_t {
    pub(crate) buffer: *mut u8,
    pub(crate) buffer_length: usize,
    pub(crate) buffer_capacity: usize,
    pub(crate) allocator: rcutils_allocator_t,
}

/// `rmw_serialized_message_t` of rmw.
pub(crate) type rmw_serialized_message_t = rcutils_uint8_array_t;
