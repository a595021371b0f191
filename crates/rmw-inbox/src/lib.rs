//! What engines share whose libraries hand over each message as it comes, and keep neither queues
//! for subscriptions nor statuses of endpoints: those on Zenoh and under a master of ROS 1.
//!
//! | module | holds |
//! |---|---|
//! | `inbox` | [`Inbox`]: what a subscription has received and its user has not taken yet |
//! | `requests` | [`Requests`], [`Pending`]: what a server has received, and what waits for a response |
//! | `responses` | [`Responses`]: what a client has received and its user has not taken yet |
//! | `room` | [`Room`]: publishers wait for subscriptions that keep all and are full |
//! | `gate` | [`Gate`]: a notification that can be ended for good |
//! | `matches` | [`Matches`]: who matches an endpoint |
//! | `status` | [`Status`]: what an endpoint may report |
#![forbid(unsafe_code)]

mod gate;
mod inbox;
mod matches;
mod requests;
mod responses;
mod room;
mod status;

pub use gate::Gate;
pub use inbox::{Inbox, Received};
pub use matches::{Matches, Peer};
pub use requests::{MOST_PENDING, Pending, Requests};
pub use responses::Responses;
pub use room::Room;
pub use status::Status;
