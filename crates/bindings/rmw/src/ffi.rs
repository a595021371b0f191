//! The C interface of rmw, written by hand from the headers of rmw and rcutils, so that a build
//! needs no ROS installation. What differs between distributions of ROS 2 is in `distribution`.
//! `layout_test` compiles a C program against the real headers of each distribution that has
//! wheels, and compares every size and offset.
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
