//! Tests of every shipped type: its hash, its bytes as stock ROS 2 writes them, views equal to
//! owned values, both byte orders, building in place, and no panic for any input.
#![allow(clippy::unwrap_used)]

mod builders;
mod golden;
mod hashes;
mod hostile;
mod probe;
mod properties;
mod sample;
