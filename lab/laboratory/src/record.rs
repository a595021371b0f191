//! The records that a run leaves on disk, from which a report is made.
//!
//! The folder has `run.json` ([`Run`]), `cells.jsonl` (one [`Record`] per line, written when its
//! cell has ended) and `raw/` (the output of the programs, compressed, one file per record).

mod check;
mod declaration;

use std::collections::BTreeMap;

pub use self::check::{Check, Trend};
pub use self::declaration::{Declaration, Feature};
pub use feros_lab_statistics::Distribution;
use serde::{Deserialize, Serialize};

/// The version of the file format.
pub const FORMAT: u32 = 1;

/// A run: the plan, the machine, and the systems.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The version, [`FORMAT`].
    pub format: u32,
    /// The name of the grid or the scenario file.
    pub grid: String,
    /// The command that repeats the run.
    pub command: String,
    /// The seed of everything random.
    pub seed: u64,
    /// The start of the run, in seconds since 1970.
    pub began_unix_seconds: u64,
    /// The end of the last cell; `None` while the run goes on, or if it was interrupted.
    pub ended_unix_seconds: Option<u64>,
    /// The machine.
    pub environment: BTreeMap<String, String>,
    /// Every system that the run names, installed or not.
    pub systems: Vec<System>,
    /// The scenarios, in order.
    pub scenarios: Vec<Scenario>,
    /// The costs of the measurement itself.
    pub floors: Vec<Floor>,
}

/// A system under test in one of its configurations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// The name in scenarios, such as `rcl`, `rcl:recommended` or `feros:direct`.
    pub name: String,
    /// The title for people, such as `ROS 2 Kilted through rcl, recommended`.
    pub title: String,
    /// The reason for the configuration; empty for a peer's default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The thread that calls the callback within a process; `None` if the manifest does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<CallbackThread>,
    /// The versions of the client library and the engine, which its program reported.
    pub version: Option<String>,
    /// The reason why the system was not measured, and the command that installs it.
    pub missing: Option<Missing>,
    /// What manifests declare about the systems that the program stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declares: Vec<Declaration>,
}

/// The thread that calls a subscription's callback if publisher and subscription share a process.
/// Numbers of the two kinds are not comparable: the publishing thread waits for the callback, while
/// another thread has to be woken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallbackThread {
    /// The publishing thread, before the publish call returns.
    PublishingThread,
    /// A thread of an executor, a wait set or the engine.
    OtherThread,
}

/// The reason why a system was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The missing requirement, such as a library, a licence, or a package that does not exist.
    pub reason: String,
    /// The command that installs it, if there is one.
    pub install: Option<String>,
}

/// The parts of a scenario that the report needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The name of its file without `.toml`.
    pub name: String,
    /// The title for people, one line.
    pub title: String,
    /// The paper or report that the scenario repeats: `M16`, `K21`, `C23`, `R20`; empty for Feros's
    /// own scenarios.
    pub document: String,
    /// The item of the document, such as `Figure 7, Figure 8` or `Table 4`.
    pub item: String,
    /// The finding of the document, in a sentence or two.
    pub finding: String,
    /// The conditions of the experiment, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// The figures that show the scenario.
    pub figures: Vec<Figure>,
    /// The columns of the scenario's table, in order; each is a metric as in [`Figure::y`].
    #[serde(default)]
    pub columns: Vec<String>,
    /// The goals of the scenario.
    #[serde(default)]
    pub goals: Vec<Check>,
    /// The conclusions of the document about the scenario.
    #[serde(default)]
    pub verdicts: Vec<Check>,
}

/// A condition of an experiment, in the document and here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The name, such as `rate` or `QoS`.
    pub name: String,
    /// The condition in the document; empty if the document does not state it.
    pub document: String,
    /// The condition in this run; empty if it has no meaning here.
    pub here: String,
}

/// The dimensions in which records may differ ([`Record::dimensions`]), and further dimensions:
/// `subscription` (its index), `layer`, `second`, `repetition`.
pub const DIMENSIONS: &[&str] = &[
    "system",
    "placement",
    "type",
    "size_bytes",
    "rate_hz",
    "subscriptions",
    "nodes",
    "topology",
    "start",
    "idle",
    "graph",
    "qos",
    "publish",
    "fill",
    "executor",
    "link",
    "link_mbit",
    "loss_percent",
    "environment",
    "cpu_load_percent",
    "work_micros",
    "subscription",
    "layer",
    "second",
    "repetition",
];

/// A figure or table: the records that it uses, and the numbers of these records that it shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The heading.
    pub title: String,
    /// The form of the figure.
    pub kind: FigureKind,
    /// The dimension on the horizontal axis, or of a matrix's columns; empty for a timeline.
    #[serde(default)]
    pub x: String,
    /// The metric on the vertical axis or in the cells: `latency` (of each subscription),
    /// `publish_call`, or a name of [`Record::values`]. Empty if the kind implies it: layers,
    /// capability, timeline.
    #[serde(default)]
    pub y: String,
    /// The dimensions that distinguish lines, boxes, bars, or rows.
    #[serde(default)]
    pub series: Vec<String>,
    /// The filter: only records whose dimensions have one of these values.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<Value>>,
    /// The floor whose median at each point is the limit line, such as `floors:futex`. It must be
    /// one of the experiment's systems.
    #[serde(default)]
    pub floor: Option<String>,
}

/// How a figure is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// One line per series over `x`. An axis is logarithmic if its values span a factor of 20 or
    /// more.
    Lines,
    /// Box plots.
    Boxes,
    /// Bars, side by side.
    Bars,
    /// Stacked bars of [`Record::layers`].
    Layers,
    /// A table with series as rows and values of `x` as columns.
    Matrix,
    /// Like Table 4 of M16: for each cell, whether it works, is late, is lossy, halts or fails.
    /// Initial loss is shown too.
    Capability,
    /// Messages sent and received per second, over time.
    Timeline,
}

/// A limit that was measured once for the run or, if it depends on the payload size, once for each
/// size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The name, such as `recording`, the cost of recording a message.
    pub name: String,
    /// The payload size; 0 if there is no payload.
    pub size_bytes: u64,
    /// The time per operation.
    pub nanos: Distribution,
}

/// One value of a dimension.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number, for dimensions such as `size_bytes`, `rate_hz`, `nodes`, `loss_percent`.
    Number(f64),
    /// A word, for dimensions such as `system`, `placement`, `qos`.
    Text(String),
}

/// One cell of the grid in one repetition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The name of the scenario.
    pub scenario: String,
    /// The dimensions of this cell: `system`, `placement`, `size_bytes`, `rate_hz`,
    /// `subscriptions`, `nodes`, `qos`, `link`, ...
    pub dimensions: BTreeMap<String, Value>,
    /// The repetition, counted from 0.
    pub repetition: u32,
    /// How the cell ended.
    pub status: Status,
    /// The start of the cell, in seconds since 1970.
    pub began_unix_seconds: u64,
    /// The duration of the cell, including the start and the end of its programs.
    pub seconds: f64,
    /// The transport that most messages took, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Whether messages took another transport than the one under test. Such a record does not
    /// count as a result of its system: statistics ignore it, and the report gives the number of
    /// such records.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unexpected_transport: bool,
    /// The number of messages published, without the warm-up.
    pub sent: u64,
    /// The results of each subscription.
    pub subscriptions: Vec<Received>,
    /// The durations of the publish calls.
    pub publish_call: Option<Distribution>,
    /// The time in each layer that messages pass, in order, if the system reports it.
    pub layers: Vec<Layer>,
    /// All single numbers, by name (which ends in the unit). Of messages:
    /// `goodput_bytes_per_second`, `receive_rate_hz`, `publish_rate_hz`, `lost_percent`,
    /// `late_percent`, `sent_initial`, `lost_initial`, `duplicates`, `reordered`,
    /// `received_TRANSPORT` and `dropped_by_publisher` (if the system reports them),
    /// `events_per_second`, `fairness` (slowest median against fastest),
    /// `delivered_of_possible_percent` (of the messages wanted at the rate, or of those that a link
    /// with a rate can carry in the time, if that is less). Of the link: `wire_bytes_per_message`,
    /// `wire_packets_per_message`, `wire_bytes`, `wire_packets_dropped_by_queue`, ... Of all
    /// processes together (for code, the largest of one process; for servers, separately with the
    /// prefix `server_`): `cpu_percent`, `cpu_percent_p50`, `cpu_percent_p95`, `pss_bytes`,
    /// `private_bytes`, `resident_bytes`, `virtual_bytes`, `threads`, `code_bytes` (mapped),
    /// `code_file_bytes` (of the files), `context_switches_per_second`, `wakeups_per_second`
    /// (voluntary switches), `locked_bytes`, `shared_memory_bytes` (pages that exist, whether
    /// mapped or not), `descriptors`. Of discovery, since the start of the first process:
    /// `started_seconds` (the last one starts), `ready_seconds` (all entities exist),
    /// `settled_seconds` (the last one has all of its matches), `settled_seconds_median`,
    /// `settling_packets`, `settling_traffic_bytes` (on loopback), `settling_datagrams`,
    /// `settling_datagrams_sent`, `settling_datagrams_dropped` (for want of room in a socket),
    /// `settling_wire_packets`, `settling_wire_bytes`, `settling_cpu_seconds`; at rest:
    /// `rest_packets_per_second`, `rest_bytes_per_second`, `rest_wire_packets_per_second`,
    /// `member_pss_bytes` and `member_descriptors` (of one process); then `newcomer_seconds` (from
    /// its start to its first message) and `end_seconds` (from SIGINT until all have ended);
    /// `unsettled` processes. For the real-time condition, 1 or 0: `realtime` (SCHED_FIFO),
    /// `memory_locked` (of every program, as seen from outside). For the condition of processors:
    /// `apart` (talkers and listeners share no processor). Oddities: `samples_before_sent`,
    /// `not_understood_lines`.
    pub values: BTreeMap<String, f64>,
    /// Each process, with values under the same names.
    pub processes: Vec<Process>,
    /// The messages in each second since the first message: sent, and received by all subscriptions
    /// together.
    pub timeline: Vec<(u64, u64)>,
    /// The disturbances: stolen processor time in percent, load, frequency.
    pub noise: BTreeMap<String, f64>,
    /// The file with the output of the programs, relative to the run's folder.
    pub raw: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Record {
    /// Whether the record counts as a result of its system: it is complete, and messages took the
    /// transport under test.
    pub fn is_result(&self) -> bool {
        self.status == Status::Complete && !self.unexpected_transport
    }

    /// The reason why the record is not a result of its system, although its programs did their
    /// work; `None` if it counts.
    pub(crate) fn why_left_out(&self) -> Option<String> {
        let took = self.transport.as_deref().unwrap_or("of another name");
        self.unexpected_transport.then(|| {
            format!("its messages took the transport {took}, which is not the one that is measured")
        })
    }

    /// The word in a dimension.
    pub(crate) fn word(&self, dimension: &str) -> Option<&str> {
        match self.dimensions.get(dimension)? {
            Value::Text(word) => Some(word),
            Value::Number(_) => None,
        }
    }

    /// The number in a dimension.
    pub(crate) fn number(&self, dimension: &str) -> Option<f64> {
        match self.dimensions.get(dimension)? {
            Value::Number(number) => Some(*number),
            Value::Text(_) => None,
        }
    }
}

/// The way in which a cell ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ended", content = "reason", rename_all = "kebab-case")]
pub enum Status {
    /// All programs did their work.
    #[default]
    Complete,
    /// A program failed or crashed; its output until then is kept.
    Failed(String),
    /// A program was still running at its time limit and was killed; its output until then is kept.
    Hung(String),
    /// The cell is impossible: the system does not support the placement or QoS, or the machine
    /// lacks a requirement.
    Skipped(String),
}

/// The results of a subscription, without the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// The number of messages received.
    pub received: u64,
    /// The number of messages that were published but not received.
    pub lost: u64,
    /// The number of messages that came later than the deadline of the scenario.
    pub late: u64,
    /// The time from the publish call to the call of the subscription callback.
    pub latency: Option<Distribution>,
}

/// The time in a layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// The name, such as `client`, `serialize`, `engine write`, `wire`, `announce`, `notification`,
    /// `take`, `deserialize`, `queue`, ...
    pub name: String,
    /// The time per message.
    pub nanos: Distribution,
}

/// A process of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// The role, such as `talker`, `listener 3` or `roscore`.
    pub role: String,
    /// The same kinds of values as in [`Record::values`].
    pub values: BTreeMap<String, f64>,
    /// The activity of each thread while the process was watched; only for idle nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadActivity>,
}

/// The activity of a thread over a period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadActivity {
    /// The thread's name.
    pub name: String,
    /// The number of times that the thread gave up its processor to wait; a wake-up follows each
    /// time.
    pub voluntary_switches: u64,
    /// The number of times that the scheduler preempted the thread.
    pub involuntary_switches: u64,
    /// The processor time that the thread used.
    pub cpu_nanos: u64,
}
