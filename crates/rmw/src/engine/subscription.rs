//! The subscription of an engine.

use super::error::EventError;
use super::node_id::NodeId;
use super::notify::Notify;
use crate::announcement::{AnnounceError, Match};
use crate::event::SubscriptionEvent;
use crate::gid::Gid;
use crate::qos::QosProfile;
use crate::sample::Sample;
use crate::type_hash::TypeHash;

/// The options for making a subscription.
#[derive(Clone)]
pub struct SubscriptionOptions<'a> {
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
    /// Whether the subscription ignores publishers of the same session.
    pub ignore_local_publications: bool,
    /// Called when [`Subscription::take`] may return a message.
    pub on_data: Notify,
    /// Called when [`Subscription::take_event`] may return an event.
    pub on_event: Option<Notify>,
}

/// Why something could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// The engine failed, and gave only a code.
    #[error("nothing could be taken from {topic}: the engine says {code}")]
    Engine {
        /// Name of the topic or service.
        topic: String,
        /// The engine's description of the failure.
        code: String,
    },
}

/// Receives messages of one topic. Dropping it withdraws the subscription and ends its
/// notifications.
pub trait Subscription: Send + Sync {
    /// The identity on the wire.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Takes the oldest message that was not taken yet; its bytes are lent, not copied. Never
    /// blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take(&self) -> Result<Option<Sample>, TakeError>;

    /// The number of publishers that match now.
    fn matched_publishers(&self) -> usize;

    /// The publishers that match now, those of the same session included. Allocates; never waits
    /// for the network.
    ///
    /// A match is in the list from its notification ([`SubscriptionOptions::on_event`]) until the
    /// match ends.
    fn matches(&self) -> Vec<Match>;

    /// Gids of the publishers that match now.
    fn matched_gids(&self) -> Vec<Gid> {
        self.matches().into_iter().map(|matched| matched.gid).collect()
    }

    /// Announces another text from now on, as [`Publisher::announce`](super::Publisher::announce)
    /// does.
    ///
    /// # Errors
    /// See [`AnnounceError`]; after an error nothing was changed.
    fn announce(&self, announcement: &str) -> Result<(), AnnounceError>;

    /// While `expect` is set, gaps in this publisher's numbers are not counted as lost messages,
    /// because its messages also come by another transport. When it is unset, counting begins anew
    /// with the next message of the publisher.
    ///
    /// The memory of this is bounded: publishers that no longer match are forgotten when there are
    /// many.
    fn expect_gaps(&self, publisher: Gid, expect: bool);

    /// Takes the next event that was not taken yet.
    ///
    /// # Errors
    /// Returns an error if the engine refuses.
    fn take_event(&self) -> Result<Option<SubscriptionEvent>, EventError>;

    /// The number of samples that the engine refused as malformed before they became messages.
    fn refused_samples(&self) -> u64;
}
