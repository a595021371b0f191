//! The conditions of an experiment: those that its document states, and beside them the conditions
//! of the scenario. A number of a document means little without its conditions.

use serde::Deserialize;

use super::experiment::{LinkConditions, Qos, Scenario, Workload};
use crate::contract::{Durability, Executor, Fill, History, Placement, PublishMode, Reliability};
use crate::record::Condition;

/// The conditions that a document states: `[conditions]`. An empty text means that it states none.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Stated {
    systems: String,
    machine: String,
    placement: String,
    nodes: String,
    executor: String,
    message: String,
    rate: String,
    count: String,
    qos: String,
    publish: String,
    realtime: String,
    link: String,
    other: String,
}

impl Stated {
    /// The conditions of the document beside those of the scenario; nothing if the document states
    /// no condition.
    pub(super) fn beside(&self, scenario: &Scenario) -> Vec<Condition> {
        let rows = [
            ("systems", &self.systems, scenario.systems.join(", ")),
            ("machine", &self.machine, String::new()),
            ("placement", &self.placement, placements(scenario)),
            ("nodes", &self.nodes, nodes(scenario)),
            ("executor and callback", &self.executor, executors(scenario)),
            ("message", &self.message, messages(scenario)),
            ("rate", &self.rate, rates(scenario)),
            ("count", &self.count, counts(scenario)),
            ("QoS", &self.qos, qos(scenario)),
            ("publishing", &self.publish, publishing(scenario)),
            ("real time", &self.realtime, realtime(scenario)),
            ("link", &self.link, links(scenario)),
            ("other", &self.other, others(scenario)),
        ];
        if rows.iter().all(|(_, document, _)| document.is_empty()) {
            return Vec::new();
        }
        rows.into_iter()
            .filter(|(_, document, here)| !document.is_empty() || !here.is_empty())
            .map(|(name, document, here)| Condition {
                name: name.to_owned(),
                document: document.trim().to_owned(),
                here,
            })
            .collect()
    }
}

fn list<T>(values: &[T], shown: impl FnMut(&T) -> String) -> String {
    values.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// Whether the cells of a scenario send messages.
fn has_messages(scenario: &Scenario) -> bool {
    use Workload::{Call, Chain, Goodput, Latency};
    matches!(scenario.workload, Latency | Goodput | Chain | Call)
}

fn placements(scenario: &Scenario) -> String {
    list(&scenario.placements, |placement| {
        let words = match placement {
            Placement::Remote => "two hosts (network namespaces of one machine)",
            Placement::Local => "processes of one host",
            Placement::Composed => "one process",
            Placement::Intra => "one process, by pointer",
        };
        words.to_owned()
    })
}

fn nodes(scenario: &Scenario) -> String {
    match scenario.workload {
        Workload::Chain => format!("chains of {}", list(&scenario.nodes, u32::to_string)),
        Workload::Nodes => list(&scenario.nodes, u32::to_string),
        Workload::Discovery => format!(
            "{} processes ({}), started {}",
            list(&scenario.nodes, u32::to_string),
            list(&scenario.topologies, ToString::to_string),
            list(&scenario.starts, |start| start.word().to_owned())
        ),
        Workload::Graph => list(&scenario.graphs, String::clone),
        Workload::Latency | Workload::Goodput if scenario.subscriptions != [1] => {
            format!("{} subscriptions", list(&scenario.subscriptions, u32::to_string))
        }
        _ => String::new(),
    }
}

fn executors(scenario: &Scenario) -> String {
    let mut words = Vec::new();
    if scenario.executors != [Executor::Default] {
        words.push(list(&scenario.executors, Executor::to_string));
    }
    if scenario.work_micros != [0] {
        let micros = list(&scenario.work_micros, u64::to_string);
        words.push(format!("{micros} µs of work in each callback"));
    }
    words.join("; ")
}

fn messages(scenario: &Scenario) -> String {
    if !has_messages(scenario) {
        return String::new();
    }
    let types = list(&scenario.types, ToString::to_string);
    let fill =
        if scenario.fill.contains(&Fill::Each) { ", written anew for each message" } else { "" };
    format!("{types} of {}{fill}", list(&scenario.sizes_bytes, |size| bytes(*size)))
}

/// A size as a scenario file has it.
fn bytes(size: u64) -> String {
    const KB: u64 = 1 << 10;
    const MB: u64 = 1 << 20;
    if size >= MB && size.is_multiple_of(MB) {
        format!("{} MB", size / MB)
    } else if size >= KB && size.is_multiple_of(KB) {
        format!("{} KB", size / KB)
    } else {
        format!("{size} B")
    }
}

fn rates(scenario: &Scenario) -> String {
    if !has_messages(scenario) {
        return String::new();
    }
    list(&scenario.rates_hz, |rate| match rate {
        0.0 => "without pause".to_owned(),
        rate => format!("{rate} Hz"),
    })
}

fn counts(scenario: &Scenario) -> String {
    let procedure = &scenario.procedure;
    let mut words = match (has_messages(scenario), procedure.count) {
        (false, _) => {
            format!("{} s, after {} s to settle", procedure.seconds, procedure.settle_seconds)
        }
        (true, 0) => {
            format!("{} s, after {} messages of warm-up", procedure.seconds, procedure.warm_up)
        }
        (true, count) => format!("{count} messages, after {} of warm-up", procedure.warm_up),
    };
    match scenario.repetitions {
        1 => words.push_str(", once"),
        repetitions => words.push_str(&format!(", {repetitions} times")),
    }
    words
}

fn qos(scenario: &Scenario) -> String {
    if !has_messages(scenario) {
        return String::new();
    }
    let policies: Vec<String> = scenario.qos.iter().map(|(name, qos)| policy(name, qos)).collect();
    policies.join("; ")
}

fn policy(name: &str, qos: &Qos) -> String {
    let reliability = match qos.reliability {
        Reliability::Reliable => "reliable",
        Reliability::BestEffort => "best effort",
    };
    let durability = match qos.durability {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient local",
    };
    let history = match qos.history {
        History::KeepAll => "keep all".to_owned(),
        History::KeepLast => format!("keep last {}", qos.depth),
    };
    let deadline = match qos.deadline_ms {
        0 => String::new(),
        millis => format!(", deadline {millis} ms"),
    };
    format!("{name} ({reliability}, {durability}, {history}{deadline})")
}

fn publishing(scenario: &Scenario) -> String {
    if !has_messages(scenario) || scenario.publish == [PublishMode::Default] {
        return String::new();
    }
    list(&scenario.publish, PublishMode::to_string)
}

fn realtime(scenario: &Scenario) -> String {
    let words = if scenario.procedure.realtime {
        "SCHED_FIFO and locked memory, where the machine allows them"
    } else {
        "no"
    };
    words.to_owned()
}

fn links(scenario: &Scenario) -> String {
    if !scenario.placements.contains(&Placement::Remote) || !has_messages(scenario) {
        return String::new();
    }
    list(&scenario.links, |(name, link)| format!("{name}: {}", link_words(link)))
}

fn link_words(link: &LinkConditions) -> String {
    let rate = link.rate_mbit.map_or("no limit".to_owned(), |rate| format!("{rate} Mbit/s"));
    match link.loss_percent {
        0.0 => rate,
        loss => format!("{rate} with {loss} % loss"),
    }
}

fn others(scenario: &Scenario) -> String {
    let mut words = Vec::new();
    if !scenario.environments.is_empty() {
        words.push(list(&scenario.environments, |(name, _)| name.clone()));
    }
    if scenario.cpu_load_percent != [0.0] {
        let load = list(&scenario.cpu_load_percent, f64::to_string);
        words.push(format!("{load} % load on each processor"));
    }
    if scenario.procedure.awake {
        words.push("processors are kept from halting".to_owned());
    }
    if has_messages(scenario) && !scenario.procedure.matched {
        words.push("the publisher does not wait for its subscriptions".to_owned());
    }
    words.join("; ")
}
