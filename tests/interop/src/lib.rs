//! The harness of the interop tests. It starts real ROS 2 nodes (rclpy of the wheels of Kilted, or
//! of the environment that `FEROS_ROS2` names) and drives them with JSON.
//!
//! `peers/node.py` is a stock node that executes requests; its first lines list the operations. A
//! test reserves a DDS domain, starts stock nodes ([`Peer`]) in it, and sends them requests:
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
//! Without the ROS 2 wheels, a test fails and prints the command that installs them, unless
//! `FEROS_SKIP_INTEROP=1` is set; then [`Domain::reserve`] returns `None`. Dropping a [`Peer`] ends
//! its stock node; if the test fails, the standard error of the node is shown.
//!
//! A [`HumblePeer`] is a node as those of ROS 2 Humble, made by hand. A [`Ros1Node`] is a node of
//! ROS 1 and a [`Process`] any other program, for the tests of Feros with ROS 1.

mod distribution;
mod domain;
mod humble_peer;
mod package;
mod peer;
mod process;
mod ros1_node;
mod shared_files;
mod variables;

pub use distribution::{
    Distribution, distribution, environment, history_at_stock, peers_are_of_jazzy,
    peers_are_on_rmw_of_jazzy,
};
pub use domain::{Domain, kit_of_cpp, prefix_of_ros2, python_with_ros2};
pub use humble_peer::{HumbleOn, HumblePeer};
pub use package::Package;
pub use peer::{LONGEST_WAIT, Peer};
pub use process::Process;
pub use ros1_node::Ros1Node;
pub use variables::{interop_is_skipped, peers_are_on_feros};
