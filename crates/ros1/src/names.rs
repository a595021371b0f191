//! Names of nodes, topics, services and parameters, as ROS 1 allows them.

use crate::node_error::NodeError;

/// Whether ROS 1 allows this name of a topic, service or node.
#[must_use]
pub fn is_allowed_name(name: &str) -> bool {
    let (parts, is_absolute) = name.strip_prefix('/').map_or((name, false), |parts| (parts, true));
    // The rule of roscpp: hidden names of ROS 2 are ordinary names here.
    let begins = |first: char| first.is_ascii_alphabetic() || (is_absolute && first == '_');
    parts.starts_with(begins)
        && !parts.contains("//")
        && !parts.ends_with('/')
        && parts.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'/')
}

/// Checks a name that begins at the root, as nodes register it with the master.
///
/// # Errors
/// When the name is not allowed.
pub(crate) fn check_name(name: &str) -> Result<(), NodeError> {
    if name.starts_with('/') && is_allowed_name(name) {
        return Ok(());
    }
    Err(NodeError::Name { name: name.to_owned() })
}
