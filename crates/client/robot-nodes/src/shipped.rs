//! The components and executables of this crate, under the names that they have in stock ROS 2.

use feros_component::plugin::{Constructor, construct};

use crate::joint_state_publisher::JointStatePublisher;
use crate::robot_state_publisher::RobotStatePublisher;
use crate::static_transform_publisher::StaticTransformPublisher;

/// The executables, by package.
pub const EXECUTABLES: &[(&str, &str)] = &[
    ("joint_state_publisher", "joint_state_publisher"),
    ("robot_state_publisher", "robot_state_publisher"),
    ("tf2_ros", "static_transform_publisher"),
];

/// The components, by package. Stock `joint_state_publisher` is no component.
pub const COMPONENTS: &[(&str, &str)] = &[
    ("joint_state_publisher", "joint_state_publisher::JointStatePublisher"),
    ("robot_state_publisher", "robot_state_publisher::RobotStatePublisher"),
    ("tf2_ros", "tf2_ros::StaticTransformBroadcasterNode"),
];

/// Returns the constructor of a component of [`COMPONENTS`].
#[must_use]
pub fn constructor(package: &str, plugin: &str) -> Option<Constructor> {
    Some(match (package, plugin) {
        ("joint_state_publisher", "joint_state_publisher::JointStatePublisher") => {
            construct::<JointStatePublisher>
        }
        ("robot_state_publisher", "robot_state_publisher::RobotStatePublisher") => {
            construct::<RobotStatePublisher>
        }
        ("tf2_ros", "tf2_ros::StaticTransformBroadcasterNode") => {
            construct::<StaticTransformPublisher>
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_component_has_a_constructor_in_its_package_alone() {
        for (package, plugin) in COMPONENTS {
            assert!(constructor(package, plugin).is_some(), "{plugin}");
            assert!(constructor("other", plugin).is_none());
        }
        assert!(constructor("tf2_ros", "tf2_ros::Other").is_none());
    }
}
