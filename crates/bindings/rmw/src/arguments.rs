//! Checks the arguments of host programs: null pointers, objects of other implementations, strings.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

use crate::error::Failure;
use crate::ffi::{
    rmw_client_t, rmw_context_t, rmw_event_t, rmw_gid_t, rmw_guard_condition_t, rmw_init_options_t,
    rmw_node_t, rmw_publisher_t, rmw_service_t, rmw_subscription_t, rmw_wait_set_t,
};
use crate::identity::identifier;

/// An object that has the identifier of the implementation that made the object.
pub(crate) trait Identified {
    /// The kind of object, as errors name it.
    const WHAT: &'static str;

    /// The identifier in the object.
    fn identifier(&self) -> *const c_char;
}

macro_rules! identified {
    ($($object:ty => $what:literal),* $(,)?) => {
        $(impl Identified for $object {
            const WHAT: &'static str = $what;

            fn identifier(&self) -> *const c_char {
                self.implementation_identifier
            }
        })*
    };
}

identified! {
    rmw_init_options_t => "init options",
    rmw_context_t => "context",
    rmw_node_t => "node",
    rmw_publisher_t => "publisher",
    rmw_subscription_t => "subscription",
    rmw_client_t => "client",
    rmw_service_t => "service",
    rmw_guard_condition_t => "guard condition",
    rmw_wait_set_t => "wait set",
    rmw_event_t => "event",
    rmw_gid_t => "gid",
}

fn is_null(what: &str) -> Failure {
    Failure::invalid(format!("the argument `{what}` is null"))
}

/// The value behind a pointer from the host program.
///
/// # Safety
/// The pointer is null or points to a value that stays alive throughout the call.
pub(crate) unsafe fn given<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: [pointers] the pointer is null or valid for the whole call.
    unsafe { pointer.as_ref() }.ok_or_else(|| is_null(what))
}

/// An object of this implementation.
///
/// # Safety
/// The contract of [`given`].
pub(crate) unsafe fn ours<'a, T: Identified>(pointer: *const T) -> Result<&'a T, Failure> {
    // SAFETY: [pointers] the object is null or valid for the whole call.
    let object = unsafe { given(pointer, T::WHAT) }?;
    if object.identifier() == identifier() {
        Ok(object)
    } else if object.identifier().is_null() {
        Err(Failure::invalid(format!("the {} was not initialized", T::WHAT)))
    } else {
        Err(Failure::foreign(T::WHAT))
    }
}

/// A string from the host program.
///
/// # Safety
/// The pointer is null or points to a string that ends with NUL and stays alive throughout the
/// call.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(is_null(what));
    }
    // SAFETY: [strings] the string ends with NUL and stays alive throughout the call.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::invalid(format!("the argument `{what}` is not UTF-8")))
}

/// Memory of the host program for a result. The memory may be uninitialized, so its old content is
/// neither read nor dropped.
pub(crate) struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// # Safety
    /// The pointer is null or points to memory for a value that nobody else uses during the call.
    pub(crate) unsafe fn new(pointer: *mut T, what: &str) -> Result<Self, Failure> {
        NonNull::new(pointer).map(Self).ok_or_else(|| is_null(what))
    }

    /// Writes the result.
    pub(crate) fn set(&self, value: T) {
        // SAFETY: [outputs] there is memory for the value, which nobody else uses.
        unsafe { self.0.as_ptr().write(value) };
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::ffi::{RMW_RET_INCORRECT_RMW_IMPLEMENTATION, RMW_RET_INVALID_ARGUMENT};

    #[test]
    fn objects_are_known_by_who_made_them() {
        let mut gid = rmw_gid_t { implementation_identifier: identifier(), data: [0; 16] };
        // SAFETY: each pointer is null or points to the gid.
        let code = |pointer| unsafe { ours::<rmw_gid_t>(pointer) }.err().map(|error| error.code);
        assert_eq!(code(&raw const gid), None);
        assert_eq!(code(ptr::null()), Some(RMW_RET_INVALID_ARGUMENT));
        gid.implementation_identifier = ptr::null();
        assert_eq!(code(&raw const gid), Some(RMW_RET_INVALID_ARGUMENT));
        gid.implementation_identifier = c"rmw_feros".as_ptr(); // the same name at another address
        assert_eq!(code(&raw const gid), Some(RMW_RET_INCORRECT_RMW_IMPLEMENTATION));
    }

    #[test]
    fn texts_are_checked() {
        // SAFETY: each pointer is null or points to a string.
        let read = |pointer| unsafe { text(pointer, "name") };
        assert_eq!(read(c"ok".as_ptr()), Ok("ok"));
        assert!(read(ptr::null()).is_err_and(|error| error.text.contains("`name` is null")));
        assert!(read(c"\xff".as_ptr()).is_err_and(|error| error.text.contains("UTF-8")));
    }
}
