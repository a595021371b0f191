//! The functions of the host program that the library calls: rcutils' functions for the error
//! state.
//!
//! The library is not linked to any library of ROS 2. It may be loaded before all of them
//! (`LD_PRELOAD`), by a loader into a separate scope (`dlopen` by librmw_implementation), or into a
//! Python process whose extension modules keep their libraries private. So the library looks the
//! functions up when they are first needed: first in the scope of the process, then in a
//! librcutils.so that is already loaded.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::identity::NAME;

/// A function of rcutils, looked up when it is first called.
struct Function {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

static SET_ERROR_STATE: Function = Function::named(c"rcutils_set_error_state");
static RESET_ERROR: Function = Function::named(c"rcutils_reset_error");

impl Function {
    const fn named(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The address of the function; `None` while the process has no rcutils.
    fn address(&self) -> Option<*mut c_void> {
        let known = self.found.load(Ordering::Acquire);
        if !known.is_null() {
            return Some(known);
        }
        // SAFETY: the name ends with NUL, and the system defines the pseudo-handle.
        let mut found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr()) };
        if found.is_null() {
            // SAFETY: this call loads nothing, so no code runs. The handle is never closed.
            let library = unsafe {
                libc::dlopen(c"librcutils.so".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD)
            };
            if !library.is_null() {
                // SAFETY: the handle was just opened, and the name ends with NUL.
                found = unsafe { libc::dlsym(library, self.name.as_ptr()) };
            }
        }
        self.found.store(found, Ordering::Release);
        (!found.is_null()).then_some(found)
    }
}

/// Sets the error text of this thread, and replaces an earlier one.
pub(crate) fn set_error(text: &str) {
    let (Some(reset), Some(set)) = (RESET_ERROR.address(), SET_ERROR_STATE.address()) else {
        eprintln!("[{NAME}] {text}"); // without rcutils the host program cannot read the error
        return;
    };
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: this is the signature of `rcutils_reset_error` in rcutils/error_handling.h.
    let reset: unsafe extern "C" fn() = unsafe { std::mem::transmute(reset) };
    // SAFETY: that header has this signature of `rcutils_set_error_state`.
    let set: unsafe extern "C" fn(*const c_char, *const c_char, usize) =
        unsafe { std::mem::transmute(set) };
    // SAFETY: both strings end with NUL; rcutils copies them. Without the reset, rcutils would warn
    // that an earlier error is replaced.
    unsafe {
        reset();
        set(text.as_ptr(), c"rmw_feros".as_ptr(), 0);
    }
}
