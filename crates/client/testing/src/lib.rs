//! Tests of nodes. Each test gets a [`Harness`]: a context in a ROS domain that no other test of
//! this host uses, so tests may run in parallel threads and processes.
//!
//! ```
//! use feros::{Context, Error, Node, NodeTimer, msgs::std_msgs::msg::String as Text};
//! use feros_testing::Harness;
//! use std::time::Duration;
//!
//! /// The node under test: it says hello ten times per second.
//! fn talker(context: &Context) -> Result<(Node, NodeTimer), Error> {
//!     let node = context.create_node("talker")?;
//!     let publisher = node.create_publisher::<Text>("chatter", 10)?;
//!     let timer = node.create_timer(Duration::from_millis(100), move || {
//!         publisher.publish(Text { data: "hello".into() }).unwrap();
//!     })?;
//!     Ok((node, timer))
//! }
//!
//! // In a test, this is the function with `#[test]`.
//! fn the_talker_says_hello() -> Result<(), Box<dyn std::error::Error>> {
//!     let harness = Harness::new()?;
//!     let (node, _timer) = talker(harness.context())?;
//!     harness.spin(&node)?;
//!     let message: Text = harness.expect_message("chatter", Duration::from_secs(10))?;
//!     assert_eq!(message.data, "hello");
//!     Ok(())
//! }
//! # the_talker_says_hello().unwrap();
//! ```
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `harness` | the domain, the context, and the calls of a test |
//! | `messages` | the messages of a topic |
//! | `simulated_time` | `/clock`, which a test steps |
//! | `spinning` | the threads of the nodes, and their panics |
//! | `absence` | descriptions of what a test found in the graph instead of the expected endpoints |
//! | `error` | the errors |
//!
//! # Invariants
//!
//! A panic in a callback fails the test: the next wait returns it, or else dropping the harness
//! panics. All threads end with the harness.
#![forbid(unsafe_code)]

mod absence;
mod error;
mod harness;
mod messages;
mod simulated_time;
mod spinning;

pub use error::{ExpectError, HarnessError};
pub use feros_test_domain::ReserveError;
pub use harness::Harness;
pub use messages::Messages;
pub use simulated_time::SimulatedTime;
