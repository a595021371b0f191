//! The result of an rmw function that fails: a code, and a text with the cause and the cure, which
//! rcutils stores per thread. Every entry point of the library runs in [`guarded`] or
//! [`guarded_pointer`], which turn a panic into an error.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::ffi::{
    RMW_RET_BAD_ALLOC, RMW_RET_ERROR, RMW_RET_INCORRECT_RMW_IMPLEMENTATION,
    RMW_RET_INVALID_ARGUMENT, RMW_RET_NODE_NAME_NON_EXISTENT, RMW_RET_OK, RMW_RET_TIMEOUT,
    RMW_RET_UNSUPPORTED, rmw_ret_t,
};
use crate::host;
use crate::identity::NAME;

/// The reason why an rmw function failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: rmw_ret_t,
    /// The text for people; empty if the code is sufficient, as for a timeout.
    pub(crate) text: String,
}

impl Failure {
    fn new(code: rmw_ret_t, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    /// An argument that the function does not accept.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(RMW_RET_INVALID_ARGUMENT, text)
    }

    /// A failure in a lower layer, with the text of that layer.
    pub(crate) fn error(error: impl Display) -> Self {
        Self::new(RMW_RET_ERROR, error.to_string())
    }

    /// A feature that this implementation does not have.
    pub(crate) fn unsupported(text: impl Into<String>) -> Self {
        Self::new(RMW_RET_UNSUPPORTED, text)
    }

    /// An object of another implementation.
    pub(crate) fn foreign(what: &str) -> Self {
        let text = format!(
            "the {what} was created by an rmw implementation other than {NAME}: a process uses \
             only one, which RMW_IMPLEMENTATION names"
        );
        Self::new(RMW_RET_INCORRECT_RMW_IMPLEMENTATION, text)
    }

    /// The allocator of the host program returned null.
    pub(crate) fn out_of_memory(size_bytes: usize) -> Self {
        let text = format!("the allocator has no memory for {size_bytes} bytes");
        Self::new(RMW_RET_BAD_ALLOC, text)
    }

    /// The timeout passed. The code is sufficient, so the text is empty.
    pub(crate) fn timeout() -> Self {
        Self::new(RMW_RET_TIMEOUT, "")
    }

    /// No node with this name is known.
    pub(crate) fn no_node(name: &str) -> Self {
        let text =
            format!("node {name} is not known: a node that has only now started may appear later");
        Self::new(RMW_RET_NODE_NAME_NON_EXISTENT, text)
    }

    fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no message was given");
        Self::error(format!(
            "{NAME} panicked: {text}; this is a defect of {NAME}, please report it"
        ))
    }

    /// Passes the text to rcutils, and returns the code.
    fn tell(self) -> rmw_ret_t {
        if !self.text.is_empty() {
            host::set_error(&self.text);
        }
        self.code
    }
}

/// Runs the body of a function that returns a code.
pub(crate) fn guarded(body: impl FnOnce() -> Result<(), Failure>) -> rmw_ret_t {
    // Unwind safety: only later calls on the same object see the state after a panic, and the locks
    // of the object ignore poisoning.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => RMW_RET_OK,
        Ok(Err(failure)) => failure.tell(),
        Err(payload) => Failure::panicked(&*payload).tell(),
    }
}

/// Runs the body of a function that returns an object, or null when it fails.
pub(crate) fn guarded_pointer<T>(body: impl FnOnce() -> Result<*mut T, Failure>) -> *mut T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(pointer)) => pointer,
        Ok(Err(failure)) => {
            failure.tell();
            ptr::null_mut()
        }
        Err(payload) => {
            Failure::panicked(&*payload).tell();
            ptr::null_mut()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(guarded(|| panic!("on purpose")), RMW_RET_ERROR);
        assert!(guarded_pointer::<u8>(|| panic!("on purpose")).is_null());
        assert_eq!(guarded(|| Err(Failure::timeout())), RMW_RET_TIMEOUT);
        assert_eq!(guarded(|| Ok(())), RMW_RET_OK);
    }

    #[test]
    fn the_text_of_a_panic_is_told() {
        let told = |payload: Box<dyn Any + Send>| Failure::panicked(&*payload).text;
        assert!(told(Box::new("short")).contains("panicked: short;"));
        assert!(told(Box::new("long".to_owned())).contains("panicked: long;"));
        assert!(told(Box::new(7)).contains("no message was given"));
    }
}
