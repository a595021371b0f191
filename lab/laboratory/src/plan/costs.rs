//! The time that starting and ending a system's programs takes, which is either measured on this
//! machine or guessed. A guess is reported as a guess.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cell::Cell;
use super::schedule::Plan;
use crate::contract::Placement;
use crate::scenario::Workload;

/// The learned overheads of systems on this machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// The seconds that a cell takes beyond its programs' nominal time, by system and kind of cell.
    overhead_seconds: BTreeMap<String, f64>,
}

/// The limit on the bytes of the file.
const MOST_BYTES: u64 = 16 << 20;

/// The weight of the last measurement relative to the earlier measurements.
const WEIGHT_OF_THE_LAST: f64 = 0.3;

impl Costs {
    /// Reads the overheads learned in earlier runs. If the file is missing or invalid, no overhead
    /// is known.
    pub fn read(cache: &Path) -> Self {
        let text = feros_files::read_to_string(&cache.join("costs.json"), MOST_BYTES);
        serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default()
    }

    /// Stores the overheads for the next run. If the file cannot be written, estimates only get
    /// worse.
    pub fn write(&self, cache: &Path) {
        if let Ok(text) = serde_json::to_string_pretty(self) {
            let _ = feros_files::write(&cache.join("costs.json"), text);
        }
    }

    /// Learns from a cell that has been measured.
    pub fn learn(&mut self, cell: &Cell, took: Duration) {
        let overhead = (took.as_secs_f64() - cell.nominal_seconds()).max(0.0);
        self.overhead_seconds
            .entry(key(cell))
            .and_modify(|known| *known += WEIGHT_OF_THE_LAST * (overhead - *known))
            .or_insert(overhead);
    }

    /// The estimated time of a cell, in seconds.
    pub fn seconds(&self, cell: &Cell) -> f64 {
        let overhead =
            self.overhead_seconds.get(&key(cell)).copied().unwrap_or_else(|| guess(cell));
        cell.nominal_seconds() + overhead
    }

    /// The estimated time of the cells of a plan that are not skipped, and the number of these
    /// cells whose overhead has never been measured on this machine.
    pub fn of(&self, plan: &Plan, measured: impl Fn(&Cell) -> bool) -> (Duration, usize) {
        let cells = plan.steps.iter().filter(|step| step.skip.is_none() && measured(&step.cell));
        let (mut seconds, mut guessed) = (0.0, 0);
        for step in cells {
            seconds += self.seconds(&step.cell);
            guessed += usize::from(!self.overhead_seconds.contains_key(&key(&step.cell)));
        }
        (Duration::from_secs_f64(seconds), guessed)
    }
}

fn key(cell: &Cell) -> String {
    let workload = serde_json::to_value(cell.workload).unwrap_or_default();
    let mut key =
        format!("{} {} {}", cell.system, workload.as_str().unwrap_or_default(), cell.placement);
    // Overheads grow with the number of processes, so cells with other numbers of processes are not
    // comparable.
    let processes = processes(cell);
    if processes > 2 {
        key += &format!(" {processes}");
    }
    // Lost messages are sent again, and the cell waits until they have arrived.
    if cell.link.loss_percent > 0.0 {
        key += " lossy";
    }
    if cell.workload == Workload::Discovery {
        key += &format!(" {} {}", cell.topology, cell.start.word());
    }
    if !cell.graph.is_empty() {
        key += &format!(" {}", cell.graph);
    }
    key
}

/// The number of programs that a cell starts.
fn processes(cell: &Cell) -> u32 {
    match (cell.workload, cell.placement) {
        (Workload::Idle | Workload::Graph | Workload::Executor, _) => 1,
        (_, Placement::Composed | Placement::Intra) => 1,
        (Workload::Chain | Workload::Nodes | Workload::Discovery, _) => cell.nodes,
        (Workload::Call, _) => 2,
        (Workload::Latency | Workload::Goodput, _) => 1 + cell.subscriptions,
    }
}

fn guess(cell: &Cell) -> f64 {
    let link = if cell.placement == Placement::Remote { 1.0 } else { 0.0 };
    let graph = if cell.workload == Workload::Graph { 3.0 } else { 0.0 };
    let loss = if cell.link.loss_percent > 0.0 { 2.0 } else { 0.0 };
    0.8 + 0.25 * f64::from(processes(cell)) + link + loss + graph
}
