//! Messages of C and C++ to and from CDR: those of hand-written introspection, and those of stock
//! ROS 2 beside Fast CDR.
#![allow(clippy::unwrap_used)]

mod errors;
mod fast_cdr;
mod hostile;
mod layouts;
mod owned;
mod tables;
mod values;
#[allow(dead_code)] // a part of it is for the benchmark alone
mod wheels;
