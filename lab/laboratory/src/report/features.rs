//! The comparison of systems by feature, after Table 8 of M16 (Maruyama et al., EMSOFT 2016): each
//! field shows what manifests declare, and what the cells of the run show.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use maud::{Markup, html};

use super::escape::escaped;
use super::quantity::Unit;
use super::results::Results;
use super::tables::scrolling;
use crate::contract::Role;
use crate::record::{Feature, Record};

const TITLE: &str = "Systems by feature";

const MEANING: &str = "The systems of today in the columns of Table 8 of M16 that a declaration \
                       or a run can fill. The file peer.toml of a system declares what the \
                       documentation of the system says, and names the pages. What this run \
                       showed is beside it, from all programs that stand for the system, in all \
                       their configurations; \"not seen\" means that no complete cell of this run \
                       had it. Real-time and embedded use are in the scheduling of the library's \
                       threads, the least memory of a process, and the operating systems; open \
                       source is in the licence. Two columns are left out, since neither a \
                       declaration nor a run can fill them: frequent updates, and libraries and \
                       tools.";

/// A system: the words that manifests declare, and the records of all its programs.
struct Row<'a> {
    name: &'a str,
    title: &'a str,
    declared: BTreeMap<Feature, Vec<&'a str>>,
    records: Vec<&'a Record>,
}

/// The rows, in the order of the run's systems.
fn rows(results: &Results) -> Vec<Row<'_>> {
    let mut found: Vec<(Row<'_>, BTreeSet<&str>)> = Vec::new();
    for system in &results.run.systems {
        for declaration in &system.declares {
            let at = found.iter().position(|(row, _)| row.name == declaration.name);
            let at = at.unwrap_or_else(|| {
                let (name, title) = (declaration.name.as_str(), declaration.title.as_str());
                let row = Row { name, title, declared: BTreeMap::new(), records: Vec::new() };
                found.push((row, BTreeSet::new()));
                found.len() - 1
            });
            let (row, programs) = &mut found[at];
            programs.insert(system.name.as_str());
            for (feature, words) in &declaration.features {
                add(row.declared.entry(*feature).or_default(), words);
            }
        }
    }
    for (row, programs) in &mut found {
        let is_of_row = |record: &&Record| {
            record.is_result() && record.word("system").is_some_and(|name| programs.contains(name))
        };
        row.records = results.records.iter().filter(is_of_row).collect();
    }
    found.into_iter().map(|(row, _)| row).collect()
}

/// Adds the words of another program of the same system: it has a feature if one of them has it.
fn add<'a>(words: &mut Vec<&'a str>, others: &'a [String]) {
    for word in others {
        if !words.contains(&word.as_str()) {
            words.push(word);
        }
    }
    if words.contains(&"yes") {
        words.retain(|word| *word != "no");
    }
}

/// Describes how the results of a system's programs show a feature, or returns `None` if a run
/// cannot show it.
fn seen(feature: Feature, records: &[&Record]) -> Option<String> {
    let cells = |is_shown: fn(&Record) -> bool| {
        count(records.iter().filter(|record| is_shown(record)).count(), "")
    };
    Some(match feature {
        Feature::PublishSubscribe => cells(|record| !is_call(record) && has_received(record)),
        Feature::Calls => cells(|record| is_call(record) && has_received(record)),
        Feature::Hosts => cells(|record| is_placed(record, "remote")),
        Feature::Pointers => cells(|record| is_placed(record, "intra")),
        Feature::RealTime => count(
            records
                .iter()
                .filter(|record| record.values.get("realtime").is_some_and(|is| *is > 0.0))
                .count(),
            " under SCHED_FIFO",
        ),
        Feature::Qos => words(records.iter().filter_map(|record| record.word("qos"))),
        Feature::Transports => {
            words(records.iter().filter_map(|record| record.transport.as_deref()))
        }
        Feature::Memory => {
            least_memory(records).map_or_else(absent, |bytes| Unit::Bytes.show(bytes))
        }
        Feature::Discovery
        | Feature::Serialization
        | Feature::Systems
        | Feature::Languages
        | Feature::Licence => return None,
    })
}

fn absent() -> String {
    "not seen".to_owned()
}

fn count(cells: usize, how: &str) -> String {
    match cells {
        0 => absent(),
        1 => format!("seen in one cell{how}"),
        cells => format!("seen in {cells} cells{how}"),
    }
}

fn words<'a>(found: impl Iterator<Item = &'a str>) -> String {
    let found: Vec<String> =
        found.collect::<BTreeSet<_>>().into_iter().map(|word| word.replace('_', " ")).collect();
    if found.is_empty() { absent() } else { format!("seen: {}", found.join(", ")) }
}

/// Whether the cell has calls: of the cells with messages, only these have neither a number of
/// subscriptions nor of nodes.
fn is_call(record: &Record) -> bool {
    let has = |dimension: &str| record.dimensions.contains_key(dimension);
    has("size_bytes") && !has("subscriptions") && !has("nodes")
}

fn has_received(record: &Record) -> bool {
    record.subscriptions.iter().any(|subscription| subscription.received > 0)
}

fn is_placed(record: &Record, placement: &str) -> bool {
    record.word("placement") == Some(placement)
}

/// The memory of the smallest process of the system's programs; servers do not count.
fn least_memory(records: &[&Record]) -> Option<f64> {
    let of_program =
        |role: &str| role.split(' ').next().is_some_and(|word| word.parse::<Role>().is_ok());
    let processes = records.iter().flat_map(|record| &record.processes);
    let memory = processes
        .filter(|process| of_program(&process.role))
        .filter_map(|process| process.values.get("pss_bytes").copied());
    memory.filter(|bytes| bytes.is_finite() && *bytes > 0.0).reduce(f64::min)
}

/// The words of a field: what manifests declare, and what the run showed.
fn cell(row: &Row<'_>, feature: Feature) -> (String, Option<String>) {
    let declared = match row.declared.get(&feature) {
        Some(words) => words.join(", "),
        // Memory is only measured.
        None if feature == Feature::Memory => String::new(),
        None => "not declared".to_owned(),
    };
    (declared, seen(feature, &row.records))
}

/// The section of the page; it is empty if the run has no declarations.
pub(super) fn section(results: &Results) -> Markup {
    let rows = rows(results);
    let table = html! {
        table {
            thead { tr {
                th scope="col" { "system" }
                @for feature in Feature::ALL { th scope="col" { (feature.title()) } }
            } }
            tbody {
                @for row in &rows {
                    tr {
                        th scope="row" { code { (row.name) } br; (row.title) }
                        @for feature in Feature::ALL {
                            @let (declared, seen) = cell(row, feature);
                            td { (declared) @if let Some(seen) = seen { small { (seen) } } }
                        }
                    }
                }
            }
        }
    };
    html! {
        @if !rows.is_empty() {
            section id="features" {
                h2 { (TITLE) }
                p { (MEANING) }
                (scrolling(TITLE, &table))
            }
        }
    }
}

/// Writes the section into the summary, unless the run has no declarations.
pub(super) fn write(text: &mut String, results: &Results) {
    let rows = rows(results);
    if rows.is_empty() {
        return;
    }
    let titles = Feature::ALL.map(Feature::title).join(" | ");
    let rule = "---|".repeat(Feature::ALL.len());
    let _ = writeln!(text, "## {TITLE}\n\n{MEANING}\n\n| system | {titles} |\n|---|{rule}");
    for row in &rows {
        let cells = Feature::ALL.map(|feature| match cell(row, feature) {
            (declared, Some(seen)) if declared.is_empty() => escaped(&seen),
            (declared, Some(seen)) => escaped(&format!("{declared}; {seen}")),
            (declared, None) => escaped(&declared),
        });
        let _ = writeln!(text, "| {} | {} |", escaped(row.name), cells.join(" | "));
    }
    text.push('\n');
}
