//! Strings for C.

use std::ffi::CString;

/// A name for C. Names from users were checked before; a NUL cuts the name, as in C.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).expect("the text was cut before its first NUL")
}
