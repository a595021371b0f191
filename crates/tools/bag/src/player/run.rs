//! The playing thread: reads ahead, waits for the time of each message, publishes it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::engine::{TypeHash, WaitForAckedError};
use feros::{Durability, GenericPublisher, History, Node, QosProfile, TypeIdentity};

use super::control::{Control, Turn};
use super::timeline::{InOrder, Timeline, message_bytes};
use super::{PlayError, Played, PlayerOptions};
use crate::adapted_qos::for_publisher;
use crate::error::ReadError;
use crate::message::{BagMessage, BagTopic, MessageFilter};
use crate::metadata::TopicMetadata;
use crate::queue::{Popped, Queue};
use crate::reader::BagReader;

/// The limit on messages of a latched topic that are published before playing starts in the middle
/// of a bag.
const MOST_LATCHED: usize = 1000;

/// A year. The wait ends earlier, when the reading thread delivers a message or an error, or ends.
const FOR_EVER: Duration = Duration::from_secs(31_536_000);

/// The part of the bags to play.
pub(super) struct Stretch {
    pub(super) topics: BTreeSet<String>,
    pub(super) timeline: Timeline,
    pub(super) range: RangeInclusive<i64>,
}

pub(super) struct Run {
    bags: Vec<BagReader>,
    played: Stretch,
    publishers: HashMap<(String, String), Outlet>,
    control: Arc<Control>,
}

struct Outlet {
    publisher: GenericPublisher,
    /// The number of messages from before the start that are published first; 0 if the topic is not
    /// latched.
    latched: usize,
}

/// The reason why a stretch of the bag ended.
enum End {
    Played,
    Seek(i64),
    Stopped,
}

impl Run {
    pub(super) fn new(
        node: &Node,
        bags: Vec<BagReader>,
        played: Stretch,
        options: &PlayerOptions,
        control: Arc<Control>,
    ) -> Result<Self, PlayError> {
        let mut publishers = HashMap::new();
        for (key, metadata) in joined_topics(&bags, &played.topics) {
            if metadata.serialization_format != "cdr" {
                tracing::warn!(
                    "{} is not played: its messages are serialized as {:?}, not as cdr",
                    metadata.name,
                    metadata.serialization_format
                );
                continue;
            }
            let overridden = options.qos_overrides.get(&metadata.name).copied();
            let qos = overridden.unwrap_or_else(|| for_publisher(&metadata.offered_qos_profiles));
            let hash = metadata.type_description_hash.parse::<feros_interface::TypeHash>();
            let hash = hash.ok().map(|hash| TypeHash(hash.0));
            let identity = TypeIdentity { name: metadata.type_name.clone(), hash };
            let publisher = node.create_generic_publisher(&metadata.name, &identity, qos)?;
            let latched = latched_messages(&qos, metadata.offered_qos_profiles.len());
            publishers.insert(key, Outlet { publisher, latched });
        }
        if publishers.is_empty() {
            return Err(PlayError::Nothing);
        }
        Ok(Self { bags, played, publishers, control })
    }

    /// Plays to the end, and records the end in the control.
    pub(super) fn play(self, options: &PlayerOptions) -> Result<Played, PlayError> {
        let mut played = Played::default();
        let ended = match self.play_rounds(options, &mut played) {
            // Stopping the player interrupts its reading as well.
            Err(PlayError::Read(ReadError::Interrupted { .. })) => Ok(()),
            ended => ended,
        };
        if let Some(timeout) = options.wait_for_all_acked {
            // This wait has one time limit for all topics together.
            let ended = Instant::now();
            for outlet in self.publishers.values() {
                let left = timeout.saturating_sub(ended.elapsed());
                match outlet.publisher.wait_for_all_acked(left) {
                    Ok(()) => {}
                    Err(WaitForAckedError::Timeout { topic, .. }) => {
                        tracing::warn!("{}", WaitForAckedError::Timeout { topic, waited: timeout });
                    }
                    Err(error) => tracing::warn!("{error}"),
                }
            }
        }
        self.control.end();
        ended.map(|()| played)
    }

    fn play_rounds(&self, options: &PlayerOptions, played: &mut Played) -> Result<(), PlayError> {
        self.wait_for_subscriptions(options);
        while !self.control.is_stopped() {
            self.control.delay(options.delay);
            let mut start = *self.played.range.start();
            loop {
                played.messages += self.publish_latched(start, options.read_ahead_bytes)?;
                self.control.begin(start);
                match self.play_from(start, options.read_ahead_bytes, &mut played.messages)? {
                    End::Seek(time) => start = time,
                    End::Played => break,
                    End::Stopped => return Ok(()),
                }
            }
            played.rounds += 1;
            if !options.is_looping {
                break;
            }
        }
        Ok(())
    }

    fn wait_for_subscriptions(&self, options: &PlayerOptions) {
        let Some(timeout) = options.wait_for_subscriptions else { return };
        // All topics share one time limit. The wait is split into parts, so that a stop takes
        // effect soon.
        let (part, started) = (Duration::from_millis(100), Instant::now());
        for outlet in self.publishers.values() {
            let has_subscription = |wait| outlet.publisher.wait_for_subscriptions(1, wait).is_ok();
            loop {
                let left = timeout.saturating_sub(started.elapsed());
                if self.control.is_stopped() || has_subscription(part.min(left)) {
                    break;
                }
                if left.is_zero() {
                    let topic = outlet.publisher.topic_name();
                    tracing::warn!(
                        "nobody subscribed to {topic} {}: the bag is played anyway",
                        feros_wording::within(timeout)
                    );
                    break;
                }
            }
        }
    }

    /// Publishes the last messages of each latched topic before the start, as many as its publisher
    /// keeps, so that subscriptions get them even if playing begins in the middle of the bag.
    fn publish_latched(&self, start: i64, max_bytes: usize) -> Result<u64, PlayError> {
        let timeline = &self.played.timeline;
        let latched = self.publishers.iter().filter(|(_, outlet)| outlet.latched > 0);
        let topics: BTreeSet<String> = latched.map(|((name, _), _)| name.clone()).collect();
        if start <= timeline.range.start || topics.is_empty() {
            return Ok(0);
        }
        let end = Some(start.saturating_sub(1));
        let filter = MessageFilter { start: None, end, topics: Some(topics) };
        let mut last: BTreeMap<(String, String), VecDeque<BagMessage>> = BTreeMap::new();
        for message in timeline.messages(&self.bags, &filter, max_bytes)? {
            let message = message?;
            let key = key_of(&message.topic);
            let most = self.publishers.get(&key).map_or(0, |outlet| outlet.latched);
            let kept = last.entry(key).or_default();
            kept.push_back(message);
            if kept.len() > most {
                kept.pop_front();
            }
        }
        let mut messages: Vec<BagMessage> = last.into_values().flatten().collect();
        messages.sort_by_key(|message| timeline.order.time_of(message));
        let mut published = 0;
        for message in &messages {
            published += u64::from(self.publish(message)?);
        }
        Ok(published)
    }

    fn play_from(
        &self,
        start: i64,
        read_ahead_bytes: usize,
        published: &mut u64,
    ) -> Result<End, PlayError> {
        let filter = MessageFilter {
            start: Some(start),
            end: Some(*self.played.range.end()),
            topics: Some(self.played.topics.clone()),
        };
        let queue: Queue<Result<BagMessage, ReadError>> = Queue::new(read_ahead_bytes);
        std::thread::scope(|scope| {
            let (ahead, timeline) = (&queue, &self.played.timeline);
            let reader = std::thread::Builder::new().name("feros-bag-read".into());
            let reader = reader.spawn_scoped(scope, move || {
                match timeline.messages(&self.bags, &filter, read_ahead_bytes) {
                    Ok(messages) => read_ahead(messages, ahead),
                    Err(error) => drop(ahead.push(Err(error), 0)),
                }
                ahead.close();
            });
            if let Err(error) = reader {
                return Err(PlayError::Thread { reason: error.to_string() });
            }
            let ended = self.publish_all(&queue, published);
            queue.abandon();
            ended
        })
    }

    fn publish_all(
        &self,
        queue: &Queue<Result<BagMessage, ReadError>>,
        published: &mut u64,
    ) -> Result<End, PlayError> {
        loop {
            let message = match queue.pop(FOR_EVER) {
                Popped::Item(message) => message?,
                Popped::TimedOut => continue,
                Popped::Closed => return Ok(End::Played),
            };
            match self.control.wait_for(self.played.timeline.order.time_of(&message)) {
                Turn::Publish => {
                    *published += u64::from(self.publish(&message)?);
                    self.control.published();
                }
                Turn::Seek(time) => return Ok(End::Seek(time)),
                Turn::Stop => return Ok(End::Stopped),
            }
        }
    }

    /// Publishes a message; returns false if its topic is not played.
    fn publish(&self, message: &BagMessage) -> Result<bool, PlayError> {
        let Some(outlet) = self.publishers.get(&key_of(&message.topic)) else { return Ok(false) };
        outlet.publisher.publish_serialized(&message.data).map_err(|error| PlayError::Publish {
            topic: message.topic.metadata.name.clone(),
            source: Arc::new(error),
        })?;
        Ok(true)
    }
}

/// The number of earlier messages of a topic to publish when playing starts in the middle of a bag:
/// as many as the publisher keeps, and at least one for each recorded publisher.
fn latched_messages(qos: &QosProfile, recorded: usize) -> usize {
    if qos.durability != Durability::TransientLocal {
        return 0;
    }
    let kept = if qos.history == History::KeepAll { MOST_LATCHED } else { qos.depth };
    kept.max(recorded).clamp(1, MOST_LATCHED)
}

fn key_of(topic: &BagTopic) -> (String, String) {
    (topic.metadata.name.clone(), topic.metadata.type_name.clone())
}

/// Returns the metadata of the topics that are played. If several bags contain a topic, the QoS
/// profiles of all its publishers are joined.
fn joined_topics(
    bags: &[BagReader],
    wanted: &BTreeSet<String>,
) -> BTreeMap<(String, String), TopicMetadata> {
    let mut joined: BTreeMap<(String, String), TopicMetadata> = BTreeMap::new();
    let topics = bags.iter().flat_map(BagReader::topics);
    for topic in topics.filter(|topic| wanted.contains(&topic.metadata.name)) {
        match joined.entry(key_of(topic)) {
            Entry::Vacant(vacant) => drop(vacant.insert(topic.metadata.clone())),
            Entry::Occupied(known) => {
                let profiles = topic.metadata.offered_qos_profiles.iter().copied();
                known.into_mut().offered_qos_profiles.extend(profiles);
            }
        }
    }
    joined
}

fn read_ahead(messages: InOrder<'_>, queue: &Queue<Result<BagMessage, ReadError>>) {
    for message in messages {
        let bytes = message.as_ref().map_or(0, message_bytes);
        if queue.push(message, bytes).is_err() {
            return;
        }
    }
}
