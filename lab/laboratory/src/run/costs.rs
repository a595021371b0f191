//! The cost of a cell: of each process, of all processes together, and of the link.

use std::collections::BTreeMap;

use feros_link::{Counters, DirectionCounters};

use super::program::Program;
use crate::plan::Cell;
use crate::record::Process;
use crate::scenario::Workload;

/// The cost of each process, and of all processes together. The latter are sums, except for code,
/// where only the process that has mapped the most counts.
pub(super) fn of_processes(
    cell: &Cell,
    programs: Vec<Program>,
    servers: Vec<Program>,
    values: &mut BTreeMap<String, f64>,
) -> Vec<Process> {
    let mut processes = Vec::new();
    let of_servers = servers.into_iter().map(|server| (server, true));
    for (program, is_server) in
        programs.into_iter().map(|program| (program, false)).chain(of_servers)
    {
        let name = program.name.clone();
        let is_watched = cell.workload == Workload::Idle;
        let threads = if is_watched { program.thread_activity() } else { Vec::new() };
        let own = program.into_usage();
        for (key, value) in &own {
            if key.starts_with("cpu_percent_p") {
                continue;
            }
            let key = if is_server { format!("server_{key}") } else { key.clone() };
            let total = values.entry(key.clone()).or_insert(0.0);
            *total = if key.contains("code_") { total.max(*value) } else { *total + value };
        }
        processes.push(Process { role: name, values: own, threads });
    }
    if let [only] = processes.as_slice() {
        let quantiles = only.values.iter().filter(|(key, _)| key.starts_with("cpu_percent_p"));
        values.extend(quantiles.map(|(key, value)| (key.clone(), *value)));
    }
    processes
}

/// The memory and descriptors of one process of a robot, from those of all of its processes.
pub(super) fn of_one_member(cell: &Cell, values: &mut BTreeMap<String, f64>) {
    if cell.workload != Workload::Discovery {
        return;
    }
    for (name, all) in [("member_pss_bytes", "pss_bytes"), ("member_descriptors", "descriptors")] {
        if let Some(sum) = values.get(all).copied() {
            values.insert(name.to_owned(), sum / f64::from(cell.nodes.max(1)));
        }
    }
}

/// Whether each of these programs had locked its memory when the first message was sent.
pub(super) fn is_locked(programs: &[String], processes: &[Process]) -> bool {
    let locked = |name: &String| {
        let process = processes.iter().find(|process| process.role == *name);
        process.is_some_and(|process| {
            process.values.get("locked_bytes").is_some_and(|bytes| *bytes > 0.0)
        })
    };
    !programs.is_empty() && programs.iter().all(locked)
}

/// The traffic on the link since the first message, including the warm-up.
pub(super) fn wire(
    before: &Counters,
    after: &Counters,
    published: u64,
    values: &mut BTreeMap<String, f64>,
) {
    let of = |get: fn(&DirectionCounters) -> u64| {
        let sum = |counters: &Counters| get(&counters.forward) + get(&counters.backward);
        sum(after).saturating_sub(sum(before)) as f64
    };
    // Packets lost on the way were on the wire; packets that found the queue full were not.
    let bytes = of(|direction| direction.bytes + direction.dropped_loss_bytes);
    let packets = of(|direction| direction.packets + direction.dropped_loss);
    values.insert("wire_bytes".into(), bytes);
    values.insert("wire_packets".into(), packets);
    values.insert("wire_packets_dropped_by_loss".into(), of(|direction| direction.dropped_loss));
    values.insert("wire_packets_dropped_by_queue".into(), of(|direction| direction.dropped_queue));
    if published > 0 {
        values.insert("wire_bytes_per_message".into(), bytes / published as f64);
        values.insert("wire_packets_per_message".into(), packets / published as f64);
    }
}
