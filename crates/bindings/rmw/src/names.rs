//! Checks of names, by the rules of rmw.

use feros_engine::name::{validate_full_topic_name, validate_namespace, validate_node_name};
use feros_engine::{NameError, NodeName, QosProfile};

use crate::error::Failure;

fn refused(error: NameError) -> Failure {
    Failure::invalid(error.to_string())
}

/// Checks the name of a topic or service. If the profile avoids ROS's naming conventions, only the
/// empty name is refused.
pub(crate) fn check_endpoint(name: &str, qos: &QosProfile) -> Result<(), Failure> {
    if name.is_empty() {
        return Err(Failure::invalid("the name of the topic or service is empty"));
    }
    if qos.avoid_ros_namespace_conventions { Ok(()) } else { check_topic(name) }
}

/// Checks the fully qualified name of a topic or service.
pub(crate) fn check_topic(name: &str) -> Result<(), Failure> {
    validate_full_topic_name(name).map_err(refused)
}

/// Checks the name and the namespace of a node; the namespace begins with a slash.
pub(crate) fn node_name(namespace: &str, name: &str) -> Result<NodeName, Failure> {
    validate_node_name(name).map_err(refused)?;
    validate_namespace(namespace).map_err(refused)?;
    NodeName::new(namespace, name).map_err(refused)
}
