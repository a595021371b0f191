//! Groups the layers as in the papers whose experiments the laboratory repeats.

use crate::layers::{Breakdown, Layer};

/// The parts of figure 6 of Kronauer et al., *Latency Overhead of ROS2 for Modular Time-Critical
/// Systems*, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure6 {
    /// The engine's write, the network, the engine's receiving thread, and the call that takes the
    /// message from the engine; on other transports, shared memory or the queues within the
    /// process.
    pub dds: u64,
    /// The work of the middleware interface before the engine's: serializing, and waiting in the
    /// queue of asynchronous publishing.
    pub publisher_rmw: u64,
    /// The work of the middleware interface after the engine's: deserializing.
    pub subscriber_rmw: u64,
    /// The publisher's client library.
    pub publisher_common: u64,
    /// The subscription's client library.
    pub subscriber_common: u64,
    /// From the moment the data is announced until it is taken: the wake-up, and waiting for other
    /// entities.
    pub notification_delay: u64,
    /// The overhead of the measuring program: the latency that it measured minus the end-to-end
    /// latency between the trace points.
    pub benchmarking: u64,
}

impl Figure6 {
    /// The parts of a message's latency, for a message whose latency the program measured as
    /// `measured_nanos`.
    pub fn new(breakdown: &Breakdown, measured_nanos: u64) -> Self {
        use Layer::*;
        Self {
            dds: breakdown.sum(&[EngineWrite, Wire, EngineReceive, Take]),
            publisher_rmw: breakdown.sum(&[Serialize, SendQueue]),
            subscriber_rmw: breakdown.sum(&[Deserialize]),
            publisher_common: breakdown.sum(&[Client]),
            subscriber_common: breakdown.sum(&[Dispatch]),
            notification_delay: breakdown.sum(&[Notification, Queue]),
            benchmarking: measured_nanos.saturating_sub(breakdown.end_to_end_nanos()),
        }
    }

    /// The parts, each with its name in the figure.
    pub fn parts(&self) -> [(&'static str, u64); 7] {
        [
            ("DDS", self.dds),
            ("publisher rmw", self.publisher_rmw),
            ("subscriber rmw", self.subscriber_rmw),
            ("publisher common", self.publisher_common),
            ("subscriber common", self.subscriber_common),
            ("notification delay", self.notification_delay),
            ("benchmarking", self.benchmarking),
        ]
    }
}

/// The parts of figures 11 and 12 of Maruyama et al., *Exploring the Performance of ROS2*, in
/// nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure11 {
    /// The two conversions, from message to bytes and back.
    pub conversions: u64,
    /// From the engine's write to the moment it announces the message.
    pub dds: u64,
    /// All other layers.
    pub others: u64,
}

impl Figure11 {
    /// The parts of a message's latency.
    pub fn new(breakdown: &Breakdown) -> Self {
        use Layer::*;
        Self {
            conversions: breakdown.sum(&[Serialize, Deserialize]),
            dds: breakdown.sum(&[EngineWrite, Wire, EngineReceive]),
            others: breakdown.sum(&[Client, SendQueue, Notification, Queue, Take, Dispatch]),
        }
    }

    /// The parts, each with its name in the figures.
    pub fn parts(&self) -> [(&'static str, u64); 3] {
        [("conversions", self.conversions), ("DDS", self.dds), ("others", self.others)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::tests::way;
    use feros_trace::Point;

    /// Each layer takes a power of two, so that a sum shows which layers it contains.
    fn breakdown() -> Breakdown {
        let points = [
            (Point::Publish, 0),
            (Point::SerializeBegin, 1),
            (Point::SerializeEnd, 1 + 2),
            (Point::Queued, 3),
            (Point::WriteBegin, 3 + 4),
            (Point::WriteEnd, 7 + 8),
            (Point::Received, 15 + 16),
            (Point::Announced, 31 + 32),
            (Point::Found, 63 + 64),
            (Point::TurnBegin, 127 + 128),
            (Point::Taken, 255 + 256),
            (Point::Deliver, 511),
            (Point::DeserializeBegin, 511 + 512),
            (Point::Callback, 1023 + 1024),
        ];
        way(&points).breakdown().expect("both ends are there")
    }

    #[test]
    fn figure_6_has_each_layer_in_one_part() {
        let figure = Figure6::new(&breakdown(), 2047 + 2048);
        let expected = Figure6 {
            dds: 8 + 16 + 32 + 256,
            publisher_rmw: 2 + 4,
            subscriber_rmw: 1024,
            publisher_common: 1,
            subscriber_common: 512,
            notification_delay: 64 + 128,
            benchmarking: 2048,
        };
        assert_eq!(figure, expected);
        assert_eq!(figure.parts().iter().map(|(_, nanos)| nanos).sum::<u64>(), 2047 + 2048);
        assert_eq!(Figure6::new(&breakdown(), 0).benchmarking, 0);
    }

    #[test]
    fn figure_11_has_each_layer_in_one_part() {
        let figure = Figure11::new(&breakdown());
        assert_eq!(
            figure,
            Figure11 {
                conversions: 2 + 1024,
                dds: 8 + 16 + 32,
                others: 1 + 4 + 64 + 128 + 256 + 512
            }
        );
        assert_eq!(figure.parts().iter().map(|(_, nanos)| nanos).sum::<u64>(), 2047);
    }
}
