//! Compares two runs: the numbers that became better or worse from the first run to the second, and
//! the numbers for which no difference can be shown.

use std::collections::BTreeMap;

use maud::{Markup, html};
use thiserror::Error;

use super::metric::{Better, Metric, Statistic};
use super::page::frame;
use super::quantity::{digits, dimension_with_value, moment};
use super::results::Results;
use super::sample::Sample;
use super::selection::{Estimate, estimate, repetitions_of};
use super::tables::scrolling;
use crate::record::{Record, Status, Value};
use crate::statistics::{Comparison, Verdict, compare};

/// The runs have nothing in common.
#[derive(Debug, Error)]
pub enum CompareError {
    /// No scenario is in both runs, or every common scenario differs.
    #[error("these runs cannot be compared: {}", .0.join("; "))]
    NothingInCommon(Vec<String>),
}

/// Two runs side by side.
#[derive(Debug, Clone)]
pub struct SideBySide {
    /// Reasons to doubt the comparison: different machines or versions, interrupted runs.
    pub warnings: Vec<String>,
    /// The scenarios and cells that are not compared, and why.
    pub refused: Vec<String>,
    /// The compared cells, in the order of the first run.
    pub cells: Vec<ComparedCell>,
    names: [String; 2],
}

/// A cell that both runs measured.
#[derive(Debug, Clone)]
pub struct ComparedCell {
    /// The scenario's name.
    pub scenario: String,
    /// The system, if the cell has one.
    pub system: String,
    /// The other dimensions of the cell, for people.
    pub cell: String,
    /// The compared metric, for people.
    pub metric: String,
    /// The first run's number, for people.
    pub first: String,
    /// The second run's number, for people.
    pub second: String,
    /// The second number divided by the first, with its interval, and the conclusion.
    pub comparison: Comparison,
    /// Whether the second run is better; `None` if no difference can be shown.
    pub better: Option<bool>,
}

type Key = (String, Vec<(String, String)>);

/// Compares two runs cell by cell.
///
/// # Errors
/// If no cell is the same experiment in both runs.
pub fn compare_runs(first: &Results, second: &Results) -> Result<SideBySide, CompareError> {
    let mut refused = Vec::new();
    let scenarios = common_scenarios(first, second, &mut refused);
    let (before, after) = (cells(first), cells(second));
    let mut compared = Vec::new();
    let mut other_experiments: BTreeMap<String, usize> = BTreeMap::new();
    let (mut only_first, mut empty) = (0, 0);
    for (key, ours) in &before {
        if !scenarios.contains(&key.0) {
            continue;
        }
        let Some((_, theirs)) = after.iter().find(|(other, _)| other == key) else {
            only_first += 1;
            continue;
        };
        if let Some(reason) = differs(ours, theirs) {
            *other_experiments.entry(format!("{}: {reason}", key.0)).or_default() += 1;
            continue;
        }
        let found: Vec<ComparedCell> = METRICS
            .iter()
            .filter_map(|metric| {
                compared_cell(&Metric::parse(metric), ours, theirs, first.run.seed)
            })
            .collect();
        empty += usize::from(found.is_empty());
        compared.extend(found);
    }
    refused.extend(
        other_experiments.into_iter().map(|(reason, cells)| format!("{reason} ({cells} cells)")),
    );
    let in_common =
        |key: &Key| scenarios.contains(&key.0) && !before.iter().any(|(known, _)| known == key);
    let only_second = after.iter().filter(|(key, _)| in_common(key)).count();
    for (count, what) in [
        (only_first, "in the first run only"),
        (only_second, "in the second run only"),
        (empty, "the same in both, or without a number in one"),
    ] {
        if count > 0 {
            refused.push(format!("{count} cells are {what}"));
        }
    }
    if compared.is_empty() {
        refused.push("no cell has a number in both".to_owned());
        return Err(CompareError::NothingInCommon(refused));
    }
    let name = |results: &Results| {
        format!("{}, {}", results.run.grid, moment(results.run.began_unix_seconds))
    };
    let names = [name(first), name(second)];
    Ok(SideBySide { warnings: warnings(first, second), refused, cells: compared, names })
}

/// The metrics to compare, if a cell has them. An improvement of one metric may come at the cost of
/// another, so each metric is reported.
const METRICS: [&str; 6] = [
    "latency",
    "latency_p99",
    "goodput_bytes_per_second",
    "received_percent",
    "cpu_percent",
    "pss_bytes",
];

/// Finds the scenarios that are the same experiment in both runs.
fn common_scenarios(first: &Results, second: &Results, refused: &mut Vec<String>) -> Vec<String> {
    let mut common = Vec::new();
    for ours in &first.run.scenarios {
        match second.run.scenarios.iter().find(|theirs| theirs.name == ours.name) {
            None => refused.push(format!("the scenario {} is in the first run only", ours.name)),
            Some(theirs)
                if (&ours.title, &ours.document, &ours.item)
                    != (&theirs.title, &theirs.document, &theirs.item) =>
            {
                refused.push(format!(
                    "the scenario {} is not the same experiment in both: {} / {}",
                    ours.name, ours.title, theirs.title
                ));
            }
            Some(_) => common.push(ours.name.clone()),
        }
    }
    for theirs in &second.run.scenarios {
        if !first.run.scenarios.iter().any(|ours| ours.name == theirs.name) {
            refused.push(format!("the scenario {} is in the second run only", theirs.name));
        }
    }
    common
}

/// The tried repetitions of each cell, in order.
fn cells(results: &Results) -> Vec<(Key, Vec<Sample<'_>>)> {
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let mut cells: Vec<(Key, Vec<Sample<'_>>)> = Vec::new();
    let is_tried = |record: &&Record| {
        !matches!(record.status, Status::Skipped(_)) && !record.unexpected_transport
    };
    for record in results.records.iter().filter(is_tried) {
        let dimensions =
            record.dimensions.iter().map(|(name, value)| (name.clone(), format!("{value:?}")));
        let key = (record.scenario.clone(), dimensions.collect());
        let place = *places.entry(key.clone()).or_insert_with(|| {
            cells.push((key, Vec::new()));
            cells.len() - 1
        });
        cells[place].1.push(Sample { record, subscription: None });
    }
    cells
}

/// The reason why two cells of the same name are different experiments, if they are different.
fn differs(ours: &[Sample<'_>], theirs: &[Sample<'_>]) -> Option<String> {
    let first = |samples: &[Sample<'_>], of: fn(&Record) -> f64| {
        samples.first().map_or(0.0, |sample| of(sample.record))
    };
    let subscriptions = |samples| first(samples, |record| record.subscriptions.len() as f64);
    if subscriptions(ours) != subscriptions(theirs) {
        return Some(format!(
            "{} and {} subscriptions",
            subscriptions(ours),
            subscriptions(theirs)
        ));
    }
    let conditions = [
        ("realtime", "real-time scheduling"),
        ("memory_locked", "locked memory"),
        ("apart", "talkers and listeners on processors of their own"),
    ];
    for (name, words) in conditions {
        let of = |samples: &[Sample<'_>]| {
            let record = samples.first().map(|sample| sample.record);
            record.and_then(|record| record.values.get(name)).copied().unwrap_or(0.0)
        };
        if of(ours) != of(theirs) {
            return Some(format!("one with {words}, one without"));
        }
    }
    None
}

fn compared_cell(
    metric: &Metric,
    ours: &[Sample<'_>],
    theirs: &[Sample<'_>],
    seed: u64,
) -> Option<ComparedCell> {
    let (first, second) = (estimate(metric, ours, seed)?, estimate(metric, theirs, seed)?);
    let found = compare(&repetitions_of(metric, theirs), &repetitions_of(metric, ours), seed)?;
    // A cell that has the same losses in both runs is not worth a line.
    if *metric == Metric::ReceivedPercent && first.value == second.value {
        return None;
    }
    // A single number from one repetition has no interval, since the spread between repetitions is
    // unknown.
    let unknown = found.repetitions < 2 && *metric != Metric::Latency(Statistic::Median);
    let better = match (found.verdict, metric.better()) {
        _ if unknown => None,
        (Verdict::NoDifference, _) | (_, Better::Neither) => None,
        (verdict, better) => Some((verdict == Verdict::Smaller) == (better == Better::Lower)),
    };
    let shown = |estimate: &Estimate| {
        format!("{}{}", metric.unit().show(estimate.value), if estimate.whole { "" } else { " *" })
    };
    let sample = ours.first()?;
    let system = match sample.value("system") {
        Some(Value::Text(system)) => system,
        _ => String::new(),
    };
    Some(ComparedCell {
        scenario: sample.record.scenario.clone(),
        system,
        cell: name_of(ours),
        metric: match metric {
            Metric::Latency(Statistic::P99) => "99 % latency".to_owned(),
            _ => metric.title(),
        },
        first: shown(&first),
        second: shown(&second),
        comparison: found,
        better,
    })
}

/// The dimensions of a cell without its system, for people.
fn name_of(samples: &[Sample<'_>]) -> String {
    let dimensions = samples.first().map(|sample| &sample.record.dimensions).into_iter().flatten();
    let shown = dimensions.filter(|(name, _)| {
        *name != "system" && *name != "cpu_load_percent" && *name != "work_micros"
    });
    let parts: Vec<String> = shown.map(|(name, value)| dimension_with_value(name, value)).collect();
    parts.join(", ")
}

fn warnings(first: &Results, second: &Results) -> Vec<String> {
    let mut warnings = Vec::new();
    let (ours, theirs) = (&first.run.environment, &second.run.environment);
    let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let other: Vec<String> = keys
        .into_iter()
        .filter(|key| ours.get(*key) != theirs.get(*key))
        .map(|key| {
            let word = |of: &BTreeMap<String, String>| {
                of.get(key).map_or("unknown".to_owned(), Clone::clone)
            };
            format!("{key} ({} / {})", word(ours), word(theirs))
        })
        .collect();
    if !other.is_empty() {
        warnings
            .push(format!("the machines differ, and so may every number: {}", other.join(", ")));
    }
    for system in &first.run.systems {
        let other = second.run.systems.iter().find(|other| other.name == system.name);
        if let Some((ours, theirs)) =
            system.version.as_ref().zip(other.and_then(|other| other.version.as_ref()))
            && ours != theirs
        {
            warnings.push(format!("{} has another version: {ours} / {theirs}", system.name));
        }
    }
    for (results, name) in [(first, "first"), (second, "second")] {
        if results.run.ended_unix_seconds.is_none() {
            warnings.push(format!("the {name} run has not ended"));
        }
        warnings.extend(results.notices.iter().map(|notice| format!("the {name} run: {notice}")));
    }
    warnings
}

impl ComparedCell {
    /// The ratio with its interval, for people.
    pub fn ratio(&self) -> String {
        let (low, high) = self.comparison.interval;
        if low == high {
            return format!("{}×", digits(self.comparison.ratio));
        }
        format!("{}× ({} to {})", digits(self.comparison.ratio), digits(low), digits(high))
    }

    /// The verdict: `better`, `worse` or `no difference`.
    pub fn verdict(&self) -> &'static str {
        match self.better {
            Some(true) => "better",
            Some(false) => "worse",
            None => "no difference",
        }
    }
}

impl SideBySide {
    /// The number of cells that became better, of cells that became worse, and of cells without a
    /// difference.
    pub fn counts(&self) -> (usize, usize, usize) {
        let of =
            |wanted: Option<bool>| self.cells.iter().filter(|cell| cell.better == wanted).count();
        (of(Some(true)), of(Some(false)), of(None))
    }

    /// The comparison as one self-contained page.
    pub fn html(&self) -> String {
        let (better, worse, same) = self.counts();
        let mut systems: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !systems.contains(&cell.system.as_str()) {
                systems.push(&cell.system);
            }
        }
        let navigation = [("main", "Overview"), ("cells", "Cells"), ("refused", "Not compared")]
            .map(|(id, name)| (id.to_owned(), name.to_owned()));
        let content = html! {
            header {
                p class="eyebrow" { "Feros laboratory" }
                h1 { "Two runs side by side" }
                p class="when" { (self.names[0]) " → " (self.names[1]) }
                ul class="tiles" {
                    li { b class="better" { (better) } " better" }
                    li { b class="worse" { (worse) } " worse" }
                    li { b { (same) } " no difference" }
                }
                @if !self.warnings.is_empty() {
                    div class="alert" role="note" { ul { @for warning in &self.warnings { li { (warning) } } } }
                }
            }
            section id="cells" {
                p class="lead" { "The ratio is the second run divided by the first, with its 95 % interval over repetitions and samples. Where the interval holds \
                    1, or there was one repetition and less than 10 % between them, no difference can be shown." }
                @for system in systems { (self.of_system(system)) }
            }
            section id="refused" {
                h2 { "Not compared" }
                @if self.refused.is_empty() { p class="empty" { "Everything is in both runs." } }
                @else { ul { @for reason in &self.refused { li { (reason) } } } }
            }
        };
        frame("Feros laboratory: two runs", &navigation, &content).into_string()
    }

    fn of_system(&self, system: &str) -> Markup {
        let table = html! {
            table {
                thead { tr {
                    th scope="col" { "experiment" } th scope="col" { "cell" } th scope="col" { "what" }
                    @for name in ["first", "second", "second / first"] { th scope="col" class="n" { (name) } } th scope="col" { "" }
                } }
                tbody {
                    @for cell in self.cells.iter().filter(|cell| cell.system == system) {
                        tr {
                            th scope="row" { (cell.scenario) } td { (cell.cell) } td { (cell.metric) }
                            td class="n" { (cell.first) } td class="n" { (cell.second) } td class="n" { (cell.ratio()) }
                            td class=(match cell.better { Some(true) => "better", Some(false) => "worse", None => "none" }) { (cell.verdict()) }
                        }
                    }
                }
            }
        };
        html! { h3 { (system) } (scrolling(&format!("Cells of {system}"), &table)) }
    }
}
