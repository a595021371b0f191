//! The laboratory: it takes scenarios and writes a report.
//!
//! It knows a system under test only by its manifest (`peers/NAME/peer.toml`) and by the contract
//! that its programs follow (`peers/README.md`): Feros is measured through the same interface as
//! every other system.
//!
//! # Invariants
//!
//! The laboratory depends on no client library and no engine.

pub mod contract;
mod document;
pub mod machine;
mod noise;
pub mod peer;
pub mod peer_builder;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
pub mod scenario;
mod usage;

pub use document::DocumentError;
pub use feros_lab_statistics as statistics;
