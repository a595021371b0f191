//! Feros and stock ROS 2 in one domain: Kilted, or Jazzy (`FEROS_ROS2`). Each test reserves a
//! domain, starts a stock node and drives both sides. In names and comments, "ours" is the Feros
//! side and "theirs" the stock side.
#![allow(clippy::unwrap_used)]

mod action_introspection;
mod actions;
mod actions_cpp;
mod first_calls;
mod first_messages;
mod graph;
mod humble;
mod introspection;
mod large;
mod lifecycle;
mod lifecycle_cpp;
mod loggers;
mod mismatch;
mod names;
mod parameters;
mod qos;
mod services;
mod support;
mod tf2;
mod type_descriptions;
mod types;
mod values;
