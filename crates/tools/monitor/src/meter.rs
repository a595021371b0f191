//! Figures of one topic, measured by a subscription.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use feros::{
    CreateError, GenericSubscription, MessageInfo, Node, QosProfile, SerializedMessage,
    SubscriptionOptions, TypeIdentity,
};
use feros_sync::Mutex;

use crate::losses::Losses;

/// The QoS of a subscription that only watches: it asks for nothing that costs the publisher
/// anything.
///
/// The subscription is best effort, and its history is as long as a queue in shared memory can be.
/// With a longer history the messages would take the network transport, which would cost the
/// publisher a write for the watcher alone.
///
/// ```
/// assert_eq!(feros_monitor::watching_qos().depth, 128);
/// ```
#[must_use]
pub fn watching_qos() -> QosProfile {
    QosProfile::keep_last(128).best_effort()
}
/// The number of readings that the figures cover: with one reading per second, even a 1 Hz topic
/// has a steady rate.
const READINGS: usize = 5;
/// The limit on the ages that a reading keeps: for a 1 kHz topic, they cover the last half of each
/// second.
const MAX_AGES: usize = 512;

/// Listens to a topic until it is dropped.
///
/// The subscription is best effort and volatile: it asks publishers for nothing.
pub struct TopicMeter {
    state: Arc<Mutex<State>>,
    _subscription: GenericSubscription,
}

/// The figures of a [`TopicMeter`], from its last readings.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TopicFigures {
    /// Messages per second.
    pub rate_hz: f64,
    /// Bytes of serialized messages per second.
    pub bytes_per_second: f64,
    /// The mean time from a message's source timestamp to its arrival; `None` if no message came,
    /// or no message has a source timestamp. Between hosts it is only as accurate as their clocks.
    pub age: Option<Duration>,
    /// The age that half of the messages do not exceed; `None` as for `age`.
    pub age_p50: Option<Duration>,
    /// The age that 99 of 100 messages do not exceed; `None` as for `age`.
    pub age_p99: Option<Duration>,
    /// Messages that did not arrive, since the meter began.
    pub lost: u64,
    /// Messages that arrived, since the meter began.
    pub received: u64,
}

struct State {
    losses: Losses,
    received: u64,
    since_reading: Counts,
    /// The newest reading comes last.
    readings: VecDeque<(Duration, Counts)>,
    read_at: Instant,
}

#[derive(Debug, Clone, Default)]
struct Counts {
    messages: u64,
    bytes: u64,
    /// The number of messages with a source timestamp, and the sum of their ages.
    aged: u32,
    age: Duration,
    /// The most recent of these ages.
    ages: Vec<Duration>,
}

impl TopicMeter {
    /// Begins to listen with a node that the caller spins.
    ///
    /// # Errors
    /// When the subscription cannot be created.
    pub fn new(node: &Node, topic: &str, identity: &TypeIdentity) -> Result<Self, CreateError> {
        let state = Arc::new(Mutex::new(State::new(Instant::now())));
        let heard = Arc::clone(&state);
        let qos = watching_qos();
        let options = SubscriptionOptions::from(qos).log_lost_messages(false);
        let subscription = node.create_generic_subscription(
            topic,
            identity,
            options,
            move |message: SerializedMessage, info: MessageInfo| {
                heard.lock().came(message.len(), &info);
            },
        )?;
        Ok(Self { state, _subscription: subscription })
    }

    /// Takes a reading, and returns the figures of the last readings, including this one. Call it
    /// about once a second.
    pub fn read(&self) -> TopicFigures {
        self.state.lock().read(Instant::now())
    }
}

impl std::fmt::Debug for TopicMeter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TopicMeter").finish_non_exhaustive()
    }
}

impl State {
    fn new(now: Instant) -> Self {
        Self {
            losses: Losses::default(),
            received: 0,
            since_reading: Counts::default(),
            readings: VecDeque::with_capacity(READINGS),
            read_at: now,
        }
    }

    fn came(&mut self, size_bytes: usize, info: &MessageInfo) {
        self.losses.came(info);
        self.received += 1;
        let counts = &mut self.since_reading;
        counts.messages += 1;
        counts.bytes += size_bytes as u64;
        let arrival = info.received_timestamp.unwrap_or_else(SystemTime::now);
        let age = info.source_timestamp.and_then(|sent| arrival.duration_since(sent).ok());
        if let Some(age) = age {
            match counts.ages.len() {
                MAX_AGES => counts.ages[counts.aged as usize % MAX_AGES] = age,
                _ => counts.ages.push(age),
            }
            counts.aged = counts.aged.wrapping_add(1);
            counts.age = counts.age.saturating_add(age);
        }
    }

    fn read(&mut self, now: Instant) -> TopicFigures {
        let time = now.saturating_duration_since(self.read_at);
        self.read_at = now;
        if self.readings.len() == READINGS {
            self.readings.pop_front();
        }
        self.readings.push_back((time, std::mem::take(&mut self.since_reading)));
        let mut time = Duration::ZERO;
        let mut all = Counts::default();
        for (duration, counts) in &self.readings {
            time += *duration;
            all.messages += counts.messages;
            all.bytes += counts.bytes;
            all.aged += counts.aged;
            all.age = all.age.saturating_add(counts.age);
            all.ages.extend_from_slice(&counts.ages);
        }
        all.ages.sort_unstable();
        let percentile = |percent: usize| {
            let last = all.ages.len().checked_sub(1)?;
            all.ages.get((all.ages.len() * percent).div_ceil(100).saturating_sub(1).min(last))
        };
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        let per_second = |count: u64| {
            if time.is_zero() { 0.0 } else { count as f64 / time.as_secs_f64() }
        };
        TopicFigures {
            rate_hz: per_second(all.messages),
            bytes_per_second: per_second(all.bytes),
            age: all.age.checked_div(all.aged),
            age_p50: percentile(50).copied(),
            age_p99: percentile(99).copied(),
            lost: self.losses.count(),
            received: self.received,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros::Gid;

    use super::*;

    #[test]
    fn figures_are_those_of_the_last_readings() {
        let mut now = Instant::now();
        let mut state = State::new(now);
        assert_eq!(state.read(now), TopicFigures::default(), "no time has passed");
        let sent = SystemTime::now();
        let mut number = 0;
        let mut second = |state: &mut State, messages| {
            for _ in 0..messages {
                number += 2;
                let info = MessageInfo {
                    source_timestamp: Some(sent),
                    received_timestamp: Some(sent + Duration::from_millis(3)),
                    publication_sequence_number: Some(number),
                    publisher_gid: Gid::default(),
                    from_same_session: false,
                };
                state.came(100, &info);
            }
            now += Duration::from_secs(1);
            state.read(now)
        };
        let figures = second(&mut state, 10);
        assert_eq!((figures.rate_hz, figures.bytes_per_second), (10.0, 1000.0));
        assert_eq!(figures.age, Some(Duration::from_millis(3)));
        assert_eq!((figures.received, figures.lost), (10, 9));
        assert_eq!((figures.age_p50, figures.age_p99), (figures.age, figures.age));
        for _ in 0..READINGS {
            second(&mut state, 0);
        }
        let silent = TopicFigures { received: 10, lost: 9, ..TopicFigures::default() };
        assert_eq!(second(&mut state, 0), silent);
        assert_eq!(second(&mut state, 5).rate_hz, 1.0);
    }

    #[test]
    fn ages_have_percentiles() {
        let now = Instant::now();
        let mut state = State::new(now);
        let sent = SystemTime::now();
        for number in 1..=200_u64 {
            let info = MessageInfo {
                source_timestamp: Some(sent),
                received_timestamp: Some(sent + Duration::from_millis(number)),
                publication_sequence_number: Some(number),
                publisher_gid: Gid::default(),
                from_same_session: false,
            };
            state.came(1, &info);
        }
        let figures = state.read(now + Duration::from_secs(1));
        assert_eq!(figures.age_p50, Some(Duration::from_millis(100)));
        assert_eq!(figures.age_p99, Some(Duration::from_millis(198)));
        for _ in 0..3 * MAX_AGES {
            let info = MessageInfo {
                source_timestamp: Some(sent),
                received_timestamp: Some(sent),
                publication_sequence_number: None,
                publisher_gid: Gid::default(),
                from_same_session: false,
            };
            state.came(1, &info);
        }
        assert_eq!(state.since_reading.ages.len(), MAX_AGES);
    }
}
