//! A package of custom interfaces. It takes the definition files in `interfaces/`, three lines in
//! `build.rs`, and one line in this file.
//!
//! # Examples
//!
//! ```
//! use own_package::robot_interfaces::msg::JointTarget;
//!
//! let target = JointTarget { name: "elbow".into(), position: 0.5, ..JointTarget::default() };
//! assert_eq!(target.speed, JointTarget::SPEED_CAREFUL); // the default that the definition declares
//! ```

feros::include_interfaces!();
