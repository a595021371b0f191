//! Code that the tests share: a Feros node and a stock node, and functions that wait without time
//! limits.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use feros::engine::{SessionOptions, TypeHash};
use feros::message::dynamic::DynamicType;
use feros::{Arguments, Context, ContextOptions, Executor, Node, NodeOptions, TypeIdentity};
use feros_interop::{Domain, Peer};
use serde_json::Value;

use feros_test_support::Background;
pub(crate) use feros_test_support::WATCHDOG;

/// Options of a context in the test's domain, on loopback.
pub(crate) fn options(domain: &Domain) -> ContextOptions {
    ContextOptions::new(SessionOptions::localhost(domain.id().into()))
}

/// A context in the test's domain, on loopback.
pub(crate) fn context(domain: &Domain) -> Context {
    feros::logging::init(&Arguments::default());
    Context::new(options(domain)).unwrap()
}

/// Makes the Feros node `/ours/feros_node` in a separate context.
pub(crate) fn node(domain: &Domain) -> Node {
    context(domain).create_node_with(NodeOptions::new("feros_node").namespace("/ours")).unwrap()
}

/// A stock node `/theirs/stock_node`.
pub(crate) fn stock(domain: &Domain) -> Peer {
    Peer::start(domain, "/theirs", "stock_node")
}

/// Spins a node on a thread until this value is dropped.
pub(crate) struct Spinning(#[allow(dead_code, reason = "held until it is dropped")] Background);

impl Spinning {
    pub(crate) fn new(node: &Node) -> Self {
        let executor = Executor::new();
        executor.add_node(node).unwrap();
        let stopper = executor.stopper();
        Self(Background::start("spin", move || executor.spin().unwrap(), move || stopper.stop()))
    }
}

/// The items that callbacks have received and the test has not taken yet.
pub(crate) struct Inbox<T> {
    sender: SyncSender<T>,
    receiver: Receiver<T>,
}

impl<T: Send + 'static> Inbox<T> {
    pub(crate) fn new() -> Self {
        // This capacity is far more than the number of items that any test leaves in the inbox.
        let (sender, receiver) = sync_channel(10_000);
        Self { sender, receiver }
    }

    /// Returns a closure that puts its argument into the inbox.
    pub(crate) fn putter(&self) -> impl Fn(T) + Send + use<T> {
        let sender = self.sender.clone();
        // The error is ignored, since the test may have ended already.
        move |item| drop(sender.send(item))
    }

    /// Waits for the oldest item and takes it.
    pub(crate) fn take(&self) -> T {
        self.receiver.recv_timeout(WATCHDOG).expect("the watchdog bit: nothing came")
    }

    /// Takes the oldest item that `wanted` accepts, and drops the items before it.
    pub(crate) fn take_where(&self, mut wanted: impl FnMut(&T) -> bool) -> T {
        loop {
            let item = self.take();
            if wanted(&item) {
                return item;
            }
        }
    }

    /// Takes the oldest item, if one comes within this time.
    pub(crate) fn take_within(&self, time: Duration) -> Option<T> {
        self.receiver.recv_timeout(time).ok()
    }

    /// Takes the oldest item, if there is one.
    pub(crate) fn take_now(&self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

/// The shipped type of this name, for dynamic messages.
pub(crate) fn dynamic_type(name: &str) -> DynamicType {
    DynamicType::resolve(feros_interface::shipped(), &name.parse().unwrap()).unwrap()
}

/// The type information that endpoints of a dynamic type announce.
pub(crate) fn identity(ty: &DynamicType) -> TypeIdentity {
    TypeIdentity { name: ty.name().to_string(), hash: Some(TypeHash(ty.type_hash().0)) }
}

/// Returns the elements of a list from the stock side.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}
