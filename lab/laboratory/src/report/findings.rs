//! The findings of this run as sentences, computed from the records and shown next to the finding
//! of the paper or report.

mod growth;

use growth::{growth, powers};

use super::context::Context;
use super::figure::capital;
use super::lines::mean_timeline;
use super::metric::{Better, Metric};
use super::quantity::{Unit, digits, dimension_title};
use super::questions::MOST_LOST_PERCENT;
use super::rows::layers;
use super::sample::Sample;
use super::selection::{Panel, Selection, estimate, repetitions_of};
use super::tables::Ability;
use super::threads::{KINDS, callback, kind_title};
use crate::record::{CallbackThread, Figure, FigureKind, Record, Value};
use crate::statistics::{Comparison, Verdict, compare};

/// The limits on sentences about a figure, and about a scenario, since readers do not read more
/// sentences.
const MOST_OF_A_FIGURE: usize = 2;
const MOST_OF_A_SCENARIO: usize = 7;
/// The limit on systems in a sentence.
const MOST_NAMED: usize = 3;

/// The findings of a scenario's figures.
pub(crate) fn findings(
    context: &Context<'_>,
    figures: &[Figure],
    records: &[&Record],
) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for figure in figures {
        let selection = Selection::new(figure, context.run, records);
        if !selection.is_measured() {
            continue;
        }
        let has_kinds = [&selection.series, &selection.x].iter().any(|names| names.has_marks());
        // Systems with different kinds of callback threads get separate sentences.
        let most = if has_kinds { 2 * MOST_OF_A_FIGURE } else { MOST_OF_A_FIGURE };
        for sentence in of_figure(context, &selection).into_iter().take(most) {
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
    }
    sentences.truncate(MOST_OF_A_SCENARIO);
    sentences
}

fn of_figure(context: &Context<'_>, selection: &Selection<'_>) -> Vec<String> {
    match selection.figure.kind {
        FigureKind::Capability => capability(selection),
        FigureKind::Timeline => timelines(selection),
        FigureKind::Layers => largest_layers(context, selection),
        _ if delivery(&selection.metric) => deliveries(context, selection),
        _ => {
            let mut sentences = Vec::from_iter(match selection.is_of_discovery() {
                true => powers(context, selection),
                false => growth(context, selection),
            });
            if selection.series.name == "system" || selection.x.name == "system" {
                // If a sentence already gives the growth, a sentence about one end of the axis is
                // enough: the far end.
                sentences.extend(rankings(context, selection).into_iter().skip(sentences.len()));
            } else {
                sentences.extend(differences(context, selection));
            }
            sentences
        }
    }
}

fn delivery(metric: &Metric) -> bool {
    matches!(metric, Metric::ReceivedPercent | Metric::LostPercent)
}

/// Sentences about the best system at each end of the axis, and its advantage.
fn rankings(context: &Context<'_>, selection: &Selection<'_>) -> Vec<String> {
    if selection.metric.better() == Better::Neither {
        return Vec::new();
    }
    let by_x = selection.x.name == "system";
    let last_x = if by_x { 0 } else { selection.x.values.len().saturating_sub(1) };
    let ends = [
        selection.panels.first().map(|panel| (panel, 0)),
        selection.panels.last().map(|panel| (panel, last_x)),
    ];
    let mut sentences: Vec<String> = ends
        .into_iter()
        .flatten()
        .flat_map(|(panel, x)| {
            KINDS.map(|kind| ranking(context, selection, &Place { panel, x, by_x, kind }))
        })
        .flatten()
        .collect();
    sentences.dedup();
    sentences
}

/// The systems of one ranking, which are the systems at one position on the axis of a panel. Within
/// a process, only systems that call the callback on the same kind of thread belong to one ranking.
struct Place<'s> {
    panel: &'s Panel<'s>,
    x: usize,
    /// Whether the systems are on the axis.
    by_x: bool,
    kind: Option<CallbackThread>,
}

impl<'s> Place<'s> {
    fn cell(&self, system: usize) -> &'s [Sample<'s>] {
        if self.by_x { self.panel.cell(0, system) } else { self.panel.cell(system, self.x) }
    }

    fn is_of_kind(&self, context: &Context<'_>, system: usize) -> bool {
        let sample = self.cell(system).first();
        sample.is_some_and(|sample| callback(context.run, sample.record) == self.kind)
    }

    fn title(&self, context: &Context<'_>, selection: &Selection<'_>) -> String {
        let x_title = if self.by_x || selection.x.values.len() < 2 {
            String::new()
        } else {
            context.x_title(selection, self.x)
        };
        let kind = self.kind.map_or("", |kind| kind_title(Some(kind))).to_owned();
        let parts: Vec<String> = [selection.place_title(self.panel), x_title, kind]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        if parts.is_empty() { String::new() } else { format!("{}: ", capital(&parts.join(", "))) }
    }
}

fn ranking(context: &Context<'_>, selection: &Selection<'_>, place: &Place<'_>) -> Option<String> {
    let systems = if place.by_x { &selection.x } else { &selection.series };
    let lower = selection.metric.better() == Better::Lower;
    let mut lossy = Vec::new();
    let mut measured: Vec<(usize, f64)> = (0..systems.values.len())
        .filter(|system| place.is_of_kind(context, *system))
        .filter_map(|system| {
            let found = context.estimate(selection, place.cell(system))?;
            match loss(context, selection, place.cell(system)) {
                Some(lost) => {
                    lossy.push(format!("{} {}", systems.label(system), Unit::Percent.show(lost)));
                    None
                }
                None => found.whole.then_some((system, found.value)),
            }
        })
        .collect();
    measured.sort_by(|a, b| if lower { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) });
    let Some((&(best, value), others)) = measured.split_first() else {
        let title = place.title(context, selection);
        let said = format!("{title}Every system loses messages: {}.", lossy.join(", "));
        return (!lossy.is_empty()).then_some(said);
    };
    let unit = selection.metric.unit();
    let floor = selection.figure.floor.as_deref().filter(|floor| {
        selection.metric.has_floor() && context.is_limit_of(floor, place.cell(best))
    });
    let from_floor = floor
        .and_then(|floor| context.floors.ratio(floor, &selection.metric, place.cell(best)))
        .map_or(String::new(), |ratio| format!(", {}× the floor", digits(ratio)));
    let mut sentence = format!(
        "{}{} has the {} {}, {}{from_floor}",
        place.title(context, selection),
        systems.label(best),
        if lower { "lowest" } else { "highest" },
        selection.metric.title(),
        unit.show(value)
    );
    sentence.push_str(&against(
        context,
        selection,
        place.cell(best),
        others.iter().map(|(system, _)| (systems.label(*system), place.cell(*system))),
    ));
    sentence.push('.');
    if !lossy.is_empty() {
        let lossy = lossy.join(", ");
        sentence.push_str(&format!(" Not ranked, because messages are lost: {lossy}."));
    }
    Some(sentence)
}

/// The percentage of lost messages, if the loss is so large that the system is not ranked. Messages
/// that are published without pause may be lost, and a number about the delivery itself counts in
/// any case.
fn loss(context: &Context<'_>, selection: &Selection<'_>, samples: &[Sample<'_>]) -> Option<f64> {
    let without_pause = samples.iter().any(|sample| sample.record.number("rate_hz") == Some(0.0));
    if without_pause || selection.metric.is_of_delivery() {
        return None;
    }
    let lost = estimate(&Metric::LostPercent, samples, context.run.seed)?.value;
    (lost > MOST_LOST_PERCENT).then_some(lost)
}

/// The other systems, each as a multiple of the best, or with its own ratio; the nearest first.
fn against<'s>(
    context: &Context<'_>,
    selection: &Selection<'_>,
    best: &[Sample<'_>],
    others: impl Iterator<Item = (String, &'s [Sample<'s>])>,
) -> String {
    let best = repetitions_of(&selection.metric, best);
    let unit = selection.metric.unit();
    let (mut same, mut behind, mut last) = (Vec::new(), Vec::new(), None);
    for (name, samples) in others {
        let Some(found) =
            compare(&repetitions_of(&selection.metric, samples), &best, context.run.seed)
        else {
            continue;
        };
        match found.verdict {
            Verdict::NoDifference => same.push(name),
            // A multiple of a ratio is hard to understand, so the others' own ratios are shown.
            _ if selection.metric.is_ratio() => {
                let Some(own) = context.estimate(selection, samples) else { continue };
                behind.push(format!("{name} {}", unit.show(own.value)));
                last = Some(unit.show(own.value));
            }
            _ => {
                behind.push(format!("{name} {}×{}", digits(found.ratio), interval(&found)));
                last = Some(format!("{}×", digits(found.ratio)));
            }
        }
    }
    let further = behind.len().saturating_sub(MOST_NAMED);
    behind.truncate(MOST_NAMED);
    let mut text = String::new();
    if !same.is_empty() {
        text.push_str(&format!("; no difference from {} can be shown", same.join(", ")));
    }
    if !behind.is_empty() {
        text.push_str(&format!("; then {}", behind.join(", ")));
    }
    if let Some(last) = last.filter(|_| further > 0) {
        text.push_str(&format!(" and {further} more, up to {last}"));
    }
    text
}

/// The interval in brackets; empty if it has no width.
fn interval(found: &Comparison) -> String {
    let (low, high) = (digits(found.interval.0), digits(found.interval.1));
    if low == high { String::new() } else { format!(" ({low} to {high})") }
}

/// Sentences for figures whose lines are not systems: they compare each further value with the
/// first, over all cells.
fn differences(context: &Context<'_>, selection: &Selection<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    if selection.series.values.iter().any(|value| matches!(value, Value::Number(_))) {
        // A difference between payload sizes is not a finding.
        return sentences;
    }
    for other in 1..selection.series.values.len() {
        let (mut lower, mut higher, mut same, mut logs) = (0, 0, 0, 0.0);
        for panel in &selection.panels {
            for x in 0..selection.x.values.len() {
                let of = |series: usize| repetitions_of(&selection.metric, panel.cell(series, x));
                let Some(found) = compare(&of(other), &of(0), context.run.seed) else { continue };
                logs += found.ratio.ln();
                match found.verdict {
                    Verdict::Smaller => lower += 1,
                    Verdict::Larger => higher += 1,
                    Verdict::NoDifference => same += 1,
                }
            }
        }
        let cells = lower + higher + same;
        if cells == 0 {
            continue;
        }
        sentences.push(format!(
            "{} against {} ({}): {} lower in {lower}, higher in {higher}, no difference shown in {same} of {cells} {}; {}× on average.",
            selection.series.label(other),
            selection.series.label(0),
            dimension_title(&selection.series.name),
            selection.metric.title(),
            if cells == 1 { "cell" } else { "cells" },
            digits((logs / f64::from(cells)).exp()),
        ));
    }
    sentences
}

/// All cells, by system, or by series if the figure has no systems.
fn by_system<'s>(selection: &'s Selection<'s>) -> Vec<(String, Vec<&'s [Sample<'s>]>)> {
    let mut systems: Vec<(String, Vec<&'s [Sample<'s>]>)> = Vec::new();
    for panel in &selection.panels {
        for series in 0..selection.series.values.len().max(1) {
            for x in 0..selection.x.values.len().max(1) {
                let samples = panel.cell(series, x);
                let Some(sample) = samples.first() else { continue };
                let name = match sample.value("system") {
                    Some(Value::Text(system)) => system,
                    _ => selection.series.label(series),
                };
                match systems.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, cells)) => cells.push(samples),
                    None => systems.push((name, vec![samples])),
                }
            }
        }
    }
    systems
}

fn capability(selection: &Selection<'_>) -> Vec<String> {
    let of_system = |(name, cells): (String, Vec<&[Sample<'_>]>)| {
        let abilities: Vec<Ability> = cells.into_iter().filter_map(Ability::of).collect();
        let count =
            |wanted: Ability| abilities.iter().filter(|ability| **ability == wanted).count();
        let others: Vec<String> = [Ability::Late, Ability::Lossy, Ability::Halts, Ability::Error]
            .into_iter()
            .filter(|ability| count(*ability) > 0)
            .map(|ability| format!("{} {}", count(ability), ability.word()))
            .collect();
        match (abilities.len(), others.is_empty()) {
            (0, _) => None,
            (total, true) => Some(format!("{name} all {total}")),
            (total, false) => {
                Some(format!("{name} {} of {total} ({})", count(Ability::Works), others.join(", ")))
            }
        }
    };
    let parts: Vec<String> = by_system(selection).into_iter().filter_map(of_system).collect();
    if parts.is_empty() {
        Vec::new()
    } else {
        vec![format!("Cells that work: {}.", parts.join("; "))]
    }
}

/// Sentences about the number of cells in which nearly all messages arrived, and the number of
/// cells in which no message arrived.
fn deliveries(context: &Context<'_>, selection: &Selection<'_>) -> Vec<String> {
    let of_system = |(name, cells): (String, Vec<&[Sample<'_>]>)| {
        let arrived: Vec<f64> = cells
            .into_iter()
            .filter_map(|samples| context.estimate(selection, samples))
            .map(|found| {
                if selection.metric == Metric::LostPercent {
                    100.0 - found.value
                } else {
                    found.value
                }
            })
            .collect();
        let fine = arrived.iter().filter(|share| **share >= 99.0).count();
        let nothing = arrived.iter().filter(|share| **share < 1.0).count();
        let nothing =
            if nothing > 0 { format!(", below 1\u{202f}% in {nothing}") } else { String::new() };
        (!arrived.is_empty()).then(|| format!("{name} {fine} of {}{nothing}", arrived.len()))
    };
    let parts: Vec<String> = by_system(selection).into_iter().filter_map(of_system).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    vec![format!("Cells in which at least 99\u{202f}% arrived: {}.", parts.join("; "))]
}

fn timelines(selection: &Selection<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    for panel in &selection.panels {
        let of_series = |series: usize| {
            let seconds = mean_timeline(selection, panel, series);
            // The last second is usually incomplete.
            let whole = &seconds[..seconds.len().saturating_sub(1)];
            let end = &whole[whole.len().saturating_sub(3)..];
            if end.is_empty() {
                return None;
            }
            let mean =
                |of: fn(&(f64, f64)) -> f64| end.iter().map(of).sum::<f64>() / end.len() as f64;
            let (sent, received) = (mean(|pair| pair.0), mean(|pair| pair.1));
            let name = selection.series.label(series);
            Some(format!(
                "{name} receives {} of {}",
                Unit::Count.show(received.round()),
                Unit::PerSecond.show(sent.round())
            ))
        };
        let parts: Vec<String> =
            (0..selection.series.values.len().max(1)).filter_map(of_series).collect();
        if !parts.is_empty() {
            let title = selection.place_title(panel);
            let place =
                if title.is_empty() { String::new() } else { format!("{}: ", capital(&title)) };
            sentences.push(format!("{place}at the end {}.", parts.join(", ")));
        }
    }
    sentences
}

/// Sentences about the layer that takes the most time, for each system.
fn largest_layers(context: &Context<'_>, selection: &Selection<'_>) -> Vec<String> {
    let Some(panel) = selection.panels.first() else { return Vec::new() };
    let mut largest: Vec<(String, Vec<String>)> = Vec::new();
    for series in 0..selection.series.values.len().max(1) {
        let found = layers(panel.cell(series, 0));
        let sum: f64 = found.iter().map(|(_, nanos)| nanos).sum();
        let Some((layer, nanos)) = found.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            continue;
        };
        if sum <= 0.0 {
            continue;
        }
        let share = format!(
            "{} {}\u{202f}%",
            selection.series.label(series),
            digits((100.0 * nanos / sum).round())
        );
        match largest.iter_mut().find(|(known, _)| *known == layer) {
            Some((_, shares)) => shares.push(share),
            None => largest.push((layer, vec![share])),
        }
    }
    let parts: Vec<String> = largest
        .into_iter()
        .map(|(layer, shares)| format!("{layer} ({})", shares.join(", ")))
        .collect();
    let mut place = selection.place_title(panel);
    if selection.x.values.len() > 1 {
        let x_title = context.x_title(selection, 0);
        place = if place.is_empty() { x_title } else { format!("{place}, {x_title}") };
    }
    if !place.is_empty() {
        place = format!(" ({place})");
    }
    if parts.is_empty() {
        Vec::new()
    } else {
        vec![format!("The largest part of the way{place}: {}.", parts.join("; "))]
    }
}
