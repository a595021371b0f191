//! The publisher of an engine.

use std::time::Duration;

use feros_wording::{duration, within};

use super::error::EventError;
use super::node_id::NodeId;
use super::notify::Notify;
use crate::announcement::{AnnounceError, Match};
use crate::event::PublisherEvent;
use crate::gid::Gid;
use crate::qos::QosProfile;
use crate::stamp::Stamp;
use crate::type_hash::TypeHash;

/// Whether a call that publishes may wait for the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PublishMode {
    /// The calling thread sends. It waits while the buffers of a reliable subscription are full or
    /// the network card is slow. For a message of several packets, it also waits, for up to one
    /// second, if every reliable subscription on another host still has not received some of the
    /// last packets.
    #[default]
    Synchronous,
    /// A thread of the publisher sends from a queue of at most `queue_depth` messages, so
    /// publishing never waits. When the queue is full, its oldest message is dropped and counted,
    /// as in the history of a publisher.
    Asynchronous {
        /// The capacity of the queue, at least 1.
        queue_depth: usize,
    },
}

/// The options for creating a publisher.
#[derive(Clone)]
pub struct PublisherOptions<'a> {
    /// The node that owns the publisher.
    pub node: NodeId,
    /// The fully qualified, valid topic name. If `avoid_ros_namespace_conventions` is set, this is
    /// the wire name.
    pub topic: &'a str,
    /// The type, in the form `package/msg/Name`.
    pub type_name: &'a str,
    /// The type hash to announce, if there is one.
    pub type_hash: Option<TypeHash>,
    /// The policies.
    pub qos: QosProfile,
    /// The announcement, which must be valid according to
    /// [`check_announcement`](crate::announcement::check_announcement). The empty string announces
    /// nothing.
    pub announcement: &'a str,
    /// Whether a call that publishes may wait for the network.
    pub mode: PublishMode,
    /// This function is called when [`Publisher::take_event`] may return an event.
    pub on_event: Option<Notify>,
}

impl<'a> PublisherOptions<'a> {
    /// A synchronous publisher with the default policies and nothing optional.
    pub fn new(node: NodeId, topic: &'a str, type_name: &'a str) -> Self {
        Self {
            node,
            topic,
            type_name,
            type_hash: None,
            qos: QosProfile::default(),
            announcement: "",
            mode: PublishMode::Synchronous,
            on_event: None,
        }
    }
}

/// The error of a `fill` callback that did not write a message. The caller that passed the callback
/// knows the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillAborted;

/// The reason why a message was not published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The `fill` callback returned an error. Nothing was published.
    #[error("the message could not be serialized")]
    FillAborted,
    /// The engine has no memory for a sample of this size.
    #[error(
        "the engine has no memory for a message of {size_bytes} bytes on {topic}: end other programs, \
         or publish smaller messages"
    )]
    OutOfMemory {
        /// The name of the topic or service.
        topic: String,
        /// The size of the sample.
        size_bytes: usize,
    },
    /// The size is not possible: a sample has at least its 4-byte header, and DDS can send at most
    /// 2 GiB.
    #[error(
        "a message of {size_bytes} bytes cannot be sent on {topic}: its size must be 4 to \
         {largest_bytes} bytes"
    )]
    Size {
        /// The name of the topic or service.
        topic: String,
        /// The size of the sample.
        size_bytes: usize,
        /// The largest possible size.
        largest_bytes: usize,
    },
    /// The source timestamp cannot be sent.
    #[error(
        "nothing was published on {topic} with the source timestamp {stamp} ns: it must be from {} \
         to {}",
        Stamp::MIN,
        Stamp::MAX
    )]
    Stamp {
        /// The name of the topic.
        topic: String,
        /// The requested stamp.
        stamp: Stamp,
    },
    /// The buffers of a subscription remained full for too long.
    #[error(
        "the message on {topic} was not published: the buffers of a reliable subscription stayed \
         full for {}; publish less, use keep_last, or publish asynchronously",
        duration(*.waited)
    )]
    Timeout {
        /// The name of the topic or service.
        topic: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// The client of the request has left, or was not ready to receive within the time that stock
    /// ROS 2 waits.
    #[error(
        "the client that called {service} cannot be reached: it left{}",
        or_is_late(*.waited)
    )]
    ClientGone {
        /// The name of the service.
        service: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// The service has servers of rmw_fastrtps and of rmw_cyclonedds at the same time, and they do
    /// not understand each other's requests.
    #[error(
        "{service} was not called: it has servers on rmw_fastrtps and on rmw_cyclonedds at once; stop or rename one of \
         them"
    )]
    MixedServers {
        /// The name of the service.
        service: String,
    },
    /// The server is on this host, and did not take earlier requests in time.
    #[error(
        "{service} was not called: its server took none of the waiting requests {}; call it less often, await \
         responses, or find the callback that keeps the server's executor busy",
        within(*.waited)
    )]
    ServerBusy {
        /// The name of the service.
        service: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// The client is on this host, and does not take its responses.
    #[error(
        "{service} could not respond: its client has not taken {waiting} responses; make the client await its calls"
    )]
    ClientBusy {
        /// The name of the service.
        service: String,
        /// The number of responses that the client has not taken.
        waiting: usize,
    },
    /// The engine failed and reported only a code.
    #[error("the message on {topic} was not published: the engine says {code}")]
    Engine {
        /// The name of the topic or service.
        topic: String,
        /// The engine's description of the failure.
        code: String,
    },
}

/// The end of the sentence about a client that cannot be reached. Only some engines wait for
/// clients.
fn or_is_late(waited: Duration) -> String {
    if waited.is_zero() {
        return String::new();
    }
    format!(", or did not match within {}", duration(waited))
}

/// The reason why the wait for acknowledgements failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitForAckedError {
    /// The time limit was reached.
    #[error("not all subscriptions of {topic} acknowledged {}", within(*.waited))]
    Timeout {
        /// The name of the topic.
        topic: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// The engine failed and reported only a code.
    #[error("waiting for acknowledgements of {topic} failed: the engine says {code}")]
    Engine {
        /// The name of the topic.
        topic: String,
        /// The engine's description of the failure.
        code: String,
    },
}

/// A callback that writes the serialized message into memory of the engine, which has exactly the
/// requested size. The memory holds arbitrary bytes, so the callback must write every byte.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), FillAborted>;

/// Makes a [`Fill`] that copies a serialized message of the same size.
pub fn copied(bytes: &[u8]) -> impl FnMut(&mut [u8]) -> Result<(), FillAborted> {
    move |memory: &mut [u8]| {
        memory.copy_from_slice(bytes);
        Ok(())
    }
}

/// Allocates a buffer and lets `fill` write the message into it, for engines that send from an
/// ordinary buffer.
///
/// # Errors
/// Fails with [`PublishError::Size`] if the size is below the size of the header or above
/// `largest_bytes`, with [`PublishError::OutOfMemory`] if the buffer cannot be allocated, and with
/// [`PublishError::FillAborted`] if `fill` fails.
pub fn filled(
    topic: &str,
    size_bytes: usize,
    largest_bytes: usize,
    fill: Fill<'_>,
) -> Result<Vec<u8>, PublishError> {
    let topic = || topic.to_owned();
    if !(4..=largest_bytes).contains(&size_bytes) {
        return Err(PublishError::Size { topic: topic(), size_bytes, largest_bytes });
    }
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(size_bytes)
        .map_err(|_| PublishError::OutOfMemory { topic: topic(), size_bytes })?;
    bytes.resize(size_bytes, 0);
    fill(&mut bytes).map_err(|_| PublishError::FillAborted)?;
    Ok(bytes)
}

/// Sends messages of one topic. Dropping this value withdraws the publisher.
pub trait Publisher: Send + Sync {
    /// The identity of the publisher on the wire.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Publishes one message of `size_bytes` with the current time as its source timestamp. `fill`
    /// writes the message once, into the memory that the engine sends from.
    ///
    /// Returns the message's sequence number, which is counted from 1. Blocks as described at
    /// [`PublishMode`]. Allocates memory only if there is no free buffer of the right size.
    ///
    /// # Errors
    /// See [`PublishError`]. After an error, nothing was published.
    fn publish(&self, size_bytes: usize, fill: Fill<'_>) -> Result<u64, PublishError> {
        self.publish_at(Stamp::now(), size_bytes, fill)
    }

    /// Like [`publish`](Self::publish), with the given source timestamp, which subscriptions
    /// receive exactly, to the nanosecond. A lifespan is counted from the timestamp. The order of
    /// timestamps is ignored: messages remain in the order in which they were published.
    ///
    /// # Errors
    /// See [`PublishError`]. After an error, nothing was published.
    fn publish_at(
        &self,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<u64, PublishError>;

    /// Waits for at most one second until every keep-all subscription of this process has room,
    /// because otherwise [`publish_at`](Self::publish_at) would wait for room. An asynchronous
    /// publisher does not wait here.
    ///
    /// # Errors
    /// Fails with [`PublishError::Timeout`].
    fn wait_for_room(&self) -> Result<(), PublishError>;

    /// Counts messages that the engine did not have to send to any subscription. A subscription
    /// whose match ended and began again in the meantime counts them as lost when it receives the
    /// next message.
    fn skip(&self, messages: u64);

    /// The number of subscriptions that match now. Never waits for the network.
    fn matched_subscriptions(&self) -> usize;

    /// Returns the subscriptions that match now, including those of the same session. The call
    /// allocates memory. It waits neither for the network nor for another call that publishes.
    ///
    /// A match is in the list from the moment of its notification ([`PublisherOptions::on_event`])
    /// until the match ends.
    fn matches(&self) -> Vec<Match>;

    /// The gids of the subscriptions that match now.
    fn matched_gids(&self) -> Vec<Gid> {
        self.matches().into_iter().map(|matched| matched.gid).collect()
    }

    /// Changes the announcement. The empty string announces nothing. Remote nodes see the new
    /// announcement in their graph, with a notification, and in their
    /// [`matches`](super::Subscription::matches). The matches themselves do not change.
    ///
    /// May wait for another call that publishes. Does not wait until remote nodes see the new
    /// announcement.
    ///
    /// # Errors
    /// See [`AnnounceError`]. After an error, nothing was changed.
    fn announce(&self, announcement: &str) -> Result<(), AnnounceError>;

    /// Waits until all reliable subscriptions have acknowledged all published messages.
    ///
    /// # Errors
    /// Returns [`WaitForAckedError::Timeout`] after `timeout`.
    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError>;

    /// Waits for at most `patience` until this subscription has acknowledged all published
    /// messages, and returns whether it has. Returns true if the subscription is best-effort or
    /// does not match, because it then has nothing to acknowledge. Unlike
    /// [`wait_for_all_acked`](Self::wait_for_all_acked), this does not wait for other
    /// subscriptions, such as those of a killed process, which acknowledge nothing until the engine
    /// forgets them.
    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool;

    /// Waits for at most `patience` until the participant of this subscription has acknowledged the
    /// announcement of the publisher, and returns whether it has. Returns true if the engine cannot
    /// know this. Before the acknowledgement, a best-effort subscription may not have found the
    /// publisher yet, even if the publisher has found the subscription. It then loses the published
    /// messages.
    fn is_announced_to(&self, subscription: Gid, patience: Duration) -> bool {
        let _ = (subscription, patience);
        true
    }

    /// Tells the engine that the process of this subscription has ended, so that the engine forgets
    /// all endpoints of the process immediately. The engine alone would notice only when the
    /// process stays silent, and until then a reliable publisher waits for the subscription to
    /// acknowledge its messages. Call this only when the operating system says that the process is
    /// gone. Never blocks. Does nothing in engines whose connections end with the process, because
    /// nothing waits for the subscription.
    fn forget_ended(&self, subscription: Gid) {
        let _ = subscription;
    }

    /// Asserts that the publisher is alive (manual liveliness). Does nothing in engines in which a
    /// publisher is alive as long as it exists.
    ///
    /// # Errors
    /// Returns an error if the engine refuses.
    fn assert_liveliness(&self) -> Result<(), EventError> {
        Ok(())
    }

    /// Takes the next event that has not been taken.
    ///
    /// # Errors
    /// Returns an error if the engine refuses.
    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError>;

    /// The number of messages that an asynchronous publisher dropped because its queue was full.
    fn dropped_messages(&self) -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_was_not_waited_for_did_not_match_within_no_time() {
        let gone =
            |waited| PublishError::ClientGone { service: "/add".to_owned(), waited }.to_string();
        let left = "the client that called /add cannot be reached: it left";
        assert_eq!(gone(Duration::ZERO), left);
        let or_is_late = format!("{left}, or did not match within 0.1 s");
        assert_eq!(gone(Duration::from_millis(100)), or_is_late);
        let topic = "/scan".to_owned();
        let error = WaitForAckedError::Timeout { topic, waited: Duration::ZERO };
        assert_eq!(error.to_string(), "not all subscriptions of /scan acknowledged at once");
    }
}
