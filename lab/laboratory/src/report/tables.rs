//! Tables: the numbers of a figure, matrices, and the capabilities of each system.

use maud::{Markup, html};

use super::context::Context;
use super::lines::mean_timeline;
use super::metric::Better;
use super::quantity::{Unit, dimension_title, dimension_with_value};
use super::rows::{layer_names, layers};
use super::sample::Sample;
use super::scale::LOG_FROM;
use super::selection::{Panel, Selection, distribution};
use crate::record::{FigureKind, Status};

/// A table within its own scrolling area.
pub(crate) fn scrolling(label: &str, table: &Markup) -> Markup {
    html! { div class="scroll" tabindex="0" role="region" aria-label=(label) { (table) } }
}

/// The numbers of a figure.
pub(crate) fn numbers(context: &Context<'_>, selection: &Selection<'_>) -> Markup {
    match selection.figure.kind {
        FigureKind::Layers => layer_table(selection),
        FigureKind::Timeline => timeline_table(selection),
        FigureKind::Boxes => distribution_table(selection),
        _ => estimate_table(context, selection),
    }
}

fn series_rows<'s>(selection: &'s Selection<'s>) -> impl Iterator<Item = (&'s Panel<'s>, usize)> {
    let series = selection.series.values.len().max(1);
    let rows = selection
        .panels
        .iter()
        .flat_map(move |panel| (0..series).map(move |series| (panel, series)));
    rows.filter(|(panel, series)| in_panel(selection, panel, *series))
}

fn in_panel(selection: &Selection<'_>, panel: &Panel<'_>, series: usize) -> bool {
    (0..selection.x.values.len().max(1)).any(|x| !panel.cell(series, x).is_empty())
}

fn row_name(panel: &Panel<'_>, selection: &Selection<'_>, series: usize) -> String {
    let parts = [selection.series.label(series), panel.title()];
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

fn estimate_table(context: &Context<'_>, selection: &Selection<'_>) -> Markup {
    let unit = selection.metric.unit();
    let table = html! {
        table {
            thead { tr {
                th scope="col" { (dimension_title(&selection.x.name)) }
                @for x in 0..selection.x.values.len() { th scope="col" class="n" { (selection.x.label(x)) } }
            } }
            tbody {
                @for (panel, series) in series_rows(selection) {
                    tr {
                        th scope="row" { (row_name(panel, selection, series)) }
                        @for x in 0..selection.x.values.len() { (estimate_cell(context, selection, panel.cell(series, x), unit)) }
                    }
                }
                @for panel in &selection.panels {
                    @if let Some(name) = context.floor_name(selection, panel) {
                        tr class="limit-row" {
                            th scope="row" { "limit: " (name) @if !panel.title().is_empty() { ", " (panel.title()) } }
                            @for limit in context.limits(selection, panel) { td class="n" { (limit.map_or("–".to_owned(), |nanos| unit.show(nanos))) } }
                        }
                    }
                }
            }
        }
    };
    scrolling(&selection.figure.title, &table)
}

fn estimate_cell(
    context: &Context<'_>,
    selection: &Selection<'_>,
    samples: &[Sample<'_>],
    unit: Unit,
) -> Markup {
    let Some(found) = context.estimate(selection, samples) else {
        return html! { td class="n none" { (absence(samples)) } };
    };
    html! {
        td class="n" {
            (unit.show(found.value)) @if !found.whole { span class="mark-partial" title="a program failed or hung; this is its number until then" { "*" } }
            @if found.interval.0 < found.interval.1 {
                small { (unit.show(found.interval.0)) " – " (unit.show(found.interval.1)) }
            }
        }
    }
}

/// The reason for an empty cell, as a word.
fn absence(samples: &[Sample<'_>]) -> &'static str {
    match samples.first().map(|sample| &sample.record.status) {
        None | Some(Status::Complete) => "–",
        Some(Status::Failed(_)) => "failed",
        Some(Status::Hung(_)) => "hung",
        Some(Status::Skipped(_)) => "skipped",
    }
}

fn distribution_table(selection: &Selection<'_>) -> Markup {
    let unit = selection.metric.unit();
    let table = html! {
        table {
            thead { tr {
                th scope="col" { "cell" }
                @for name in ["samples", "5 %", "25 %", "median", "75 %", "95 %", "99 %", "largest", "mean"] { th scope="col" class="n" { (name) } }
            } }
            tbody {
                @for (panel, series) in series_rows(selection) {
                    @for x in 0..selection.x.values.len().max(1) {
                        @let samples = panel.cell(series, x);
                        @if !samples.is_empty() {
                            tr {
                                th scope="row" { (row_name(panel, selection, series)) @if selection.x.values.len() > 1 { ", " (selection.x.label(x)) } }
                                @if let Some(found) = distribution(&selection.metric, samples) {
                                    td class="n" { (found.count) }
                                    @for number in [found.p5, found.p25, found.p50, found.p75, found.p95, found.p99, found.max, found.mean] {
                                        td class="n" { (unit.show(number)) }
                                    }
                                } @else { td class="n none" { (absence(samples)) } @for _ in 0..8 { td class="n none" { "–" } } }
                            }
                        }
                    }
                }
            }
        }
    };
    scrolling(&selection.figure.title, &table)
}

fn layer_table(selection: &Selection<'_>) -> Markup {
    let names = layer_names(selection);
    let table = html! {
        table {
            thead { tr { th scope="col" { "layer" } @for name in &names { th scope="col" class="n" { (name) } } th scope="col" class="n" { "sum" } } }
            tbody {
                @for (panel, series) in series_rows(selection) {
                    @for x in 0..selection.x.values.len().max(1) {
                        @let found = layers(panel.cell(series, x));
                        @if !found.is_empty() {
                            tr {
                                th scope="row" { (row_name(panel, selection, series)) @if selection.x.values.len() > 1 { ", " (selection.x.label(x)) } }
                                @for name in &names {
                                    td class="n" { (found.iter().find(|(known, _)| known == name).map_or("–".to_owned(), |(_, nanos)| Unit::Nanos.show(*nanos))) }
                                }
                                td class="n" { (Unit::Nanos.show(found.iter().map(|(_, nanos)| nanos).sum())) }
                            }
                        }
                    }
                }
            }
        }
    };
    scrolling(&selection.figure.title, &table)
}

fn timeline_table(selection: &Selection<'_>) -> Markup {
    let table = html! {
        table {
            thead { tr { th scope="col" { "messages" } @for name in ["seconds", "sent", "received", "received in the last second"] { th scope="col" class="n" { (name) } } } }
            tbody {
                @for (panel, series) in series_rows(selection) {
                    @let seconds = mean_timeline(selection, panel, series);
                    tr {
                        th scope="row" { (row_name(panel, selection, series)) }
                        td class="n" { (seconds.len()) }
                        td class="n" { (Unit::Count.show(seconds.iter().map(|pair| pair.0).sum::<f64>().round())) }
                        td class="n" { (Unit::Count.show(seconds.iter().map(|pair| pair.1).sum::<f64>().round())) }
                        td class="n" { (seconds.last().map_or("–".to_owned(), |pair| Unit::Count.show(pair.1.round()))) }
                    }
                }
            }
        }
    };
    scrolling(&selection.figure.title, &table)
}

/// A row of a table: its name, and the position of its cells.
type TableRow<'s> = (String, &'s Panel<'s>, usize);

/// The rows of a table, in groups with titles. If a figure names several dimensions, there is a
/// group for each value of the first one.
fn groups<'s>(selection: &'s Selection<'s>) -> Vec<(String, Vec<TableRow<'s>>)> {
    let series = 0..selection.series.values.len().max(1);
    let by_series = selection.figure.series.len() > 1 && selection.panels.len() > 1;
    let mut groups: Vec<(String, Vec<TableRow<'s>>)> = if by_series {
        let of_series = |series: usize| {
            let value = selection.series.values.get(series);
            let title = value.map_or_else(String::new, |value| {
                dimension_with_value(&selection.series.name, value)
            });
            (title, selection.panels.iter().map(|panel| (panel.title(), panel, series)).collect())
        };
        series.map(of_series).collect()
    } else {
        let of_panel = |panel: &'s Panel<'s>| {
            let rows = series.clone().map(|series| (selection.series.label(series), panel, series));
            (panel.title(), rows.collect())
        };
        selection.panels.iter().map(of_panel).collect()
    };
    for (_, rows) in &mut groups {
        rows.retain(|(_, panel, series)| in_panel(selection, panel, *series));
    }
    groups.retain(|(_, rows)| !rows.is_empty());
    groups
}

/// A table with series as rows and values of x as columns, coloured by rank among the numbers of
/// the table.
pub(crate) fn matrix(context: &Context<'_>, selection: &Selection<'_>) -> Markup {
    let unit = selection.metric.unit();
    let shade = Shade::of(context, selection);
    let columns = selection.x.values.len().max(1);
    let table = html! {
        table class="heat" {
            thead { tr {
                th scope="col" { (dimension_title(&selection.x.name)) }
                @for x in 0..columns { th scope="col" { (selection.x.label(x)) } }
            } }
            tbody {
                @for (title, rows) in groups(selection) {
                    @if !title.is_empty() { tr class="part" { th scope="rowgroup" colspan=(columns + 1) { (title) } } }
                    @for (name, panel, series) in rows {
                        tr {
                            th scope="row" { (name) }
                            @for x in 0..columns {
                                @let samples = panel.cell(series, x);
                                @if let Some(found) = context.estimate(selection, samples) {
                                    td style={ "--v:" (format!("{:.2}", shade.at(found.value))) } { (unit.show(found.value)) @if !found.whole { "*" } }
                                } @else { td class="none" { (absence(samples)) } }
                            }
                        }
                    }
                }
            }
        }
    };
    scrolling(&selection.figure.title, &table)
}

/// The shade of a number, from the best of a table (0) to the worst (1).
struct Shade {
    best: f64,
    worst: f64,
    log: bool,
}

impl Shade {
    fn of(context: &Context<'_>, selection: &Selection<'_>) -> Self {
        let mut numbers = Vec::new();
        for (panel, series) in series_rows(selection) {
            let cells = (0..selection.x.values.len()).map(|x| panel.cell(series, x));
            numbers.extend(
                cells
                    .filter_map(|samples| context.estimate(selection, samples))
                    .map(|found| found.value),
            );
        }
        let (mut low, mut high) = (
            numbers.iter().copied().fold(f64::INFINITY, f64::min),
            numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        if selection.metric.unit() == Unit::Percent {
            (low, high) = (low.min(0.0), high.max(100.0));
        }
        let log = low > 0.0 && high / low >= LOG_FROM && selection.metric.unit() != Unit::Percent;
        match selection.metric.better() {
            Better::Higher => Self { best: high, worst: low, log },
            _ => Self { best: low, worst: high, log },
        }
    }

    fn at(&self, number: f64) -> f64 {
        let place =
            |number: f64| if self.log { number.max(f64::MIN_POSITIVE).ln() } else { number };
        let (best, worst) = (place(self.best), place(self.worst));
        let share = (place(number) - best) / (worst - best);
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The outcome of a cell, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ability {
    Works,
    Late,
    Lossy,
    Halts,
    Error,
}

impl Ability {
    /// The worst outcome of the samples; `None` if the cell was not tried.
    pub(crate) fn of(samples: &[Sample<'_>]) -> Option<Self> {
        samples.iter().filter_map(|sample| Self::of_one(sample)).max()
    }

    fn of_one(sample: &Sample<'_>) -> Option<Self> {
        let received = || sample.record.subscriptions.iter();
        Some(match &sample.record.status {
            Status::Skipped(_) => return None,
            Status::Failed(_) => Self::Error,
            Status::Hung(_) => Self::Halts,
            Status::Complete if received().next().is_none() => return None,
            Status::Complete if received().any(|one| one.received == 0) => Self::Halts,
            Status::Complete if received().any(|one| one.lost > 0) => Self::Lossy,
            Status::Complete if received().any(|one| one.late > 0) => Self::Late,
            Status::Complete => Self::Works,
        })
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Late => "late",
            Self::Lossy => "lossy",
            Self::Halts => "halts",
            Self::Error => "error",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Works => "●",
            Self::Late => "◐",
            Self::Lossy => "◔",
            Self::Halts => "○",
            Self::Error => "✕",
        }
    }
}

/// Table 4 of M16 on this machine.
pub(crate) fn capability(selection: &Selection<'_>) -> Markup {
    let columns = selection.x.values.len().max(1);
    let table = html! {
        table class="capability" {
            thead { tr {
                th scope="col" { (dimension_title(&selection.x.name)) }
                th scope="col" { "initial loss" }
                @for x in 0..columns { th scope="col" { (selection.x.label(x)) } }
            } }
            tbody {
                @for (title, rows) in groups(selection) {
                    @if !title.is_empty() { tr class="part" { th scope="rowgroup" colspan=(columns + 2) { (title) } } }
                    @for (name, panel, series) in rows {
                        tr {
                            th scope="row" { (name) }
                            (initial_loss((0..columns).flat_map(|x| panel.cell(series, x))))
                            @for x in 0..columns { (ability_cell(panel.cell(series, x))) }
                        }
                    }
                }
            }
        }
    };
    scrolling(&selection.figure.title, &table)
}

fn initial_loss<'a>(samples: impl Iterator<Item = &'a Sample<'a>>) -> Markup {
    let lost = samples
        .filter_map(|sample| sample.record.values.get("lost_initial").copied())
        .reduce(f64::max);
    match lost {
        None => html! { td class="none" { "–" } },
        Some(lost) if lost > 0.0 => {
            html! { td class="a-lossy" title={ "up to " (Unit::Count.show(lost)) " messages" } { "any" } }
        }
        Some(_) => html! { td class="a-works" { "none" } },
    }
}

fn ability_cell(samples: &[Sample<'_>]) -> Markup {
    let Some(ability) = Ability::of(samples) else {
        let reason =
            samples.first().map_or("not part of this run", |sample| match &sample.record.status {
                Status::Skipped(reason) => reason,
                _ => "nothing to receive",
            });
        return html! { td class="none" title=(reason) { "–" } };
    };
    let total = |of: fn(&crate::record::Received) -> u64| -> u64 {
        samples
            .iter()
            .flat_map(|sample| &sample.record.subscriptions)
            .map(of)
            .fold(0, u64::saturating_add)
    };
    let reason = samples.iter().find_map(|sample| match &sample.record.status {
        Status::Failed(reason) | Status::Hung(reason) => Some(reason.as_str()),
        _ => None,
    });
    let numbers = format!(
        "{} received, {} lost, {} late",
        total(|one| one.received),
        total(|one| one.lost),
        total(|one| one.late)
    );
    html! {
        td class={ "a-" (ability.word()) } title=(reason.map_or(numbers.clone(), |reason| format!("{numbers}; {reason}"))) {
            span aria-hidden="true" { (ability.sign()) } " " (ability.word())
        }
    }
}
