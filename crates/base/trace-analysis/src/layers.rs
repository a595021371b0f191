//! The layers of a message's latency: a layer is the time between two consecutive points.

use feros_trace::Point;

/// A part of a message's latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The publisher's client library: routes, locks, stamps, memory.
    Client,
    /// Serializing: from the struct to bytes.
    Serialize,
    /// Waiting for the thread of an asynchronous publisher.
    SendQueue,
    /// The engine's write; on the other transports, putting the message into the queue that the
    /// subscription takes it from.
    EngineWrite,
    /// From the end of writing until the receiving engine has the message or, through shared
    /// memory, until the subscription is marked ready. On loopback, the kernel delivers while the
    /// sender is still writing; the overlap counts as writing.
    Wire,
    /// The engine's receiving thread, until it announces the message.
    EngineReceive,
    /// The wake-up: from the announcement until the executor has found it.
    Notification,
    /// Waiting while the executor runs other ready entities.
    Queue,
    /// Taking the message.
    Take,
    /// The subscription's client library, from the taken message to the callback.
    Dispatch,
    /// Deserializing: from bytes to the type that the callback takes.
    Deserialize,
}

impl Layer {
    /// The number of layers.
    pub const COUNT: usize = 11;
    /// All layers, in the order in which a message passes them.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Client,
        Self::Serialize,
        Self::SendQueue,
        Self::EngineWrite,
        Self::Wire,
        Self::EngineReceive,
        Self::Notification,
        Self::Queue,
        Self::Take,
        Self::Dispatch,
        Self::Deserialize,
    ];

    /// The name to show to people, such as `engine write`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Serialize => "serialize",
            Self::SendQueue => "send queue",
            Self::EngineWrite => "engine write",
            Self::Wire => "wire",
            Self::EngineReceive => "engine receive",
            Self::Notification => "notification",
            Self::Queue => "queue",
            Self::Take => "take",
            Self::Dispatch => "dispatch",
            Self::Deserialize => "deserialize",
        }
    }
}

/// The times at which a message passed its points on the way to one subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Way {
    at_nanos: [Option<u64>; Point::ALL.len()],
}

impl Way {
    /// Notes the time at which the message passed a point. Of several times, such as those of a
    /// message that is serialized for two transports, the first counts.
    pub fn pass(&mut self, point: Point, at_nanos: u64) {
        let at = &mut self.at_nanos[point as usize];
        *at = Some(at.map_or(at_nanos, |known| known.min(at_nanos)));
    }

    /// The time at which the message passed the point.
    pub fn at(&self, point: Point) -> Option<u64> {
        self.at_nanos[point as usize]
    }

    /// Adds the points of another way to this way.
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        for point in Point::ALL {
            if let Some(at_nanos) = other.at(point) {
                self.pass(point, at_nanos);
            }
        }
        self
    }

    /// The time in each layer; `None` if the time of the publication or of the callback is unknown.
    ///
    /// If a point has an earlier time than the point before it, because two threads overlapped, it
    /// counts as passed at the same time as that point. So no layer is negative, and the sum of the
    /// layers is exactly the end-to-end latency. If a point is missing, the layer that it would end
    /// counts as part of the next layer.
    pub fn breakdown(&self) -> Option<Breakdown> {
        let (publish, callback) = (self.at(Point::Publish)?, self.at(Point::Callback)?);
        let mut layers = [None; Layer::COUNT];
        let mut last = publish;
        for point in Point::ALL
            .into_iter()
            .filter(|point| (Point::SerializeBegin..=Point::Callback).contains(point))
        {
            let Some(mut at) = self.at(point) else { continue };
            if point == Point::WriteEnd {
                let arrived = self.at(Point::Received).or(self.at(Point::Announced));
                at = at.min(arrived.unwrap_or(at));
            }
            let at = at.max(last).min(callback.max(publish));
            *layers[self.layer_before(point) as usize].get_or_insert(0) += at - last;
            last = at;
        }
        Some(Breakdown { layers })
    }

    /// The layer that ends at a point.
    fn layer_before(&self, point: Point) -> Layer {
        let passed = |point: Point| self.at(point).is_some();
        match point {
            Point::SerializeEnd => Layer::Serialize,
            Point::WriteBegin if passed(Point::Queued) => Layer::SendQueue,
            Point::Publish | Point::SerializeBegin | Point::Queued | Point::WriteBegin => {
                Layer::Client
            }
            Point::WriteEnd => Layer::EngineWrite,
            Point::Received => Layer::Wire,
            Point::Announced if passed(Point::Received) => Layer::EngineReceive,
            Point::Announced if passed(Point::WriteEnd) => Layer::Wire,
            Point::Announced => Layer::EngineWrite,
            Point::Found => Layer::Notification,
            Point::TurnBegin | Point::Deliver => Layer::Queue,
            Point::Taken => Layer::Take,
            Point::DeserializeBegin => Layer::Dispatch,
            Point::Callback if passed(Point::DeserializeBegin) => Layer::Deserialize,
            Point::Callback | Point::CallbackEnd | Point::PublishEnd => Layer::Dispatch,
        }
    }
}

/// The time of one message in each layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breakdown {
    layers: [Option<u64>; Layer::COUNT],
}

impl Breakdown {
    /// The time in a layer in nanoseconds; `None` if the message did not pass it.
    pub fn nanos(&self, layer: Layer) -> Option<u64> {
        self.layers[layer as usize]
    }

    /// From the call of `publish` to the call of the callback: the sum of all layers.
    pub fn end_to_end_nanos(&self) -> u64 {
        self.layers.iter().flatten().sum()
    }

    pub(crate) fn sum(&self, layers: &[Layer]) -> u64 {
        layers.iter().filter_map(|layer| self.nanos(*layer)).sum()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn way(points: &[(Point, u64)]) -> Way {
        let mut way = Way::default();
        points.iter().for_each(|(point, at)| way.pass(*point, *at));
        way
    }

    fn layers(points: &[(Point, u64)]) -> Vec<(&'static str, u64)> {
        let breakdown = way(points).breakdown().expect("both ends are there");
        let (first, last) = (points[0].1, points[points.len() - 1].1);
        assert_eq!(breakdown.end_to_end_nanos(), last - first);
        let named = |layer: Layer| Some((layer.name(), breakdown.nanos(layer)?));
        Layer::ALL.into_iter().filter_map(named).collect()
    }

    /// All distances between points differ, so that no two layers can be confused.
    const NETWORK: [(Point, u64); 14] = [
        (Point::Publish, 100),
        (Point::SerializeBegin, 101),
        (Point::SerializeEnd, 103),
        (Point::Queued, 107),
        (Point::WriteBegin, 115),
        (Point::WriteEnd, 131),
        (Point::Received, 163),
        (Point::Announced, 227),
        (Point::Found, 355),
        (Point::TurnBegin, 611),
        (Point::Taken, 1123),
        (Point::Deliver, 2147),
        (Point::DeserializeBegin, 4195),
        (Point::Callback, 8291),
    ];

    #[test]
    fn every_layer_of_the_network_path_lies_between_its_points() {
        let expected = [
            ("client", 1 + 4),
            ("serialize", 2),
            ("send queue", 8),
            ("engine write", 16),
            ("wire", 32),
            ("engine receive", 64),
            ("notification", 128),
            ("queue", 256 + 1024),
            ("take", 512),
            ("dispatch", 2048),
            ("deserialize", 4096),
        ];
        assert_eq!(layers(&NETWORK), expected);
    }

    #[test]
    fn on_other_paths_writing_ends_with_the_ring() {
        let without = |missing: &[Point]| -> Vec<_> {
            NETWORK.into_iter().filter(|(point, _)| !missing.contains(point)).collect()
        };
        let host = layers(&without(&[Point::Queued, Point::Received]));
        assert_eq!(
            host[..4],
            [("client", 13), ("serialize", 2), ("engine write", 16), ("wire", 96)]
        );
        let process = layers(&without(&[
            Point::Queued,
            Point::Received,
            Point::WriteEnd,
            Point::SerializeBegin,
            Point::SerializeEnd,
        ]));
        assert_eq!(process[..3], [("client", 15), ("engine write", 112), ("notification", 128)]);
    }

    #[test]
    fn threads_that_overlap_make_no_layer_negative() {
        // The receiver had the message before the write returned, and the executor had found the
        // entity ready for an earlier message.
        let points = [
            (Point::Publish, 0),
            (Point::WriteBegin, 10),
            (Point::WriteEnd, 50),
            (Point::Received, 30),
            (Point::Announced, 40),
            (Point::Found, 5),
            (Point::TurnBegin, 60),
            (Point::Taken, 70),
            (Point::DeserializeBegin, 80),
            (Point::Callback, 90),
        ];
        let expected = [
            ("client", 10),
            ("engine write", 20),
            ("wire", 0),
            ("engine receive", 10),
            ("notification", 0),
            ("queue", 20),
            ("take", 10),
            ("dispatch", 10),
            ("deserialize", 10),
        ];
        assert_eq!(layers(&points), expected);
    }

    #[test]
    fn absurd_times_neither_panic_nor_change_the_sum() {
        assert_eq!(
            layers(&[(Point::Publish, 7), (Point::Taken, u64::MAX), (Point::Callback, 9)])[0],
            ("take", 2)
        );
        let backwards =
            way(&[(Point::Publish, 9), (Point::Taken, 5), (Point::Callback, 7)]).breakdown();
        assert_eq!(backwards.map(|breakdown| breakdown.end_to_end_nanos()), Some(0));
        assert_eq!(way(&[(Point::Publish, 9)]).breakdown(), None);
        assert_eq!(way(&[(Point::Callback, 9)]).breakdown(), None);
    }
}
