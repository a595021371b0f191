//! What every DDS engine says on the wire of ROS 2: names, USER_DATA, and the announcement of
//! nodes.
//!
//! Pure functions from bytes and text to values, so that they can be fuzzed and shared. Sources:
//! `rmw_dds_common`, `rmw_fastrtps`, `rmw_cyclonedds`, and "Topic and Service name mapping to DDS"
//! (design.ros2.org).

pub mod discovery_info;
pub mod names;
pub mod user_data;
