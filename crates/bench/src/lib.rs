//! The benchmarks: what Feros promises, measured beside its peers in the same run and on the same
//! host, and checked.
//!
//! Numbers of one day and one machine say little; ratios between systems that were measured in turn
//! say much. So every experiment here runs all systems interleaved and prints them side by side. A
//! peer that is not installed is shown as *not installed* with the command that installs it, and
//! never counts as beaten.
//!
//! - [`child`]: programs run with a time limit, ended by their own process id
//! - [`peer`]: the systems that can be measured, and what each needs to be there
//! - [`latency`]: one-way latency between two processes, all systems in turn
//! - [`contract`]: what the measured programs in Rust have in common
//! - [`paths`]: what the intra-process transport and the shared-memory transport have to reach

pub mod child;
pub mod contract;
pub mod latency;
pub mod paths;
pub mod peer;
