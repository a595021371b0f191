//! The cells in the order of the run, and the reasons why some of them are impossible.

use super::cell::{self, Cell};
use crate::contract::{Placement, Role};
use crate::machine::Machine;
use crate::peer::{Peers, SystemRef};
use crate::scenario::{Scenario, Workload};

/// Cells in the order in which they are measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The name of the grid or of the scenario.
    pub grid: String,
    /// The scenarios to measure.
    pub scenarios: Vec<Scenario>,
    /// Every cell in every repetition.
    pub steps: Vec<Step>,
}

/// A cell in a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The cell to measure.
    pub cell: Cell,
    /// The reason why the cell cannot be measured, if it cannot.
    pub skip: Option<String>,
}

impl Plan {
    /// Plans the cells of scenarios on this machine.
    ///
    /// # Panics
    /// Never: scenarios name only existing systems, since they were read with the same peers.
    pub fn new(grid: &str, scenarios: Vec<Scenario>, peers: &Peers, machine: &Machine) -> Self {
        let mut steps = Vec::new();
        let repetitions = scenarios.iter().map(|scenario| scenario.repetitions).max().unwrap_or(0);
        // Repetitions are the outermost loop, and systems take turns within a repetition, so that a
        // drift of the machine affects all systems alike.
        for repetition in 0..repetitions {
            for scenario in scenarios.iter().filter(|scenario| repetition < scenario.repetitions) {
                for group in cell::groups(scenario) {
                    for name in &scenario.systems {
                        let Ok(system) = peers.system(name) else { continue };
                        let cell = Cell { system: name.clone(), repetition, ..group.clone() };
                        let skip = refusal(&cell, system, machine);
                        if skip.is_some() && system.peer.manifest.is_floor {
                            continue;
                        }
                        // A skipped cell is listed once, not in each repetition.
                        if skip.is_none() || repetition == 0 {
                            steps.push(Step { cell, skip });
                        }
                    }
                }
            }
        }
        Self { grid: grid.to_owned(), scenarios, steps }
    }

    /// The systems in the plan, in order, without repetition.
    pub fn systems(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.scenarios.iter().flat_map(|scenario| &scenario.systems) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// The reason why no cell of the plan can be measured; `None` if a cell can be measured.
    pub fn nothing_possible(&self) -> Option<&str> {
        let reasons: Option<Vec<&str>> =
            self.steps.iter().map(|step| step.skip.as_deref()).collect();
        reasons.and_then(|reasons| reasons.first().copied())
    }
}

/// The limit on processes that can be participants of one ROS domain on one host.
const MOST_PROCESSES: u32 = 100;

/// The reason why a cell is impossible with this system on this machine, if it is impossible.
fn refusal(cell: &Cell, system: SystemRef<'_>, machine: &Machine) -> Option<String> {
    let manifest = &system.peer.manifest;
    let lacks = |what: &str, which: &str| Some(format!("{} has no {what} `{which}`", cell.system));
    if let Some(role) = cell.roles().into_iter().find(|role| !system.roles().contains(role)) {
        return lacks("role", role.word());
    }
    let counts_nodes =
        matches!(cell.workload, Workload::Nodes | Workload::Idle | Workload::Executor);
    if !counts_nodes && !system.placements().contains(&cell.placement) {
        return lacks("placement", cell.placement.word());
    }
    if cell.workload == Workload::Graph && !manifest.graphs.contains(&cell.graph) {
        return lacks("graph", &cell.graph);
    }
    if cell.has_messages() {
        if !manifest.types.contains(&cell.message_type) {
            return lacks("type", cell.message_type.word());
        }
        if !manifest.fill.contains(&cell.fill) {
            return lacks("fill", cell.fill.word());
        }
        let qos = &cell.qos;
        let abilities = system.qos();
        if !abilities.reliability.contains(&qos.reliability) {
            return lacks("reliability", qos.reliability.word());
        }
        if !abilities.durability.contains(&qos.durability) {
            return lacks("durability", qos.durability.word());
        }
        if !abilities.history.contains(&qos.history) {
            return lacks("history", qos.history.word());
        }
        if !abilities.publish.contains(&cell.publish) {
            return lacks("mode of publishing", cell.publish.word());
        }
    }
    let one_process = matches!(cell.placement, Placement::Composed | Placement::Intra);
    if cell.workload == Workload::Chain && !one_process && cell.nodes > MOST_PROCESSES {
        return Some(format!(
            "a chain of {} processes is not possible, because one domain has room for only \
             {MOST_PROCESSES} on a host: use the placements composed and intra",
            cell.nodes
        ));
    }
    match cell.placement {
        Placement::Remote => machine.no_remote.clone(),
        _ => None,
    }
}

impl Cell {
    /// The roles of the cell's programs.
    pub(crate) fn roles(&self) -> Vec<Role> {
        let one_process = matches!(self.placement, Placement::Composed | Placement::Intra);
        match self.workload {
            Workload::Latency | Workload::Goodput if one_process => vec![Role::Pair],
            Workload::Latency | Workload::Goodput if self.procedure.one_listener => {
                vec![Role::Talker, Role::Listeners]
            }
            Workload::Latency | Workload::Goodput => vec![Role::Talker, Role::Listener],
            Workload::Chain if one_process => vec![Role::Chain],
            Workload::Chain if self.nodes == 2 => vec![Role::Talker, Role::Listener],
            Workload::Chain => vec![Role::Talker, Role::Relay, Role::Listener],
            Workload::Nodes | Workload::Idle => vec![Role::Nodes],
            Workload::Executor => vec![Role::Executor],
            Workload::Graph => vec![Role::Graph],
            Workload::Call if one_process => vec![Role::Calls],
            Workload::Call => vec![Role::Server, Role::Client],
            Workload::Discovery => vec![Role::Member, Role::Newcomer],
        }
    }

    /// Whether the cell sends and receives messages.
    pub(crate) fn has_messages(&self) -> bool {
        use Workload::{Call, Chain, Goodput, Latency};
        matches!(self.workload, Latency | Goodput | Chain | Call)
    }
}
