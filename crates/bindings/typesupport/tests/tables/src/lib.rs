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

/// A distribution of ROS 2 in whose form the messages and their introspection exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The form of ROS 2 Jazzy and Kilted.
    Kilted,
    /// The form of ROS 2 Lyrical, written from published information only. An unbounded `uint8[]`
    /// is a buffer, with a stand-in for `rosidl::Buffer` in C++.
    Lyrical,
}

/// Both forms.
pub const FORMS: [Form; 2] = [Form::Kilted, Form::Lyrical];

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
    /// Sequences of bytes, also in nested messages, and other sequences.
    Blob,
}

/// All types.
pub const TYPES: [Type; 5] = [Type::Sample, Type::Point, Type::Empty, Type::Padded, Type::Blob];

/// The introspection `rosidl_message_type_support_t` of a type in the form of Kilted, which lives
/// as long as the process.
#[must_use]
pub fn type_support(language: Language, ty: Type) -> *const c_void {
    type_support_in(Form::Kilted, language, ty)
}

/// The same as [`type_support`], in any form.
#[must_use]
pub fn type_support_in(form: Form, language: Language, ty: Type) -> *const c_void {
    // SAFETY: the function accepts all values of the enums.
    unsafe { feros_tables_type_support(form as c_int, language as c_int, ty as c_int) }
}

/// Moves the bytes of a buffer to a device, or back to the memory of the CPU.
///
/// # Safety
/// `buffer` points to a `uint8[]` without a bound in a C++ message in the form of Lyrical.
pub unsafe fn move_buffer(buffer: *mut c_void, to_device: bool) {
    // SAFETY: by this function's contract.
    unsafe { feros_tables_move_buffer(buffer, to_device) };
}

unsafe extern "C" {
    fn feros_tables_type_support(form: c_int, language: c_int, ty: c_int) -> *const c_void;
    fn feros_tables_move_buffer(buffer: *mut c_void, to_device: bool);
}
