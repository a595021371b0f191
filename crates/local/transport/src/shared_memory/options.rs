//! The options of a publisher's shared memory: its size, and the action when it is exhausted.

/// The options for a publisher's use of shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMemoryOptions {
    /// The limit on subscriptions in other processes that the publisher serves through shared
    /// memory. Further subscriptions take the network transport.
    pub max_subscriptions: usize,
    /// The limit on messages that each subscription holds at once without copying them (views).
    /// Further messages wait in its queue.
    pub max_views: usize,
    /// The limit on messages that are on loan at once.
    pub max_loans: usize,
    /// The memory that the publisher's messages may take. `None`: as much as queues, views and
    /// loans can hold.
    pub pool_limit_bytes: Option<u64>,
    /// The action for a message for which no memory is left.
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

/// The action for a message for which no shared memory is left. Such messages are counted in any
/// case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenExhausted {
    /// The message takes the network transport.
    #[default]
    Network,
    /// Publishing fails.
    Error,
}
