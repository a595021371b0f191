//! An experiment in which nothing is open any more.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::contract::{
    Durability, Executor, Fill, History, MessageType, Placement, PublishMode, Reliability,
};
use crate::record::{Figure, Goal};

/// How much of an experiment is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grid {
    /// Ten minutes for an answer.
    Quick,
    /// Every experiment, each in short.
    Standard,
    /// The documents' own parameters: hours.
    Full,
    /// What is to be reached, beside its references.
    Goals,
}

impl Grid {
    /// All, the shortest first.
    pub const ALL: &[Self] = &[Self::Quick, Self::Standard, Self::Full, Self::Goals];

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Full => "full",
            Self::Goals => "goals",
        }
    }
}

/// What the programs of a cell do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    /// A publisher at a rate, and subscriptions.
    Latency,
    /// A publisher without pause, and subscriptions.
    Goodput,
    /// A publisher, relays, a subscription.
    Chain,
    /// Nodes without entities.
    Nodes,
    /// One node that has nothing to do.
    Idle,
    /// An executor with an entity that is always ready again, among others that never are.
    Executor,
    /// A graph of many nodes, by name.
    Graph,
    /// A client that calls a server at a rate.
    Call,
}

/// A QoS by name: `[qos.reliable]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qos {
    /// Whether what is lost is sent again.
    #[serde(default = "reliable")]
    pub reliability: Reliability,
    /// What a subscription gets that comes late.
    #[serde(default = "volatile")]
    pub durability: Durability,
    /// What is kept for delivery.
    #[serde(default = "keep_last")]
    pub history: History,
    /// How many are kept where not all are.
    #[serde(default = "depth")]
    pub depth: u32,
    /// A message that took longer is late; 0: none is.
    #[serde(default)]
    pub deadline_ms: u64,
}

fn reliable() -> Reliability {
    Reliability::Reliable
}
fn volatile() -> Durability {
    Durability::Volatile
}
fn keep_last() -> History {
    History::KeepLast
}
fn depth() -> u32 {
    10
}

impl Default for Qos {
    fn default() -> Self {
        Self {
            reliability: reliable(),
            durability: volatile(),
            history: keep_last(),
            depth: depth(),
            deadline_ms: 0,
        }
    }
}

/// A link in both directions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkConditions {
    /// Rate; `None`: as fast as it goes.
    pub rate_mbit: Option<f64>,
    /// Lost packets.
    pub loss_percent: f64,
    /// One way.
    pub delay_micros: u64,
    /// On top, at random.
    pub jitter_micros: u64,
    /// Mean length of a burst of losses; `None`: they are independent.
    pub burst_packets: Option<f64>,
    /// Packets that overtake others.
    pub reorder_percent: f64,
    /// Packets that wait for the link.
    pub queue_packets: Option<u32>,
    /// Bytes that wait for the link.
    pub queue_bytes: Option<u64>,
    /// Largest packet.
    pub mtu: Option<u32>,
}

/// Environment variables.
pub type Variables = BTreeMap<String, String>;

/// How each cell of a scenario is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Procedure {
    /// SCHED_FIFO and locked memory, where the machine allows it.
    pub realtime: bool,
    /// Whether processors are kept from halting while nothing is to be done.
    #[serde(default)]
    pub awake: bool,
    /// Whether talkers and listeners have processors of their own.
    #[serde(default)]
    pub apart: bool,
    /// Messages to measure; 0: `seconds` decides.
    pub count: u64,
    /// How long is published, or watched.
    pub seconds: f64,
    /// Messages before that do not count.
    pub warm_up: u64,
    /// Whether the publisher waits for its subscriptions.
    pub matched: bool,
    /// Whether all subscriptions are in one process, where they are not in the publisher's.
    #[serde(default)]
    pub one_listener: bool,
    /// Whether each message is recorded, or only counts.
    pub samples: bool,
    /// Whether memory is looked at, which costs a moment of each process.
    pub memory: bool,
    /// How long is waited after the last message for those under way, or after start before
    /// watching.
    pub settle_seconds: f64,
    /// Longest time of a program beyond what it should take.
    pub timeout_seconds: f64,
    /// Seed of what is random.
    pub seed: u64,
}

/// A scenario as one grid asks for it: nothing is open any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The name of its file without `.toml`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// A line for people.
    pub title: String,
    /// `M16`, `K21`, `C23`, `R20`; empty for ours.
    pub document: String,
    /// `Figure 7, Figure 8`.
    pub item: String,
    /// What the document found.
    pub finding: String,
    /// What the programs do.
    pub workload: Workload,
    /// The systems: `rcl`, `feros:direct`.
    pub systems: Vec<String>,
    /// Where publisher and subscriptions are.
    pub placements: Vec<Placement>,
    /// Payloads.
    pub sizes_bytes: Vec<u64>,
    /// What is sent.
    pub types: Vec<MessageType>,
    /// Messages per second; 0: without pause.
    pub rates_hz: Vec<f64>,
    /// Subscriptions of one publisher.
    pub subscriptions: Vec<u32>,
    /// Nodes of a chain, or without entities.
    pub nodes: Vec<u32>,
    /// Entities of an executor that are never ready.
    pub idle: Vec<u32>,
    /// Graphs by name.
    pub graphs: Vec<String>,
    /// QoS by name.
    pub qos: Vec<(String, Qos)>,
    /// Who sends.
    pub publish: Vec<PublishMode>,
    /// What is written of each payload.
    pub fill: Vec<Fill>,
    /// Who runs callbacks.
    pub executors: Vec<Executor>,
    /// Links by name, for remote placement.
    pub links: Vec<(String, LinkConditions)>,
    /// Further environment variables, by name.
    pub environments: Vec<(String, Variables)>,
    /// Load of each processor by others.
    pub cpu_load_percent: Vec<f64>,
    /// Busy work in each callback.
    pub work_micros: Vec<u64>,
    /// How each of its cells is done.
    pub procedure: Procedure,
    /// How often each cell is measured.
    pub repetitions: u32,
    /// What is shown of it.
    pub figures: Vec<Figure>,
    /// What a table of it shows.
    pub columns: Vec<String>,
    /// What it is to reach.
    pub goals: Vec<Goal>,
}

impl Scenario {
    /// As the report needs it.
    pub fn record(&self) -> crate::record::Scenario {
        crate::record::Scenario {
            name: self.name.clone(),
            title: self.title.clone(),
            document: self.document.clone(),
            item: self.item.clone(),
            finding: self.finding.clone(),
            figures: self.figures.clone(),
            columns: self.columns.clone(),
            goals: self.goals.clone(),
        }
    }
}
