//! Converts messages of stock C and C++ programs to and from CDR.
//!
//! A ROS 2 client library passes a message as a pointer to its struct, together with a type support
//! that describes the struct: the offset of each field, and the functions that resize its
//! sequences. Each type support is compiled once into a [`MessageProgram`]. Adjacent fields with
//! the same layout in the struct and in the body of the serialized message are copied as one block,
//! so that most messages of a robot take only a few copies.
//!
//! * [`MessageProgram::serialized_len`] returns the exact number of bytes of a message, and
//!   [`MessageProgram::encode`] writes them into memory of any transport.
//! * [`MessageProgram::decode`] fills a message from untrusted bytes.
//! * [`MessageProgram::plain`] recognizes the types whose struct has the layout of the body.
//! * [`ServiceProgram`] has the programs of a service's messages.
//!
//! The types of [`ffi`] are declared as in the headers of ROS 2, which need not be installed to
//! build this crate. [`Layout`] has what differs between distributions.
//!
//! # Buffers of Lyrical
//!
//! In ROS 2 Lyrical, a C++ message holds an unbounded `uint8[]` in a `rosidl::Buffer`, whose bytes
//! may be in the memory of a GPU. In a C message, the sequence of such a field then points to a
//! `rosidl::Buffer`, and has a flag that says so. This crate accesses a `rosidl::Buffer` only
//! through the functions of introspection, which throw unless the bytes are in the memory of the
//! CPU, and does not access a C sequence with the flag. A message with other bytes is refused with
//! the name of the field, since no function of introspection copies them. All of this was written
//! from published information only, and never run with Lyrical.
//!
//! # Choices that ROS 2 leaves open
//!
//! * A `string` consists of bytes, which need not be UTF-8. A string with a NUL inside is read
//!   unchanged, but refused when it is written, since receivers would cut it off there. A length of
//!   0, which does not even include the NUL, is read as the empty string.
//! * A `wstring` keeps its UTF-16 code units, even unpaired surrogates; a character above 0xffff is
//!   refused.
//! * A `bool` with a value other than 0 is read and written as 1.
//! * A C string or sequence whose data pointer is null is empty if its size is 0, and refused
//!   otherwise.
//! * Padding is written as zero.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `type_support`, `ffi` | finds the introspection of a type; the structures of ROS 2 |
//! | `distribution` | the layouts that differ between distributions |
//! | `description` | reads the description of a field |
//! | `compile`, `program`, `layout` | the program of a type: blocks with the same layout in struct and body, strings, sequences |
//! | `encode`, `decode` | follow a program |
//! | `message`, `service` | the programs that users hold |
//! | `memory`, `shim` | strings and sequences in C and C++ |
//! | `error` | the errors |
//!
//! # Invariants
//!
//! Each count is compared with the remaining bytes and the bound before anything is resized. A
//! message can still be finalized after decoding into it has failed.

mod compile;
mod decode;
mod description;
mod distribution;
mod encode;
mod error;
pub mod ffi;
mod layout;
mod memory;
mod message;
mod program;
mod service;
mod shim;
mod type_support;

pub use distribution::Layout;
pub use error::{CompileError, DecodeError, EncodeError, Field};
pub use layout::PlainLayout;
pub use message::MessageProgram;
pub use service::ServiceProgram;
