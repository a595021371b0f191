//! Recently seen messages. The publisher's half of a message waits for the subscription's, and vice
//! versa; of complete messages, the layers are kept.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use feros_trace::{EndpointName, Event, Kind, Point, Transport};

use super::PairLayers;
use crate::layers::Breakdown;
use crate::merge::{Joining, MessageKey};
use crate::summary::{Percentiles, layers};

/// The number of looks for which a complete message counts.
pub const WINDOW_LOOKS: u64 = 10;
/// The number of looks without a new event of a message after which it is joined: by then all
/// threads of all processes have written its events.
const SETTLED_LOOKS: u64 = 2;
/// The number of looks for which one half of a message waits for the other.
const PATIENCE_LOOKS: u64 = 30;
/// Events that are older than this when they are read are dropped.
const OLDEST_NANOS: u64 = 30_000_000_000;
/// Events that are further ahead of the clock than this cannot come from this host's clock.
const AHEAD_NANOS: u64 = 1_000_000_000;
/// The limit on stored points of all messages; a point takes 24 bytes. The oldest messages are
/// dropped first.
const MOST_MARKS: usize = 1_000_000;
/// The limit on stored points of one message.
const MOST_MARKS_OF_MESSAGE: usize = 2048;
/// The limit on pairs of publisher and subscription.
const MOST_PAIRS: usize = 256;
/// The limit on messages of a pair that count, which are the latest; a message takes 200 bytes.
const MOST_SAMPLES: usize = 512;

/// The recently seen messages.
#[derive(Debug, Default)]
pub(super) struct Window {
    looks: u64,
    now_nanos: u64,
    waiting: HashMap<MessageKey, Waiting>,
    /// The keys of the messages, in the order in which the messages were first seen.
    order: VecDeque<MessageKey>,
    marks: usize,
    pairs: BTreeMap<(String, [u8; 16], [u8; 16]), VecDeque<Sample>>,
}

/// The known points of a message.
#[derive(Debug)]
struct Waiting {
    marks: Vec<Mark>,
    first_look: u64,
    last_look: u64,
}

/// A point that the message passed.
#[derive(Debug)]
struct Mark {
    at_nanos: u64,
    point: Point,
    transport: Option<Transport>,
    endpoint: Arc<EndpointName>,
}

/// A complete message.
#[derive(Debug)]
struct Sample {
    look: u64,
    transport: Transport,
    breakdown: Breakdown,
}

impl Window {
    /// Begins a look at this time of CLOCK_MONOTONIC; drops messages that are too old.
    pub(super) fn begin_look(&mut self, now_nanos: u64) {
        self.looks += 1;
        self.now_nanos = now_nanos;
        let looks = self.looks;
        let is_old = |waiting: &Waiting| waiting.first_look + PATIENCE_LOOKS <= looks;
        while self.order.front().is_some_and(|key| self.waiting.get(key).is_none_or(is_old)) {
            self.forget_oldest();
        }
        self.pairs.retain(|_, samples| {
            while samples.front().is_some_and(|sample| sample.look + WINDOW_LOOKS <= looks) {
                samples.pop_front();
            }
            !samples.is_empty()
        });
    }

    /// Adds a point that a message passed.
    pub(super) fn add(&mut self, event: &Event, endpoint: &Arc<EndpointName>) {
        let Event { at_nanos, point, transport, message, .. } = *event;
        let oldest = self.now_nanos.saturating_sub(OLDEST_NANOS);
        if !(oldest..=self.now_nanos.saturating_add(AHEAD_NANOS)).contains(&at_nanos) {
            return;
        }
        while self.marks >= MOST_MARKS {
            self.forget_oldest();
        }
        let (looks, key) = (self.looks, (message.publisher, message.stamp));
        let waiting = self.waiting.entry(key).or_insert_with(|| {
            self.order.push_back(key);
            Waiting { marks: Vec::new(), first_look: looks, last_look: looks }
        });
        waiting.last_look = looks;
        if waiting.marks.len() < MOST_MARKS_OF_MESSAGE {
            waiting.marks.push(Mark { at_nanos, point, transport, endpoint: endpoint.clone() });
            self.marks += 1;
        }
    }

    fn forget_oldest(&mut self) {
        let Some(key) = self.order.pop_front() else { return };
        if let Some(waiting) = self.waiting.remove(&key) {
            self.marks -= waiting.marks.len();
        }
    }

    /// Joins the messages for which no further events are expected. The publisher's half of a
    /// message stays, for subscriptions whose processes write later.
    pub(super) fn join(&mut self) {
        let mut joining = Joining::default();
        for (key, waiting) in &mut self.waiting {
            if waiting.last_look + SETTLED_LOOKS == self.looks && waiting.is_published() {
                self.marks -= waiting.give(*key, &mut joining);
            }
        }
        for delivery in joining.finish().whole {
            let Some(breakdown) = delivery.way.breakdown() else { continue };
            let pair = (delivery.topic, delivery.publisher, delivery.subscription);
            if self.pairs.len() >= MOST_PAIRS && !self.pairs.contains_key(&pair) {
                continue;
            }
            let samples = self.pairs.entry(pair).or_default();
            if samples.len() >= MOST_SAMPLES {
                samples.pop_front();
            }
            let (look, transport) = (self.looks, delivery.transport);
            samples.push_back(Sample { look, transport, breakdown });
        }
    }

    /// The layers of the wanted topics.
    pub(super) fn pairs(&self, wanted: impl Fn(&str) -> bool) -> Vec<PairLayers> {
        let wanted = self.pairs.iter().filter(|((topic, ..), _)| wanted(topic));
        let one = |((topic, publisher, subscription), samples): (&(String, _, _), &VecDeque<_>)| {
            let transport = samples.back().map(|last: &Sample| last.transport)?;
            let same = samples.iter().filter(|sample| sample.transport == transport);
            let breakdowns: Vec<Breakdown> = same.map(|sample| sample.breakdown).collect();
            let all = breakdowns.iter().map(Breakdown::end_to_end_nanos).collect();
            Some(PairLayers {
                topic: topic.clone(),
                publisher: *publisher,
                subscription: *subscription,
                transport,
                end_to_end: Percentiles::of(all)?,
                layers: layers(&breakdowns),
            })
        };
        wanted.filter_map(one).collect()
    }
}

impl Waiting {
    fn is_published(&self) -> bool {
        self.marks.iter().any(|mark| mark.point == Point::Publish)
    }

    /// Passes the publisher's half and the points of those subscriptions whose callback was called,
    /// and drops the points of these subscriptions; returns the number of dropped points.
    fn give(&mut self, key: MessageKey, joining: &mut Joining) -> usize {
        let called = self.marks.iter().filter(|mark| mark.point == Point::Callback);
        let called: Vec<[u8; 16]> = called.map(|mark| mark.endpoint.gid).collect();
        if called.is_empty() {
            return 0;
        }
        let former = self.marks.len();
        self.marks.retain(|Mark { at_nanos, point, transport, endpoint }| {
            let is_sent = endpoint.kind == Kind::Publisher;
            let is_whole = called.contains(&endpoint.gid);
            if is_sent || is_whole {
                joining.pass(key, *point, *transport, *at_nanos, endpoint);
            }
            is_sent || !is_whole
        });
        former - self.marks.len()
    }
}
