//! The trace points that a message passes.

/// A point that messages pass. The points are listed in the order in which messages pass them. Each
/// layer is between two points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Point {
    /// The application has called `publish`.
    Publish = 0,
    /// The message is about to be serialized. This point is missing if all subscriptions are in
    /// this process and take structs.
    SerializeBegin = 1,
    /// The message has been serialized.
    SerializeEnd = 2,
    /// An asynchronous publisher has put the message into the queue of its sending thread.
    Queued = 3,
    /// The message is about to be handed to the engine, to shared memory, or to the queues of
    /// subscriptions in this process.
    WriteBegin = 4,
    /// The engine's write has returned, or the message is in the queues in shared memory.
    WriteEnd = 5,
    /// The receiving thread of the engine has got the whole message. This point exists only on the
    /// network transport.
    Received = 6,
    /// The subscription is about to be marked ready, which wakes its executor. The engine does this
    /// on the network transport, and the publisher on the other transports.
    Announced = 7,
    /// The executor has found the ready flag of the subscription. This point is missing if the
    /// subscription already had work.
    Found = 8,
    /// The subscription's turn at the executor begins.
    TurnBegin = 9,
    /// The subscription has taken the message.
    Taken = 10,
    /// The message is given to the callback. This happens immediately, or later if the executor has
    /// taken several messages together.
    Deliver = 11,
    /// The message is about to be converted to the type that the callback takes.
    DeserializeBegin = 12,
    /// The callback is about to be called.
    Callback = 13,
    /// The callback has returned.
    CallbackEnd = 14,
    /// `publish` has returned.
    PublishEnd = 15,
}

impl Point {
    /// All points, in the order in which a message passes them.
    pub const ALL: [Self; 16] = [
        Self::Publish,
        Self::SerializeBegin,
        Self::SerializeEnd,
        Self::Queued,
        Self::WriteBegin,
        Self::WriteEnd,
        Self::Received,
        Self::Announced,
        Self::Found,
        Self::TurnBegin,
        Self::Taken,
        Self::Deliver,
        Self::DeserializeBegin,
        Self::Callback,
        Self::CallbackEnd,
        Self::PublishEnd,
    ];

    /// The name of the point in output for people and programs, for example `serialize_begin`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::SerializeBegin => "serialize_begin",
            Self::SerializeEnd => "serialize_end",
            Self::Queued => "queued",
            Self::WriteBegin => "write_begin",
            Self::WriteEnd => "write_end",
            Self::Received => "received",
            Self::Announced => "announced",
            Self::Found => "found",
            Self::TurnBegin => "turn_begin",
            Self::Taken => "taken",
            Self::Deliver => "deliver",
            Self::DeserializeBegin => "deserialize_begin",
            Self::Callback => "callback",
            Self::CallbackEnd => "callback_end",
            Self::PublishEnd => "publish_end",
        }
    }

    /// The point with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|point| point.name() == name)
    }

    /// The point that has this number in files.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_paths_are_found_by_name_and_number() {
        for (number, point) in Point::ALL.into_iter().enumerate() {
            assert_eq!(point as usize, number);
            assert_eq!(Point::from_name(point.name()), Some(point));
            assert_eq!(Point::from_number(number as u8), Some(point));
        }
        assert_eq!(Point::from_number(16), None);
    }
}
