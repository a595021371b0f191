//! The conventions of ROS 2 on the wire that all DDS engines share: names, USER_DATA, and the
//! announcement of nodes.
//!
//! These are pure functions from bytes and text to values, so that they can be fuzzed and shared.
//! Sources: `rmw_dds_common`, `rmw_fastrtps`, `rmw_cyclonedds`, and "Topic and Service name mapping
//! to DDS" (design.ros2.org).

pub mod discovery_info;
pub mod names;
pub mod user_data;
