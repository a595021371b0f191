//! The options for the shared memory of a publisher: its size, and what happens when it is
//! exhausted.

/// The options for a publisher's use of shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMemoryOptions {
    /// The limit on the number of subscriptions in other processes that the publisher serves
    /// through shared memory. All further subscriptions take the network transport.
    pub max_subscriptions: usize,
    /// The limit on the number of messages that each subscription may hold at the same time without
    /// copying them (views). Further messages wait in its queue.
    pub max_views: usize,
    /// The limit on the number of messages that are lent at the same time.
    pub max_loans: usize,
    /// The limit on the memory for the messages of the publisher. With `None`, they may take as
    /// much memory as the queues, views and loans can hold.
    pub pool_limit_bytes: Option<u64>,
    /// What happens to a message for which no memory is left.
    pub when_exhausted: WhenExhausted,
}

impl Default for SharedMemoryOptions {
    /// The defaults: 16 subscriptions with 8 views each, 4 loans, no limit on the memory, and the
    /// network transport for messages for which no memory is left.
    fn default() -> Self {
        Self {
            max_subscriptions: 16,
            max_views: 8,
            max_loans: 4,
            pool_limit_bytes: None,
            when_exhausted: WhenExhausted::default(),
        }
    }
}

/// What happens to a message for which no shared memory is left. In any case, such messages are
/// counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenExhausted {
    /// The message takes the network transport.
    #[default]
    Network,
    /// Publishing fails.
    Error,
}
