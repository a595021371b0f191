//! The settings of a publisher's shared memory, with the limits of its pool that follow from them,
//! and the figures on the use of the pool.

use super::pool::PoolLimits;

/// The settings for making a [`HostPublisher`](super::HostPublisher).
#[derive(Debug, Clone)]
pub struct HostPublisherSettings {
    /// The id of the publisher. It must be unique among all publishers of this user on this host,
    /// even after restarts.
    pub id: u64,
    /// The hash of the message type, whose first eight bytes are checked with each message.
    pub type_hash: Option<[u8; 32]>,
    /// The name of the message type, for logs.
    pub type_name: String,
    /// The longest queue that a subscription may have at this publisher (KEEP_LAST depth). Each
    /// slot of a queue costs address space and a few bytes. It takes memory for a message only when
    /// it is used.
    ///
    /// This limit and the limits below are at least 1.
    pub largest_depth: usize,
    /// The limit on connected subscriptions.
    pub max_subscriptions: usize,
    /// The limit on samples of this publisher that each subscription may hold at the same time
    /// (views).
    pub max_views: usize,
    /// The limit on messages that have been lent but not sent yet.
    pub max_loans: usize,
    /// The message size for which the pool is first made. A larger message makes the pool grow.
    pub expected_message_bytes: usize,
    /// The limit on the memory of the pool. With `None`, the pool is limited only by the numbers of
    /// queued, held and lent messages.
    pub pool_limit_bytes: Option<u64>,
}

impl HostPublisherSettings {
    /// The limits of a pool. They allow one more loan than the user may have, for a message that is
    /// moved to a larger pool. With these limits, a pool never runs out of chunks.
    ///
    /// Each message goes to all subscriptions, and the oldest makes room in a full queue. So the
    /// messages that wait in any number of queues are always the newest messages, as many as the
    /// longest queue has slots. Only views differ between subscriptions. The pool has room for the
    /// messages of one more queue: if another process has overwritten a queue, nothing is sent
    /// through it any longer, and it keeps its messages until the connection ends.
    pub(super) fn limits(&self) -> PoolLimits {
        let max_loans = self.max_loans + 1;
        let waiting = self.largest_depth * self.max_subscriptions.min(2);
        let max_messages = waiting + self.max_subscriptions * self.max_views + max_loans;
        PoolLimits { max_messages, max_loans }
    }

    /// Makes settings with the defaults: depth 16, 16 subscriptions with 8 views each, 4 loans,
    /// messages of 1 KiB at first, and no memory limit.
    #[must_use]
    pub fn new(id: u64) -> Self {
        Self {
            id,
            type_hash: None,
            type_name: String::new(),
            largest_depth: 16,
            max_subscriptions: 16,
            max_views: 8,
            max_loans: 4,
            expected_message_bytes: 1024,
            pool_limit_bytes: None,
        }
    }
}

/// How a publisher's pool is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// The number of messages that the pool can hold at the same time. It is enough even if all
    /// queues are full, all views are held, and all loans are lent.
    pub max_messages: usize,
    /// The largest number of messages that have been in use at the same time (lent, queued, or held
    /// by subscriptions).
    pub peak_messages: usize,
    /// The number of messages that are lent at present.
    pub lent: usize,
    /// The limit on lent messages.
    pub max_loans: usize,
    /// The size of the largest message for which the pool does not need to grow.
    pub message_bytes: usize,
    /// The memory that the messages of the pool have taken from `/dev/shm`. The pool keeps it for
    /// later messages. The rest of the last page of a message is not counted.
    pub used_bytes: u64,
    /// The memory that the pool may take, if it is limited.
    pub limit_bytes: Option<u64>,
    /// How many times the pool has been replaced by a pool for larger messages.
    pub growths: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_subscription_costs_the_pool_its_views_only() {
        let messages_of = |max_subscriptions| {
            let settings = HostPublisherSettings {
                largest_depth: 128,
                max_subscriptions,
                ..HostPublisherSettings::new(1)
            };
            settings.limits().max_messages
        };
        let expected = [128 + 8 + 5, 256 + 16 + 5, 256 + 128 + 5, 256 + 512 + 5];
        assert_eq!([1, 2, 16, 64].map(messages_of), expected);
    }
}
