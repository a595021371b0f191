//! What travels on the wire of `rmw_zenoh_cpp`, as texts and bytes: no session, no network, so that
//! it can be tested and fuzzed by itself.

pub mod announcement;
pub mod attachment;
mod percent;
pub mod qos;
pub mod token;
