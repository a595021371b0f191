//! The data that waits for one client, within limits: a client that does not read loses its own
//! messages, and in the end its connection.
//!
//! Operations precede messages and are never left out: a client that leaves them unread is
//! disconnected. When messages exceed the limit, the oldest ones of the same subscription are
//! dropped first, and counted.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_sync::Mutex;
use tokio::sync::Notify;

use crate::protocol::{MESSAGE_HEADER_BYTES, begin_message};

/// The limit on bytes of waiting messages; a larger message can only wait alone.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// The limit on bytes of waiting operations; an operation beyond it ends the connection.
const MAX_OPERATION_BYTES: usize = 16 << 20;
/// The memory that a waiting message takes in addition to its bytes.
const OVERHEAD_BYTES: usize = 128;
/// The longest period of a rate limit, even for clients that want messages less often.
const LONGEST_PERIOD: Duration = Duration::from_secs(3600);

/// The data that waits for one client.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    changed: Notify,
}

/// One frame of the WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outgoing {
    Text(Arc<str>),
    Binary(Vec<u8>),
}

/// The next action of the sender.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Send(Outgoing),
    /// Wait until this moment, or until something is added.
    Until(Instant),
    /// Wait until something is added.
    Nothing,
    /// Close the connection: the client left operations unread, or the server ends it.
    Closed,
}

/// The counts of a client's messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The bytes of all frames that were sent.
    pub(crate) sent_bytes: u64,
    /// The messages that were dropped because the client did not read them in time.
    pub(crate) dropped: u64,
    /// The messages that came faster than the client wants them.
    pub(crate) left_out: u64,
}

#[derive(Default)]
struct State {
    operations: VecDeque<Outgoing>,
    operation_bytes: usize,
    /// The newest figures, if they wait to be sent.
    figures: Option<Arc<str>>,
    time: Option<Vec<u8>>,
    subscriptions: HashMap<u32, Queue>,
    /// The messages of all subscriptions, in the order in which they came.
    messages: BTreeMap<u64, (u32, Vec<u8>)>,
    next: u64,
    message_bytes: usize,
    counts: Counts,
    is_closed: bool,
}

/// The messages of one subscription.
#[derive(Default)]
struct Queue {
    /// The positions of its messages, the oldest first.
    waiting: VecDeque<u64>,
    limit: Option<RateLimit>,
}

struct RateLimit {
    period: Duration,
    /// The time when the next message may be sent.
    due: Instant,
    /// The newest message that came too early.
    latest: Option<Vec<u8>>,
}

impl RateLimit {
    /// Records a sent message. A late message does not delay the following ones, so a topic of
    /// exactly this rate loses no messages.
    fn pass(&mut self, now: Instant) {
        let next = self.due + self.period;
        self.due = if next > now { next } else { now + self.period };
    }
}

fn cost(frame: &[u8]) -> usize {
    frame.len() + OVERHEAD_BYTES
}

impl Outbox {
    /// Accepts messages of a subscription from now on, at most at this rate.
    pub(crate) fn open(&self, subscription: u32, max_rate_hz: Option<f64>, now: Instant) {
        let limit = max_rate_hz.map(|rate| {
            let period = Duration::try_from_secs_f64(1.0 / rate).unwrap_or(LONGEST_PERIOD);
            RateLimit { period: period.min(LONGEST_PERIOD), due: now, latest: None }
        });
        let queue = Queue { waiting: VecDeque::new(), limit };
        self.state.lock().subscriptions.insert(subscription, queue);
    }

    /// Ends a subscription, and forgets its waiting messages.
    pub(crate) fn close_subscription(&self, subscription: u32) {
        let state = &mut *self.state.lock();
        let Some(queue) = state.subscriptions.remove(&subscription) else { return };
        for position in queue.waiting {
            state.forget(position);
        }
        if let Some(latest) = queue.limit.and_then(|limit| limit.latest) {
            state.message_bytes -= cost(&latest);
        }
    }

    /// Queues a copy of a message, since the memory that the message arrived in must not be held.
    pub(crate) fn offer(&self, subscription: u32, nanos: u64, message: &[u8], now: Instant) {
        let is_taken = self.state.lock().offer(subscription, nanos, message, now);
        if is_taken {
            self.changed.notify_one();
        }
    }

    /// Queues an operation.
    pub(crate) fn tell(&self, operation: impl Into<Arc<str>>) {
        self.push(Outgoing::Text(operation.into()));
    }

    /// Queues a binary frame that is not a message of a subscription.
    pub(crate) fn answer(&self, frame: Vec<u8>) {
        self.push(Outgoing::Binary(frame));
    }

    fn push(&self, outgoing: Outgoing) {
        let mut state = self.state.lock();
        if state.operation_bytes > MAX_OPERATION_BYTES {
            state.is_closed = true;
        }
        if !state.is_closed {
            state.operation_bytes += outgoing.len() + OVERHEAD_BYTES;
            state.operations.push_back(outgoing);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Queues figures, which replace waiting figures.
    pub(crate) fn tell_figures(&self, figures: Arc<str>) {
        self.state.lock().figures = Some(figures);
        self.changed.notify_one();
    }

    /// Queues a time, which replaces a waiting time.
    pub(crate) fn tell_time(&self, frame: Vec<u8>) {
        self.state.lock().time = Some(frame);
        self.changed.notify_one();
    }

    /// The counts of the client's messages.
    pub(crate) fn counts(&self) -> Counts {
        self.state.lock().counts
    }

    /// Takes the next frame that may be sent now.
    pub(crate) fn next(&self, now: Instant) -> Next {
        self.state.lock().next(now)
    }

    /// Waits until something is added.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Outgoing {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Binary(frame) => frame.len(),
        }
    }
}

impl State {
    fn offer(&mut self, subscription: u32, nanos: u64, message: &[u8], now: Instant) -> bool {
        if self.is_closed {
            return false;
        }
        let Some(queue) = self.subscriptions.get_mut(&subscription) else { return false };
        let is_early =
            queue.limit.as_ref().is_some_and(|limit| now < limit.due || !queue.waiting.is_empty());
        // The buffer of the replaced message is used again, since its size usually fits.
        let former = queue.limit.as_mut().and_then(|limit| limit.latest.take());
        self.counts.left_out += u64::from(former.is_some());
        let mut frame = former.map_or_else(Vec::new, |mut former| {
            self.message_bytes -= cost(&former);
            former.clear();
            former
        });
        if !self.make_room(subscription, message.len() + MESSAGE_HEADER_BYTES + OVERHEAD_BYTES) {
            self.counts.dropped += 1;
            return false;
        }
        frame.reserve_exact(MESSAGE_HEADER_BYTES + message.len());
        begin_message(&mut frame, subscription, nanos);
        frame.extend_from_slice(message);
        self.message_bytes += cost(&frame);
        let Some(queue) = self.subscriptions.get_mut(&subscription) else { return false };
        match &mut queue.limit {
            Some(limit) if is_early => limit.latest = Some(frame),
            limit => {
                if let Some(limit) = limit {
                    limit.pass(now);
                }
                queue.waiting.push_back(self.next);
                self.messages.insert(self.next, (subscription, frame));
                self.next += 1;
            }
        }
        true
    }

    /// Drops old messages until `needed` bytes fit: first the oldest ones of this subscription,
    /// then those of others.
    fn make_room(&mut self, subscription: u32, needed: usize) -> bool {
        while self.message_bytes > 0 && self.message_bytes + needed > MAX_MESSAGE_BYTES {
            let own = self.subscriptions.get(&subscription).and_then(|q| q.waiting.front());
            let oldest = own.or_else(|| self.messages.keys().next()).copied();
            let Some(oldest) = oldest else { return false };
            if let Some((subscription, _)) = self.messages.get(&oldest)
                && let Some(queue) = self.subscriptions.get_mut(subscription)
            {
                queue.waiting.pop_front();
            }
            self.forget(oldest);
            self.counts.dropped += 1;
        }
        true
    }

    fn forget(&mut self, position: u64) {
        if let Some((_, frame)) = self.messages.remove(&position) {
            self.message_bytes -= cost(&frame);
        }
    }

    fn next(&mut self, now: Instant) -> Next {
        if self.is_closed {
            return Next::Closed;
        }
        if let Some(operation) = self.operations.pop_front() {
            self.operation_bytes -= operation.len() + OVERHEAD_BYTES;
            return self.send(operation);
        }
        if let Some(frame) = self.time.take() {
            return self.send(Outgoing::Binary(frame));
        }
        if let Some(text) = self.figures.take() {
            return self.send(Outgoing::Text(text));
        }
        if let Some((_, (subscription, frame))) = self.messages.pop_first() {
            if let Some(queue) = self.subscriptions.get_mut(&subscription) {
                queue.waiting.pop_front();
            }
            self.message_bytes -= cost(&frame);
            return self.send(Outgoing::Binary(frame));
        }
        let limits = self.subscriptions.values_mut().filter_map(|queue| queue.limit.as_mut());
        let earliest = limits.filter(|limit| limit.latest.is_some()).min_by_key(|limit| limit.due);
        let Some(limit) = earliest else { return Next::Nothing };
        if now < limit.due {
            return Next::Until(limit.due);
        }
        limit.pass(now);
        let frame = limit.latest.take().unwrap_or_default();
        self.message_bytes -= cost(&frame);
        self.send(Outgoing::Binary(frame))
    }

    fn send(&mut self, outgoing: Outgoing) -> Next {
        self.counts.sent_bytes += outgoing.len() as u64;
        Next::Send(outgoing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(outbox: &Outbox, now: Instant) -> Option<(u32, Vec<u8>)> {
        match outbox.next(now) {
            Next::Send(Outgoing::Binary(frame)) => {
                let subscription = u32::from(frame[1]);
                Some((subscription, frame[MESSAGE_HEADER_BYTES..].to_vec()))
            }
            _ => None,
        }
    }

    #[test]
    fn messages_go_in_order_and_operations_before_them() {
        let (outbox, now) = (Outbox::default(), Instant::now());
        outbox.open(1, None, now);
        outbox.open(2, None, now);
        outbox.offer(1, 0, b"a", now);
        outbox.offer(2, 0, b"b", now);
        outbox.offer(1, 0, b"c", now);
        outbox.offer(9, 0, b"of nobody", now);
        outbox.tell("op");
        assert_eq!(outbox.next(now), Next::Send(Outgoing::Text("op".into())));
        assert_eq!(message(&outbox, now), Some((1, b"a".to_vec())));
        outbox.close_subscription(1);
        assert_eq!(message(&outbox, now), Some((2, b"b".to_vec())));
        assert_eq!(outbox.next(now), Next::Nothing);
        assert_eq!(outbox.state.lock().message_bytes, 0);
    }

    #[test]
    fn a_client_that_does_not_read_loses_the_oldest_of_the_same_subscription() {
        let (outbox, now) = (Outbox::default(), Instant::now());
        outbox.open(1, None, now);
        outbox.open(2, None, now);
        outbox.offer(2, 0, b"small", now);
        let large = vec![7; 1 << 20];
        for _ in 0..100 {
            outbox.offer(1, 0, &large, now);
            assert!(outbox.state.lock().message_bytes <= MAX_MESSAGE_BYTES);
        }
        let dropped = outbox.counts().dropped;
        let mut left = Vec::new();
        while let Some((subscription, _)) = message(&outbox, now) {
            left.push(subscription);
        }
        assert_eq!(left[0], 2, "the other subscription loses nothing");
        assert_eq!(left.len() as u64 - 1 + dropped, 100);
    }

    #[test]
    fn a_message_larger_than_the_bound_goes_alone() {
        let (outbox, now) = (Outbox::default(), Instant::now());
        outbox.open(1, None, now);
        outbox.offer(1, 0, b"small", now);
        let huge = vec![0; MAX_MESSAGE_BYTES + 1];
        outbox.offer(1, 0, &huge, now);
        outbox.offer(1, 0, b"next", now);
        assert_eq!(message(&outbox, now).map(|(_, data)| data), Some(b"next".to_vec()));
        assert_eq!(outbox.counts().dropped, 2);
        outbox.offer(1, 0, &huge, now);
        assert_eq!(message(&outbox, now).map(|(_, data)| data.len()), Some(huge.len()));
    }

    #[test]
    fn messages_too_fast_are_left_out_and_the_latest_is_sent() {
        let (outbox, now) = (Outbox::default(), Instant::now());
        outbox.open(1, Some(10.0), now);
        let ms = |millis| now + Duration::from_millis(millis);
        for (at, data) in [(0, b"a"), (10, b"b"), (20, b"c"), (30, b"d")] {
            outbox.offer(1, 0, data, ms(at));
        }
        assert_eq!(message(&outbox, ms(30)), Some((1, b"a".to_vec())));
        assert_eq!(outbox.next(ms(40)), Next::Until(ms(100)));
        assert_eq!(message(&outbox, ms(100)), Some((1, b"d".to_vec())));
        assert_eq!(outbox.next(ms(100)), Next::Nothing);
        assert_eq!(outbox.counts().left_out, 2);
        outbox.offer(1, 0, b"e", ms(150));
        assert_eq!(outbox.next(ms(150)), Next::Until(ms(200)));
        outbox.close_subscription(1);
        assert_eq!(outbox.state.lock().message_bytes, 0);
    }

    #[test]
    fn very_low_rates_are_limits() {
        for rate in [1e-300, 1e-18, 1e-9] {
            let (outbox, now) = (Outbox::default(), Instant::now());
            outbox.open(1, Some(rate), now);
            outbox.offer(1, 0, b"a", now);
            outbox.offer(1, 0, b"b", now);
            assert!(message(&outbox, now).is_some());
            assert_eq!(outbox.next(now), Next::Until(now + LONGEST_PERIOD), "{rate}");
        }
    }

    #[test]
    fn a_client_that_does_not_read_operations_is_disconnected() {
        let (outbox, now) = (Outbox::default(), Instant::now());
        let text: Arc<str> = "x".repeat(1 << 20).into();
        for _ in 0..16 {
            outbox.tell(text.clone());
        }
        assert!(matches!(outbox.next(now), Next::Send(_)));
        for _ in 0..2 {
            outbox.tell(text.clone());
        }
        assert_eq!(outbox.next(now), Next::Closed);
    }

    #[test]
    fn only_the_newest_figures_and_time_wait() {
        let (outbox, now) = (Outbox::default(), Instant::now());
        for number in 0..3_u8 {
            outbox.tell_figures(number.to_string().into());
            outbox.tell_time(vec![number]);
        }
        assert_eq!(outbox.next(now), Next::Send(Outgoing::Binary(vec![2])));
        assert_eq!(outbox.next(now), Next::Send(Outgoing::Text("2".into())));
        assert_eq!(outbox.next(now), Next::Nothing);
    }
}
