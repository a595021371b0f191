//! The name of the implementation, which identifies its objects.

use std::ffi::c_char;

/// The name, as in `RMW_IMPLEMENTATION`.
pub(crate) const NAME: &str = "rmw_feros";

/// A static and not a constant, because this address identifies objects of this implementation.
static IDENTIFIER: [u8; 10] = *b"rmw_feros\0";
/// Messages have the same serialized form as in stock ROS 2.
static SERIALIZATION_FORMAT: [u8; 4] = *b"cdr\0";

/// The identifier in objects of this implementation.
pub(crate) fn identifier() -> *const c_char {
    IDENTIFIER.as_ptr().cast()
}

/// Returns the name of the implementation.
#[unsafe(no_mangle)]
extern "C" fn rmw_get_implementation_identifier() -> *const c_char {
    identifier()
}

/// Returns the name of the serialized form of messages.
#[unsafe(no_mangle)]
extern "C" fn rmw_get_serialization_format() -> *const c_char {
    SERIALIZATION_FORMAT.as_ptr().cast()
}
