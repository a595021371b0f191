//! What a run leaves on disk, and what a report is made of.
//!
//! A folder: `run.json` ([`Run`]), `cells.jsonl` (one [`Record`] a line, written when its cell has
//! ended) and `raw/` (what the programs said, compressed, one file a record).

use std::collections::BTreeMap;

pub use feros_lab_statistics::Distribution;
use serde::{Deserialize, Serialize};

/// The version of these files.
pub const FORMAT: u32 = 1;

/// A run: what was to be measured, where, and with what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`FORMAT`].
    pub format: u32,
    /// The name of the grid or the scenario file.
    pub grid: String,
    /// The command that repeats it.
    pub command: String,
    /// The seed of everything random.
    pub seed: u64,
    /// When it began, seconds since 1970.
    pub began_unix_seconds: u64,
    /// When its last cell ended; `None` while it is running or was interrupted.
    pub ended_unix_seconds: Option<u64>,
    /// The machine.
    pub environment: BTreeMap<String, String>,
    /// Every system that the run names, installed or not.
    pub systems: Vec<System>,
    /// The scenarios in their order.
    pub scenarios: Vec<Scenario>,
    /// What measuring itself costs.
    pub floors: Vec<Floor>,
}

/// A system under test in one of its variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// As scenarios name it: `rcl`, `rcl:recommended`, `feros:direct`.
    pub name: String,
    /// For people: `ROS 2 Kilted through rcl, recommended`.
    pub title: String,
    /// Why it is configured so; empty for a peer's default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Which thread calls back within a process; `None`: nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<CallbackThread>,
    /// What its program said of itself: versions of client and middleware.
    pub version: Option<String>,
    /// Why it was not measured, and the command that changes that.
    pub missing: Option<Missing>,
}

/// Which thread calls a subscription's callback where publisher and subscription are in one
/// process. Numbers of the two say different things: the publisher's thread waits for the callback,
/// another thread has to be woken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallbackThread {
    /// The one that publishes, before the call of publish returns.
    PublishingThread,
    /// An executor's, a wait set's, the middleware's.
    OtherThread,
}

/// Why a system was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// What is not there: a library, a licence, a package that does not exist.
    pub reason: String,
    /// The command that installs it, where there is one.
    pub install: Option<String>,
}

/// A scenario as the report needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The name of its file without `.toml`.
    pub name: String,
    /// A line for people.
    pub title: String,
    /// `M16`, `K21`, `C23`, `R20`; empty for ours.
    pub document: String,
    /// `Figure 7, Figure 8`, `Table 4`.
    pub item: String,
    /// What the document found, in a sentence or two.
    pub finding: String,
    /// What is shown of it.
    pub figures: Vec<Figure>,
    /// What a table of it shows, in its order: metrics as in [`Figure::y`].
    #[serde(default)]
    pub columns: Vec<String>,
    /// What it is to reach.
    #[serde(default)]
    pub goals: Vec<Goal>,
}

/// What a system is to reach, beside a reference of the same run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// What it is about.
    pub title: String,
    /// The system.
    pub system: String,
    /// The system that it is divided by, in the same repetition of the same cell; absent: the
    /// number itself is what counts.
    pub reference: Option<String>,
    /// As [`Figure::y`].
    #[serde(default = "latency")]
    pub metric: String,
    /// The largest number that reaches it.
    pub at_most: Option<f64>,
    /// The smallest number that reaches it.
    pub at_least: Option<f64>,
    /// The largest over the smallest, of all values of the dimension `across`, is at most this.
    pub flat: Option<f64>,
    /// The dimension that does not matter where it is flat.
    #[serde(default = "size_bytes")]
    pub across: String,
}

fn size_bytes() -> String {
    "size_bytes".to_owned()
}

fn latency() -> String {
    "latency".to_owned()
}

/// What records may differ in ([`Record::dimensions`]), and what differs within one: `subscription`
/// (its index), `layer`, `second`, `repetition`.
pub const DIMENSIONS: &[&str] = &[
    "system",
    "placement",
    "type",
    "size_bytes",
    "rate_hz",
    "subscriptions",
    "nodes",
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

/// One figure or table: which records it takes and what it shows of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// A heading.
    pub title: String,
    /// How it is drawn.
    pub kind: FigureKind,
    /// The dimension on the horizontal axis, or of the columns of a matrix; empty in a timeline.
    #[serde(default)]
    pub x: String,
    /// The metric on the vertical axis or in the cells: `latency` (of each subscription),
    /// `publish_call`, or a name of [`Record::values`]. Empty where the kind says it: layers,
    /// capability, timeline.
    #[serde(default)]
    pub y: String,
    /// The dimensions that distinguish lines, boxes, bars, or rows.
    #[serde(default)]
    pub series: Vec<String>,
    /// Only records whose dimensions have one of these values.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<Value>>,
    /// The system whose median at each point is the limit line: `floors:futex`. It is one of the
    /// systems of the experiment.
    #[serde(default)]
    pub floor: Option<String>,
}

/// How a figure is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// A line per series over `x`; an axis is logarithmic where its values span a factor of 20 or
    /// more.
    Lines,
    /// Box plots.
    Boxes,
    /// Bars beside each other.
    Bars,
    /// Bars of [`Record::layers`] on top of each other.
    Layers,
    /// A table: series are rows, values of `x` columns.
    Matrix,
    /// Table 4 of M16: works, late, lossy, halts or error per cell, and initial loss.
    Capability,
    /// Messages over time, sent and received per second.
    Timeline,
}

/// A limit that was measured once for the run, by payload size where it depends on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// `recording`: what noting a message costs.
    pub name: String,
    /// Payload; 0 where there is none.
    pub size_bytes: u64,
    /// What one takes.
    pub nanos: Distribution,
}

/// One value of a dimension.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number: `size_bytes`, `rate_hz`, `nodes`, `loss_percent`.
    Number(f64),
    /// A word: `system`, `placement`, `qos`.
    Text(String),
}

/// One cell of the grid in one repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The scenario's name.
    pub scenario: String,
    /// What distinguishes this cell: `system`, `placement`, `size_bytes`, `rate_hz`,
    /// `subscriptions`, `nodes`, `qos`, `link`, ...
    pub dimensions: BTreeMap<String, Value>,
    /// From 0.
    pub repetition: u32,
    /// How it ended.
    pub status: Status,
    /// When it began, seconds since 1970.
    pub began_unix_seconds: u64,
    /// How long it took, programs' start and end included.
    pub seconds: f64,
    /// The transport that most messages took, where the system says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Messages took another transport than the one that is measured: it is no result of its
    /// system, and statistics leave it out and count it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unexpected_transport: bool,
    /// Messages published, warm-up not included.
    pub sent: u64,
    /// What each subscription got.
    pub subscriptions: Vec<Received>,
    /// How long each call of publish took.
    pub publish_call: Option<Distribution>,
    /// Time in each layer of a message's way, in order, where the system can say.
    pub layers: Vec<Layer>,
    /// Everything that is one number, by name with unit. Of messages: `goodput_bytes_per_second`,
    /// `receive_rate_hz`, `publish_rate_hz`, `lost_percent`, `late_percent`, `sent_initial`,
    /// `lost_initial`, `duplicates`, `reordered`, `received_TRANSPORT` and `dropped_by_publisher`
    /// (where the system says them), `events_per_second`, `fairness` (slowest median against
    /// fastest), `delivered_of_possible_percent` (of what was sent, or of what a link with a rate
    /// carries in the time if that is less). Of the link: `wire_bytes_per_message`,
    /// `wire_packets_per_message`, `wire_bytes`, `wire_packets_dropped_by_queue`, ... Of processes
    /// together (code: the most of one; servers apart, with `server_` before): `cpu_percent`,
    /// `cpu_percent_p50`, `cpu_percent_p95`, `pss_bytes`, `private_bytes`, `resident_bytes`,
    /// `virtual_bytes`, `threads`, `code_bytes` (mapped), `code_file_bytes` (of the files),
    /// `context_switches_per_second`, `wakeups_per_second` (voluntary switches), `locked_bytes`,
    /// `shared_memory_bytes` (pages that exist, whether mapped or not). Of the condition of real
    /// time, 1 or 0: `realtime` (SCHED_FIFO), `memory_locked` (each program's, seen from outside).
    /// Of the condition of processors: `apart` (talkers and listeners share none).
    /// Oddities: `samples_before_sent`, `not_understood_lines`.
    pub values: BTreeMap<String, f64>,
    /// Each process with the same names.
    pub processes: Vec<Process>,
    /// Messages in each second since the first: sent, received by all subscriptions together.
    pub timeline: Vec<(u64, u64)>,
    /// What disturbed: stolen processor time in percent, load, frequency.
    pub noise: BTreeMap<String, f64>,
    /// What the programs said, relative to the run's folder.
    pub raw: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Record {
    /// Whether it is a result of its system: it has ended well, and measured what it was to.
    pub fn is_result(&self) -> bool {
        self.status == Status::Complete && !self.unexpected_transport
    }
}

/// How a cell ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ended", content = "reason", rename_all = "kebab-case")]
pub enum Status {
    /// All programs did what was asked.
    Complete,
    /// A program failed or crashed; what it had said is kept.
    Failed(String),
    /// A program was still running at the end of its time and was killed; what it had said is kept.
    Hung(String),
    /// It cannot be done: the system has no such placement or QoS, or the machine lacks what it
    /// needs.
    Skipped(String),
}

/// What a subscription got, warm-up not included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// Messages.
    pub received: u64,
    /// Published and not received.
    pub lost: u64,
    /// Received later than the deadline of the scenario.
    pub late: u64,
    /// Call of publish to call of the subscription callback.
    pub latency: Option<Distribution>,
}

/// The time in a layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// `client`, `serialize`, `engine write`, `wire`, `announce`, `notification`, `take`,
    /// `deserialize`, `queue`, ...
    pub name: String,
    /// Per message.
    pub nanos: Distribution,
}

/// A process of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// `talker`, `listener 3`, `roscore`.
    pub role: String,
    /// As [`Record::values`].
    pub values: BTreeMap<String, f64>,
    /// What each thread did while it was watched; of an idle node alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadActivity>,
}

/// What a thread did in a time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadActivity {
    /// Its name.
    pub name: String,
    /// How often it gave the processor away because it had to wait: each is a later wake-up.
    pub voluntary_switches: u64,
    /// How often the processor was taken from it.
    pub involuntary_switches: u64,
    /// How long it ran.
    pub cpu_nanos: u64,
}
