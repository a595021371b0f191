//! The conditions under which cells were measured, from their records: at each figure, and beside
//! the conditions of a document at each verdict.

use super::quantity::{Unit, dimension_title, dimension_value};
use super::selection::placement_words;
use crate::record::{Condition, Record, Scenario, System, Value};

/// The limit on values in a list; of more numbers, the first and the last are shown.
const MOST_VALUES: usize = 4;

/// The conditions of the document, and those of some cells of its scenario.
pub(crate) fn conditions(
    scenario: &Scenario,
    systems: &[System],
    records: &[&Record],
) -> Vec<Condition> {
    let all = [
        ("systems", versions(systems, records)),
        ("placement", placements(records)),
        ("message", messages(records)),
        ("rate", rates(records)),
        ("count", counts(records)),
        ("QoS", listed(records, "qos")),
        ("real time", class(records)),
        ("link", links(records)),
    ];
    let document = |name: &str| {
        let stated = scenario.conditions.iter().find(|stated| stated.name == name);
        stated.map_or_else(String::new, |stated| stated.document.clone())
    };
    all.into_iter()
        .filter(|(_, here)| !here.is_empty())
        .map(|(name, here)| Condition { document: document(name), name: name.to_owned(), here })
        .collect()
}

/// The rates and numbers of messages of a figure's cells: `100 Hz, 60 messages`.
pub(crate) fn rates_and_counts(records: &[&Record]) -> String {
    [rates(records), sent(records)]
        .into_iter()
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// The values of a dimension, numbers by size, words in the order of appearance.
fn values<'a>(records: &[&'a Record], dimension: &str) -> Vec<&'a Value> {
    let mut values: Vec<&Value> = Vec::new();
    for value in records.iter().filter_map(|record| record.dimensions.get(dimension)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values.sort_by(|one, other| match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.total_cmp(other),
        _ => std::cmp::Ordering::Equal,
    });
    values
}

/// The values of a dimension in words; of many, only the ends and their number.
fn listed(records: &[&Record], dimension: &str) -> String {
    let values = values(records, dimension);
    let shown: Vec<String> = values.iter().map(|value| dimension_value(dimension, value)).collect();
    match shown.as_slice() {
        [first, .., last] if shown.len() > MOST_VALUES => {
            format!("{first} to {last} ({} values)", shown.len())
        }
        few => few.join(", "),
    }
}

fn versions(systems: &[System], records: &[&Record]) -> String {
    let names = values(records, "system");
    let version = |value: &&Value| {
        let name = dimension_value("system", value);
        let known = systems.iter().find(|system| system.name == name);
        match known.and_then(|system| system.version.as_ref()) {
            Some(version) => format!("{name} ({version})"),
            None => name,
        }
    };
    names.iter().map(version).collect::<Vec<_>>().join("; ")
}

fn rates(records: &[&Record]) -> String {
    listed(records, "rate_hz")
}

fn messages(records: &[&Record]) -> String {
    let sizes = listed(records, "size_bytes");
    let is_text = values(records, "type").contains(&&Value::Text("string".to_owned()));
    let is_filled = values(records, "fill").contains(&&Value::Text("each".to_owned()));
    let kind = if is_text { ", as a string" } else { "" };
    let filled = if is_filled { ", each written anew" } else { "" };
    if sizes.is_empty() { sizes } else { format!("{sizes}{kind}{filled}") }
}

fn sent(records: &[&Record]) -> String {
    let sent = || records.iter().map(|record| record.sent).filter(|sent| *sent > 0);
    match (sent().min(), sent().max()) {
        (Some(least), Some(most)) if least == most => format!("{most} messages"),
        (Some(least), Some(most)) => format!("{least} to {most} messages"),
        _ => String::new(),
    }
}

fn counts(records: &[&Record]) -> String {
    let repetitions = records.iter().map(|record| record.repetition + 1).max();
    let repetitions = match repetitions {
        None => String::new(),
        Some(1) => "one repetition".to_owned(),
        Some(several) => format!("{several} repetitions"),
    };
    let parts = [sent(records), repetitions];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The placements, and how many nodes or subscriptions are placed.
fn placements(records: &[&Record]) -> String {
    let placed = values(records, "placement");
    let mut words: Vec<String> = placed
        .iter()
        .map(|value| placement_words(&dimension_value("placement", value)).to_owned())
        .collect();
    for dimension in ["nodes", "subscriptions", "executor", "graph", "environment", "work_micros"] {
        let is_special = |value: &&Value| match value {
            Value::Number(number) => *number != 0.0 && (dimension == "nodes" || *number != 1.0),
            Value::Text(word) => word != "default",
        };
        if values(records, dimension).iter().any(is_special) {
            let title = dimension_title(dimension);
            words.push(format!("{title}: {}", listed(records, dimension)));
        }
    }
    words.join(", ")
}

/// The scheduling class, and whether memory is locked.
fn class(records: &[&Record]) -> String {
    if records.is_empty() {
        return String::new();
    }
    let is = |name: &str, wanted: f64| {
        records.iter().any(|record| record.values.get(name).copied().unwrap_or(0.0) == wanted)
    };
    let realtime = match (is("realtime", 1.0), is("realtime", 0.0)) {
        (true, false) => "SCHED_FIFO",
        (true, true) => "partly SCHED_FIFO",
        _ => "SCHED_OTHER",
    };
    let locked = if is("memory_locked", 1.0) { ", locked memory" } else { "" };
    format!("{realtime}{locked}")
}

/// The links; programs of one host need no link.
fn links(records: &[&Record]) -> String {
    let of_record = |record: &&Record| {
        let rate = record.dimensions.get("link_mbit");
        let rate = rate.map(|rate| dimension_value("link_mbit", rate));
        let loss = record.number("loss_percent").filter(|loss| *loss > 0.0);
        let loss = loss.map(|loss| format!("{} of the packets lost", Unit::Percent.show(loss)));
        let parts: Vec<String> = [rate, loss].into_iter().flatten().collect();
        match (record.word("link"), parts.is_empty()) {
            (None, _) => "one host".to_owned(),
            (Some(_), false) => parts.join(", "),
            (Some(name), true) => name.to_owned(),
        }
    };
    let mut found: Vec<String> = Vec::new();
    for link in records.iter().map(of_record) {
        if !found.contains(&link) {
            found.push(link);
        }
    }
    found.join("; ")
}
