//! A run as tables for a terminal and as lines of JSON for programs: a row for each cell.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use super::groups::{Place, cells, label, median, varied};
use super::metric::Metric;
use super::quantity::{Unit, dimension_title, dimension_value, words};
use super::results::Results;
use crate::record::{Process, Record, Scenario, Status, Value};
use crate::statistics::{Line, growth_exponent, power_law};

/// The column for the transport that messages took, if the system reports it.
const TRANSPORT: &str = "transport";
/// The prefix of values that count messages by transport.
const BY_TRANSPORT: &str = "received_";
/// The names of transports that may follow the prefix.
const TRANSPORTS: [&str; 3] = ["intra_process", "shared_memory", "network"];

/// One scenario of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The title for people, one line.
    pub title: String,
    /// The columns of the table.
    pub heading: Vec<String>,
    /// A row for each cell.
    pub rows: Vec<Vec<String>>,
    /// The remarks below the table: the line through chains, the threads of an idle node, failures.
    pub remarks: Vec<String>,
    /// An object for each cell, followed by an object for each line through chains.
    pub objects: Vec<serde_json::Value>,
    /// The number of cells that failed or hung.
    pub failed: usize,
}

/// Summarizes each scenario of a run.
pub fn summaries(results: &Results) -> Vec<Summary> {
    let of = |scenario: &Scenario| {
        let is_own = |record: &&Record| record.scenario == scenario.name;
        summary(scenario, &results.records.iter().filter(is_own).collect::<Vec<_>>())
    };
    results.run.scenarios.iter().map(of).collect()
}

fn summary(scenario: &Scenario, records: &[&Record]) -> Summary {
    let cells = cells(records, &[]);
    let names = varied(cells.iter().map(|(place, _)| place));
    let mut found = Summary {
        title: scenario.title.clone(),
        heading: names.iter().map(|name| dimension_title(name)).collect(),
        rows: Vec::new(),
        remarks: Vec::new(),
        objects: Vec::new(),
        failed: 0,
    };
    found.heading.extend(scenario.columns.iter().map(|column| column_title(column)));
    for (place, records) in &cells {
        for record in records {
            let (word, reason) = match (&record.status, record.why_left_out()) {
                (Status::Failed(reason) | Status::Hung(reason), _) => ("failed", reason.clone()),
                (_, Some(reason)) => ("left out", reason),
                (Status::Skipped(reason), None) => ("not possible", reason.clone()),
                (Status::Complete, None) => continue,
            };
            found.failed += usize::from(word == "failed");
            found.remarks.push(format!("{}: {word}: {reason}", label(place, &names)));
        }
        if records.iter().all(|record| matches!(record.status, Status::Skipped(_))) {
            continue;
        }
        let complete: Vec<&Record> =
            records.iter().copied().filter(|record| record.is_result()).collect();
        let mut row: Vec<String> = names
            .iter()
            .map(|name| place.get(name).map_or_else(String::new, |v| dimension_value(name, v)))
            .collect();
        row.extend(scenario.columns.iter().map(|column| shown(column, &complete)));
        found.rows.push(row);
        found.objects.push(object(place, &scenario.columns, records, &complete));
        for process in complete.last().iter().flat_map(|record| &record.processes) {
            found.remarks.extend(threads(process));
        }
    }
    lines(&cells, &mut found);
    powers(&scenario.columns, &cells, &mut found);
    found
}

fn column_title(column: &str) -> String {
    match column {
        "latency" => "median".to_owned(),
        _ => match column.strip_prefix("latency_") {
            Some(statistic) => words(statistic),
            None => words(column),
        },
    }
}

/// The median over the repetitions.
fn number(column: &str, records: &[&Record]) -> Option<f64> {
    let metric = Metric::parse(column);
    median(records.iter().filter_map(|record| metric.number(record, None)).collect())
}

fn shown(column: &str, records: &[&Record]) -> String {
    if column == TRANSPORT {
        return transport(records).unwrap_or("–").to_owned();
    }
    let unit = Metric::parse(column).unit();
    number(column, records).map_or_else(|| "–".to_owned(), |number| unit.show(number))
}

/// The transport that all messages took; `mixed` if there were several.
fn transport(records: &[&Record]) -> Option<&'static str> {
    let took = |name: &&&str| {
        let key = format!("{BY_TRANSPORT}{name}");
        records.iter().any(|record| record.values.get(&key).is_some_and(|count| *count > 0.0))
    };
    let mut taken = TRANSPORTS.iter().filter(took);
    match (taken.next(), taken.next()) {
        (None, _) => None,
        (Some(only), None) => Some(only),
        (Some(_), Some(_)) => Some("mixed"),
    }
}

fn object(
    place: &Place,
    columns: &[String],
    records: &[&Record],
    complete: &[&Record],
) -> serde_json::Value {
    let mut object = Map::new();
    for (name, value) in place {
        let value = match value {
            Value::Number(number) => json!(number),
            Value::Text(text) => json!(text),
        };
        object.insert(name.clone(), value);
    }
    for column in columns.iter().map(String::as_str) {
        let value = match column {
            TRANSPORT => json!(transport(complete)),
            _ => json!(number(column, complete)),
        };
        object.insert(column.to_owned(), value);
    }
    let mut values = BTreeMap::new();
    for name in complete.iter().flat_map(|record| record.values.keys()) {
        values.insert(name.clone(), number(name, complete));
    }
    object.insert("values".into(), json!(values));
    let threads: Vec<_> = complete.iter().flat_map(|record| &record.processes).collect();
    let threads: Vec<_> = threads.iter().flat_map(|process| &process.threads).collect();
    if !threads.is_empty() {
        object.insert("by_thread".into(), json!(threads));
    }
    if let Some(record) = records.iter().find(|record| !record.is_result()) {
        object.insert("status".into(), json!(record.status));
    }
    serde_json::Value::Object(object)
}

/// The activity of each thread of an idle process, with a heading.
fn threads(process: &Process) -> Vec<String> {
    if process.threads.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("threads of {}:", process.role)];
    lines.extend(process.threads.iter().map(|thread| {
        format!(
            "  {}: {} wake-ups, {} interruptions, {} of processor time",
            thread.name,
            thread.voluntary_switches,
            thread.involuntary_switches,
            Unit::Nanos.show(thread.cpu_nanos as f64)
        )
    }));
    lines
}

/// Adds the straight line through cells with different numbers of nodes, which gives the latency
/// per hop of a chain, or the memory per node.
fn lines(cells: &[(Place, Vec<&Record>)], found: &mut Summary) {
    let mut series: Vec<(Place, Vec<(f64, f64)>)> = Vec::new();
    for (place, records) in cells.iter().filter(|(place, _)| !is_of_discovery(place)) {
        let Some(Value::Number(nodes)) = place.get("nodes") else { continue };
        let point = match is_chain(place) {
            true => number("latency", records).map(|median| (nodes - 1.0, median)),
            false => number("pss_bytes", records).map(|bytes| (*nodes, bytes)),
        };
        let Some(point) = point else { continue };
        let mut rest = place.clone();
        rest.remove("nodes");
        match series.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, points)) => points.push(point),
            None => series.push((rest, vec![point])),
        }
    }
    let names = varied(series.iter().map(|(place, _)| place));
    for (place, points) in &series {
        let Some(line) = Line::through(points) else { continue };
        let (unit, step, key) = match is_chain(place) {
            true => (Unit::Nanos, "hop", "nanos_per_hop"),
            false => (Unit::Bytes, "node", "bytes_per_node"),
        };
        let power = growth_exponent(points);
        let shown = power.map_or_else(String::new, |power| format!(", power {power:.2}"));
        found.remarks.push(format!(
            "{}: {} a {step}, {} points{shown}, R2 {:.4}, the farthest is {:.0} % from the line",
            label(place, &names),
            unit.show(line.slope),
            points.len(),
            line.r_squared,
            line.worst_deviation_percent
        ));
        let mut object = object(place, &[], &[], &[]);
        object["line"] = json!({
            key: line.slope,
            "at_none": line.intercept,
            "r_squared": line.r_squared,
            "worst_deviation_percent": line.worst_deviation_percent,
            "points": points.len(),
            "power": power,
        });
        found.objects.push(object);
    }
}

/// Cells that differ only in the number of processes: that number, with the records of its cell.
type Growth<'a> = Vec<(f64, &'a [&'a Record])>;

/// Adds the power with which each column of discovery grows with the number of processes.
fn powers(columns: &[String], cells: &[(Place, Vec<&Record>)], found: &mut Summary) {
    let mut series: Vec<(Place, Growth<'_>)> = Vec::new();
    for (place, records) in cells.iter().filter(|(place, _)| is_of_discovery(place)) {
        let Some(Value::Number(nodes)) = place.get("nodes") else { continue };
        let mut rest = place.clone();
        rest.remove("nodes");
        match series.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, points)) => points.push((*nodes, records.as_slice())),
            None => series.push((rest, vec![(*nodes, records.as_slice())])),
        }
    }
    let names = varied(series.iter().map(|(place, _)| place));
    for (place, points) in &series {
        let of_columns = columns.iter().filter_map(|column| {
            let points = points.iter().filter_map(|(nodes, records)| {
                let results: Vec<&Record> =
                    records.iter().copied().filter(|record| record.is_result()).collect();
                Some((*nodes, number(column, &results)?))
            });
            Some((column, power_law(&points.collect::<Vec<_>>())?))
        });
        let powers: Vec<(&String, f64)> = of_columns.collect();
        if powers.is_empty() {
            continue;
        }
        let shown = powers.iter().map(|(column, power)| format!("{} {power:.2}", words(column)));
        found.remarks.push(format!(
            "{}: powers of the number of nodes: {}",
            label(place, &names),
            shown.collect::<Vec<_>>().join(", ")
        ));
        let mut object = object(place, &[], &[], &[]);
        let powers: BTreeMap<&String, f64> = powers.into_iter().collect();
        object["powers"] = json!(powers);
        found.objects.push(object);
    }
}

/// Whether the processes of a robot find each other in the cell.
fn is_of_discovery(place: &Place) -> bool {
    place.contains_key("topology")
}

/// Whether the cell sends messages through several nodes; other cells with several nodes only have
/// idle nodes.
fn is_chain(place: &Place) -> bool {
    place.contains_key("size_bytes")
}
