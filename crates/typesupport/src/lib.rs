//! Converts messages of stock C and C++ programs to and from CDR.
//!
//! A client library of ROS 2 passes a message as a pointer to its struct, and with it a type
//! support that describes the struct: the offset of each field, and the functions that resize its
//! sequences. A [`MessageProgram`] is compiled from that once per type. Fields with the same layout
//! in the struct and in the body of the serialized message move as one block, so that most messages
//! of a robot take a few copies.
//!
//! * [`MessageProgram::serialized_len`] returns the exact number of bytes of a message, and
//!   [`MessageProgram::encode`] writes them into memory of any transport.
//! * [`MessageProgram::decode`] fills a message from bytes that may be anything.
//! * [`MessageProgram::plain`] recognizes the types whose struct is their body.
//! * [`ServiceProgram`] has the messages of a service.
//!
//! The types of [`ffi`] are those of the headers of ROS 2, which need not be installed to build.
//!
//! # Choices where ROS 2 leaves room
//!
//! * A `string` is bytes, UTF-8 or not. A string with a NUL inside is read as it is, but not
//!   written: receivers would cut it there. A length of 0, without even the NUL, is read as the
//!   empty string.
//! * A `wstring` keeps its UTF-16 code units, paired or not; a character above 0xffff is refused.
//! * A `bool` other than 0 is read and written as 1.
//! * A C text or sequence without memory is empty if its size is 0, and refused otherwise.
//! * Padding is written as zero.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `type_support`, `ffi` | finds the introspection of a type; the structures of ROS 2 |
//! | `compile`, `program`, `layout` | the program of a type: blocks with the same layout in struct and body, texts, sequences |
//! | `encode`, `decode` | follow a program |
//! | `message`, `service` | the programs that users hold |
//! | `memory`, `shim` | texts and sequences in C and C++ |
//! | `error` | the errors |
//!
//! # Invariants
//!
//! A count is compared with bytes and bounds before anything is resized. A message whose bytes were
//! refused can still be finalized.

mod compile;
mod decode;
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

pub use error::{CompileError, DecodeError, EncodeError, Field};
pub use layout::PlainLayout;
pub use message::MessageProgram;
pub use service::ServiceProgram;
