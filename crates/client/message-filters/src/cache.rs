//! The last messages of a topic, by their stamps.

use std::collections::VecDeque;
use std::sync::Arc;

use feros_executor::Time;
use feros_message::HasHeader;
use feros_sync::Mutex;

use crate::input::Input;

/// Keeps the last messages in the order of their stamps, like `Cache` of `message_filters`. Clones
/// refer to the same cache.
///
/// ```
/// use feros_message_filters::{Cache, Time};
/// use feros_msgs::sensor_msgs::msg::Imu;
/// use std::sync::Arc;
///
/// let cache = Cache::<Imu>::new(100);
/// let input = cache.input();
/// // let _imu = node.create_subscription("imu", 10, input)?;
/// input(Arc::default());
/// assert_eq!(cache.interval(Time::ZERO, Time::from_nanos(1_000)).len(), 1);
/// ```
pub struct Cache<M> {
    messages: Arc<Mutex<VecDeque<Arc<M>>>>,
    size: usize,
}

impl<M> Clone for Cache<M> {
    fn clone(&self) -> Self {
        Self { messages: self.messages.clone(), size: self.size }
    }
}

impl<M: HasHeader + Send + Sync + 'static> Cache<M> {
    /// Creates a cache of at most `size` messages; 0 counts as 1.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self { messages: Arc::default(), size: size.max(1) }
    }

    /// Adds a message; if the cache is full, the message with the oldest stamp is dropped.
    pub fn add(&self, message: Arc<M>) {
        let stamp = message.stamp_nanos();
        let oldest = {
            let mut messages = self.messages.lock();
            let place = messages.partition_point(|known| known.stamp_nanos() <= stamp);
            messages.insert(place, message);
            if messages.len() > self.size { messages.pop_front() } else { None }
        };
        drop(oldest); // not under the lock, since dropping it may run the user's code
    }

    /// Returns an input that adds messages.
    pub fn input(&self) -> Input<M> {
        let cache = self.clone();
        Box::new(move |message| cache.add(message))
    }

    /// Returns an input that adds messages and passes them on to `next`; see
    /// [`Chain`](crate::Chain).
    pub fn before(&self, next: Input<M>) -> Input<M> {
        let cache = self.clone();
        Box::new(move |message| {
            cache.add(message.clone());
            next(message);
        })
    }

    /// Returns the messages from one time to another, including both times, the oldest first.
    #[must_use]
    pub fn interval(&self, from: Time, to: Time) -> Vec<Arc<M>> {
        let messages = self.messages.lock();
        let begin = messages.partition_point(|known| time(known) < from);
        let end = messages.partition_point(|known| time(known) <= to);
        messages.range(begin..end.max(begin)).cloned().collect()
    }

    /// Returns the messages from one time to another, together with the last message before and the
    /// first message after this interval, so that values in the whole interval can be interpolated.
    #[must_use]
    pub fn surrounding_interval(&self, from: Time, to: Time) -> Vec<Arc<M>> {
        let messages = self.messages.lock();
        let begin = messages.partition_point(|known| time(known) <= from).saturating_sub(1);
        let end = messages.partition_point(|known| time(known) < to).saturating_add(1);
        messages.range(begin..end.clamp(begin, messages.len())).cloned().collect()
    }

    /// Returns the newest message before a time.
    #[must_use]
    pub fn before_time(&self, when: Time) -> Option<Arc<M>> {
        let messages = self.messages.lock();
        let place = messages.partition_point(|known| time(known) < when);
        messages.get(place.checked_sub(1)?).cloned()
    }

    /// Returns the oldest message after a time.
    #[must_use]
    pub fn after_time(&self, when: Time) -> Option<Arc<M>> {
        let messages = self.messages.lock();
        messages.get(messages.partition_point(|known| time(known) <= when)).cloned()
    }

    /// Returns the stamp of the newest message.
    #[must_use]
    pub fn latest_time(&self) -> Option<Time> {
        self.messages.lock().back().map(time)
    }

    /// Returns the stamp of the oldest message.
    #[must_use]
    pub fn oldest_time(&self) -> Option<Time> {
        self.messages.lock().front().map(time)
    }

    /// Returns the number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.lock().len()
    }

    /// Whether the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.lock().is_empty()
    }
}

fn time<M: HasHeader>(message: &Arc<M>) -> Time {
    Time::from_nanos(message.stamp_nanos())
}
