//! The functions that layers call when a message passes their points.

use std::cell::Cell;

use crate::clock::now_nanos;
use crate::endpoint::Endpoint;
use crate::event::{Event, MessageId};
use crate::point::Point;
use crate::recorder::record;
use crate::switch::is_on;
use crate::transport::Transport;

/// If the trace is on, records that a message passes a point at this moment.
#[inline]
pub fn pass(
    point: Point,
    transport: Transport,
    endpoint: &Endpoint,
    message: impl FnOnce() -> MessageId,
) {
    if is_on() {
        record_now(point, Some(transport), message(), endpoint.number());
    }
}

#[cold]
fn record_now(point: Point, transport: Option<Transport>, message: MessageId, endpoint: u32) {
    record(Event { at_nanos: now_nanos(), point, transport, message, endpoint });
}

/// The number of points that a message can pass before it has its stamp. These are `publish`, and
/// the beginning and the end of serialization for each of up to three transports.
const UNNAMED_POINTS: usize = 7;

/// A message that is being published. It gets its stamp only when it is sent. Until then, this
/// value stores the points that it passes.
#[derive(Debug, Default)]
pub struct Outbound(Stage);

#[derive(Debug, Default)]
enum Stage {
    /// The trace was off when the message was published.
    #[default]
    Off,
    Unnamed([(u64, Point); UNNAMED_POINTS], usize),
    Named(MessageId, u32),
}

impl Outbound {
    /// Records that the application has called `publish`. Costs one relaxed load while the trace is
    /// off.
    #[inline]
    pub fn publish() -> Self {
        if is_on() { Self::begin() } else { Self::default() }
    }

    #[cold]
    fn begin() -> Self {
        Self(Stage::Unnamed([(now_nanos(), Point::Publish); UNNAMED_POINTS], 1))
    }

    /// Records that the message passes a point before it is on a transport.
    #[inline]
    pub fn pass(&mut self, point: Point) {
        if !matches!(self.0, Stage::Off) {
            self.note(point);
        }
    }

    #[cold]
    fn note(&mut self, point: Point) {
        match &mut self.0 {
            Stage::Off => {}
            Stage::Unnamed(passed, count) => {
                if let Some(next) = passed.get_mut(*count) {
                    *next = (now_nanos(), point);
                    *count += 1;
                }
            }
            Stage::Named(message, endpoint) => record_now(point, None, *message, *endpoint),
        }
    }

    /// Gives the message its identity, and records the points that it has passed so far.
    #[inline]
    pub fn name(&mut self, publisher: &Endpoint, message: impl FnOnce() -> MessageId) {
        if !matches!(self.0, Stage::Off) {
            self.record(publisher.number(), message());
        }
    }

    #[cold]
    fn record(&mut self, endpoint: u32, message: MessageId) {
        if let Stage::Unnamed(passed, count) = &self.0 {
            for (at_nanos, point) in &passed[..*count] {
                record(Event {
                    at_nanos: *at_nanos,
                    point: *point,
                    transport: None,
                    message,
                    endpoint,
                });
            }
            self.0 = Stage::Named(message, endpoint);
        }
    }
}

/// The turn of an entity at the executor, in which the executor takes the messages of the entity.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    /// The time when the executor found the ready flag of the entity, or 0 if the entity already
    /// had work.
    found_nanos: u64,
    begun_nanos: u64,
}

/// A message that is being given to a callback.
#[derive(Debug, Clone, Copy)]
struct Inbound {
    message: MessageId,
    transport: Transport,
    endpoint: u32,
}

thread_local! {
    static TURN: Cell<Turn> = const { Cell::new(Turn { found_nanos: 0, begun_nanos: 0 }) };
    static DELIVERY: Cell<Option<Inbound>> = const { Cell::new(None) };
}

/// The time for [`begin_turn`] if the trace is on, and otherwise 0.
#[inline]
pub fn found_nanos() -> u64 {
    if is_on() { now_nanos() } else { 0 }
}

/// Records that the turn of an entity begins on this thread. `found_nanos` is the time when the
/// ready flag of the entity was found, or 0 if the entity already had work.
#[inline]
pub fn begin_turn(found_nanos: u64) {
    if is_on() {
        let _ = TURN.try_with(|turn| turn.set(Turn { found_nanos, begun_nanos: now_nanos() }));
    }
}

/// Records that a message has been taken in this turn.
#[inline]
pub fn taken(transport: Transport, subscription: &Endpoint, message: impl FnOnce() -> MessageId) {
    if is_on() {
        record_taken(transport, subscription.number(), message());
    }
}

#[cold]
fn record_taken(transport: Transport, endpoint: u32, message: MessageId) {
    let now = now_nanos();
    let turn = TURN.try_with(Cell::take).unwrap_or_default();
    let points = [
        (turn.found_nanos, Point::Found),
        (turn.begun_nanos, Point::TurnBegin),
        (now, Point::Taken),
    ];
    for (at_nanos, point) in points.into_iter().filter(|(at_nanos, _)| *at_nanos > 0) {
        record(Event { at_nanos, point, transport: Some(transport), message, endpoint });
    }
}

/// Records that a message is given to its callback on this thread. Until the returned guard is
/// dropped, calls of [`delivery`] refer to this message.
#[inline]
pub fn deliver(
    transport: Transport,
    subscription: &Endpoint,
    message: impl FnOnce() -> MessageId,
) -> Delivery {
    if !is_on() {
        return Delivery { former: None };
    }
    let inbound = Inbound { message: message(), transport, endpoint: subscription.number() };
    let former = DELIVERY.try_with(|current| current.replace(Some(inbound))).ok();
    delivery(Point::Deliver);
    Delivery { former }
}

/// A guard that exists while this thread delivers a message to a callback.
#[must_use = "the message is delivered until this is dropped"]
#[derive(Debug)]
pub struct Delivery {
    /// The message whose callback is interrupted by this delivery (with direct dispatch), if there
    /// is such a message. The outer `None` means that the trace was off.
    former: Option<Option<Inbound>>,
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(former) = self.former {
            let _ = DELIVERY.try_with(|current| current.set(former));
        }
    }
}

/// Records that the message that is being delivered on this thread passes a point.
#[inline]
pub fn delivery(point: Point) {
    if is_on() {
        record_delivery(point);
    }
}

#[cold]
fn record_delivery(point: Point) {
    if let Ok(Some(Inbound { message, transport, endpoint })) = DELIVERY.try_with(Cell::get) {
        record_now(point, Some(transport), message, endpoint);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::endpoint::Kind;
    use crate::{ThreadEvents, alone, drain, enable};

    fn id(stamp: i64) -> MessageId {
        MessageId { publisher: [7; 16], stamp, number: stamp as u64 }
    }

    /// The points that this thread has recorded.
    fn recorded() -> Vec<(Point, i64)> {
        let mine =
            std::thread::current().name().map(|name| name.chars().take(15).collect::<String>());
        let threads = drain().into_iter().filter(|thread| Some(&thread.name) == mine.as_ref());
        let events: Vec<_> = threads.flat_map(|ThreadEvents { events, .. }| events).collect();
        assert!(events.is_sorted_by_key(|event| event.at_nanos), "{events:?}");
        events.iter().map(|event| (event.point, event.message.stamp)).collect()
    }

    fn everything(publisher: &Endpoint, subscription: &Endpoint) {
        let mut outbound = Outbound::publish();
        outbound.pass(Point::SerializeBegin);
        outbound.pass(Point::SerializeEnd);
        outbound.name(publisher, || id(1));
        pass(Point::WriteBegin, Transport::SharedMemory, publisher, || id(1));
        outbound.pass(Point::PublishEnd);
        begin_turn(found_nanos());
        taken(Transport::SharedMemory, subscription, || id(1));
        let outer = deliver(Transport::SharedMemory, subscription, || id(1));
        delivery(Point::DeserializeBegin);
        drop(deliver(Transport::IntraProcess, subscription, || id(2))); // published in the callback, with direct dispatch
        delivery(Point::Callback);
        drop(outer);
        delivery(Point::CallbackEnd); // at this moment, no message is being delivered
    }

    #[test]
    fn off_nothing_is_recorded_and_on_everything_in_its_order() {
        let _alone = alone();
        let publisher = Endpoint::new(Kind::Publisher, [7; 16], "/a");
        let subscription = Endpoint::new(Kind::Subscription, [8; 16], "/a");
        everything(&publisher, &subscription);
        assert_eq!(recorded(), []);
        enable();
        everything(&publisher, &subscription);
        let points = [
            (Point::Publish, 1),
            (Point::SerializeBegin, 1),
            (Point::SerializeEnd, 1),
            (Point::WriteBegin, 1),
            (Point::PublishEnd, 1),
            (Point::Found, 1),
            (Point::TurnBegin, 1),
            (Point::Taken, 1),
            (Point::Deliver, 1),
            (Point::DeserializeBegin, 1),
            (Point::Deliver, 2),
            (Point::Callback, 1),
        ];
        assert_eq!(recorded(), points);
        // The message was published while the trace was off, and it is sent while the trace is on.
        // So its first points are unknown.
        let mut outbound = Outbound::default();
        outbound.name(&publisher, || id(3));
        outbound.pass(Point::PublishEnd);
        assert_eq!(recorded(), []);
    }

    #[test]
    fn a_message_that_passes_too_many_points_without_a_name_keeps_the_first() {
        let _alone = alone();
        enable();
        let publisher = Endpoint::new(Kind::Publisher, [7; 16], "/a");
        let mut outbound = Outbound::publish();
        (0..20).for_each(|_| outbound.pass(Point::SerializeBegin));
        outbound.name(&publisher, || id(1));
        assert_eq!(recorded().len(), UNNAMED_POINTS);
    }
}
