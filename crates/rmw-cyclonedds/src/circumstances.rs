//! What the engine's configuration depends on.

use feros_rmw::SessionOptions;

use crate::interface::Interface;

/// What the configuration depends on.
#[derive(Debug, Clone)]
pub struct Circumstances<'a> {
    /// What the session wants.
    pub options: &'a SessionOptions,
    /// The interfaces of this host.
    pub interfaces: &'a [Interface],
    /// The user's own configuration: `CYCLONEDDS_URI`.
    pub user_configuration: Option<&'a str>,
    /// A number that no other process of this host has, for sessions that no other session may
    /// join.
    pub process_id: u32,
}
