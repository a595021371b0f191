//! Names of nodes, topics, services and parameters, as ROS 1 allows them.

use crate::node_error::NodeError;

/// Whether ROS 1 allows this name of a topic, service or node.
#[must_use]
pub fn is_allowed_name(name: &str) -> bool {
    let (parts, is_absolute) = name.strip_prefix('/').map_or((name, false), |parts| (parts, true));
    // As roscpp has it: what is hidden in ROS 2 is a name as others are.
    let begins = |first: char| first.is_ascii_alphabetic() || (is_absolute && first == '_');
    parts.starts_with(begins)
        && !parts.contains("//")
        && !parts.ends_with('/')
        && parts.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'/')
}

/// A name that begins at the root, as nodes tell the master.
///
/// # Errors
/// When it is none.
pub(crate) fn check_name(name: &str) -> Result<(), NodeError> {
    if name.starts_with('/') && is_allowed_name(name) {
        return Ok(());
    }
    Err(NodeError::Name { name: name.to_owned() })
}
