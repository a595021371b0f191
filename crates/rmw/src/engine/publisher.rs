//! The publisher of an engine.

use std::time::Duration;

use super::error::EventError;
use super::node_id::NodeId;
use super::notify::Notify;
use crate::announcement::{AnnounceError, Match};
use crate::event::PublisherEvent;
use crate::gid::Gid;
use crate::qos::QosProfile;
use crate::stamp::Stamp;
use crate::type_hash::TypeHash;

/// Whether publishing waits for the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PublishMode {
    /// The caller's thread sends; it waits when a reliable subscription's buffers are full, when
    /// the network card is slow, and, up to a second, with a message of several packets, when
    /// reliable subscriptions on other hosts miss some of the last packets and no such subscription
    /// keeps up.
    #[default]
    Synchronous,
    /// A thread of the publisher sends from a queue of at most `queue_depth` messages; publishing
    /// never waits. When the queue is full, the oldest message in it is dropped and counted, as the
    /// history of a publisher does.
    Asynchronous {
        /// The most messages that wait to be sent, at least 1.
        queue_depth: usize,
    },
}

/// The options for making a publisher.
#[derive(Clone)]
pub struct PublisherOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid topic name; with `avoid_ros_namespace_conventions` the name on the
    /// wire.
    pub topic: &'a str,
    /// Type as `package/msg/Name`.
    pub type_name: &'a str,
    /// The hash; announced when given.
    pub type_hash: Option<TypeHash>,
    /// The policies.
    pub qos: QosProfile,
    /// The announcement beyond DDS, as
    /// [`check_announcement`](crate::announcement::check_announcement) allows it; the empty text
    /// announces nothing.
    pub announcement: &'a str,
    /// Whether publishing waits for the link.
    pub mode: PublishMode,
    /// Called when [`Publisher::take_event`] may return an event.
    pub on_event: Option<Notify>,
}

/// The error of a `fill` that gave up; the caller knows the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillAborted;

/// Why a message was not published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// `fill` gave up; nothing was published.
    #[error("the message could not be serialized")]
    FillAborted,
    /// The engine has no memory for a sample of this size.
    #[error("no memory for a sample of {size_bytes} bytes on {topic}")]
    OutOfMemory {
        /// Name of the topic or service.
        topic: String,
        /// Size of the sample.
        size_bytes: usize,
    },
    /// A sample must have its 4-byte header, and DDS carries at most 2 GiB.
    #[error(
        "a sample of {size_bytes} bytes cannot be sent on {topic}: its size must be 4 to {largest_bytes}"
    )]
    Size {
        /// Name of the topic or service.
        topic: String,
        /// Size of the sample.
        size_bytes: usize,
        /// The largest possible size.
        largest_bytes: usize,
    },
    /// The source timestamp cannot go on the wire.
    #[error(
        "nothing was published on {topic} with the source timestamp {stamp} ns: it must be {} to {}",
        Stamp::MIN,
        Stamp::MAX
    )]
    Stamp {
        /// Name of the topic.
        topic: String,
        /// The requested stamp.
        stamp: Stamp,
    },
    /// Subscriptions did not make room in time.
    #[error(
        "{topic} was not published: the buffers of a reliable subscription stayed full for {waited:?}; publish less, \
         use keep_last, or publish asynchronously"
    )]
    Timeout {
        /// Name of the topic or service.
        topic: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// The client of the request has left, or was not ready to receive within the time that stock
    /// ROS 2 waits.
    #[error(
        "the client that called {service} cannot be reached: it left, or did not match within {waited:?}"
    )]
    ClientGone {
        /// Name of the service.
        service: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// Servers of both RMW families answer under one name, so no request would be understood by all
    /// of them.
    #[error(
        "{service} was not called: it has servers of rmw_fastrtps and of rmw_cyclonedds at once; stop one of them or \
         rename it"
    )]
    MixedServers {
        /// Name of the service.
        service: String,
    },
    /// The servers of this host did not take earlier requests in time.
    #[error(
        "{service} was not called: its server took none of the requests that wait for it within {waited:?}; call it \
         less often, await responses, or find what keeps the server's executor busy"
    )]
    ServerBusy {
        /// Name of the service.
        service: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// A client of this host does not take its responses.
    #[error(
        "{service} could not respond: its client has not taken {waiting} responses; make the client await its calls"
    )]
    ClientBusy {
        /// Name of the service.
        service: String,
        /// The number of responses that wait.
        waiting: usize,
    },
    /// The engine failed, and gave only a code.
    #[error("{topic} was not published: the engine says {code}")]
    Engine {
        /// Name of the topic or service.
        topic: String,
        /// The engine's description of the failure.
        code: String,
    },
}

/// Why waiting for acknowledgements ended without them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitForAckedError {
    /// Time ran out.
    #[error("not all subscriptions of {topic} acknowledged within {waited:?}")]
    Timeout {
        /// Name of the topic.
        topic: String,
        /// How long the call waited.
        waited: Duration,
    },
    /// The engine failed, and gave only a code.
    #[error("waiting for acknowledgements of {topic} failed: the engine says {code}")]
    Engine {
        /// Name of the topic.
        topic: String,
        /// The engine's description of the failure.
        code: String,
    },
}

/// Writes the serialized message into memory of the engine that has exactly the requested size. The
/// memory is initialized but not zero: `fill` writes every byte.
pub type Fill<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), FillAborted>;

/// A message in memory of its own, written by `fill`: for engines that send from such memory.
///
/// # Errors
/// [`PublishError::Size`] for less than the header of a message or more than `largest_bytes`,
/// [`PublishError::OutOfMemory`], and [`PublishError::FillAborted`].
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

/// Sends messages of one topic. Dropping it withdraws the publisher.
pub trait Publisher: Send + Sync {
    /// The identity on the wire.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Publishes one message of `size_bytes`, written once by `fill` into the memory that the
    /// engine sends from, with the current time as its source timestamp.
    ///
    /// Returns the message's sequence number, from 1. Blocks as [`PublishMode`] says; allocates
    /// only when no buffer of the size is free.
    ///
    /// # Errors
    /// See [`PublishError`]; after an error nothing was published.
    fn publish(&self, size_bytes: usize, fill: Fill<'_>) -> Result<u64, PublishError> {
        self.publish_at(Stamp::now(), size_bytes, fill)
    }

    /// Like [`publish`](Self::publish), with this source timestamp, which subscriptions receive to
    /// the nanosecond. A lifespan counts from it. The engine ignores the order of stamps: messages
    /// stay in the order of publishing.
    ///
    /// # Errors
    /// See [`PublishError`]; after an error nothing was published.
    fn publish_at(
        &self,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<u64, PublishError>;

    /// Waits, a second at most, until every keep-all subscription of this process has room;
    /// otherwise [`publish_at`](Self::publish_at) would wait for it. Asynchronous publishers do not
    /// wait here.
    ///
    /// # Errors
    /// [`PublishError::Timeout`].
    fn wait_for_room(&self) -> Result<(), PublishError>;

    /// Counts messages that the engine did not have to write for any subscription. A subscription
    /// that was away meanwhile counts them among its losses when it receives the next message.
    fn skip(&self, messages: u64);

    /// The number of subscriptions that match now. Never waits for the network.
    fn matched_subscriptions(&self) -> usize;

    /// The subscriptions that match now, those of the same session included. The call allocates; it
    /// never waits for the network, nor for another call that publishes.
    ///
    /// A match is in the list from its notification ([`PublisherOptions::on_event`]) until the
    /// match ends.
    fn matches(&self) -> Vec<Match>;

    /// Gids of the subscriptions that match now.
    fn matched_gids(&self) -> Vec<Gid> {
        self.matches().into_iter().map(|matched| matched.gid).collect()
    }

    /// Announces another text from now on; the empty text announces nothing. Others see it in their
    /// graph, with a notification, and in their [`matches`](super::Subscription::matches); the
    /// matches themselves do not change.
    ///
    /// May wait for another call that publishes; never waits until others see the text.
    ///
    /// # Errors
    /// See [`AnnounceError`]; after an error nothing was changed.
    fn announce(&self, announcement: &str) -> Result<(), AnnounceError>;

    /// Waits until all reliable subscriptions have acknowledged all published messages.
    ///
    /// # Errors
    /// [`WaitForAckedError::Timeout`] after `timeout`.
    fn wait_for_all_acked(&self, timeout: Duration) -> Result<(), WaitForAckedError>;

    /// Whether this subscription has all published messages, as far as delivery is reliable; a
    /// subscription that does not match misses nothing. Waits for that at most `patience`, and
    /// never for other subscriptions: a subscription of a killed process acknowledges nothing until
    /// the engine forgets it.
    fn is_acknowledged_by(&self, subscription: Gid, patience: Duration) -> bool;

    /// Waits until the participant of this subscription has acknowledged the announcement of the
    /// publisher, at most `patience`, and returns whether it has; true where the engine cannot
    /// tell. Until then a best-effort subscription that the publisher has found may not have found
    /// the publisher, and loses the published messages.
    fn is_announced_to(&self, subscription: Gid, patience: Duration) -> bool {
        let _ = (subscription, patience);
        true
    }

    /// Tells the engine that the process of this subscription has ended, which the engine would
    /// otherwise notice only by its silence: until then a reliable publisher waits for the messages
    /// that the subscription has not acknowledged. The engine forgets all endpoints of that
    /// process. Call it only when the operating system says that the process is gone; it never
    /// blocks.
    fn forget_ended(&self, subscription: Gid);

    /// Shows that the publisher is alive (manual liveliness).
    ///
    /// # Errors
    /// Returns an error if the engine refuses.
    fn assert_liveliness(&self) -> Result<(), EventError>;

    /// Takes the next event that was not taken yet.
    ///
    /// # Errors
    /// Returns an error if the engine refuses.
    fn take_event(&self) -> Result<Option<PublisherEvent>, EventError>;

    /// The number of messages that an asynchronous publisher dropped because its queue was full.
    fn dropped_messages(&self) -> u64;
}
