//! The laboratory: scenarios in, a report out.
//!
//! It knows systems under test only by their manifest (`peers/NAME/peer.toml`) and the contract
//! that their programs keep (`peers/README.md`): Feros is measured through the same door as
//! everything it is compared with.

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
