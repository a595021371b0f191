//! The options of a publisher's shared memory: its size, and what happens when it is used up.

/// How a publisher uses shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMemoryOptions {
    /// The number of subscriptions of other processes that it serves; further ones take the network
    /// transport.
    pub max_subscriptions: usize,
    /// The number of messages that each subscription may hold at once as views; more wait in its
    /// queue.
    pub max_views: usize,
    /// The number of messages that may be on loan at once.
    pub max_loans: usize,
    /// The memory that its messages may take; `None`: as much as queues, views and loans can hold.
    pub pool_limit_bytes: Option<u64>,
    /// What happens to a message for which no memory is left.
    pub when_exhausted: WhenExhausted,
}

impl Default for SharedMemoryOptions {
    /// 16 subscriptions with 8 views each, 4 loans, no limit on the memory, and the network
    /// transport once it is exhausted.
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

/// What happens to a message for which no shared memory is left. It is counted in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenExhausted {
    /// It takes the network transport.
    #[default]
    Network,
    /// Publishing fails.
    Error,
}
