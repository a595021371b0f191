//! The subscription of an engine.

use std::sync::Arc;

use super::error::EventError;
use super::node_id::NodeId;
use super::notify::Notify;
use crate::announcement::{AnnounceError, Match};
use crate::event::SubscriptionEvent;
use crate::gid::Gid;
use crate::qos::QosProfile;
use crate::sample::Sample;
use crate::type_hash::TypeHash;

/// The options for creating a subscription.
#[derive(Clone)]
pub struct SubscriptionOptions<'a> {
    /// The node that owns the subscription.
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
    /// Whether the subscription ignores publishers of the same session.
    pub ignore_local_publications: bool,
    /// This function is called when [`Subscription::take`] may return a message.
    pub on_data: Notify,
    /// This function is called when [`Subscription::take_event`] may return an event.
    pub on_event: Option<Notify>,
}

impl<'a> SubscriptionOptions<'a> {
    /// A subscription with the default policies and nothing optional, which notifies nobody.
    pub fn new(node: NodeId, topic: &'a str, type_name: &'a str) -> Self {
        Self {
            node,
            topic,
            type_name,
            type_hash: None,
            qos: QosProfile::default(),
            announcement: "",
            ignore_local_publications: false,
            on_data: Arc::new(|| ()),
            on_event: None,
        }
    }
}

/// The reason why a message, request or response could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// The engine failed and reported only a code.
    #[error("nothing could be taken from {topic}: the engine says {code}")]
    Engine {
        /// The name of the topic or service.
        topic: String,
        /// The engine's description of the failure.
        code: String,
    },
}

/// Receives messages of one topic. Dropping this value withdraws the subscription and ends its
/// notifications.
pub trait Subscription: Send + Sync {
    /// The identity of the subscription on the wire.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Takes the oldest message that has not been taken. The sample borrows its bytes from the
    /// engine, without a copy. Never blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take(&self) -> Result<Option<Sample>, TakeError>;

    /// The number of publishers that match now.
    fn matched_publishers(&self) -> usize;

    /// Returns the publishers that match now, including those of the same session. The call
    /// allocates memory, and never waits for the network.
    ///
    /// A match is in the list from the moment of its notification
    /// ([`SubscriptionOptions::on_event`]) until the match ends.
    fn matches(&self) -> Vec<Match>;

    /// The gids of the publishers that match now.
    fn matched_gids(&self) -> Vec<Gid> {
        self.matches().into_iter().map(|matched| matched.gid).collect()
    }

    /// Changes the announcement, like [`Publisher::announce`](super::Publisher::announce).
    ///
    /// # Errors
    /// See [`AnnounceError`]. After an error, nothing was changed.
    fn announce(&self, announcement: &str) -> Result<(), AnnounceError>;

    /// Sets whether gaps in this publisher's numbers are expected because some of its messages
    /// arrive over another transport. While gaps are expected, they do not count as lost messages.
    /// When `expect` becomes false, counting starts again with the publisher's next message.
    ///
    /// The memory for this is limited: if there are many publishers, publishers that no longer
    /// match are forgotten.
    fn expect_gaps(&self, publisher: Gid, expect: bool);

    /// Takes the next event that has not been taken.
    ///
    /// # Errors
    /// Returns an error if the engine refuses.
    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError>;

    /// The number of samples that the engine refused because they were malformed. These samples
    /// never became messages.
    fn refused_samples(&self) -> u64;
}
