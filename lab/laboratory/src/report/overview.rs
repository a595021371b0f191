//! The first screen: how far from the floor is each system, at each payload, in each placement.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::context::Context;
use super::metric::{Metric, Statistic};
use super::quantity::{LARGEST, Unit, digits, dimension_with_value};
use super::selection::{
    Estimate, PLACEMENTS, Sample, estimate, floor_at, floor_of_placement, link_nanos,
    repetitions_of, values_of,
};
use super::tables::scrolling;
use crate::record::{Record, Scenario, Status, System, Value};
use crate::statistics::{Repetition, Verdict, compare};

/// The table of one placement.
pub(crate) struct Block {
    pub(crate) placement: String,
    /// Name of the limit, where it was measured.
    pub(crate) floor: Option<&'static str>,
    /// Where the numbers are from: scenario and what was held fixed.
    pub(crate) source: String,
    pub(crate) sizes: Vec<f64>,
    pub(crate) floors: Vec<Option<f64>>,
    pub(crate) rows: Vec<OverviewRow>,
}

/// A system in a placement.
pub(crate) struct OverviewRow {
    pub(crate) system: String,
    pub(crate) title: String,
    pub(crate) cells: Vec<OverviewCell>,
}

/// A system at a payload.
pub(crate) enum OverviewCell {
    Measured { estimate: Estimate, ratio: Option<f64>, best: bool },
    Absent { word: &'static str, reason: String },
}

/// One table for each placement that was measured.
pub(crate) fn blocks(context: &Context<'_>) -> Vec<Block> {
    let mut placements: Vec<String> =
        PLACEMENTS.iter().map(|placement| (*placement).to_owned()).collect();
    for record in context.records {
        if let Some(Value::Text(placement)) = record.dimensions.get("placement")
            && !placements.contains(placement)
        {
            placements.push(placement.clone());
        }
    }
    placements.iter().filter_map(|placement| block(context, placement)).collect()
}

const METRIC: Metric = Metric::Latency(Statistic::Median);

fn fits(record: &Record, placement: &str) -> bool {
    let number = |name: &str| match record.dimensions.get(name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    // Several subscriptions, sending without pause, a loaded machine or a lossy link measure
    // something else than the way itself.
    let plain = number("subscriptions").is_none_or(|count| count == 1.0)
        && number("rate_hz") != Some(0.0)
        && ["cpu_load_percent", "loss_percent", "work_micros"]
            .iter()
            .all(|name| number(name).unwrap_or(0.0) == 0.0);
    plain
        && record.dimensions.get("placement") == Some(&Value::Text(placement.to_owned()))
        && matches!(record.dimensions.get("size_bytes"), Some(Value::Number(_)))
        && matches!(record.dimensions.get("system"), Some(Value::Text(_)))
        // A chain of nodes is not one hop, and its floor is not that of one.
        && !record.dimensions.contains_key("nodes")
}

fn block(context: &Context<'_>, placement: &str) -> Option<Block> {
    let chosen = context
        .run
        .scenarios
        .iter()
        .map(|scenario| (scenario, narrowed(context, scenario, placement)))
        .filter(|(_, (samples, _))| {
            samples.iter().any(|sample| METRIC.number(sample.record, None).is_some())
        })
        // `max_by_key` takes the last of equals; the first scenario is meant.
        .rev()
        .max_by_key(|(_, (samples, _))| cells_of(samples))?;
    let (scenario, (samples, fixed)) = chosen;
    let sizes: Vec<f64> = values_of("size_bytes", context.run, &samples)
        .into_iter()
        .filter_map(|value| if let Value::Number(size) = value { Some(size) } else { None })
        .filter(|size| (0.0..=LARGEST).contains(size))
        .collect();
    let floor_name = floor_of_placement(placement);
    let link = |size: f64| samples.first().map_or(0.0, |sample| link_nanos(sample, size));
    let floors: Vec<Option<f64>> = sizes
        .iter()
        .map(|size| Some(floor_at(&context.run.floors, floor_name, *size)? + link(*size)))
        .collect();
    let systems = values_of("system", context.run, &samples);
    let mut rows: Vec<OverviewRow> = systems
        .iter()
        .filter_map(|system| row(context, system, &samples, &sizes, &floors))
        .collect();
    mark_best(context, &mut rows, &systems, &samples, &sizes);
    let fixed = if fixed.is_empty() { String::new() } else { format!("; {}", fixed.join(", ")) };
    Some(Block {
        placement: placement.to_owned(),
        floor: floors.iter().any(Option::is_some).then_some(floor_name),
        source: format!("{}{fixed}", scenario.title),
        sizes,
        floors,
        rows,
    })
}

/// Systems and payloads with a number.
fn cells_of(samples: &[Sample<'_>]) -> usize {
    let mut cells: Vec<String> = samples
        .iter()
        .filter(|sample| METRIC.number(sample.record, None).is_some())
        .map(|sample| format!("{:?} {:?}", sample.value("system"), sample.value("size_bytes")))
        .collect();
    cells.sort_unstable();
    cells.dedup();
    cells.len()
}

/// A scenario's samples in a placement with every other dimension held at the value that most of
/// them have.
fn narrowed<'a>(
    context: &Context<'a>,
    scenario: &Scenario,
    placement: &str,
) -> (Vec<Sample<'a>>, Vec<String>) {
    let records = context.of_scenario(&scenario.name);
    let mut samples: Vec<Sample<'a>> = records
        .into_iter()
        .filter(|record| fits(record, placement))
        .map(|record| Sample { record, subscription: None })
        .collect();
    let mut dimensions: Vec<String> =
        samples.iter().flat_map(|sample| sample.record.dimensions.keys().cloned()).collect();
    dimensions.sort_unstable();
    dimensions.dedup();
    dimensions
        .retain(|dimension| !["system", "size_bytes", "placement"].contains(&dimension.as_str()));
    let mut fixed = Vec::new();
    for dimension in dimensions {
        let values = values_of(&dimension, context.run, &samples);
        let count = |value: &Value| {
            samples.iter().filter(|sample| sample.value(&dimension).as_ref() == Some(value)).count()
        };
        let Some(most) = values.iter().rev().max_by_key(|value| count(value)).cloned() else {
            continue;
        };
        if values.len() > 1 {
            fixed.push(dimension_with_value(&dimension, &most));
        }
        samples.retain(|sample| sample.value(&dimension).is_none_or(|value| value == most));
    }
    (samples, fixed)
}

fn cell_samples<'a>(samples: &[Sample<'a>], system: &Value, size: f64) -> Vec<Sample<'a>> {
    let of_cell = |sample: &&Sample<'a>| {
        sample.value("system").as_ref() == Some(system)
            && sample.value("size_bytes") == Some(Value::Number(size))
    };
    samples.iter().filter(of_cell).copied().collect()
}

fn row(
    context: &Context<'_>,
    system: &Value,
    samples: &[Sample<'_>],
    sizes: &[f64],
    floors: &[Option<f64>],
) -> Option<OverviewRow> {
    let Value::Text(name) = system else { return None };
    let cells = sizes.iter().zip(floors).map(|(size, floor)| {
        let mine = cell_samples(samples, system, *size);
        match estimate(&METRIC, &mine, context.run.seed) {
            Some(estimate) => OverviewCell::Measured {
                estimate,
                ratio: floor.map(|floor| estimate.value / floor),
                best: false,
            },
            None => absent(&mine),
        }
    });
    let title = context
        .run
        .systems
        .iter()
        .find(|system| system.name == *name)
        .map_or("", |system| &system.title);
    Some(OverviewRow { system: name.clone(), title: title.to_owned(), cells: cells.collect() })
}

fn absent(samples: &[Sample<'_>]) -> OverviewCell {
    let (word, reason) = match samples.first().map(|sample| &sample.record.status) {
        None => ("–", "not part of this run, or not reached"),
        Some(Status::Complete) => ("nothing", "nothing was received"),
        Some(Status::Failed(reason)) => ("failed", reason.as_str()),
        Some(Status::Hung(reason)) => ("hung", reason.as_str()),
        Some(Status::Skipped(reason)) => ("–", reason.as_str()),
    };
    OverviewCell::Absent { word, reason: reason.to_owned() }
}

/// Marks the lowest of each column, and those that nobody can tell from it.
fn mark_best(
    context: &Context<'_>,
    rows: &mut [OverviewRow],
    systems: &[Value],
    samples: &[Sample<'_>],
    sizes: &[f64],
) {
    for (column, size) in sizes.iter().enumerate() {
        let repetitions: Vec<Vec<Repetition>> = systems
            .iter()
            .map(|system| repetitions_of(&METRIC, &cell_samples(samples, system, *size)))
            .collect();
        let median = |row: &OverviewRow| match row.cells.get(column) {
            Some(OverviewCell::Measured { estimate, .. }) if estimate.whole => Some(estimate.value),
            _ => None,
        };
        let lowest = rows.iter().enumerate().filter_map(|(index, row)| Some((index, median(row)?)));
        let Some((lowest, _)) = lowest.min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        for (index, row) in rows.iter_mut().enumerate() {
            let same = index == lowest
                || compare(&repetitions[index], &repetitions[lowest], context.run.seed)
                    .is_some_and(|found| found.verdict == Verdict::NoDifference);
            if let Some(OverviewCell::Measured { best, estimate, .. }) = row.cells.get_mut(column) {
                *best = same && estimate.whole;
            }
        }
    }
}

/// The tables as HTML.
pub(crate) fn overview(context: &Context<'_>, blocks: &[Block], missing: &[&System]) -> Markup {
    html! {
        section id="overview" aria-labelledby="overview-title" {
            h2 id="overview-title" { "How far from the floor" }
            @if blocks.is_empty() {
                p class="empty" { "No latency was measured in this run yet." }
            } @else {
                p class="lead" {
                    "Median latency as a multiple of what this machine can do at best, measured in this run; the median below it. "
                    b { "Bold" } ": the lowest of its column, or not to be told from it."
                }
                div class="blocks" { @for block in blocks { (table(context, block)) } }
                div class="scale" aria-hidden="true" { span { "1×" } i {} span { "100× and more" } }
            }
            @if !missing.is_empty() {
                p class="missing" {
                    "Not measured, and so neither better nor worse: "
                    @for (index, system) in missing.iter().enumerate() { @if index > 0 { ", " } (system.title) }
                    ". " a href="#systems" { "Why, and how to change that." }
                }
            }
        }
    }
}

fn table(context: &Context<'_>, block: &Block) -> Markup {
    let table = html! {
        table class="heat over" {
            thead {
                tr { th scope="col" { "payload" } @for size in &block.sizes { th scope="col" { (Unit::Bytes.show(*size)) } } }
                @if let Some(floor) = block.floor {
                    tr class="floor" {
                        th scope="row" title={ "what this machine can do at best: " (floor) } { "floor" }
                        @for nanos in &block.floors { td { (nanos.map_or("–".to_owned(), |nanos| Unit::Nanos.show(nanos))) } }
                    }
                }
            }
            tbody {
                @for row in &block.rows {
                    tr {
                        th scope="row" title=(row.title) {
                            (context.palette.ink("system", Some(&Value::Text(row.system.clone())), 0).block()) (row.system)
                        }
                        @for cell in &row.cells { (cell_markup(cell)) }
                    }
                }
            }
        }
    };
    html! {
        div class="block" {
            h3 { (placement_title(&block.placement)) @if let Some(floor) = block.floor { small { "floor: " (floor) } } }
            (scrolling(&format!("Distance from the floor, {}", block.placement), &table))
            p class="source" { (block.source) }
        }
    }
}

fn cell_markup(cell: &OverviewCell) -> Markup {
    match cell {
        OverviewCell::Absent { word, reason } => {
            html! { td class="none" title=(reason) { (word) } }
        }
        OverviewCell::Measured { estimate, ratio, best } => {
            let (low, high) = estimate.interval;
            let title = format!(
                "{} ({} to {}), {} repetition(s)",
                Unit::Nanos.show(estimate.value),
                Unit::Nanos.show(low),
                Unit::Nanos.show(high),
                estimate.repetitions
            );
            let heat = ratio.map_or(0.0, |ratio| (ratio.max(1.0).log10() / 2.0).clamp(0.0, 1.0));
            let star = if estimate.whole { "" } else { " *" };
            html! {
                td class=[best.then_some("best")] style={ "--v:" (format!("{heat:.2}")) } title=(title) {
                    @if let Some(ratio) = ratio { span { (digits(*ratio)) "×" } small { (Unit::Nanos.show(estimate.value)) (star) } }
                    @else { span { (Unit::Nanos.show(estimate.value)) (star) } }
                }
            }
        }
    }
}

/// A placement for people.
pub(crate) fn placement_title(placement: &str) -> String {
    match placement {
        "remote" => "Between two hosts".to_owned(),
        "local" => "Between two processes of a host".to_owned(),
        "composed" => "In one process, by the ordinary way".to_owned(),
        "intra" => "In one process, by the pointer way".to_owned(),
        other => other.to_owned(),
    }
}

/// How many cells ended in which way.
pub(crate) fn endings(records: &[Record]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for record in records {
        let word = match record.status {
            Status::Complete => "complete",
            Status::Failed(_) => "failed",
            Status::Hung(_) => "hung",
            Status::Skipped(_) => "skipped",
        };
        *counts.entry(word).or_default() += 1;
    }
    counts
}
