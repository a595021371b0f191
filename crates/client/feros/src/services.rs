//! The endpoints of services, and the topic that shows their calls.

pub(crate) mod client;
pub(crate) mod introspection;
pub(crate) mod service;
