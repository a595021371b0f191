//! The wire format of `rmw_zenoh_cpp`, as strings and bytes. The code needs neither a session nor a
//! network, so it can be tested and fuzzed alone.

pub mod announcement;
pub mod attachment;
mod chunk;
mod percent;
pub mod qos;
pub mod token;
