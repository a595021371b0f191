//! Subscriptions and the messages that they receive, in each form of a message.

use std::sync::Arc;

use feros::{
    MessageInfo, Node, Publisher, SerializedMessage, Stopper, Subscription, SubscriptionOptions,
    View,
};
use feros_lab_contract::{Failure, Placement, Published, Samples, now_nanos};

use crate::outgoing::Pool;
use crate::payload::Carrier;
use crate::{Form, Task};

/// The fate of a message after a callback has noted it.
pub(crate) enum Then<M> {
    /// The message's memory goes back to the publisher, if the publisher is in this process.
    Recycle(Pool<M>),
    /// The message is shared with other subscriptions.
    Share,
    /// The message is published again.
    Relay(Publisher<M>, Published),
}

/// Creates a subscription. Its callback first reads the time, since the user's code begins there.
pub(crate) fn subscribe<M: Carrier>(
    task: &Task<'_>,
    node: &Node,
    topic: &str,
    samples: &Samples,
    stopper: Option<Stopper>,
    then: Then<M>,
) -> Result<Subscription<M>, Failure> {
    let options =
        SubscriptionOptions::from(task.qos).log_lost_messages(false).dispatch(task.dispatch);
    let note = {
        let (samples, arguments) = (samples.clone(), task.arguments.clone());
        let seen = task.layers.seen(&arguments);
        move |payload: &[u8], info: &MessageInfo, now: u64| {
            if let Some(seen) = &seen {
                seen.note(&arguments, payload, info);
            }
            samples.note(payload, now)
        }
    };
    let stop = move |is_last: bool| {
        if let (true, Some(stopper)) = (is_last, &stopper) {
            stopper.stop();
        }
    };
    let size_bytes = task.arguments.size_bytes;
    let is_given = task.arguments.placement == Placement::Intra;
    let subscription = match (task.form, then) {
        (Form::Raw, Then::Relay(publisher, published)) => node.create_subscription(
            topic,
            options,
            move |message: SerializedMessage, info: MessageInfo| {
                let now = now_nanos();
                let is_last = note(raw_payload::<M>(&message, size_bytes), &info, now);
                let at = now_nanos();
                publish(publisher.publish_serialized(&message), &published, at);
                stop(is_last);
            },
        )?,
        (_, Then::Relay(publisher, published)) => {
            node.create_subscription(topic, options, move |message: M, info: MessageInfo| {
                let now = now_nanos();
                let is_last = note(message.payload(), &info, now);
                let at = now_nanos();
                let result =
                    if is_given { publisher.publish(message) } else { publisher.publish(&message) };
                publish(result, &published, at);
                stop(is_last);
            })?
        }
        (Form::Raw, _) => node.create_subscription(
            topic,
            options,
            move |message: SerializedMessage, info: MessageInfo| {
                let now = now_nanos();
                stop(note(raw_payload::<M>(&message, size_bytes), &info, now));
            },
        )?,
        (Form::View | Form::Built, _) => {
            node.create_subscription(topic, options, move |message: View<M>, info: MessageInfo| {
                let now = now_nanos();
                stop(M::in_place(&message, |payload| note(payload, &info, now)));
            })?
        }
        (Form::Ordinary, Then::Share) => {
            node.create_subscription(topic, options, move |message: Arc<M>, info: MessageInfo| {
                let now = now_nanos();
                stop(note(message.payload(), &info, now));
            })?
        }
        (Form::Ordinary, Then::Recycle(pool)) => {
            node.create_subscription(topic, options, move |message: M, info: MessageInfo| {
                let now = now_nanos();
                let is_last = note(message.payload(), &info, now);
                if is_given {
                    pool.put(message);
                }
                stop(is_last);
            })?
        }
    };
    Ok(subscription)
}

fn raw_payload<M: Carrier>(message: &[u8], size_bytes: usize) -> &[u8] {
    let end = message.len().saturating_sub(M::BEHIND);
    &message[end.saturating_sub(size_bytes)..end]
}

fn publish(result: Result<(), feros::PublishError>, published: &Published, at: u64) {
    match result {
        Ok(()) => published.note(published.sent(), at),
        // The laboratory counts missing messages; the reason is logged here.
        Err(error) => eprintln!("error: a relay could not publish: {error}"),
    }
}
