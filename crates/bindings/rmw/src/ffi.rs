//! The C interface of rmw, written by hand from the headers of rmw 7.8.2 and rcutils 6.9 (ROS 2
//! Kilted), so that a build needs no ROS installation. `layout_test` compiles a C program against
//! the real headers and compares every size and offset.
//!
//! Enumerations are integers here: a host program may pass any number.
#![allow(non_camel_case_types, reason = "the names are those of rmw's headers")]

pub(crate) mod description;
#[cfg(test)]
mod layout_test;
mod rcutils;
mod rmw;
mod statuses;

pub(crate) use feros_typesupport::ffi::{
    rosidl_message_type_support_t, rosidl_service_type_support_t, rosidl_type_hash_t,
};
pub(crate) use rcutils::*;
pub(crate) use rmw::*;
pub(crate) use statuses::*;
