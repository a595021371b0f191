//! The processes of a robot that find each other, and a process that joins them.

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use feros::{
    Durability, MessageInfo, Node, Publisher, PublisherOptions, QosProfile, ShutdownGuard,
    Subscription, SubscriptionOptions,
};
use feros_lab_contract::{Ended, Failure, Output, now_nanos};

use crate::Task;
use crate::payload::Carrier;
use crate::spinning::Spinning;

/// The interval at which a program checks whether its input has ended. SIGINT ends it without this
/// wait.
const LOOK: Duration = Duration::from_secs(1);

/// The endpoints of a member.
struct Member<M> {
    publishers: Vec<Publisher<M>>,
    subscriptions: Vec<Subscription<M>>,
    /// The message for newcomers, which member 0 keeps.
    greeting: Option<Publisher<M>>,
    matches: usize,
}

impl<M: Carrier> Member<M> {
    fn new(task: &Task<'_>, node: &Node) -> Result<Self, Failure> {
        let endpoints = task.arguments.endpoints();
        let mut made = Self {
            publishers: Vec::new(),
            subscriptions: Vec::new(),
            greeting: None,
            matches: endpoints.matches,
        };
        for topic in &endpoints.published {
            let options = PublisherOptions::from(task.qos);
            made.publishers.push(node.create_publisher::<M>(topic, options)?);
        }
        for topic in &endpoints.subscribed {
            let options = SubscriptionOptions::from(task.qos).log_lost_messages(false);
            let ignore = |_: M, _: MessageInfo| {};
            made.subscriptions.push(node.create_subscription::<M, _>(topic, options, ignore)?);
        }
        if task.arguments.index == 0 {
            let topic = task.arguments.greeting_topic();
            let options = PublisherOptions::from(greeting_qos());
            let publisher = node.create_publisher::<M>(&topic, options)?;
            publisher.publish(M::filled(task.arguments))?;
            made.greeting = Some(publisher);
        }
        Ok(made)
    }

    /// Whether every expected match is there.
    fn is_matched(&self) -> bool {
        self.publishers.iter().all(|one| one.subscription_count() >= self.matches)
            && self.subscriptions.iter().all(|one| one.publisher_count() >= self.matches)
    }
}

/// A message that newcomers get, although it was published before they came.
fn greeting_qos() -> QosProfile {
    let mut qos = QosProfile::keep_last(1);
    qos.durability = Durability::TransientLocal;
    qos
}

/// Receives once the context is shut down, for example by SIGINT, as long as the guard lives.
fn shutdown(task: &Task<'_>) -> (Receiver<()>, ShutdownGuard) {
    let (sender, ended) = sync_channel(1);
    let guard = task.context.on_shutdown(move || {
        // The wait may have ended, or know it already.
        let _ = sender.try_send(());
    });
    (ended, guard)
}

/// Keeps its endpoints until SIGINT or the end of its input, and reports when all of them are
/// matched.
pub(crate) fn member<M: Carrier>(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let (ended, _guard) = shutdown(task);
    let spinning = Spinning::new(task.arguments);
    let node = task.context.create_node(&format!("member_{}", task.arguments.index))?;
    let member = Member::<M>::new(task, &node)?;
    spinning.add(&node)?;
    let beside = spinning.beside()?;
    output.ready();
    let mut pause = task.arguments.look_interval();
    let mut is_settled = false;
    while ended.recv_timeout(pause).is_err() && !task.arguments.is_stopped() {
        if !is_settled && member.is_matched() {
            output.settled(now_nanos());
            is_settled = true;
            pause = LOOK;
        }
    }
    spinning.end(beside)?;
    if !is_settled {
        return Err(Failure::not_matched("its matches were not complete when it had to end"));
    }
    Ok(output.end(None, &[]))
}

/// Waits for the message that member 0 keeps, and ends.
pub(crate) fn newcomer<M: Carrier>(task: &Task<'_>, output: &Output) -> Result<Ended, Failure> {
    let (ended, _guard) = shutdown(task);
    let (sender, received) = sync_channel(1);
    let spinning = Spinning::new(task.arguments);
    let node = task.context.create_node("newcomer")?;
    let topic = task.arguments.greeting_topic();
    let options = SubscriptionOptions::from(greeting_qos());
    let note = move |_: M, _: MessageInfo| {
        // Only the first message counts.
        let _ = sender.try_send(now_nanos());
    };
    let _subscription = node.create_subscription::<M, _>(&topic, options, note)?;
    spinning.add(&node)?;
    let beside = spinning.beside()?;
    output.ready();
    let at_nanos = loop {
        match received.recv_timeout(LOOK) {
            Ok(at_nanos) => break at_nanos,
            Err(_) if ended.try_recv().is_ok() || task.arguments.is_stopped() => {
                return Err(Failure::not_matched("no message came until it had to end"));
            }
            Err(_) => {}
        }
    };
    output.settled(at_nanos);
    spinning.end(beside)?;
    Ok(output.end(None, &[]))
}
