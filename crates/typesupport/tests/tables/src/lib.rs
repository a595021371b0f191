//! C and C++ messages with introspection written by hand, for tests and fuzzing without ROS 2.
//!
//! The crate knows nothing of `feros-typesupport`: a pointer goes from one to the other, so that
//! every test compares how both declare rosidl's structures.

use std::ffi::{c_int, c_void};

/// A language that the messages exist for.
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
    /// Two `float64`: its struct is its body, and sequences of it are one block.
    Point,
    /// Only the byte that rosidl gives to a message without fields.
    Empty,
    /// Numbers with padding between them and at the end.
    Padded,
}

/// All types.
pub const TYPES: [Type; 4] = [Type::Sample, Type::Point, Type::Empty, Type::Padded];

/// A `rosidl_message_type_support_t` of introspection, which lives as long as the process.
#[must_use]
pub fn type_support(language: Language, ty: Type) -> *const c_void {
    // SAFETY: the function knows both numbers.
    unsafe { feros_tables_type_support(language as c_int, ty as c_int) }
}

unsafe extern "C" {
    fn feros_tables_type_support(language: c_int, ty: c_int) -> *const c_void;
}
