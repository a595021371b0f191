//! Components that fail in every way that a container has to survive. The components and the
//! library are one crate here, which is allowed.

use feros_shared as _;

use feros::lifecycle::{CallbackReturn, LifecycleCallbacks, LifecyclePublisher, State};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{Context, Error, LifecycleNode, Node, NodeOptions, NodeTimer, Service};
use feros_component::{Component, register};
use rustix::process::{Signal, getpid, kill_process};

/// A component whose constructor makes a node, and then returns an error.
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

/// A component whose constructor makes a node and panics.
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

/// A component whose constructor ends the process.
pub struct AbortInConstructor(Node);

impl Component for AbortInConstructor {
    fn new(_: &Context, _: NodeOptions) -> Result<Self, Error> {
        std::process::abort();
    }

    fn node(&self) -> &Node {
        &self.0
    }
}

/// A component that panics while it is dropped.
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

/// A component that fails when one of its services is called.
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
            // The first signal only makes the handler of Rust's runtime, which detects stack
            // overflows, remove itself.
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

/// A managed node that publishes its state while it is active, and panics when it is cleaned up.
pub struct Managed(LifecycleNode);

impl Component for Managed {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let callbacks = Saying::default();
        Ok(Self(context.create_lifecycle_node_with(options.name("managed"), callbacks)?))
    }

    fn node(&self) -> &Node {
        &self.0
    }
}

#[derive(Default)]
struct Saying {
    publisher: Option<LifecyclePublisher<Text>>,
    timer: Option<NodeTimer>,
}

impl LifecycleCallbacks for Saying {
    fn on_configure(&mut self, node: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        let publisher = node.create_lifecycle_publisher("~/state", 10)?;
        let (weak, period) = (node.downgrade(), std::time::Duration::from_millis(20));
        self.publisher = Some(publisher.clone());
        self.timer = Some(node.create_wall_timer(period, move || {
            let Some(node) = weak.upgrade() else { return };
            let data = node.current_state().to_string();
            // The error is ignored, because the test notices a message that does not arrive.
            let _ = publisher.publish(Text { data });
        })?);
        Ok(CallbackReturn::Success)
    }

    fn on_cleanup(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        panic!("as wanted by the test");
    }

    fn on_error(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
        *self = Self::default();
        Ok(CallbackReturn::Success)
    }
}

register!(ErrorInConstructor, "faulty::ErrorInConstructor");
register!(PanicInConstructor, "faulty::PanicInConstructor");
register!(AbortInConstructor, "faulty::AbortInConstructor");
register!(PanicInDrop, "faulty::PanicInDrop");
register!(OnDemand, "faulty::OnDemand");
register!(Managed, "faulty::Managed");
