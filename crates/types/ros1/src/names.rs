//! The names of nodes, topics, services and parameters that ROS 1 allows.

use crate::node_error::NodeError;

/// Whether ROS 1 allows this name for a topic, service or node.
#[must_use]
pub fn is_allowed_name(name: &str) -> bool {
    let (parts, is_absolute) = name.strip_prefix('/').map_or((name, false), |parts| (parts, true));
    // This is the rule of roscpp. Names that are hidden in ROS 2 are ordinary names here.
    let begins = |first: char| first.is_ascii_alphabetic() || (is_absolute && first == '_');
    parts.starts_with(begins)
        && !parts.contains("//")
        && !parts.ends_with('/')
        && parts.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'/')
}

/// Checks a fully qualified name. Registrations with the master need such a name.
///
/// # Errors
/// Returns an error if the name is not allowed.
pub(crate) fn check_name(name: &str) -> Result<(), NodeError> {
    if name.starts_with('/') && is_allowed_name(name) {
        return Ok(());
    }
    Err(NodeError::Name { name: name.to_owned() })
}
