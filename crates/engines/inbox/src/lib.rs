//! Shared parts of the engines for Zenoh and ROS 1. The libraries of these engines deliver each
//! message as it arrives. They have neither queues for subscriptions nor statuses of endpoints.
//!
//! | module | content |
//! |---|---|
//! | `inbox` | [`Inbox`]: received messages of a subscription that its user has not taken yet |
//! | `requests` | [`Requests`] that the user has not taken, and [`Pending`] requests without a response |
//! | `responses` | [`Responses`]: received responses of a client that its user has not taken yet |
//! | `room` | [`Room`]: makes publishers wait for keep-all subscriptions that are full |
//! | `matches` | [`Matches`]: the matches of an endpoint |
//! | `status` | [`Status`]: the events of an endpoint |
//!
//! # Invariants
//!
//! A receiving thread of the library never waits. Every queue is bounded, and its losses are
//! reported.
#![forbid(unsafe_code)]

mod inbox;
mod matches;
mod requests;
mod responses;
mod room;
mod status;

pub use inbox::{Inbox, Received};
pub use matches::{Matches, Peer};
pub use requests::{MOST_PENDING, Pending, Requests};
pub use responses::Responses;
pub use room::Room;
pub use status::Status;
