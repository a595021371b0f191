//! A mirror is a publisher that represents one original publisher on the other side. It has the
//! same policies, messages and numbers as the original, so a subscription that receives from both
//! can drop the messages that it already has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::{
    BridgeMark, Created, Durability, EndpointKind, Gid, Match, PublishError, PublishMode,
    Publisher, PublisherOptions, QosProfile, Stamp, TypeHash, copied, twin,
};
use feros_sync::{AtomicBool, Ordering};

use crate::bell::Bell;
use crate::class::mirrored;
use crate::side::Side;
use crate::topic_key::TopicKey;

/// How long the mirror of a publisher that has left waits for acknowledgements on the other side.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// How long the first message waits until the subscriptions on the other side match.
const MEETING: Duration = Duration::from_secs(1);

/// The wait is split into parts of this length, because a subscription that leaves in the meantime
/// does not wake the thread.
const MOST_BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The largest number of an original publisher that a mirror uses. Real numbers are far smaller,
/// and the mirror must be able to count on from here without overflow.
const LAST_NUMBER: u64 = 1 << 62;

/// Creates the mirrors of a topic.
pub(crate) struct Mirrors {
    pub(crate) key: TopicKey,
    pub(crate) hash: Option<TypeHash>,
    pub(crate) to: Side,
    pub(crate) mark: BridgeMark,
    pub(crate) queue_len: usize,
}

impl Mirrors {
    /// Creates a mirror of a publisher.
    pub(crate) fn of(&self, found: &Match) -> Created<Mirror> {
        let announcement = found.announcement.as_deref().unwrap_or_default();
        let identity = twin::read(announcement).0.unwrap_or(found.gid);
        self.make(mirrored(&found.qos, self.queue_len), Some(identity))
    }

    /// Creates the one mirror for all publishers that the engine does not identify.
    pub(crate) fn of_strangers(&self) -> Created<Mirror> {
        self.make(mirrored(&self.key.class.requested(self.queue_len), self.queue_len), None)
    }

    fn make(&self, qos: QosProfile, origin: Option<Gid>) -> Created<Mirror> {
        let announcement = match origin {
            Some(origin) => self.mark.announcement_for(origin),
            None => self.mark.announcement(),
        };
        let met = Arc::<Bell>::default();
        let publisher = self.to.session.create_publisher(PublisherOptions {
            node: self.to.node,
            topic: &self.to.name_here(&self.key.topic),
            type_name: &self.key.type_name,
            type_hash: self.hash,
            qos,
            announcement: &announcement,
            mode: PublishMode::Synchronous,
            on_event: Some(met.notify()),
        })?;
        Ok(Mirror { publisher, qos, next: origin.map(|_| 1), meets: Some(met) })
    }

    /// Returns the subscriptions on the other side that a publisher with this QoS will match,
    /// except subscriptions of bridges.
    fn awaited(&self, qos: &QosProfile) -> Vec<Gid> {
        let graph = self.to.session.graph();
        let topic = self.to.name_here(&self.key.topic);
        let fits = graph.endpoints_of(EndpointKind::Subscription, &topic).filter(|one| {
            one.type_name == self.key.type_name
                && qos.incompatibilities(&one.qos).is_empty()
                && BridgeMark::read(one.announcement.as_deref()).is_none()
        });
        fits.map(|one| one.gid).collect()
    }
}

/// A publisher that forwards the messages of another publisher.
pub(crate) struct Mirror {
    publisher: Arc<dyn Publisher>,
    qos: QosProfile,
    /// The number of the mirror's next message, or `None` if the mirror does not use the numbers of
    /// the original publisher.
    next: Option<u64>,
    /// Wakes the thread when a subscription matches, or is `None` after the first message has been
    /// published.
    meets: Option<Arc<Bell>>,
}

impl Mirror {
    /// Publishes a message with its original number. If the class is keep-all, waits until
    /// subscriptions have room, or until `is_ending` is set.
    pub(crate) fn publish(
        &mut self,
        (number, stamp): (Option<u64>, Stamp),
        bytes: &[u8],
        mirrors: &Mirrors,
        is_ending: &AtomicBool,
    ) -> Result<(), PublishError> {
        self.count_on(number, mirrors);
        if let Some(met) = self.meets.take() {
            self.meet(&met, mirrors);
        }
        let mut fill = copied(bytes);
        let mut published = self.publisher.publish_at(stamp, bytes.len(), &mut fill);
        while matches!(published, Err(PublishError::Timeout { .. }))
            && mirrors.key.class.keeps_all()
            && !is_ending.load(Ordering::Acquire)
        {
            published = self.publisher.publish_at(stamp, bytes.len(), &mut fill);
        }
        published?;
        self.next = self.next.map(|next| next + 1);
        Ok(())
    }

    /// Waits until the subscriptions on the other side match. The original publisher already
    /// matches the bridge's subscription, so it expects that its first message arrives.
    fn meet(&self, met: &Bell, mirrors: &Mirrors) {
        if self.qos.durability == Durability::TransientLocal {
            return; // subscriptions that match later get the message as well
        }
        let until = Instant::now() + MEETING;
        loop {
            let matched = self.publisher.matched_gids();
            let left = until.saturating_duration_since(Instant::now());
            let awaited = mirrors.awaited(&self.qos);
            if left.is_zero() || awaited.iter().all(|gid| matched.contains(gid)) {
                return;
            }
            met.wait(Some(left.min(MOST_BETWEEN_LOOKS)));
        }
    }

    /// Sets the number of the next message.
    fn count_on(&mut self, number: Option<u64>, mirrors: &Mirrors) {
        let Some(next) = self.next else { return };
        match number {
            Some(number) if (next..=LAST_NUMBER).contains(&number) => {
                if number > next {
                    self.publisher.skip(number - next);
                }
                self.next = Some(number);
            }
            _ => self.give_up_numbers(mirrors),
        }
    }

    /// Continues without the original numbers, as if the publisher's messages had no numbers.
    #[cold]
    fn give_up_numbers(&mut self, mirrors: &Mirrors) {
        self.next = None;
        match mirrors.make(self.qos, None) {
            Ok(other) => {
                self.wait_until_acked(Instant::now() + LINGER);
                self.publisher = other.publisher;
                self.meets = other.meets;
            }
            Err(error) => tracing::warn!(
                "the bridge cannot keep the publication numbers of messages: {error}"
            ),
        }
    }

    pub(crate) fn is_acked(&self) -> bool {
        self.publisher.wait_for_all_acked(Duration::ZERO).is_ok()
    }

    /// Waits for acknowledgements until this time. A subscription that has not acknowledged by then
    /// may miss messages, as may happen at the end of any publisher.
    pub(crate) fn wait_until_acked(&self, until: Instant) {
        let _ = self.publisher.wait_for_all_acked(until.saturating_duration_since(Instant::now()));
    }
}
