//! What the Feros engines on DDS share, whichever library they stand on.
//!
//! | module | holds |
//! |---|---|
//! | [`graph`] | the ROS graph, collected from discovery |
//! | [`status`] | counters behind the events of endpoints |

pub mod announced_qos;
pub mod graph;
pub mod status;
