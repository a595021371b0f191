//! The times at which messages are played: either the times of receipt, by which bags are ordered,
//! or the times of sending.
//!
//! Messages may have been received in another order than they were sent. To play them as they were
//! sent, the bags are scanned once for the longest delay with which a message appears in its bag
//! after it was sent. Each message then waits that long for others that were sent earlier.

use std::collections::BTreeMap;

use super::PlayError;
use crate::error::ReadError;
use crate::merge::MergedMessages;
use crate::message::{BagMessage, MessageFilter};
use crate::metadata::TimeRange;
use crate::reader::BagReader;

/// The order in which messages are played, each at its time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MessageOrder {
    /// By the time of receipt, in the order of the bag.
    #[default]
    Received,
    /// By the time of sending, which MCAP files contain.
    Sent,
}

impl MessageOrder {
    /// The time at which a message is played.
    pub(super) fn time_of(self, message: &BagMessage) -> i64 {
        match self {
            Self::Received => message.log_time,
            Self::Sent => message.publish_time,
        }
    }
}

/// The timeline of some bags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timeline {
    pub(super) order: MessageOrder,
    /// From the first message to the last one.
    pub(super) range: TimeRange,
    /// The least delay from the time of a message in this order to its receipt, and the greatest
    /// delay from this time to the latest receipt among the messages up to this one in its bag.
    lag: (i64, i64),
}

impl Timeline {
    /// Scans the bags if their messages are to be played in an order that differs from that of the
    /// bags.
    pub(super) fn of(bags: &[BagReader], order: MessageOrder) -> Result<Self, PlayError> {
        match order {
            MessageOrder::Received => {
                let times = bags.iter().map(|bag| bag.metadata().time);
                let range = times.fold(None, TimeRange::joined).ok_or(PlayError::Nothing)?;
                Ok(Self { order, range, lag: (0, 0) })
            }
            MessageOrder::Sent => Self::of_sending(bags),
        }
    }

    fn of_sending(bags: &[BagReader]) -> Result<Self, PlayError> {
        let (mut range, mut lag) = (None, None);
        for bag in bags.iter().filter(|bag| bag.metadata().time.is_some()) {
            let (mut is_told, mut frontier) = (false, i64::MIN);
            let messages = match bag.metadata().storage_identifier.as_str() {
                "sqlite3" => None, // does not store these times
                _ => Some(bag.messages(&MessageFilter::default())?),
            };
            for message in messages.into_iter().flatten() {
                let message = match message {
                    Ok(message) => message,
                    Err(error @ ReadError::Interrupted { .. }) => return Err(error.into()),
                    // Playing the messages meets this error again, and reports it then.
                    Err(_) => break,
                };
                let (received, sent) = (message.log_time, message.publish_time);
                is_told |= sent != received;
                frontier = frontier.max(received);
                range = TimeRange::with(range, sent);
                let (least, most) = lag.unwrap_or((i64::MAX, i64::MIN));
                let least = received.saturating_sub(sent).min(least);
                lag = Some((least, frontier.saturating_sub(sent).max(most)));
            }
            if !is_told {
                return Err(PlayError::NoSendTimes { bag: bag.path().display().to_string() });
            }
        }
        let (range, lag) = range.zip(lag).ok_or(PlayError::Nothing)?;
        Ok(Self { order: MessageOrder::Sent, range, lag })
    }

    /// The messages of some topics in a part of this timeline, in the order of the timeline. At
    /// most `max_bytes` of messages, plus one message, wait for others.
    pub(super) fn messages<'a>(
        &self,
        bags: &'a [BagReader],
        filter: &MessageFilter,
        max_bytes: usize,
    ) -> Result<InOrder<'a>, ReadError> {
        let in_bags = MessageFilter {
            start: filter.start.map(|start| start.saturating_add(self.lag.0)),
            end: filter.end.map(|end| end.saturating_add(self.lag.1)),
            topics: filter.topics.clone(),
        };
        Ok(InOrder {
            messages: Some(MergedMessages::of(bags, &in_bags)?),
            order: self.order,
            most_late: self.lag.1,
            filter: MessageFilter { topics: None, ..filter.clone() },
            waiting: Waiting { max_bytes, ..Waiting::default() },
            frontier: i64::MIN,
            failure: None,
        })
    }
}

/// Messages in the order of a timeline. They end after an error.
pub(super) struct InOrder<'a> {
    /// The remaining messages; `None` at their end.
    messages: Option<MergedMessages<'a>>,
    order: MessageOrder,
    /// The greatest delay in `Timeline::lag`.
    most_late: i64,
    filter: MessageFilter,
    waiting: Waiting,
    /// The latest time of receipt among the messages that have been read so far.
    frontier: i64,
    failure: Option<ReadError>,
}

/// Messages that wait for others, ordered by time, and by arrival if the times are equal.
#[derive(Default)]
struct Waiting {
    messages: BTreeMap<(i64, u64), BagMessage>,
    bytes: usize,
    max_bytes: usize,
    came: u64,
    is_told: bool,
}

impl Waiting {
    fn push(&mut self, time: i64, message: BagMessage) {
        self.came += 1;
        self.bytes = self.bytes.saturating_add(message_bytes(&message));
        self.messages.insert((time, self.came), message);
    }

    /// Removes the first message, if its time is not after `time`, or if the limit of bytes is
    /// exceeded.
    fn pop_until(&mut self, time: i64) -> Option<BagMessage> {
        let is_full = self.bytes > self.max_bytes && self.messages.len() > 1;
        let first = self.messages.first_entry()?;
        let is_due = first.key().0 <= time;
        if !is_due && !is_full {
            return None;
        }
        if !is_due && !std::mem::replace(&mut self.is_told, true) {
            tracing::warn!(
                "more than {} bytes of messages wait for messages that were sent earlier: some \
                 messages are played after messages that were sent later",
                self.max_bytes
            );
        }
        let message = first.remove();
        self.bytes -= message_bytes(&message);
        Some(message)
    }
}

/// The memory of a waiting message.
pub(super) fn message_bytes(message: &BagMessage) -> usize {
    message.data.len().saturating_add(size_of::<BagMessage>())
}

impl Iterator for InOrder<'_> {
    type Item = Result<BagMessage, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let until = match self.messages {
                Some(_) => self.frontier.saturating_sub(self.most_late),
                None => i64::MAX,
            };
            if let Some(message) = self.waiting.pop_until(until) {
                return Some(Ok(message));
            }
            let Some(messages) = &mut self.messages else {
                return self.failure.take().map(Err);
            };
            match messages.next() {
                Some(Ok(message)) => {
                    self.frontier = self.frontier.max(message.log_time);
                    let time = self.order.time_of(&message);
                    if self.filter.has_time(time) {
                        self.waiting.push(time, message);
                    }
                }
                ended => {
                    self.failure = ended.and_then(Result::err);
                    self.messages = None;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;
    use crate::message::BagTopic;
    use crate::metadata::TopicMetadata;
    use crate::{BagWriter, WriterOptions};
    use feros_message::Schema;
    use proptest::prelude::*;

    fn topic() -> BagTopic {
        let metadata = TopicMetadata::new("/a", "std_msgs/msg/String");
        BagTopic { metadata, schema: Schema::unknown() }
    }

    /// A bag with a message for each pair of a time of sending and a time of receipt.
    fn bag(times: &[(i64, i64)]) -> (tempfile::TempDir, BagReader) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bag");
        let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
        let id = writer.add_topic(topic()).unwrap();
        for (sent, received) in times {
            writer.write(id, 0, *received, *sent, &[0, 1, 0, 0]).unwrap();
        }
        writer.finish().unwrap();
        (folder, BagReader::open(&path).unwrap())
    }

    fn sent(
        timeline: &Timeline,
        bags: &[BagReader],
        start: i64,
        end: i64,
        bytes: usize,
    ) -> Vec<i64> {
        let topics = Some(BTreeSet::from(["/a".to_owned()]));
        let filter = MessageFilter { start: Some(start), end: Some(end), topics };
        let messages = timeline.messages(bags, &filter, bytes).unwrap();
        messages.map(|message| message.unwrap().publish_time).collect()
    }

    #[test]
    fn a_bag_without_times_of_sending_is_refused() {
        let (_one, told) = bag(&[(1, 5)]);
        let (_two, untold) = bag(&[(3, 3), (4, 4)]);
        let path = untold.path().display().to_string();
        let bags = [told, untold];
        let refused = Timeline::of(&bags, MessageOrder::Sent).unwrap_err().to_string();
        assert!(refused.contains(&path) && refused.contains("feros bag record"), "{refused}");
        let received = Timeline::of(&bags, MessageOrder::Received).unwrap();
        assert_eq!(received.range, TimeRange { start: 3, end: 5 });
        let (_none, empty) = bag(&[]);
        assert!(matches!(Timeline::of(&[empty], MessageOrder::Sent), Err(PlayError::Nothing)));
    }

    #[test]
    fn who_has_no_room_gets_messages_out_of_order_and_all_of_them() {
        let times: Vec<_> = (1..=10).map(|n| (11 - n, 100 + n)).collect();
        let (_folder, bag) = bag(&times);
        let bags = [bag];
        let timeline = Timeline::of(&bags, MessageOrder::Sent).unwrap();
        assert_eq!(sent(&timeline, &bags, 1, 10, usize::MAX), (1..=10).collect::<Vec<_>>());
        let mut without_room = sent(&timeline, &bags, 1, 10, 0);
        assert_ne!(without_room, (1..=10).collect::<Vec<_>>());
        without_room.sort_unstable();
        assert_eq!(without_room, (1..=10).collect::<Vec<_>>());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// For any delays, including negative ones from clocks that differ, all messages of a
        /// stretch come in the order in which they were sent, across several bags.
        #[test]
        fn messages_come_as_they_were_sent(
            times in prop::collection::vec((0i64..1000, -50i64..300), 2..40),
            (start, end) in (0i64..1000, 0i64..1000),
        ) {
            let mut received: Vec<_> =
                times.iter().map(|(sent, delay)| (*sent, 100 + sent + delay)).collect();
            received.sort_by_key(|(_, received)| *received);
            let (one, other): (Vec<_>, Vec<_>) =
                received.iter().copied().partition(|(sent, _)| sent % 2 == 0);
            let (one, other) = (bag(&one), bag(&other));
            let bags = [one.1, other.1];
            let timeline = Timeline::of(&bags, MessageOrder::Sent).unwrap();
            let mut expected: Vec<i64> = times.iter().map(|(sent, _)| *sent).collect();
            expected.sort_unstable();
            let (first, last) = (expected[0], expected[expected.len() - 1]);
            prop_assert_eq!(timeline.range, TimeRange { start: first, end: last });
            expected.retain(|sent| (start..=end).contains(sent));
            prop_assert_eq!(sent(&timeline, &bags, start, end, usize::MAX), expected);
        }
    }
}
