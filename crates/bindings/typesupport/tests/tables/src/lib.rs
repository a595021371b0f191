//! C and C++ messages with introspection written by hand, for tests and fuzzing without ROS 2.
//!
//! This crate does not depend on `feros-typesupport`. The two crates exchange only a pointer, so
//! every test also checks that both declare rosidl's structures in the same way.

use std::ffi::{c_int, c_void};

/// A language in which the messages exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Language {
    C,
    Cpp,
}

/// Both languages.
pub const LANGUAGES: [Language; 2] = [Language::C, Language::Cpp];

/// A message type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A message with every kind of field.
    Sample,
    /// Two `float64`: the struct has the same layout as the body, and a sequence of points is one
    /// block.
    Point,
    /// A message without fields, except the byte that rosidl adds to an empty message.
    Empty,
    /// Numbers with padding between them and at the end.
    Padded,
}

/// All types.
pub const TYPES: [Type; 4] = [Type::Sample, Type::Point, Type::Empty, Type::Padded];

/// The introspection `rosidl_message_type_support_t` of a type, which lives as long as the process.
#[must_use]
pub fn type_support(language: Language, ty: Type) -> *const c_void {
    // SAFETY: the function accepts all values of both enums.
    unsafe { feros_tables_type_support(language as c_int, ty as c_int) }
}

unsafe extern "C" {
    fn feros_tables_type_support(language: c_int, ty: c_int) -> *const c_void;
}
