//! Messages through shared memory, between contexts of this process that may not use the
//! intra-process transport. The tests in `tests/crash` kill processes.

mod delivery;
mod loans;

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use feros::msgs::sensor_msgs::msg::Image;
use feros::{
    Context, Node, Publisher, Subscription, SubscriptionOptions, Transport, TransportSet, View,
};

use crate::support::{WATCHDOG, context};
use feros_test_support::eventually;

pub(crate) const BETWEEN_PROCESSES: TransportSet =
    TransportSet::ALL.without(Transport::IntraProcess);

pub(crate) fn options(qos: impl Into<SubscriptionOptions>) -> SubscriptionOptions {
    qos.into().transports(BETWEEN_PROCESSES)
}

pub(crate) fn channel<T>() -> (SyncSender<T>, Receiver<T>) {
    sync_channel(100_000)
}

pub(crate) fn nodes() -> (Context, Context, Node, Node) {
    let (here, there) = (context(), context());
    let (talker, listener) =
        (here.create_node("talker").unwrap(), there.create_node("listener").unwrap());
    (here, there, talker, listener)
}

/// Publishes until `count` matches use shared memory; returns the number of messages that were
/// published.
pub(crate) fn until_host<M>(
    publisher: &Publisher<M>,
    count: usize,
    mut publish: impl FnMut(),
) -> usize
where
    M: feros::message::Message,
{
    publisher.wait_for_subscriptions(count, WATCHDOG).unwrap();
    let mut published = 0;
    eventually(|| {
        let found = publisher.transports();
        let on_shared_memory =
            found.iter().filter(|found| found.transport == Some(Transport::SharedMemory)).count();
        if on_shared_memory == count {
            return Ok(published);
        }
        publish();
        published += 1;
        Err(format!("{found:?}"))
    })
}

/// Makes a subscription to `image` through shared memory that passes its messages on as views.
pub(crate) fn views_of_images(listener: &Node) -> (Subscription<Image>, Receiver<View<Image>>) {
    let (sender, receiver) = channel();
    let subscription = listener
        .create_subscription("image", options(100), move |image: View<Image>| {
            sender.send(image).unwrap()
        })
        .unwrap();
    (subscription, receiver)
}
