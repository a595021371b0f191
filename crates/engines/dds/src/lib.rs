//! The common part of all engines on DDS, which is everything except the DDS library itself.
//!
//! A DDS library implements the traits of [`library`]: a participant that creates writers and
//! readers of bytes. On top of these traits, this crate implements ROS 2 on DDS: the [`session`],
//! publishers, subscriptions, services and clients of both mappings, and the graph.
//!
//! | module | content |
//! |---|---|
//! | [`library`] | the traits that a DDS library implements |
//! | [`listener`] | the counts and notifications of an endpoint's listener |
//! | [`session`] | the session that users of an engine hold, and the factory of endpoints |
//! | [`graph`] | the ROS graph, collected from discovery |
//! | [`announced_qos`] | policies that some implementations do not announce |
//! | [`status`] | the counters from which the events of endpoints are made |
//! | [`names`] | names of endpoints on the wire |
//! | [`service_header`] | the header of the payload-header mapping |
//!
//! # Invariants
//!
//! The crate does not depend on any DDS library: everything that is specific to a library is behind
//! the traits of [`library`].

pub mod announced_qos;
pub mod graph;
pub mod library;
pub mod listener;
pub mod names;
pub mod service_header;
pub mod session;
pub mod status;

mod announced;
mod announcer;
mod client;
mod introduction;
mod nodes;
mod publisher;
mod responses;
mod service;
mod subscription;
