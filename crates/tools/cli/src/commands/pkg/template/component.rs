//! The component `PACKAGE_NAME::COMPONENT_TYPE`, for containers and for programs.

use feros::msgs::std_msgs::msg::String as Text;
use feros::{Context, Error, Node, NodeOptions, Subscription};
use feros_component::{Component, register};

/// Receives `chatter`.
pub struct COMPONENT_TYPE {
    node: Node,
    _chatter: Subscription<Text>,
}

impl Component for COMPONENT_TYPE {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("LIBRARY_NAME"))?;
        let chatter = node.create_subscription("chatter", 10, |text: Text| {
            println!("{}", text.data);
        })?;
        Ok(Self { node, _chatter: chatter })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

register!(COMPONENT_TYPE, "PACKAGE_NAME::COMPONENT_TYPE");
