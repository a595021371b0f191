//! A component that counts the messages on `chatter`, built outside the workspace of Feros:
//!
//! ```sh
//! feros component build
//! feros container
//! feros component load /ComponentManager own_component own_component::Counter
//! ```

use feros::msgs::std_msgs::msg::{String as Text, UInt64};
use feros::{Context, Error, Node, NodeOptions, Subscription};
use feros_component::{Component, register};

/// Publishes on `count` the number of messages received on `chatter`.
pub struct Counter {
    node: Node,
    _chatter: Subscription<Text>,
}

impl Component for Counter {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("counter"))?;
        let count = node.create_publisher("count", 10)?;
        let mut heard = 0;
        let chatter = node.create_subscription("chatter", 10, move |_: Text| {
            heard += 1;
            if let Err(error) = count.publish(UInt64 { data: heard }) {
                eprintln!("{error}");
            }
        })?;
        Ok(Self { node, _chatter: chatter })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

register!(Counter, "own_component::Counter");
