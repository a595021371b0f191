//! Tests every shipped type: the hash, the bytes compared with stock ROS 2, views compared with
//! owned values, both byte orders, and messages that were built. No input causes a panic.
#![allow(clippy::unwrap_used)]

mod builders;
mod golden;
mod hashes;
mod hostile;
mod probe;
mod properties;
mod sample;
