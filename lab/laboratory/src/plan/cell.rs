//! One cell of a grid.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contract::{Executor, Fill, MessageType, Placement, PublishMode, Topology};
use crate::record::Value;
use crate::scenario::{LinkConditions, Procedure, Qos, Scenario, StartOrder, Variables, Workload};

/// One cell of a grid in one repetition, with all settings of its programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The name of the scenario.
    pub scenario: String,
    /// The system, such as `rcl:recommended`.
    pub system: String,
    /// The repetition, counted from 0.
    pub repetition: u32,
    /// The work of the programs.
    pub workload: Workload,
    /// The placement of the publisher and the subscriptions.
    pub placement: Placement,
    /// The message type.
    pub message_type: MessageType,
    /// The payload size.
    pub size_bytes: u64,
    /// The publishing rate in messages per second; 0 means without pause.
    pub rate_hz: f64,
    /// The number of subscriptions of one publisher.
    pub subscriptions: u32,
    /// The number of nodes in a chain, of nodes without entities, or of processes of a robot.
    pub nodes: u32,
    /// The topics that join the processes of a robot.
    #[serde(default = "ring")]
    pub topology: Topology,
    /// When the processes of a robot are started.
    #[serde(default)]
    pub start: StartOrder,
    /// The number of entities of an executor that are never ready.
    pub idle: u32,
    /// The graph's name; empty if there is no graph.
    pub graph: String,
    /// The name of the QoS.
    pub qos_name: String,
    /// The QoS.
    pub qos: Qos,
    /// The thread that sends.
    pub publish: PublishMode,
    /// The part of the payload that is written for each message.
    pub fill: Fill,
    /// The executor that runs callbacks.
    pub executor: Executor,
    /// The name of the link; empty if there is no link.
    pub link_name: String,
    /// The conditions of the link.
    pub link: LinkConditions,
    /// The name of the additional environment variables, if any.
    pub environment_name: String,
    /// The additional environment variables.
    pub environment: Variables,
    /// The load that other programs put on each processor.
    pub cpu_load_percent: f64,
    /// The busy work in each callback.
    pub work_micros: u64,
    /// How the cell is measured.
    #[serde(flatten)]
    pub procedure: Procedure,
}

fn ring() -> Topology {
    Topology::Ring
}

impl Cell {
    /// The dimensions that distinguish the cell, with their names in the record.
    pub fn dimensions(&self) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        let mut text = |name: &str, word: &str| {
            if !word.is_empty() {
                all.insert(name.to_owned(), Value::Text(word.to_owned()));
            }
        };
        text("system", &self.system);
        text("placement", self.placement.word());
        text("graph", &self.graph);
        text("environment", &self.environment_name);
        text("executor", self.executor.word());
        if self.has_messages() {
            text("type", self.message_type.word());
            text("qos", &self.qos_name);
            text("publish", self.publish.word());
            text("fill", self.fill.word());
        }
        if self.workload == Workload::Discovery {
            text("topology", self.topology.word());
            text("start", self.start.word());
        }
        let remote = self.placement == Placement::Remote;
        if remote {
            text("link", &self.link_name);
        }
        let mut number = |name: &str, value: f64| {
            all.insert(name.to_owned(), Value::Number(value));
        };
        if self.has_messages() {
            number("size_bytes", self.size_bytes as f64);
            number("rate_hz", self.rate_hz);
            number("work_micros", self.work_micros as f64);
            if self.has_subscriptions() {
                number("subscriptions", f64::from(self.subscriptions));
            }
        }
        if self.has_nodes() {
            number("nodes", f64::from(self.nodes));
        }
        if remote {
            number("loss_percent", self.link.loss_percent);
            if let Some(rate) = self.link.rate_mbit {
                number("link_mbit", rate);
            }
        }
        if self.workload == Workload::Executor {
            number("idle", f64::from(self.idle));
        }
        number("cpu_load_percent", self.cpu_load_percent);
        all
    }

    /// Whether the number of subscriptions can vary in this workload.
    fn has_subscriptions(&self) -> bool {
        !matches!(self.workload, Workload::Chain | Workload::Call)
    }

    /// Whether the number of nodes can vary in this workload.
    fn has_nodes(&self) -> bool {
        matches!(self.workload, Workload::Chain | Workload::Nodes | Workload::Discovery)
    }

    /// The time in seconds that the cell's programs take for their work, without their start and
    /// end. If they send without pause, the estimate assumes the speed of this machine's memory.
    pub fn nominal_seconds(&self) -> f64 {
        let is_degraded =
            self.placement == Placement::Remote && self.link != LinkConditions::default();
        let under_way =
            if is_degraded && self.has_messages() { self.procedure.settle_seconds } else { 0.0 };
        self.active_seconds() + under_way
    }

    /// The part of that time, in seconds, in which the programs send, compute or are watched. On a
    /// degraded link, messages that are still on their way after the last message was sent get
    /// extra time.
    pub(crate) fn active_seconds(&self) -> f64 {
        let Procedure { count, seconds, warm_up, settle_seconds, .. } = self.procedure;
        match self.workload {
            Workload::Executor => seconds,
            Workload::Nodes | Workload::Idle | Workload::Graph | Workload::Discovery => {
                settle_seconds + seconds
            }
            _ => {
                let each = if self.rate_hz > 0.0 {
                    1.0 / self.rate_hz
                } else {
                    20e-6 + self.size_bytes as f64 / 1e9
                };
                let messages = warm_up + count;
                messages as f64 * each + if count == 0 { seconds } else { 0.0 }
            }
        }
    }

    /// A label for people, such as `rcl local 256 B 10 Hz reliable`.
    pub fn label(&self) -> String {
        let mut words =
            vec![self.scenario.clone(), self.system.clone(), self.placement.word().to_owned()];
        if self.has_messages() {
            words.push(bytes(self.size_bytes));
        }
        if self.rate_hz > 0.0 && self.has_messages() {
            words.push(format!("{} Hz", self.rate_hz));
        }
        if self.nodes > 1 {
            words.push(format!("{} nodes", self.nodes));
        }
        if self.workload == Workload::Discovery {
            words.extend([self.topology.word(), self.start.word()].map(str::to_owned));
            words.push(self.environment_name.clone());
        }
        if self.workload == Workload::Executor {
            words.push(format!("{} idle entities", self.idle));
        }
        if self.fill == Fill::Each && self.has_messages() {
            words.push("filled".to_owned());
        }
        if self.subscriptions > 1 {
            words.push(format!("{} subscriptions", self.subscriptions));
        }
        if self.placement == Placement::Remote {
            words.push(self.link_name.clone());
        }
        words.push(self.graph.clone());
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}

/// Formats a size for people.
fn bytes(size: u64) -> String {
    match size {
        0..1024 => format!("{size} B"),
        1024..1_048_576 => format!("{} KB", size / 1024),
        _ => format!("{} MB", size / 1_048_576),
    }
}

/// The cells of a scenario, without systems. Each cell occurs once, since a dimension that has no
/// meaning for the workload has only one value.
pub(super) fn groups(scenario: &Scenario) -> Vec<Cell> {
    let mut cells = vec![base(scenario)];
    let messages = cells[0].has_messages();
    vary(&mut cells, &scenario.cpu_load_percent, |cell, load| cell.cpu_load_percent = *load);
    vary(&mut cells, &scenario.environments, |cell, (name, variables)| {
        cell.environment_name.clone_from(name);
        cell.environment.clone_from(variables);
    });
    vary(&mut cells, &scenario.placements, |cell, placement| cell.placement = *placement);
    vary_links(&mut cells, scenario);
    vary(&mut cells, &scenario.executors, |cell, executor| cell.executor = *executor);
    if scenario.workload == Workload::Graph {
        vary(&mut cells, &scenario.graphs, |cell, graph| cell.graph.clone_from(graph));
    }
    if scenario.workload == Workload::Executor {
        vary(&mut cells, &scenario.idle, |cell, idle| cell.idle = *idle);
    }
    if scenario.workload == Workload::Discovery {
        vary(&mut cells, &scenario.topologies, |cell, topology| cell.topology = *topology);
        vary(&mut cells, &scenario.starts, |cell, start| cell.start = *start);
    }
    if cells[0].has_nodes() {
        vary(&mut cells, &scenario.nodes, |cell, nodes| cell.nodes = *nodes);
    }
    if messages {
        vary(&mut cells, &scenario.qos, |cell, (name, qos)| {
            cell.qos_name.clone_from(name);
            cell.qos.clone_from(qos);
        });
        vary(&mut cells, &scenario.publish, |cell, publish| cell.publish = *publish);
        vary(&mut cells, &scenario.fill, |cell, fill| cell.fill = *fill);
        vary(&mut cells, &scenario.types, |cell, message_type| cell.message_type = *message_type);
        vary(&mut cells, &scenario.rates_hz, |cell, rate| cell.rate_hz = *rate);
        vary(&mut cells, &scenario.work_micros, |cell, work| cell.work_micros = *work);
        if cells[0].has_subscriptions() {
            vary(&mut cells, &scenario.subscriptions, |cell, count| cell.subscriptions = *count);
        }
        vary(&mut cells, &scenario.sizes_bytes, |cell, size| cell.size_bytes = *size);
    }
    cells
}

fn base(scenario: &Scenario) -> Cell {
    Cell {
        scenario: scenario.about.name.clone(),
        system: String::new(),
        repetition: 0,
        workload: scenario.workload,
        placement: Placement::Local,
        message_type: MessageType::Bytes,
        size_bytes: 0,
        rate_hz: 0.0,
        subscriptions: 1,
        nodes: 1,
        topology: ring(),
        start: StartOrder::Together,
        idle: 0,
        graph: String::new(),
        qos_name: String::new(),
        qos: Qos::default(),
        publish: PublishMode::Default,
        fill: Fill::None,
        executor: Executor::Default,
        link_name: String::new(),
        link: LinkConditions::default(),
        environment_name: String::new(),
        environment: Variables::new(),
        cpu_load_percent: 0.0,
        work_micros: 0,
        procedure: scenario.procedure.clone(),
    }
}

/// Combines each cell with each value; keeps the cells as they are if there are no values.
fn vary<T>(cells: &mut Vec<Cell>, values: &[T], set: impl Fn(&mut Cell, &T)) {
    if values.is_empty() {
        return;
    }
    let before = std::mem::take(cells);
    for cell in before {
        for value in values {
            let mut next = cell.clone();
            set(&mut next, value);
            cells.push(next);
        }
    }
}

/// Combines remote cells with each link; other cells have no link.
fn vary_links(cells: &mut Vec<Cell>, scenario: &Scenario) {
    let before = std::mem::take(cells);
    for cell in before {
        if cell.placement != Placement::Remote {
            cells.push(cell);
            continue;
        }
        for (name, link) in &scenario.links {
            cells.push(Cell { link_name: name.clone(), link: link.clone(), ..cell.clone() });
        }
    }
}
