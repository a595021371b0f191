//! Medians by payload, in a table for each placement; within a process, in a table for each kind of
//! callback thread.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::context::Context;
use super::figure::{capital, title_of_variant};
use super::floors::{candidates, is_of_floor};
use super::measured::rates_and_counts;
use super::metric::{Metric, Statistic};
use super::quantity::{LARGEST, Unit, digits, dimension_with_value};
use super::sample::Sample;
use super::selection::{
    Estimate, PLACEMENTS, estimate, placement_words, repetitions_of, values_of,
};
use super::tables::scrolling;
use super::threads::{KINDS, callback, kind_title};
use crate::record::{CallbackThread, Record, Scenario, Status, Value};
use crate::statistics::{Repetition, Verdict, compare};

/// The table of one placement and, within a process, of one kind of callback thread.
pub(crate) struct Block {
    pub(crate) placement: String,
    pub(crate) kind: Option<CallbackThread>,
    /// The system that is the limit, if it was measured in the same cells.
    pub(crate) floor: Option<&'static str>,
    /// The source of the numbers: the scenario, the rate and number of messages, and the fixed
    /// dimensions.
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

impl Block {
    pub(crate) fn title(&self) -> String {
        let kind = self.kind.map_or(String::new(), |kind| format!(", {}", kind_title(Some(kind))));
        format!("{}{kind}", capital(placement_words(&self.placement)))
    }
}

/// The tables of all measured placements.
pub(crate) fn blocks(context: &Context<'_>) -> Vec<Block> {
    let mut placements: Vec<String> =
        PLACEMENTS.iter().map(|placement| (*placement).to_owned()).collect();
    for record in &context.records {
        if let Some(placement) = record.word("placement")
            && !placements.iter().any(|known| known == placement)
        {
            placements.push(placement.to_owned());
        }
    }
    placements.iter().flat_map(|placement| blocks_of(context, placement)).collect()
}

const METRIC: Metric = Metric::Latency(Statistic::Median);

fn fits(record: &Record, placement: &str) -> bool {
    // Cells with several subscriptions, without pauses, on a loaded machine or over a lossy link
    // measure more than the transport.
    let plain = record.number("subscriptions").is_none_or(|count| count == 1.0)
        && record.number("rate_hz") != Some(0.0)
        && ["cpu_load_percent", "loss_percent", "work_micros"]
            .iter()
            .all(|name| record.number(name).unwrap_or(0.0) == 0.0);
    plain
        && !is_of_floor(record)
        && record.word("placement") == Some(placement)
        && record.number("size_bytes").is_some()
        && record.word("system").is_some()
        // A chain of nodes has more than one hop.
        && !record.dimensions.contains_key("nodes")
}

fn blocks_of(context: &Context<'_>, placement: &str) -> Vec<Block> {
    let chosen = context
        .run
        .scenarios
        .iter()
        .map(|scenario| (scenario, narrowed(context, scenario, placement)))
        .filter(|(_, (samples, _))| {
            samples.iter().any(|sample| METRIC.number(sample.record, None).is_some())
        })
        // `max_by_key` takes the last of equal elements, but the first scenario should win.
        .rev()
        .max_by_key(|(_, (samples, _))| cells_of(samples));
    let Some((scenario, (samples, fixed))) = chosen else { return Vec::new() };
    let records: Vec<&Record> = samples.iter().map(|sample| sample.record).collect();
    let conditions = [scenario.title.clone(), rates_and_counts(&records), fixed.join(", ")];
    let conditions = conditions.into_iter().filter(|words| !words.is_empty());
    let source = conditions.collect::<Vec<_>>().join("; ");
    let of_kind = |kind| {
        let is_of_kind = |sample: &&Sample<'_>| callback(context.run, sample.record) == kind;
        let samples: Vec<Sample<'_>> = samples.iter().filter(is_of_kind).copied().collect();
        block(context, placement, kind, &samples, &source)
    };
    KINDS.into_iter().filter_map(of_kind).collect()
}

fn block(
    context: &Context<'_>,
    placement: &str,
    kind: Option<CallbackThread>,
    samples: &[Sample<'_>],
    source: &str,
) -> Option<Block> {
    let sizes: Vec<f64> = values_of("size_bytes", context.run, samples)
        .into_iter()
        .filter_map(|value| if let Value::Number(size) = value { Some(size) } else { None })
        .filter(|size| (0.0..=LARGEST).contains(size))
        .collect();
    let limit = |floor: &str, size: f64| {
        let of_size =
            |sample: &&Sample<'_>| sample.value("size_bytes") == Some(Value::Number(size));
        let beside = context.floors.beside(floor, samples.iter().filter(of_size));
        Some(estimate(&METRIC, &beside, context.run.seed)?.value)
    };
    let limits = |floor| sizes.iter().map(|size| limit(floor, *size)).collect::<Vec<Option<f64>>>();
    let floor = candidates(placement, kind)
        .iter()
        .copied()
        .find(|floor| limits(floor).iter().any(Option::is_some));
    let floors = floor.map_or_else(|| vec![None; sizes.len()], limits);
    // A system that supports no cell gets no row.
    let could = |sample: &&Sample<'_>| !matches!(sample.record.status, Status::Skipped(_));
    let tried: Vec<Sample<'_>> = samples.iter().filter(could).copied().collect();
    let systems = values_of("system", context.run, &tried);
    let mut rows: Vec<OverviewRow> =
        systems.iter().filter_map(|system| row(context, system, samples, &sizes, floor)).collect();
    mark_best(context, &mut rows, &systems, samples, &sizes);
    (!rows.is_empty()).then(|| Block {
        placement: placement.to_owned(),
        kind,
        floor,
        source: source.to_owned(),
        sizes,
        floors,
        rows,
    })
}

/// The number of cells (system and payload) that have a number.
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

/// A scenario's samples in a placement, with every other dimension fixed to its most frequent
/// value.
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
        // The rate is given in any case.
        if values.len() > 1 && dimension != "rate_hz" {
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
    floor: Option<&str>,
) -> Option<OverviewRow> {
    let Value::Text(name) = system else { return None };
    let cells = sizes.iter().map(|size| {
        let mine = cell_samples(samples, system, *size);
        match estimate(&METRIC, &mine, context.run.seed) {
            Some(estimate) => OverviewCell::Measured {
                estimate,
                ratio: floor.and_then(|floor| context.floors.ratio(floor, &METRIC, &mine)),
                best: false,
            },
            None => absent(&mine),
        }
    });
    let title = context.system(name).map_or("", |system| &system.title);
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

/// Marks the lowest number of each column, and the numbers that cannot be distinguished from the
/// lowest number.
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
pub(crate) fn payloads(context: &Context<'_>, blocks: &[Block]) -> Markup {
    html! {
        section id="payloads" aria-labelledby="payloads-title" {
            h2 id="payloads-title" { "Median latency by payload" }
            @if blocks.is_empty() {
                p class="empty" { "No latency was measured in this run yet." }
            } @else {
                p class="lead" {
                    "If a floor was measured in the same cells (rate, payload, placement, link, repetition), the upper number is a multiple of the floor, and the median is below it. "
                    b { "Bold" } " numbers are the lowest in their column, or cannot be distinguished from the lowest."
                }
                div class="blocks" { @for block in blocks { (table(context, block)) } }
                div class="scale" aria-hidden="true" { span { "1×" } i {} span { "100× and more" } }
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
                        th scope="row" title={ "what this machine can do at best: " (floor_title(context, floor)) } { "floor" }
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
            h3 { (block.title()) }
            (scrolling(&format!("Median latency, {}", block.title()), &table))
            p class="source" { (block.source) @if let Some(floor) = block.floor { "; floor: " (floor_title(context, floor)) " (" (floor) ")" } }
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

/// The title of a limit for people.
pub(crate) fn floor_title<'a>(context: &Context<'a>, floor: &'a str) -> &'a str {
    context.system(floor).map_or(floor, |system| title_of_variant(&system.title))
}

/// The word for cells that are left out.
pub(crate) const LEFT_OUT: &str = "left out";

/// The number of cells by status, without limits.
pub(crate) fn endings(records: &[Record]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for record in records.iter().filter(|record| !is_of_floor(record)) {
        let word = match record.status {
            _ if record.unexpected_transport => LEFT_OUT,
            Status::Complete => "complete",
            Status::Failed(_) => "failed",
            Status::Hung(_) => "hung",
            Status::Skipped(_) => "skipped",
        };
        *counts.entry(word).or_default() += 1;
    }
    counts
}
