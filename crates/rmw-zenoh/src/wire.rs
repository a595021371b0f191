//! The wire format of `rmw_zenoh_cpp`, as texts and bytes: without a session or network, so that it
//! can be tested and fuzzed by itself.

pub mod announcement;
pub mod attachment;
mod percent;
pub mod qos;
pub mod token;
