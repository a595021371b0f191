//! Components that fail in every way that a container has to survive. Components and library in one
//! crate, as it may be.

use feros_shared as _;

use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{Context, Error, Node, NodeOptions, Service};
use feros_component::{Component, register};
use rustix::process::{Signal, getpid, kill_process};

/// Its constructor makes a node, and then an error.
pub struct ErrorInConstructor(Node);

impl Component for ErrorInConstructor {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("error_in_constructor"))?;
        node.create_publisher::<feros::msgs::std_msgs::msg::Empty>("not a name", 1)?;
        Ok(Self(node))
    }

    fn node(&self) -> &Node {
        &self.0
    }
}

/// Its constructor makes a node and panics.
pub struct PanicInConstructor(Node);

impl Component for PanicInConstructor {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("panic_in_constructor"))?;
        panic!("no camera at {}", node.name());
    }

    fn node(&self) -> &Node {
        &self.0
    }
}

/// Its constructor ends the process.
pub struct AbortInConstructor(Node);

impl Component for AbortInConstructor {
    fn new(_: &Context, _: NodeOptions) -> Result<Self, Error> {
        std::process::abort();
    }

    fn node(&self) -> &Node {
        &self.0
    }
}

/// Panics while it is dropped.
pub struct PanicInDrop(Node);

impl Component for PanicInDrop {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        Ok(Self(context.create_node_with(options.name("panic_in_drop"))?))
    }

    fn node(&self) -> &Node {
        &self.0
    }
}

impl Drop for PanicInDrop {
    fn drop(&mut self) {
        panic!("it does not want to go");
    }
}

/// Fails when one of its services is called.
pub struct OnDemand {
    node: Node,
    _services: [Service<Trigger>; 5],
}

impl Component for OnDemand {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("on_demand"))?;
        let service = |name: &str, fault: fn()| {
            node.create_service::<Trigger, _>(name, move |_: Trigger_Request| {
                fault();
                Trigger_Response { success: true, message: std::process::id().to_string() }
            })
        };
        let services = [
            service("~/ping", || {})?,
            service("~/panic", || panic!("asked to panic"))?,
            service("~/sleep", || std::thread::sleep(std::time::Duration::from_secs(3)))?,
            service("~/abort", || std::process::abort())?,
            // The first one only has the language's handler, which looks for stack overflows, step
            // aside.
            service("~/segfault", || {
                loop {
                    kill_process(getpid(), Signal::SEGV)
                        .expect("a process may send itself a signal");
                }
            })?,
        ];
        Ok(Self { node, _services: services })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

register!(ErrorInConstructor, "faulty::ErrorInConstructor");
register!(PanicInConstructor, "faulty::PanicInConstructor");
register!(AbortInConstructor, "faulty::AbortInConstructor");
register!(PanicInDrop, "faulty::PanicInDrop");
register!(OnDemand, "faulty::OnDemand");
