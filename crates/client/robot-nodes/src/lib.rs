//! Nodes that robots use and that no user writes: `robot_state_publisher`, `joint_state_publisher`,
//! and `static_transform_publisher` of `tf2_ros`. They are components, and the command `feros`
//! starts them as the executables of the packages that have them in stock ROS 2, so existing launch
//! files work unchanged.
//!
//! ```
//! assert!(feros_robot_nodes::EXECUTABLES.contains(&("tf2_ros", "static_transform_publisher")));
//! let plugin = "robot_state_publisher::RobotStatePublisher";
//! assert!(feros_robot_nodes::constructor("robot_state_publisher", plugin).is_some());
//! ```
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `description` | reads the description of a robot (URDF): a tree of links, and joints |
//! | `meshes` | which meshes of a robot are not installed |
//! | `poses` | which transforms to publish for a message with joint states |
//! | `joint_values` | the values of joints that `joint_state_publisher` publishes |
//! | `static_arguments` | the command line of `static_transform_publisher` |
//! | `robot_state_publisher`, `joint_state_publisher`, `static_transform_publisher` | the nodes |
//! | `shipped`, `program` | the table of components and executables, and how an executable runs |
//!
//! # Invariants
//!
//! Only the modules of the nodes and `program` know ROS; all others take and return values.
//! Descriptions and joint states are hostile: sizes are bounded, nothing recurses, and memory does
//! not grow with the names in messages.
#![forbid(unsafe_code)]

mod description;
mod joint_state_publisher;
mod joint_values;
mod meshes;
mod poses;
mod program;
mod robot_state_publisher;
mod shipped;
mod static_arguments;
mod static_transform_publisher;

pub use description::{DescriptionError, Joint, JointKind, Limits, Mimic, Robot};
pub use joint_state_publisher::JointStatePublisher;
pub use program::run;
pub use robot_state_publisher::RobotStatePublisher;
pub use shipped::{COMPONENTS, EXECUTABLES, constructor};
pub use static_transform_publisher::StaticTransformPublisher;
