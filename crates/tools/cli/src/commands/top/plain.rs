//! The figures without a screen: tables for pipes, and JSON for programs.

use std::fmt::Write as _;

use serde_json::json;

use super::figures::Watcher;
use super::numbers;

/// All figures as JSON: times in seconds, sizes in bytes, and `null` for unknown values.
pub(super) fn object(watcher: &Watcher<'_>) -> serde_json::Value {
    let topics = watcher.topics.iter().map(|topic| {
        let figures = watcher.figures(&topic.name);
        json!({
            "name": topic.name,
            "types": topic.types,
            "publishers": topic.publishers,
            "subscriptions": topic.subscriptions,
            "transports": {
                "intra_process": topic.matches.intra_process,
                "shared_memory": topic.matches.shared_memory,
                "network": topic.matches.network,
                "none": topic.matches.none,
            },
            "mismatches": topic.mismatches.iter().map(|found| found.problem()).collect::<Vec<_>>(),
            "rate_hz": figures.map(|figures| figures.rate_hz),
            "bytes_per_second": figures.map(|figures| figures.bytes_per_second),
            "age_s": figures.and_then(|figures| figures.age).map(|age| age.as_secs_f64()),
            "received": figures.map(|figures| figures.received),
            "lost": figures.map(|figures| figures.lost),
            "refused": watcher.refusal(&topic.name),
        })
    });
    let nodes = watcher.nodes.iter().map(|node| {
        let process = watcher.process(node);
        json!({
            "name": node.name.to_string(),
            "pid": node.pid,
            "publishers": node.publishers,
            "subscriptions": node.subscriptions,
            "services": node.services,
            "clients": node.clients,
            "cpu_percent": process.and_then(|process| process.cpu_percent),
            "resident_bytes": process.map(|process| process.resident_bytes),
            "threads": process.map(|process| process.threads),
        })
    });
    json!({ "topics": topics.collect::<Vec<_>>(), "nodes": nodes.collect::<Vec<_>>() })
}

/// Topics and nodes, one per line.
pub(super) fn text(watcher: &Watcher<'_>) -> String {
    // Writing to a String cannot fail.
    let mut text = String::new();
    let names = watcher.topics.iter().map(|topic| topic.name.chars().count());
    let width = names.max().unwrap_or(0).max(5);
    let _ = writeln!(
        text,
        "{:<width$} {:>9} {:>11} {:>8} {:>6}  MATCHES",
        "TOPIC", "RATE", "BANDWIDTH", "AGE", "LOST"
    );
    for topic in &watcher.topics {
        let [rate, bandwidth, age, lost] = cells(watcher, &topic.name);
        let mut matches = numbers::matches(topic.matches);
        if !topic.mismatches.is_empty() {
            let _ = write!(matches, " {} mismatched", topic.mismatches.len());
        }
        let name = &topic.name;
        let _ = writeln!(
            text,
            "{name:<width$} {rate:>9} {bandwidth:>11} {age:>8} {lost:>6}  {matches}"
        );
    }
    let names = watcher.nodes.iter().map(|node| node.name.to_string().chars().count());
    let width = names.max().unwrap_or(0).max(5);
    let _ = writeln!(
        text,
        "\n{:<width$} {:>8} {:>7} {:>10} {:>8}",
        "NODE", "PID", "CPU", "MEMORY", "THREADS"
    );
    for node in &watcher.nodes {
        let name = node.name.to_string();
        let [pid, cpu, memory, threads] = node_cells(watcher, node);
        let _ = writeln!(text, "{name:<width$} {pid:>8} {cpu:>7} {memory:>10} {threads:>8}");
    }
    text.push('\n');
    text
}

/// Returns the rate, bandwidth, age and losses of a topic. Each is `-` if the topic has no
/// subscription, or no message has arrived.
pub(super) fn cells(watcher: &Watcher<'_>, topic: &str) -> [String; 4] {
    let Some(figures) = watcher.figures(topic) else { return [(); 4].map(|()| "-".to_owned()) };
    [
        format!("{:.1} Hz", figures.rate_hz),
        format!("{}/s", numbers::bytes(figures.bytes_per_second)),
        figures.age.map_or_else(|| "-".to_owned(), numbers::time),
        figures.lost.to_string(),
    ]
}

/// Returns the process, processor time, memory and threads of a node, with `-` for unknown values.
pub(super) fn node_cells(watcher: &Watcher<'_>, node: &feros_monitor::NodeSummary) -> [String; 4] {
    let unknown = || "-".to_owned();
    let process = watcher.process(node);
    #[allow(clippy::cast_precision_loss)] // far below 2^52
    let memory = process.map(|process| numbers::bytes(process.resident_bytes as f64));
    [
        node.pid.map_or_else(unknown, |pid| pid.to_string()),
        process
            .and_then(|process| process.cpu_percent)
            .map_or_else(unknown, |percent| format!("{percent:.1} %")),
        memory.unwrap_or_else(unknown),
        process.map_or_else(unknown, |process| process.threads.to_string()),
    ]
}
