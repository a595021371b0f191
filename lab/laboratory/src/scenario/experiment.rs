//! A fully resolved experiment.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contract::{
    Durability, Executor, Fill, History, MessageType, Placement, PublishMode, Reliability, Topology,
};

/// The extent of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grid {
    /// A short grid, which takes ten minutes.
    Quick,
    /// Every experiment, in a shortened form.
    Standard,
    /// The documents' own conditions, in parts of at most two hours.
    Papers,
    /// Every combination of the documents' parameters, which takes days.
    Full,
    /// The experiments that check goals, with the reference systems.
    Goals,
}

impl Grid {
    /// All grids, the shortest first.
    pub const ALL: &[Self] = &[Self::Quick, Self::Standard, Self::Papers, Self::Full, Self::Goals];

    /// The name of the grid.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Papers => "papers",
            Self::Full => "full",
            Self::Goals => "goals",
        }
    }
}

/// The work of a cell's programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    /// A publisher that publishes at a rate, and subscriptions.
    Latency,
    /// A publisher that publishes without pause, and subscriptions.
    Goodput,
    /// A publisher, relays, and a subscription.
    Chain,
    /// Nodes without entities.
    Nodes,
    /// One idle node.
    Idle,
    /// An executor with one entity that is always ready, among others that are never ready.
    Executor,
    /// A graph of many nodes, by name.
    Graph,
    /// A client that calls a server at a rate.
    Call,
    /// The processes of a robot, which find each other, and a process that joins them.
    Discovery,
}

/// When the processes of a robot are started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartOrder {
    /// All at once.
    #[default]
    Together,
    /// Each when the entities of the one before it exist.
    InTurn,
}

impl StartOrder {
    /// The word for the value.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::InTurn => "in_turn",
        }
    }
}

/// A QoS by name: `[qos.reliable]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qos {
    /// Whether lost messages are sent again.
    #[serde(default = "reliable")]
    pub reliability: Reliability,
    /// Which earlier messages a late subscription receives.
    #[serde(default = "volatile")]
    pub durability: Durability,
    /// Which messages are kept for delivery.
    #[serde(default = "keep_last")]
    pub history: History,
    /// The number of messages that are kept, unless all messages are kept.
    #[serde(default = "depth")]
    pub depth: u32,
    /// The time after which a message is late; 0 means never.
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

/// A link, the same in both directions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkConditions {
    /// The rate; `None` means as fast as possible.
    pub rate_mbit: Option<f64>,
    /// The share of lost packets.
    pub loss_percent: f64,
    /// The delay in one direction.
    pub delay_micros: u64,
    /// The random deviation of the delay.
    pub jitter_micros: u64,
    /// The mean length of a burst of losses; `None` means independent losses.
    pub burst_packets: Option<f64>,
    /// The share of packets that are held back, so that others overtake them.
    pub reorder_percent: f64,
    /// The limit on packets that wait for the link.
    pub queue_packets: Option<u32>,
    /// The limit on bytes that wait for the link.
    pub queue_bytes: Option<u64>,
    /// The largest packet.
    pub mtu: Option<u32>,
}

/// Environment variables.
pub type Variables = BTreeMap<String, String>;

/// How each cell of a scenario is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Procedure {
    /// Whether programs get SCHED_FIFO and locked memory, if the machine permits it.
    pub realtime: bool,
    /// Whether processors are kept from halting while idle.
    #[serde(default)]
    pub awake: bool,
    /// Whether talkers and listeners run on separate processors.
    #[serde(default)]
    pub apart: bool,
    /// The number of messages to measure; 0 means that `seconds` decides.
    pub count: u64,
    /// The time to publish or to watch.
    pub seconds: f64,
    /// The number of messages before the measured messages (the warm-up).
    pub warm_up: u64,
    /// Whether the publisher waits for its subscriptions.
    pub matched: bool,
    /// Whether all subscriptions are in one process, if they are not in the publisher's process.
    #[serde(default)]
    pub one_listener: bool,
    /// Whether each message is recorded, instead of only counts.
    pub samples: bool,
    /// Whether memory is measured, which briefly stops each process.
    pub memory: bool,
    /// The time to wait for messages that are still on their way after the last publication or, for
    /// idle nodes, the time to wait after the start before watching them.
    pub settle_seconds: f64,
    /// The limit on the time that a program takes beyond its nominal time.
    pub timeout_seconds: f64,
    /// The seed of random numbers.
    pub seed: u64,
}

/// A scenario for one grid, fully resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The part of a scenario that the run records.
    pub about: crate::record::Scenario,
    /// The part of its grid; 0 if the grid has no parts.
    pub part: u32,
    /// The work of the programs.
    pub workload: Workload,
    /// The systems, such as `rcl` or `feros:direct`.
    pub systems: Vec<String>,
    /// The placements of publisher and subscriptions.
    pub placements: Vec<Placement>,
    /// The payload sizes.
    pub sizes_bytes: Vec<u64>,
    /// The message types.
    pub types: Vec<MessageType>,
    /// The publishing rates in messages per second; 0 means without pause.
    pub rates_hz: Vec<f64>,
    /// The numbers of subscriptions of one publisher.
    pub subscriptions: Vec<u32>,
    /// The numbers of nodes in a chain, of nodes without entities, or of processes of a robot.
    pub nodes: Vec<u32>,
    /// The topics that join the processes of a robot.
    pub topologies: Vec<Topology>,
    /// The orders in which the processes of a robot are started.
    pub starts: Vec<StartOrder>,
    /// The numbers of entities of an executor that are never ready.
    pub idle: Vec<u32>,
    /// The graphs by name.
    pub graphs: Vec<String>,
    /// The QoS by name.
    pub qos: Vec<(String, Qos)>,
    /// The threads that send.
    pub publish: Vec<PublishMode>,
    /// The parts of the payload that are written for each message.
    pub fill: Vec<Fill>,
    /// The executors that run callbacks.
    pub executors: Vec<Executor>,
    /// The links by name, for remote placement.
    pub links: Vec<(String, LinkConditions)>,
    /// The additional environment variables, by name.
    pub environments: Vec<(String, Variables)>,
    /// The load that other programs put on each processor.
    pub cpu_load_percent: Vec<f64>,
    /// The busy work in each callback.
    pub work_micros: Vec<u64>,
    /// How each cell of the scenario is measured.
    pub procedure: Procedure,
    /// The number of measurements of each cell.
    pub repetitions: u32,
}
