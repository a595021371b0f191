//! The name of the engine, which its errors state.

use feros_engine::engine::known;

/// The short name of the engine.
pub const ENGINE_NAME: &str = known::ROS1.name;
