//! The wire conventions of ROS 2 that all DDS engines share: names, USER_DATA, and the announcement
//! of nodes.
//!
//! The functions only convert between bytes or strings and values, so they can be fuzzed. Sources:
//! `rmw_dds_common`, `rmw_fastrtps`, `rmw_cyclonedds`, and "Topic and Service name mapping to DDS"
//! (design.ros2.org).

pub mod discovery_info;
pub mod library;
pub mod names;
pub mod user_data;
