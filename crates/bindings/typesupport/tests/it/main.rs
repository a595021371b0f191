//! Converts C and C++ messages to and from CDR: messages with hand-written introspection, and
//! messages of stock ROS 2, which are compared with Fast CDR.
#![allow(clippy::unwrap_used)]

mod errors;
mod fast_cdr;
mod hostile;
mod layouts;
mod lyrical;
mod owned;
mod tables;
mod values;
#[allow(dead_code)] // only the benchmark uses parts of it
mod wheels;
