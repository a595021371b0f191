//! The programs of a cell: the role and host of each, and the contract's arguments for them.

use std::time::Duration;

use super::network::Host;
use crate::contract::{Placement, Role};
use crate::plan::Cell;
use crate::scenario::{StartOrder, Workload};

/// A program of a cell before it is started.
pub(super) struct Participant {
    pub(super) name: String,
    role: Role,
    pub(super) host: Host,
    /// The index among subscriptions or relays.
    pub(super) index: u32,
    topic: u32,
    pub(super) after_others: bool,
}

/// The time that a newcomer may take to its first message.
pub(super) const NEWCOMER_WITHIN: Duration = Duration::from_secs(30);
/// The time that a process of a robot may take to start. A process that takes longer is stuck.
const STARTED_WITHIN: Duration = Duration::from_secs(1);

impl Participant {
    fn new(cell: &Cell, role: Role, host: Host, index: u32, topic: u32) -> Self {
        let name = match role {
            Role::Listener if cell.subscriptions > 1 => format!("listener {index}"),
            Role::Relay => format!("relay {index}"),
            Role::Nodes if cell.nodes > 1 => format!("nodes {index}"),
            Role::Member => format!("member {index}"),
            _ => role.word().to_owned(),
        };
        Self { name, role, host, index, topic, after_others: false }
    }

    /// A process that joins the members of a robot, on the other host than member 0 if there are
    /// two.
    pub(super) fn newcomer(cell: &Cell) -> Self {
        let host = match cell.placement {
            Placement::Remote => Host::Listener,
            _ => Host::Talker,
        };
        Self::new(cell, Role::Newcomer, host, 0, 0)
    }
}

/// The programs of a cell, in the order in which they are started.
pub(super) fn participants(cell: &Cell) -> Vec<Participant> {
    let participant = |role: Role, host: Host, index: u32, topic: u32| {
        Participant::new(cell, role, host, index, topic)
    };
    let one_process = matches!(cell.placement, Placement::Composed | Placement::Intra);
    match cell.workload {
        Workload::Latency | Workload::Goodput if one_process => {
            vec![participant(Role::Pair, Host::Talker, 0, 0)]
        }
        Workload::Latency | Workload::Goodput => {
            let mut all: Vec<_> = match cell.procedure.one_listener {
                true => vec![participant(Role::Listeners, Host::Listener, 0, 0)],
                false => (0..cell.subscriptions)
                    .map(|index| participant(Role::Listener, Host::Listener, index, 0))
                    .collect(),
            };
            // If a publisher does not wait for its subscriptions, they are started first, so that
            // they already exist.
            all.push(Participant {
                after_others: !cell.procedure.matched,
                ..participant(Role::Talker, Host::Talker, 0, 0)
            });
            all
        }
        Workload::Chain if one_process => vec![participant(Role::Chain, Host::Talker, 0, 0)],
        Workload::Chain => {
            let relays = cell.nodes - 2;
            let listener = host_in_chain(cell.placement, cell.nodes - 1);
            let mut all = vec![participant(Role::Listener, listener, 0, relays)];
            all.extend((0..relays).map(|index| {
                participant(Role::Relay, host_in_chain(cell.placement, index + 1), index, index)
            }));
            // The publisher sees only the first relay, so the other relays must be ready earlier.
            all.push(Participant {
                after_others: true,
                ..participant(Role::Talker, Host::Talker, 0, 0)
            });
            all
        }
        Workload::Nodes if !one_process => {
            (0..cell.nodes).map(|index| participant(Role::Nodes, Host::Talker, index, 0)).collect()
        }
        Workload::Nodes | Workload::Idle => vec![participant(Role::Nodes, Host::Talker, 0, 0)],
        Workload::Executor => vec![participant(Role::Executor, Host::Talker, 0, 0)],
        Workload::Graph => vec![participant(Role::Graph, Host::Talker, 0, 0)],
        Workload::Call if one_process => vec![participant(Role::Calls, Host::Talker, 0, 0)],
        Workload::Call => vec![
            participant(Role::Server, Host::Listener, 0, 0),
            participant(Role::Client, Host::Talker, 0, 0),
        ],
        Workload::Discovery => (0..cell.nodes)
            .map(|index| Participant {
                after_others: cell.start == StartOrder::InTurn && index > 0,
                ..participant(Role::Member, host_of_member(cell, index), index, 0)
            })
            .collect(),
    }
}

/// The host of a process of a robot: the first half of them is on the first of two hosts.
fn host_of_member(cell: &Cell, index: u32) -> Host {
    match cell.placement {
        Placement::Remote if index >= cell.nodes.div_ceil(2) => Host::Listener,
        _ => Host::Talker,
    }
}

/// The host of a node of a chain; the talker has position 0. Between two hosts, each hop crosses
/// the link: if two neighbours shared a host, the system could take a shorter transport than the
/// one under test.
fn host_in_chain(placement: Placement, position: u32) -> Host {
    match placement {
        Placement::Remote if position.is_multiple_of(2) => Host::Talker,
        _ => Host::Listener,
    }
}

/// The time limit of a program.
pub(super) fn program_timeout(cell: &Cell) -> Duration {
    let seconds = cell.nominal_seconds() + cell.procedure.timeout_seconds;
    let beyond = match cell.workload {
        // The first process runs while the others start, and while all of them end.
        Workload::Discovery => starting_limit(cell) + NEWCOMER_WITHIN,
        _ => Duration::ZERO,
    };
    Duration::from_secs_f64(seconds.ceil()) + beyond
}

/// The time limit for the start of all processes of a robot.
pub(super) fn starting_limit(cell: &Cell) -> Duration {
    STARTED_WITHIN * cell.nodes
}

impl Participant {
    /// The contract's arguments.
    pub(super) fn arguments(&self, cell: &Cell) -> Vec<String> {
        let topic = |number: u32| format!("lab{number}");
        let one_process = matches!(cell.placement, Placement::Composed | Placement::Intra);
        let mut all: Vec<(&str, String)> = vec![
            ("role", self.role.to_string()),
            ("placement", cell.placement.to_string()),
            ("topic", topic(self.topic)),
            ("type", cell.message_type.to_string()),
            ("size", cell.size_bytes.to_string()),
            ("rate", cell.rate_hz.to_string()),
            ("count", cell.procedure.count.to_string()),
            (
                "seconds",
                if cell.procedure.count == 0 {
                    cell.procedure.seconds.to_string()
                } else {
                    "0".into()
                },
            ),
            ("warm-up", cell.procedure.warm_up.to_string()),
            ("reliability", cell.qos.reliability.to_string()),
            ("durability", cell.qos.durability.to_string()),
            ("history", cell.qos.history.to_string()),
            ("depth", cell.qos.depth.to_string()),
            ("deadline-ms", cell.qos.deadline_ms.to_string()),
            ("publish", cell.publish.to_string()),
            ("timeout", program_timeout(cell).as_secs().to_string()),
            ("samples", if cell.procedure.samples { "all" } else { "none" }.into()),
            ("fill", cell.fill.to_string()),
            ("work-micros", cell.work_micros.to_string()),
            ("executor", cell.executor.to_string()),
        ];
        match self.role {
            Role::Talker => {
                let subscriptions =
                    if cell.workload == Workload::Chain { 1 } else { cell.subscriptions };
                all.push((
                    "matched",
                    if cell.procedure.matched { subscriptions } else { 0 }.to_string(),
                ));
            }
            Role::Listener => all.push(("index", self.index.to_string())),
            Role::Relay => {
                all.push(("to", topic(self.topic + 1)));
                all.push(("index", self.index.to_string()));
            }
            Role::Pair | Role::Listeners => {
                all.push(("subscriptions", cell.subscriptions.to_string()))
            }
            Role::Chain => all.push(("nodes", cell.nodes.to_string())),
            Role::Nodes => {
                let alone = !one_process || cell.workload == Workload::Idle;
                all.push(("nodes", if alone { 1 } else { cell.nodes }.to_string()));
            }
            Role::Executor => {
                all.push(("idle", cell.idle.to_string()));
            }
            Role::Graph => all.push(("graph", cell.graph.clone())),
            Role::Member => {
                all.push(("nodes", cell.nodes.to_string()));
                all.push(("index", self.index.to_string()));
                all.push(("topology", cell.topology.to_string()));
            }
            Role::Server | Role::Client | Role::Calls | Role::Newcomer => {}
        }
        all.into_iter().flat_map(|(name, value)| [format!("--{name}"), value]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hop_of_a_chain_between_two_hosts_crosses_the_link() {
        assert_eq!(host_in_chain(Placement::Remote, 0), Host::Talker);
        for position in 0..23 {
            let hosts = [position, position + 1].map(|at| host_in_chain(Placement::Remote, at));
            assert_ne!(hosts[0], hosts[1], "{position}");
        }
        // On one host, all nodes but the talker belong to the listener's processors.
        for position in 1..23 {
            assert_eq!(host_in_chain(Placement::Local, position), Host::Listener, "{position}");
        }
    }
}
