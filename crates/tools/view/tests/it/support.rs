//! A server in a domain of the test, and a robot that it observes.

use std::sync::Arc;

use feros::engine::SessionOptions;
use feros::{Context, ContextOptions, Executor, Node, NodeOptions};
use feros_interop::Domain;
use feros_test_support::Background;
use feros_view::{Server, ViewOptions};

use crate::client::Client;

/// A server, and a node that it observes. The order of the fields is the order in which they are
/// dropped.
pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) robot: Node,
    pub(crate) contexts: [Context; 2],
    pub(crate) _spinning: [Background; 2],
    pub(crate) _domain: Domain,
}

impl Fixture {
    /// A server that allows no changes.
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// A server that lets clients change things.
    pub(crate) fn with_changes() -> Self {
        Self::with(|options| options.allow_changes = true)
    }

    /// A server with these options, on a free port.
    pub(crate) fn with(change: impl FnOnce(&mut ViewOptions)) -> Self {
        let domain = Domain::reserve_without_ros2();
        let contexts = [context_in(domain.id().into()), context_in(domain.id().into())];
        let robot = contexts[0].create_node("robot").unwrap();
        let hidden = NodeOptions::new("_view")
            .enable_rosout(false)
            .start_parameter_services(false)
            .start_parameter_event_publisher(false);
        let viewer = contexts[1].create_node_with(hidden).unwrap();
        let mut options = ViewOptions { packages: Default::default(), ..ViewOptions::default() };
        options.address.set_port(0);
        options.traces = None;
        options.interfaces = Arc::new(feros_interface::shipped().clone());
        change(&mut options);
        let server = Server::start(&viewer, options).unwrap();
        let spinning = [spinning(&robot), spinning(&viewer)];
        Self { server, robot, contexts, _spinning: spinning, _domain: domain }
    }

    /// The domain of the test.
    pub(crate) fn domain(&self) -> u32 {
        self._domain.id().into()
    }

    /// The page's client.
    pub(crate) fn page(&self) -> Client {
        Client::connect(&self.server, "feros.view.v1")
    }

    /// A client like Foxglove.
    pub(crate) fn foxglove(&self) -> Client {
        Client::connect(&self.server, "foxglove.websocket.v1")
    }
}

/// A context in this domain, which uses only loopback.
pub(crate) fn context_in(domain: u32) -> Context {
    Context::new(ContextOptions::new(SessionOptions::localhost(domain))).unwrap()
}

/// Spins a node until the returned value is dropped.
pub(crate) fn spinning(node: &Node) -> Background {
    let executor = Executor::new();
    executor.add_node(node).unwrap();
    let stopper = executor.stopper();
    Background::start("spinning", move || executor.spin().unwrap(), move || stopper.stop())
}
