//! The functions of `shim/messages.cpp`.

use std::ffi::{c_char, c_int, c_void};

use crate::ffi;
use crate::program::Accessors;

/// The result of an access to a buffer that ended without an exception.
pub(crate) const DONE: c_int = 0;
/// The result of an access to a buffer for which there was not enough memory.
pub(crate) const NO_MEMORY: c_int = 1;

unsafe extern "C" {
    pub(crate) fn feros_text_size() -> usize;
    pub(crate) fn feros_wide_text_size() -> usize;
    pub(crate) fn feros_text_read(text: *const c_void, length: *mut usize) -> *const u8;
    pub(crate) fn feros_text_assign(text: *mut c_void, data: *const u8, length: usize) -> bool;
    pub(crate) fn feros_wide_text_read(text: *const c_void, length: *mut usize) -> *const u16;
    pub(crate) fn feros_wide_text_resize(text: *mut c_void, length: usize) -> *mut u16;
    pub(crate) fn feros_bits_read(bits: *const c_void, out: *mut u8, count: usize);
    pub(crate) fn feros_bits_assign(bits: *mut c_void, data: *const u8, count: usize) -> bool;
    pub(crate) fn feros_vector_assign(
        vector: *mut c_void,
        width: usize,
        data: *const u8,
        count: usize,
    ) -> bool;
    pub(crate) fn feros_vector_resize(
        resize: ffi::Resize,
        vector: *mut c_void,
        count: usize,
    ) -> bool;
    /// Returns the bytes of a buffer and their number. The result is [`DONE`], [`NO_MEMORY`], or
    /// another number if there was an exception, whose text is then in `said`.
    pub(crate) fn feros_buffer_read(
        accessors: *const Accessors,
        buffer: *const c_void,
        data: *mut *const u8,
        count: *mut usize,
        said: *mut c_char,
        capacity: usize,
    ) -> c_int;
    /// Resizes a buffer, and returns its bytes. The result is the same as that of
    /// [`feros_buffer_read`].
    pub(crate) fn feros_buffer_resize(
        accessors: *const Accessors,
        buffer: *mut c_void,
        count: usize,
        data: *mut *mut u8,
        said: *mut c_char,
        capacity: usize,
    ) -> c_int;
    pub(crate) fn feros_message_init(init: ffi::Init, message: *mut c_void, how: c_int) -> bool;
    pub(crate) fn feros_message_fini(fini: ffi::Fini, message: *mut c_void);
    /// `find` is an [`ffi::MessageFind`] or an [`ffi::ServiceFind`]; both have the same calling
    /// convention.
    pub(crate) fn feros_type_support_find(
        find: unsafe extern "C" fn(*const c_void, *const c_char) -> *const c_void,
        type_support: *const c_void,
        identifier: *const c_char,
        said: *mut c_char,
        capacity: usize,
    ) -> *const c_void;
}
