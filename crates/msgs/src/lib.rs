//! The standard ROS 2 interfaces, generated at build time.
