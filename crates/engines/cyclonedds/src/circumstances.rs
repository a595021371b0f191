//! The inputs that determine the engine's configuration.

use feros_engine::SessionOptions;

use crate::interface::Interface;

/// The inputs that determine the engine's configuration.
#[derive(Debug, Clone)]
pub struct Circumstances<'a> {
    /// The options of the session.
    pub options: &'a SessionOptions,
    /// The interfaces of this host.
    pub interfaces: &'a [Interface],
    /// The user's own configuration: `CYCLONEDDS_URI`.
    pub user_configuration: Option<&'a str>,
    /// A number that no other process of this host has, for sessions that other sessions must not
    /// find.
    pub process_id: u32,
}
