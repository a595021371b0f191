//! What the Feros engines on DDS share, whichever library they stand on.
//!
//! | module | holds |
//! |---|---|
//! | [`checks`] | checks of what endpoints are made of |
//! | [`graph`] | the ROS graph, collected from discovery |
//! | [`gaps`] | losses that numbers of messages tell |
//! | [`queue`] | the queue of an asynchronous publisher |
//! | [`status`] | counters behind the events of endpoints |

pub mod checks;
pub mod gaps;
pub mod graph;
pub mod queue;
pub mod status;
