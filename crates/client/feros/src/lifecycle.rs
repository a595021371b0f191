//! Managed nodes: nodes with the ROS 2 life cycle, which other nodes configure, activate,
//! deactivate and clean up, as in `rclcpp_lifecycle`.
//!
//! ```no_run
//! use feros::lifecycle::{CallbackReturn, LifecycleCallbacks, LifecyclePublisher, State};
//! use feros::msgs::std_msgs::msg::String as Text;
//! use feros::{Context, Error, LifecycleNode};
//!
//! #[derive(Default)]
//! struct Talker {
//!     chatter: Option<LifecyclePublisher<Text>>,
//! }
//!
//! impl LifecycleCallbacks for Talker {
//!     fn on_configure(&mut self, node: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
//!         self.chatter = Some(node.create_lifecycle_publisher("chatter", 10)?);
//!         Ok(CallbackReturn::Success)
//!     }
//!
//!     fn on_cleanup(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
//!         self.chatter = None;
//!         Ok(CallbackReturn::Success)
//!     }
//! }
//!
//! let context = Context::from_env()?;
//! let node = context.create_lifecycle_node("talker", Talker::default())?;
//! feros::spin(&node)?; // `feros lifecycle set /talker configure`
//! # Ok::<(), Error>(())
//! ```

mod activation;
mod callbacks;
mod client;
mod communication;
mod creation;
mod node;
mod options;
mod publisher;

pub use crate::lifecycle_states::callback_return::CallbackReturn;
pub use crate::lifecycle_states::change_state_error::ChangeStateError;
pub use crate::lifecycle_states::state::State;
pub use crate::lifecycle_states::transition::{Transition, TransitionKey};
pub use callbacks::LifecycleCallbacks;
pub use client::LifecycleClient;
pub use node::{LifecycleNode, WeakLifecycleNode};
pub use options::LifecycleNodeOptions;
pub use publisher::{LifecycleLoan, LifecyclePublisher};
