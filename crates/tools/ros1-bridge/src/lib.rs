//! The bridge between a ROS 1 master and ROS 2. It connects topics, services and actions in both
//! directions, for all types that both sides have. It needs neither an installation of ROS 1 nor a
//! compiled list of types.
//!
//! The bridge watches both sides and bridges each name that is offered on one side and wanted on
//! the other.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `bridge` | the bridge, and the choice of the topics, services and actions that it bridges |
//! | `sides` | the state of each side |
//! | `topic`, `service`, `actions` | one name in one direction |
//! | `names`, `types`, `error` | names that can be bridged, pairs of types, and why one is not bridged |
//! | `facing`, `counts` | other bridges, counts and warnings |
//! | `waiting` | waits that end with their reason |
//!
//! # Invariants
//!
//! The bridge subscribes to a topic only if the other side has a receiver, or if the options ask
//! for all topics. No message comes back, because the bridge ignores its own endpoints on each
//! side.
#![forbid(unsafe_code)]

mod actions;
mod bridge;
mod counts;
mod error;
mod facing;
mod names;
mod service;
mod sides;
mod topic;
mod types;
mod waiting;

pub use bridge::{Bridge, BridgeOptions, Bridged};
pub use counts::Counts;
pub use error::BridgeError;
pub use feros_engine::{PatternError, Selection};
pub use types::{TypeError, Types};
