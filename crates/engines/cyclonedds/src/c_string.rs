//! Converts strings for C.

use std::ffi::CString;

/// Converts a name to a C string. Names from users have already been checked. A NUL ends the name,
/// as in C.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).expect("the text was cut before its first NUL")
}
