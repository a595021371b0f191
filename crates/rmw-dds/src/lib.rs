//! What the Feros engines on DDS share, whichever library they stand on.
//!
//! | module | holds |
//! |---|---|
//! | [`checks`] | checks of what endpoints are made of |
//! | [`graph`] | the ROS graph, collected from discovery |
//! | [`status`] | counters behind the events of endpoints |

pub mod checks;
pub mod graph;
pub mod status;
