//! The questions of a person who chooses a system, and the cells of a run that answer them.

use super::Column;
use crate::record::{Record, Value};
use crate::report::floors::is_of_floor;
use crate::report::groups::Place;
use crate::report::quantity::{Unit, digits};
use crate::report::threads::is_within_process;

/// A question. If several questions belong to the same topic, each has its own table.
pub(crate) struct Question {
    /// The id of the question's part of the page.
    pub(crate) id: &'static str,
    /// The topic; one experiment answers all questions of a topic.
    pub(crate) topic: Topic,
    /// Makes the heading from the common dimensions of the cells.
    pub(crate) title: fn(&Place) -> String,
    /// Whether a cell can answer the question at all.
    pub(crate) fits: fn(&Record) -> bool,
    /// The distance of a cell from the question, as a sum of logarithms; 0 is an exact match.
    pub(crate) distance: fn(&Record) -> f64,
    /// Whether the contents of messages matter; if so, cells that write each payload anew are
    /// preferred.
    pub(crate) is_filled: bool,
    /// The columns of the question's table; the rows are ranked by the first column.
    pub(crate) columns: &'static [Column],
}

/// A topic, whose questions one experiment answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    Camera,
    Loop,
    Link,
    Process,
    Rest,
}

impl Topic {
    pub(crate) const ALL: [Self; 5] =
        [Self::Camera, Self::Loop, Self::Link, Self::Process, Self::Rest];

    /// The title of the topic, which is shown if there is no answer.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Camera => "a camera of 1 MB to another process of this host",
            Self::Loop => "a control loop of 1 kHz, small messages",
            Self::Link => "a lossy or slow link between two hosts",
            Self::Process => "within one process",
            Self::Rest => "what nodes cost at rest",
        }
    }

    /// The command that measures the topic.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Camera => {
                "feros lab latency sizes=1M rates_hz=30 systems=feros,rcl,cyclonedds,fastdds,iceoryx2,floors:copy --out camera"
            }
            Self::Loop => {
                "feros lab latency rates_hz=1000 count=5000 systems=feros,rcl,cyclonedds,fastdds,iceoryx2,floors:futex --out loop"
            }
            Self::Link => "feros lab run standard --only r20-degraded --out link",
            Self::Process => {
                "feros lab latency sizes=1M placements=composed,intra systems=feros,feros:direct,rcl,cyclonedds,zenoh,floors:thread,floors:call --out process"
            }
            Self::Rest => "feros lab idle systems=feros,rcl,rclpy,cyclonedds --out rest",
        }
    }
}

const LATENCY: &[Column] = &[
    Column::Median,
    Column::P99,
    Column::Lost,
    Column::PublishRate,
    Column::Processor,
    Column::Memory,
];
const REST: &[Column] = &[Column::Memory, Column::Processor, Column::Threads, Column::Wakeups];

/// All questions, in the order in which they are shown.
pub(crate) const QUESTIONS: &[Question] = &[
    Question {
        id: "camera",
        topic: Topic::Camera,
        title: |place| {
            format!("A camera of {} to another process of this host", size_and_rate(place))
        },
        fits: |record| {
            is_one_hop(record)
                && is_placed(record, "local")
                && within(record, "size_bytes", 512.0 * 1024.0, 8.0 * MB)
                && within(record, "rate_hz", 5.0, 200.0)
        },
        distance: |record| 2.0 * apart(record, "size_bytes", MB) + apart(record, "rate_hz", 30.0),
        is_filled: true,
        columns: LATENCY,
    },
    Question {
        id: "loop",
        topic: Topic::Loop,
        title: |place| {
            format!("A control loop: {} to another process of this host", size_and_rate(place))
        },
        fits: |record| {
            is_one_hop(record)
                && is_placed(record, "local")
                && within(record, "size_bytes", 0.0, 4096.0)
                && within(record, "rate_hz", 500.0, 2000.0)
        },
        distance: |record| {
            apart(record, "size_bytes", 256.0) + 2.0 * apart(record, "rate_hz", 1000.0)
        },
        is_filled: false,
        columns: LATENCY,
    },
    Question {
        id: "lossy-small",
        topic: Topic::Link,
        title: |place| format!("A lossy link between two hosts: {}", over_link(place)),
        fits: |record| is_lossy(record) && within(record, "size_bytes", 0.0, 16.0 * 1024.0),
        distance: |record| link_distance(record, 1024.0),
        is_filled: false,
        columns: LATENCY,
    },
    Question {
        id: "lossy-large",
        topic: Topic::Link,
        title: |place| format!("A lossy link between two hosts: {}", over_link(place)),
        fits: |record| is_lossy(record) && within(record, "size_bytes", 128.0 * 1024.0, 8.0 * MB),
        distance: |record| link_distance(record, 512.0 * 1024.0),
        is_filled: false,
        columns: LATENCY,
    },
    Question {
        id: "slow",
        topic: Topic::Link,
        title: |place| format!("A slow link between two hosts: {}", over_link(place)),
        fits: |record| {
            is_one_hop(record)
                && is_placed(record, "remote")
                && record.number("loss_percent").unwrap_or(0.0) == 0.0
                && within(record, "link_mbit", 0.0, 100.0)
                && within(record, "rate_hz", 0.1, 200.0)
        },
        distance: |record| apart(record, "size_bytes", 64.0 * 1024.0),
        is_filled: false,
        columns: LATENCY,
    },
    Question {
        id: "process",
        topic: Topic::Process,
        title: |place| format!("Within one process: {}", size_and_rate(place)),
        fits: |record| {
            is_one_hop(record)
                && is_within_process(record)
                && within(record, "size_bytes", 1.0, 8.0 * MB)
                && within(record, "rate_hz", 0.1, 10_000.0)
        },
        distance: |record| apart(record, "size_bytes", MB) + apart(record, "rate_hz", 100.0) / 4.0,
        is_filled: true,
        columns: LATENCY,
    },
    Question {
        id: "rest",
        topic: Topic::Rest,
        title: |place| match number(place, "nodes") {
            Some(nodes) if nodes > 1.0 => format!("What {} nodes cost at rest", digits(nodes)),
            _ => "What a node costs at rest".to_owned(),
        },
        fits: |record| {
            let other = ["size_bytes", "idle", "graph"];
            !is_of_floor(record)
                && !other.iter().any(|name| record.dimensions.contains_key(*name))
                && is_undisturbed(record)
        },
        // Only a cell that watches a single node for a while gives the node's processor time.
        distance: |record| record.number("nodes").map_or(0.0, |nodes| 3.0 + nodes.max(1.0).ln()),
        is_filled: false,
        columns: REST,
    },
];

const MB: f64 = 1_048_576.0;

/// Whether the cell writes each payload anew.
pub(super) fn is_filled(place: &Place) -> bool {
    place.get("fill") == Some(&Value::Text("each".to_owned()))
}

fn number(place: &Place, name: &str) -> Option<f64> {
    match place.get(name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

fn is_placed(record: &Record, placement: &str) -> bool {
    record.word("placement") == Some(placement)
}

fn within(record: &Record, name: &str, least: f64, most: f64) -> bool {
    number(&record.dimensions, name).is_some_and(|number| (least..=most).contains(&number))
}

/// The distance of a number from the wanted number: the absolute logarithm of their ratio.
fn apart(record: &Record, name: &str, wanted: f64) -> f64 {
    number(&record.dimensions, name)
        .map_or(0.0, |number| (number.max(1.0) / wanted.max(1.0)).ln().abs())
}

fn is_undisturbed(record: &Record) -> bool {
    let of = |name: &str| number(&record.dimensions, name).unwrap_or(0.0);
    of("cpu_load_percent") == 0.0 && of("work_micros") == 0.0
}

/// Whether the cell has one publisher and one subscription, without disturbance.
fn is_one_hop(record: &Record) -> bool {
    let place = &record.dimensions;
    number(place, "subscriptions").is_none_or(|count| count == 1.0)
        && !place.contains_key("nodes")
        && is_undisturbed(record)
        && place.contains_key("size_bytes")
}

fn is_lossy(record: &Record) -> bool {
    is_one_hop(record)
        && is_placed(record, "remote")
        && within(record, "loss_percent", 0.01, 100.0)
        && within(record, "rate_hz", 0.1, 200.0)
}

fn link_distance(record: &Record, size: f64) -> f64 {
    apart(record, "size_bytes", size)
        + apart(record, "loss_percent", 10.0)
        + apart(record, "link_mbit", 54.0)
}

fn size_and_rate(place: &Place) -> String {
    let size = number(place, "size_bytes").map(|bytes| Unit::Bytes.show(bytes));
    let rate = number(place, "rate_hz").map(|rate| format!("at {}", Unit::Hertz.show(rate)));
    [size, rate].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn over_link(place: &Place) -> String {
    let mbit = number(place, "link_mbit").map(|mbit| format!("{} Mbit/s", digits(mbit)));
    let loss = number(place, "loss_percent").filter(|loss| *loss > 0.0);
    let loss = loss.map(|loss| format!("{} of the packets lost", Unit::Percent.show(loss)));
    let of_link = [mbit, loss].into_iter().flatten();
    let parts: Vec<String> = [size_and_rate(place)].into_iter().chain(of_link).collect();
    parts.join(", ")
}
