//! Tests every shipped type: its hash, its bytes as stock ROS 2 writes them, views that equal owned
//! values, both byte orders, built messages, and no panic for any input.
#![allow(clippy::unwrap_used)]

mod builders;
mod golden;
mod hashes;
mod hostile;
mod probe;
mod properties;
mod sample;
