//! The options for the shared memory of a publisher: its size, and what happens when it is
//! exhausted.

use std::ffi::OsString;
use std::sync::OnceLock;

/// The number of subscriptions that a publisher serves, unless its options or the environment set
/// another number. A publisher has records of less than 1 KB for each subscription that may come.
/// A subscription that has come costs more: a file of 4 KB, mappings in both processes, and a port
/// of iceoryx2. So if hundreds of endpoints share a topic, this number bounds the memory of the
/// processes and the time until they are idle (`docs/measurements/0021-many-of-one-topic.md`).
const USUAL_SUBSCRIPTIONS: usize = 16;

/// The largest number of subscriptions that the environment can set.
const MOST_SUBSCRIPTIONS: usize = 1024;

/// The options for a publisher's use of shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMemoryOptions {
    /// The limit on the number of subscriptions in other processes that the publisher serves
    /// through shared memory. All further subscriptions take the network transport. The default is
    /// the value of [`SharedMemoryOptions::MAX_SUBSCRIPTIONS_VARIABLE`], or 16.
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

/// The value of [`SharedMemoryOptions::MAX_SUBSCRIPTIONS_VARIABLE`] is not a possible number of
/// subscriptions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{value:?} is not a number of subscriptions from 1 to {MOST_SUBSCRIPTIONS}: correct or unset \
     FEROS_MAX_SUBSCRIPTIONS"
)]
pub struct MaxSubscriptionsError {
    /// The value.
    pub value: OsString,
}

impl SharedMemoryOptions {
    /// The environment variable with the default of [`max_subscriptions`], for all publishers of a
    /// process. Programs that use rclcpp or rclpy have no other way to set it.
    ///
    /// [`max_subscriptions`]: Self::max_subscriptions
    pub const MAX_SUBSCRIPTIONS_VARIABLE: &'static str = "FEROS_MAX_SUBSCRIPTIONS";

    /// The default of [`max_subscriptions`](Self::max_subscriptions) if the environment variable
    /// has this value. `None`: the variable is not set.
    ///
    /// # Errors
    /// The value is not a number from 1 to 1024.
    pub fn default_max_subscriptions(
        value: Option<OsString>,
    ) -> Result<usize, MaxSubscriptionsError> {
        let Some(value) = value else { return Ok(USUAL_SUBSCRIPTIONS) };
        let number = value.to_str().and_then(|text| text.parse::<usize>().ok());
        let possible = number.filter(|number| (1..=MOST_SUBSCRIPTIONS).contains(number));
        possible.ok_or(MaxSubscriptionsError { value })
    }
}

/// The default of [`SharedMemoryOptions::max_subscriptions`] in this process. The environment is
/// read once. A wrong value is logged and counts as not set.
fn max_subscriptions_of_process() -> usize {
    static MAX: OnceLock<usize> = OnceLock::new();
    *MAX.get_or_init(|| {
        let value = std::env::var_os(SharedMemoryOptions::MAX_SUBSCRIPTIONS_VARIABLE);
        SharedMemoryOptions::default_max_subscriptions(value).unwrap_or_else(|error| {
            tracing::error!(target: "feros::shm", "{error}");
            USUAL_SUBSCRIPTIONS
        })
    })
}

impl Default for SharedMemoryOptions {
    /// The defaults: 16 subscriptions (or as many as the environment sets) with 8 views each, 4
    /// loans, no limit on the memory, and the network transport for messages for which no memory is
    /// left.
    fn default() -> Self {
        Self {
            max_subscriptions: max_subscriptions_of_process(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_sets_a_number_within_bounds() {
        let of = |value: &str| SharedMemoryOptions::default_max_subscriptions(Some(value.into()));
        assert_eq!(SharedMemoryOptions::default_max_subscriptions(None), Ok(USUAL_SUBSCRIPTIONS));
        assert_eq!((of("1"), of("64"), of("1024")), (Ok(1), Ok(64), Ok(1024)));
        for wrong in ["", "0", "-1", "1025", "many", "16 ", "1e3", "99999999999999999999999"] {
            let error = of(wrong).expect_err(wrong);
            assert_eq!(error.value, OsString::from(wrong));
            assert!(error.to_string().ends_with("correct or unset FEROS_MAX_SUBSCRIPTIONS"));
        }
    }
}
