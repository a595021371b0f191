//! The endpoints of topics, with their events, the parameters that override their QoS policies, and
//! their statistics.

mod events;
pub(crate) mod publisher;
pub(crate) mod qos_overrides;
pub(crate) mod statistics;
pub(crate) mod subscription;
