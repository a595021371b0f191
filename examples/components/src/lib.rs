//! Two components: a talker, and a listener that repeats each message.
//!
//! `src/main.rs` composes them by hand; the crate in `library/` turns them into a library that
//! containers load.

use std::time::Duration;

use feros::msgs::std_msgs::msg::String as Text;
use feros::{Context, Error, Node, NodeOptions, NodeTimer, Subscription};
use feros_component::{Component, register};

/// Publishes a line with a number on `chatter`, ten times a second; the parameter `text` sets the
/// text.
pub struct Talker {
    node: Node,
    _timer: NodeTimer,
}

impl Component for Talker {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("talker"))?;
        let publisher = node.create_publisher::<Text>("chatter", 10)?;
        let text = node.declare_parameter("text", "Hello World")?;
        let mut count = 0_u64;
        let timer = node.create_wall_timer(Duration::from_millis(100), move || {
            count += 1;
            if let Err(error) = publisher.publish(Text { data: format!("{}: {count}", text.get()) })
            {
                tracing::error!("{error}");
            }
        })?;
        Ok(Self { node, _timer: timer })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// Publishes messages from `chatter` again on `heard`.
pub struct Listener {
    node: Node,
    _subscription: Subscription<Text>,
}

impl Component for Listener {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("listener"))?;
        let heard = node.create_publisher::<Text>("heard", 10)?;
        let subscription = node.create_subscription("chatter", 10, move |text: Text| {
            tracing::debug!("I heard: [{}]", text.data);
            if let Err(error) = heard.publish(text) {
                tracing::error!("{error}");
            }
        })?;
        Ok(Self { node, _subscription: subscription })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

register!(Talker, "demo_components::Talker");
register!(Listener, "demo_components::Listener");
