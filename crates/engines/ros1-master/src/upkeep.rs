//! The upkeep thread. It queries the master for nodes of other processes, registers the nodes of
//! this process that the master does not know, and finds out types.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use feros_engine::OpenError;
use feros_interface::Namespace;
use feros_ros1::{Lines, Master, SystemState, parse_type};

use crate::bell::Bell;
use crate::followed_parameters::Takers;
use crate::name::ENGINE_NAME;
use crate::others::Others;
use crate::participant::{KnownNode, Participant};

/// The interval between queries. The queries are needed because the master does not report changes
/// of other nodes.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The shortest time between two queries.
const LOOK_APART: Duration = Duration::from_millis(50);
/// The limit on the number of services whose types the thread finds out in one pass, and the time
/// after which it starts no further attempts. Both exist because each type needs a connection to
/// the server.
const MOST_PROBES: usize = 16;
const PROBES_WITHIN: Duration = Duration::from_secs(5);

/// Creates the participant of this process for a master, and starts its upkeep thread, which ends
/// with the participant.
///
/// # Errors
/// Returns an error if the address is malformed or the operating system cannot start a thread.
pub(crate) fn participant(uri: &str) -> Result<Arc<Participant>, OpenError> {
    let participant = Participant::new(uri)?;
    let (bell, looked_for) = (participant.bell.clone(), Arc::downgrade(&participant));
    let thread = std::thread::Builder::new().name("feros-ros1-look".into());
    thread.spawn(move || keep(&bell, &looked_for)).map_err(|error| OpenError::Threads {
        engine: ENGINE_NAME,
        needed: 4,
        cause: error.to_string(),
    })?;
    Ok(participant)
}

fn keep(bell: &Bell, participant: &Weak<Participant>) {
    let mut looking = Looking::default();
    loop {
        let Some(participant) = participant.upgrade() else { return };
        let nodes = participant.nodes();
        if !nodes.is_empty() {
            looking.look(&participant, &nodes);
        }
        drop((nodes, participant));
        let began = Instant::now();
        bell.wait(LOOK_EVERY);
        std::thread::sleep(LOOK_APART.saturating_sub(began.elapsed()));
    }
}

/// The state that the thread keeps from one pass to the next.
#[derive(Default)]
struct Looking {
    /// Whether the master answered the last query, or `None` before the first query.
    master_is_there: Option<bool>,
    /// Limits the warnings about a master that leaves and returns again and again.
    lines: Lines,
    /// The nodes that the master knew at the last query.
    registered: BTreeSet<String>,
    /// The nodes that the master has ended, if this has been logged.
    ended: BTreeSet<String>,
    /// The services whose servers did not state a type.
    silent: BTreeSet<String>,
    /// The thread that passes values that other nodes have set to the nodes of this process.
    takers: Takers,
}

impl Looking {
    fn look(&mut self, participant: &Participant, known: &[KnownNode]) {
        let nodes: Vec<_> = known.iter().map(|(node, _)| node.clone()).collect();
        self.report_ended_nodes(&nodes);
        let state = match participant.master.system_state() {
            Ok(state) => state,
            Err(error) => {
                if self.master_is_there != Some(false) {
                    self.lines.warn(format_args!("{error}; nodes wait for the master"));
                }
                self.master_is_there = Some(false);
                return;
            }
        };
        let is_back = self.master_is_there == Some(false);
        if is_back {
            let address = participant.master.address();
            self.lines.warn(format_args!("the ROS 1 master at {address} answers now"));
        }
        self.master_is_there = Some(true);
        let registered: BTreeSet<String> = state.nodes().map(str::to_owned).collect();
        for (node, parameters) in known.iter().filter(|(node, _)| node.told_to_end().is_none()) {
            // If the master no longer knows the node, it was restarted between two queries.
            let is_forgotten =
                self.registered.contains(node.name()) && !registered.contains(node.name());
            if is_back || is_forgotten {
                parameters.write_again();
            }
            if let Err(error) = node.register_missing(&state, &|| false) {
                tracing::debug!("{}: {error}", node.name());
            }
            parameters.write(node.name(), node.master());
            parameters.follow(node, &participant.bell, &mut self.takers);
        }
        self.registered = registered;
        self.learn(participant, &nodes, &state);
    }

    /// Logs which nodes the master has ended. It keeps one node per name, the newest.
    fn report_ended_nodes(&mut self, nodes: &[feros_ros1::Node]) {
        for node in nodes {
            let Some(reason) = node.told_to_end() else { continue };
            if self.ended.insert(node.name().to_owned()) {
                tracing::error!(
                    "the ROS 1 master has ended {}: {reason}. Give each node a name of its own (__node:=NAME)",
                    node.name()
                );
            }
        }
    }

    fn learn(
        &mut self,
        participant: &Participant,
        nodes: &[feros_ros1::Node],
        state: &SystemState,
    ) {
        let own: BTreeSet<String> = nodes.iter().map(|node| node.name().to_owned()).collect();
        let before = participant.others();
        let mut others = Others::new(state, &own);
        let topics: BTreeSet<String> = others.topics().cloned().collect();
        let unknown = topics.iter().any(|topic| before.type_of(topic).is_none());
        let known =
            if unknown { participant.master.topic_types().unwrap_or_default() } else { Vec::new() };
        let known: BTreeMap<String, String> =
            known.into_iter().filter(|(_, ty)| ty != "*").collect();
        for topic in &topics {
            let said = known.get(topic);
            let ty = before.type_of(topic).cloned();
            let ty = ty.or_else(|| said.map(|ty| ros2_name(participant, Namespace::Msg, ty)));
            if let Some(ty) = ty {
                others.set_type(topic, ty);
            }
        }
        self.learn_services(participant, &before, &mut others);
        participant.update_others(others);
    }

    fn learn_services(&mut self, participant: &Participant, before: &Others, others: &mut Others) {
        let services: BTreeSet<String> = others.services().cloned().collect();
        self.silent.retain(|service| services.contains(service));
        let (mut probes, began) = (0, Instant::now());
        for service in services {
            if let Some(ty) = before.type_of(&service) {
                others.set_type(&service, ty.clone());
            } else if probes < MOST_PROBES && !self.silent.contains(&service) {
                if began.elapsed() >= PROBES_WITHIN {
                    probes = MOST_PROBES;
                    continue;
                }
                probes += 1;
                match service_type(&participant.master, &service) {
                    Some(ty) => {
                        others.set_type(&service, ros2_name(participant, Namespace::Srv, &ty))
                    }
                    None => drop(self.silent.insert(service)),
                }
            }
        }
        if probes == MOST_PROBES {
            participant.bell.ring();
        }
    }
}

fn service_type(master: &Master, service: &str) -> Option<String> {
    let info = feros_ros1::probe(master, "/feros", service).ok()?;
    (!info.type_name.is_empty() && info.type_name != "*").then_some(info.type_name)
}

/// Returns the ROS 2 type for a ROS 1 type. If no rule leads to a known type, returns the type with
/// the same name.
fn ros2_name(participant: &Participant, namespace: Namespace, ros1: &str) -> String {
    let Ok(name) = parse_type(ros1) else { return ros1.to_owned() };
    let name = feros_interface::TypeName::new(name.package, namespace, name.name);
    let types = participant.types();
    let candidates = types.rules.of_ros1(&name);
    let known = candidates.into_iter().find(|candidate| types.set.contains(candidate));
    known.unwrap_or(name).to_string()
}
