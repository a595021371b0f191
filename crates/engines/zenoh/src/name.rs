//! The name of the engine and its version, which its session reports.

use feros_engine::engine::known;

/// The short name of the engine.
pub const ENGINE_NAME: &str = known::ZENOH.name;

/// The version of Zenoh, which Cargo.toml pins.
pub const ENGINE_VERSION: &str = "1.10.2";
