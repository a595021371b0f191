//! The name of the implementation, by which its objects are known.

use std::ffi::c_char;

/// The name, as `RMW_IMPLEMENTATION` says it.
pub(crate) const NAME: &str = "rmw_feros";

/// A static, not a constant: objects are compared by this address.
static IDENTIFIER: [u8; 10] = *b"rmw_feros\0";
/// Messages are serialized as stock ROS 2 has it.
static SERIALIZATION_FORMAT: [u8; 4] = *b"cdr\0";

/// What objects of this implementation carry.
pub(crate) fn identifier() -> *const c_char {
    IDENTIFIER.as_ptr().cast()
}

/// Name of the implementation.
#[unsafe(no_mangle)]
extern "C" fn rmw_get_implementation_identifier() -> *const c_char {
    identifier()
}

/// Name of the form in which messages are serialized.
#[unsafe(no_mangle)]
extern "C" fn rmw_get_serialization_format() -> *const c_char {
    SERIALIZATION_FORMAT.as_ptr().cast()
}
