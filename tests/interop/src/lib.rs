//! The harness of the interop tests: starts real ROS 2 nodes (rclpy of the Kilted wheels) and
//! drives them with JSON.
//!
//! `peers/node.py` is a stock node that does what it is told; its first lines list the operations.
//! A test asks for a DDS domain of its own, starts peers in it, and talks with them:
//!
//! ```no_run
//! use feros_interop::{Domain, Peer};
//! use serde_json::json;
//!
//! let Some(domain) = Domain::reserve() else { return };
//! let mut peer = Peer::start(&domain, "/theirs", "stock_node");
//! peer.ask("subscription", json!({"topic": "/chatter", "type": "std_msgs/msg/String"}));
//! // ... publish "hello" with Feros, with ROS_DOMAIN_ID = domain.id() ...
//! assert_eq!(peer.ask("take", json!({"topic": "/chatter"})), json!([{"data": "hello"}]));
//! ```
//!
//! Without the ROS 2 wheels a test fails and says how to install them, unless
//! `FEROS_SKIP_INTEROP=1` says that this is known: then [`Domain::reserve`] gives `None`. A peer
//! ends with its [`Peer`], by its own process id; what it wrote to standard error is shown when the
//! test fails.

mod domain;
mod package;
mod peer;

pub use domain::{
    Domain, interop_is_skipped, kit_of_cpp, peers_are_on_feros, prefix_of_ros2, python_with_ros2,
};
pub use package::Package;
pub use peer::{LONGEST_WAIT, Peer};
