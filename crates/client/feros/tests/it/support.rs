//! Helpers for the tests: contexts that see only each other, and a watchdog instead of separate
//! time limits.

use std::sync::mpsc::{Receiver, sync_channel};

use feros::engine::SessionOptions;
use feros::message::Message;
use feros::{
    Arguments, Context, ContextOptions, Executor, Node, Outcome, Publisher, Subscription,
    SubscriptionOptions, TransportSet,
};
use feros_test_support::{Background, eventually};

pub(crate) use feros_test_support::WATCHDOG;

/// Makes a separate context on loopback. Its nodes are in a namespace of the current test, so that
/// tests do not receive each other's messages.
pub(crate) fn context() -> Context {
    context_of(TransportSet::ALL)
}

/// Like [`context`], but only with these transports.
pub(crate) fn context_of(transports: TransportSet) -> Context {
    let test = std::thread::current().name().unwrap().replace("::", "/");
    make_context(&format!("--ros-args -r __ns:=/{test}"), transports)
}

/// Makes a separate context on loopback with these arguments, in the domain of this test process.
pub(crate) fn context_with(arguments: &str) -> Context {
    make_context(arguments, TransportSet::ALL)
}

fn make_context(arguments: &str, transports: TransportSet) -> Context {
    let line = arguments.split_whitespace().map(str::to_owned);
    let (arguments, _) = Arguments::parse(line).unwrap();
    Context::new(ContextOptions {
        arguments,
        transports,
        ..ContextOptions::new(SessionOptions::localhost(feros_test_support::own_domain()))
    })
    .unwrap()
}

/// Makes a node in each of two contexts.
pub(crate) fn two_nodes(first: &str, second: &str) -> (Node, Node) {
    (context().create_node(first).unwrap(), context().create_node(second).unwrap())
}

/// Makes a subscription whose callback sends what `part` takes from each message. A test that lets
/// too many of them wait fails; a callback that waited for room would end no test.
pub(crate) fn listening<M: Message, T: Send + 'static>(
    node: &Node,
    topic: &str,
    options: impl Into<SubscriptionOptions>,
    part: impl Fn(M) -> T + Send + 'static,
) -> (Subscription<M>, Receiver<T>) {
    let (sender, receiver) = sync_channel(10_000);
    let hear = move |message: M| sender.try_send(part(message)).map_err(drop).unwrap();
    (node.create_subscription(topic, options, hear).unwrap(), receiver)
}

/// Spins the executor on a thread until the returned value is dropped.
pub(crate) fn spinning(executor: Executor) -> Background {
    let stopper = executor.stopper();
    Background::start("spinning", move || executor.spin().unwrap(), move || stopper.stop())
}

/// Spins the node on a thread until the returned value is dropped.
pub(crate) fn spinning_node(node: &Node) -> Background {
    let executor = Executor::new();
    executor.add_node(node).unwrap();
    spinning(executor)
}

/// Spins until `done` returns true; fails the test if that takes too long.
pub(crate) fn spin_until(executor: &Executor, done: impl FnMut() -> bool) {
    assert_eq!(
        executor.spin_until(Some(WATCHDOG), done),
        Ok(Outcome::Completed(())),
        "the watchdog bit"
    );
}

/// Publishes again until it succeeds. A thread that takes messages may be delayed for longer than
/// `publish` waits; then `publish` fails without sending anything.
pub(crate) fn publish_patiently<M: Message + Clone>(publisher: &Publisher<M>, message: &M) {
    eventually(|| publisher.publish(message.clone()));
}

/// The number of calls or goals that the test gives up: `FEROS_DROPPED_FUTURES` if the variable is
/// set, otherwise `usually`.
pub(crate) fn dropped_futures(usually: usize) -> usize {
    std::env::var("FEROS_DROPPED_FUTURES").map_or(usually, |text| text.parse().unwrap())
}
