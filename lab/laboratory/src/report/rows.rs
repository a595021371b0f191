//! Draws figures of rows, each with its name on the left: box plots, bars, and bars of layers. With
//! one row per line, the figures can also be read on a phone.

use maud::{Markup, html};

use super::canvas::{Frame, fitting, px};
use super::context::Context;
use super::font;
use super::lines::shown;
use super::palette::Ink;
use super::quantity::Unit;
use super::sample::Sample;
use super::scale::Scale;
use super::selection::{Panel, Selection, distribution};
use crate::record::{Distribution, FigureKind, Layer};

const ROW: f64 = 21.0;
const GROUP: f64 = 22.0;
/// The limit on series whose rows are grouped in one panel; if there are more, each value of x gets
/// a panel.
const MOST_IN_A_GROUP: usize = 5;
/// The largest ratio of the panels' maxima at which the panels share a scale. Beyond this ratio,
/// each panel has its own scale.
const SHARED_UP_TO: f64 = 12.0;
/// The smallest width of the column of names, in pixels.
const SHORTEST_NAME: f64 = 36.0;
/// The limit on the length of a name, in letters.
const LONGEST_NAME: usize = 24;

/// A row of a panel.
pub(crate) struct Row<'a> {
    pub(crate) name: String,
    pub(crate) ink: Ink,
    pub(crate) series: usize,
    pub(crate) samples: &'a [Sample<'a>],
    /// The limit of the machine for the row.
    pub(crate) limit: Option<f64>,
    /// The value of x whose group begins here, if rows are grouped.
    pub(crate) group: Option<String>,
}

/// A panel of rows. Each panel of the selection has one row panel for each value of x, unless the
/// rows are grouped by x.
pub(crate) struct RowPanel<'a> {
    pub(crate) title: String,
    pub(crate) rows: Vec<Row<'a>>,
}

/// Divides a selection into panels of rows.
pub(crate) fn row_panels<'a>(
    context: &Context<'_>,
    selection: &'a Selection<'a>,
) -> Vec<RowPanel<'a>> {
    let mut panels = Vec::new();
    for panel in &selection.panels {
        if selection.series.values.len() <= 1 {
            let rows = rows_of_x(context, selection, panel);
            panels.push(RowPanel { title: panel.title(), rows });
            continue;
        }
        let of_x: Vec<Vec<Row<'a>>> = (0..selection.x.values.len().max(1))
            .map(|x| rows_of_series(context, selection, panel, x))
            .collect();
        let may_group = selection.figure.kind != FigureKind::Boxes;
        if may_group && of_x.len() > 1 && of_x.iter().all(|rows| rows.len() <= MOST_IN_A_GROUP) {
            let groups = of_x.into_iter().enumerate().flat_map(|(x, mut rows)| {
                if let Some(first) = rows.first_mut() {
                    first.group = Some(context.x_title(selection, x));
                }
                rows
            });
            panels.push(RowPanel { title: panel.title(), rows: groups.collect() });
            continue;
        }
        for (x, rows) in of_x.into_iter().enumerate() {
            let of_x = if selection.x.values.len() > 1 {
                context.x_title(selection, x)
            } else {
                String::new()
            };
            let parts: Vec<String> =
                [panel.title(), of_x].into_iter().filter(|part| !part.is_empty()).collect();
            panels.push(RowPanel { title: parts.join(", "), rows });
        }
    }
    panels.retain(|panel| !panel.rows.is_empty());
    panels
}

fn rows_of_x<'a>(
    context: &Context<'_>,
    selection: &'a Selection<'a>,
    panel: &'a Panel<'a>,
) -> Vec<Row<'a>> {
    let limits = context.limits(selection, panel);
    let row = |x: usize| {
        let ink = context.palette.ink(&selection.x.name, selection.x.values.get(x), x);
        let samples = panel.cell(0, x);
        let limit = limits.get(x).copied().flatten();
        let limit = limit.filter(|_| has_limit(context, selection, samples));
        Row { name: selection.x.label(x), ink, series: x, samples, limit, group: None }
    };
    (0..selection.x.values.len()).map(row).filter(|row| !row.samples.is_empty()).collect()
}

fn rows_of_series<'a>(
    context: &Context<'_>,
    selection: &'a Selection<'a>,
    panel: &'a Panel<'a>,
    x: usize,
) -> Vec<Row<'a>> {
    let limit = context.limits(selection, panel).get(x).copied().flatten();
    let row = |series: usize| {
        let samples = panel.cell(series, x);
        Row {
            name: selection.series.label(series),
            ink: context.ink(selection, series),
            series,
            samples,
            limit: limit.filter(|_| has_limit(context, selection, samples)),
            group: None,
        }
    };
    (0..selection.series.values.len()).map(row).filter(|row| !row.samples.is_empty()).collect()
}

fn has_limit(context: &Context<'_>, selection: &Selection<'_>, samples: &[Sample<'_>]) -> bool {
    let floor = selection.figure.floor.as_deref();
    floor.is_some_and(|floor| context.is_limit_of(floor, samples))
}

/// The axis of each panel. All panels share one axis if they are readable on it.
pub(crate) fn row_scales(
    context: &Context<'_>,
    selection: &Selection<'_>,
    panels: &[RowPanel<'_>],
) -> Vec<Scale> {
    let numbers: Vec<Vec<f64>> =
        panels.iter().map(|panel| numbers_of(context, selection, panel)).collect();
    if selection.figure.kind == FigureKind::Boxes {
        return vec![Scale::of_values(numbers.into_iter().flatten()); panels.len()];
    }
    // Readers compare the lengths of bars, so the axis begins at 0.
    let largest = |numbers: &Vec<f64>| {
        numbers.iter().copied().filter(|number| number.is_finite()).fold(0.0, f64::max)
    };
    let highest: Vec<f64> = numbers.iter().map(largest).collect();
    let of_all = highest.iter().copied().fold(0.0, f64::max);
    let least = highest.iter().copied().filter(|high| *high > 0.0).fold(of_all, f64::min);
    let shared = of_all <= least * SHARED_UP_TO;
    let scale = |high: &f64| {
        let high = if shared { of_all } else { *high };
        // This leaves room for the number after the longest bar.
        Scale::from_zero(std::iter::once(high * 1.15))
    };
    highest.iter().map(scale).collect()
}

fn numbers_of(context: &Context<'_>, selection: &Selection<'_>, panel: &RowPanel<'_>) -> Vec<f64> {
    let mut numbers = Vec::new();
    for row in &panel.rows {
        numbers.extend(row.limit);
        match selection.figure.kind {
            FigureKind::Boxes => {
                if let Some(found) = distribution(&selection.metric, row.samples) {
                    numbers.extend([found.p5, found.p50, found.p99]);
                }
            }
            FigureKind::Layers => {
                numbers.push(layers(row.samples).iter().map(|(_, nanos)| nanos).sum())
            }
            _ => numbers.extend(
                context
                    .estimate(selection, row.samples)
                    .map(|found| found.interval.1.max(found.value)),
            ),
        }
    }
    numbers
}

pub(crate) fn row_figure(
    context: &Context<'_>,
    selection: &Selection<'_>,
    panel: &RowPanel<'_>,
    scale: &Scale,
    layer_names: &[String],
) -> Markup {
    let names = panel.rows.iter().map(|row| font::width(&fitting(&row.name, LONGEST_NAME)));
    let groups = panel.rows.iter().filter(|row| row.group.is_some()).count();
    let frame = Frame {
        width: 420.0,
        height: panel.rows.len() as f64 * ROW + groups as f64 * GROUP + 52.0,
        left: names.fold(SHORTEST_NAME, f64::max) + 12.0,
        right: 16.0,
        top: 8.0,
        bottom: 44.0,
    };
    let unit = if selection.figure.kind == FigureKind::Layers {
        Unit::Nanos
    } else {
        selection.metric.unit()
    };
    let room = (frame.inner_width() / 58.0) as usize;
    let marks: Vec<(f64, String)> = scale
        .ticks(unit, room.max(2))
        .into_iter()
        .map(|(number, text)| (scale.at(number), text))
        .collect();
    let axis_title = match selection.figure.kind {
        FigureKind::Layers => "median time in each layer".to_owned(),
        FigureKind::Boxes => selection.metric.title().replace("median ", ""),
        _ => selection.metric.title(),
    };
    let draw = |row: &Row<'_>, y: f64| match selection.figure.kind {
        FigureKind::Boxes => {
            box_plot(&frame, scale, distribution(&selection.metric, row.samples).as_ref(), unit, y)
        }
        FigureKind::Layers => stack(&frame, scale, &layers(row.samples), layer_names, y),
        _ => bar(context, &frame, scale, selection, row, y),
    };
    let content = html! {
        (frame.horizontal_axis(&marks, &axis_title, true))
        @for (row, y) in panel.rows.iter().zip(places(panel, frame.top)) {
            @if let Some(group) = &row.group { text class="group" x="0" y=(px(y - ROW / 2.0 - 5.0)) { (group) } }
            g class={ "series row " (row.ink.class()) } data-series=(row.series) {
                text class="label" x=(px(frame.left - 8.0)) y=(px(y + 3.8)) text-anchor="end" { (fitting(&row.name, LONGEST_NAME)) }
                (draw(row, y))
            }
        }
        @for (row, y) in panel.rows.iter().zip(places(panel, frame.top)) {
            @if let Some(limit) = row.limit {
                g class="limit" {
                    path d={ "M" (px(frame.x(scale.at(limit)))) " " (px(y - ROW / 2.0)) "v" (px(ROW)) } {}
                    title { "floor in this cell: " (unit.show(limit)) }
                }
            }
        }
    };
    let names: Vec<&str> = panel.rows.iter().map(|row| row.name.as_str()).collect();
    let description =
        format!("{} of {}. The numbers are in the table below.", axis_title, names.join(", "));
    let title =
        if panel.title.is_empty() { selection.figure.title.clone() } else { panel.title.clone() };
    frame.image("rows", &title, &description, &content)
}

/// The middle of each row; each group has an extra line above it.
fn places(panel: &RowPanel<'_>, top: f64) -> Vec<f64> {
    let mut next = top;
    let place = |row: &Row<'_>| {
        next += if row.group.is_some() { ROW + GROUP } else { ROW };
        next - ROW / 2.0
    };
    panel.rows.iter().map(place).collect()
}

/// Draws a box from quartile to quartile, whiskers that leave 5 % of the samples outside on each
/// side, and a dot at 99 %.
fn box_plot(
    frame: &Frame,
    scale: &Scale,
    found: Option<&Distribution>,
    unit: Unit,
    y: f64,
) -> Markup {
    let Some(found) = found else { return nothing(frame, y, "no samples") };
    let at = |number: f64| frame.x(scale.at(number));
    let (low, high) = (at(found.p25), at(found.p75));
    html! {
        path class="whisker" d={ "M" (px(at(found.p5))) " " (px(y)) "H" (px(low)) "M" (px(high)) " " (px(y)) "H" (px(at(found.p95)))
            "M" (px(at(found.p5))) " " (px(y - 4.0)) "v8M" (px(at(found.p95))) " " (px(y - 4.0)) "v8" } {}
        rect class="box" x=(px(low)) y=(px(y - 6.5)) width=(px((high - low).max(1.0))) height="13" rx="1.5" {}
        path class="median" d={ "M" (px(at(found.p50))) " " (px(y - 6.5)) "v13" } {}
        circle class="far" cx=(px(at(found.p99))) cy=(px(y)) r="1.8" {}
        title {
            "median " (unit.show(found.p50)) ", half from " (unit.show(found.p25)) " to " (unit.show(found.p75))
            ", 90 % from " (unit.show(found.p5)) " to " (unit.show(found.p95)) ", 99 % below " (unit.show(found.p99))
        }
    }
}

fn bar(
    context: &Context<'_>,
    frame: &Frame,
    scale: &Scale,
    selection: &Selection<'_>,
    row: &Row<'_>,
    y: f64,
) -> Markup {
    let Some(estimate) = context.estimate(selection, row.samples) else {
        return nothing(frame, y, "not measured");
    };
    let unit = selection.metric.unit();
    let at = |number: f64| frame.x(scale.at(number));
    let (start, end) = (at(0.0), at(estimate.value));
    let text = unit.show(estimate.value);
    let after = at(estimate.interval.1).max(end) + 5.0;
    let fits = after + font::width(&text) <= frame.width;
    html! {
        rect class=(if estimate.whole { "fill" } else { "fill partial" }) x=(px(start)) y=(px(y - 6.5))
            width=(px((end - start).max(0.8))) height="13" rx="1.5" {}
        @if estimate.interval.0 < estimate.interval.1 {
            path class="whisker" d={ "M" (px(at(estimate.interval.0))) " " (px(y)) "H" (px(at(estimate.interval.1))) } {}
        }
        @if fits { text class="value" x=(px(after)) y=(px(y + 3.8)) { (text) } }
        @else { text class="value inside" x=(px(end - 5.0)) y=(px(y + 3.8)) text-anchor="end" { (text) } }
        title { (row.name) ": " (shown(unit, &estimate)) }
    }
}

fn nothing(frame: &Frame, y: f64, text: &str) -> Markup {
    html! { text class="nothing" x=(px(frame.x(0.0) + 4.0)) y=(px(y + 3.8)) { (text) } }
}

fn stack(
    frame: &Frame,
    scale: &Scale,
    layers: &[(String, f64)],
    names: &[String],
    y: f64,
) -> Markup {
    if layers.is_empty() {
        return nothing(frame, y, "does not report where its time goes");
    }
    let mut until = 0.0;
    let parts: Vec<(&str, f64, f64, Ink)> = layers
        .iter()
        .map(|(name, nanos)| {
            let from = until;
            until += nanos;
            (
                name.as_str(),
                from,
                *nanos,
                Ink::counted(names.iter().position(|known| known == name).unwrap_or(0)),
            )
        })
        .collect();
    html! {
        @for (name, from, nanos, ink) in parts {
            @let (start, end) = (frame.x(scale.at(from)), frame.x(scale.at(from + nanos)));
            g class=(ink.class()) {
                rect class="fill layer" x=(px(start)) y=(px(y - 7.0)) width=(px((end - start).max(0.3))) height="14" {}
                title { (name) ": " (Unit::Nanos.show(nanos)) }
            }
        }
    }
}

/// The median time in each layer, averaged over repetitions, in the order in which messages pass
/// the layers.
pub(crate) fn layers(samples: &[Sample<'_>]) -> Vec<(String, f64)> {
    let mut names: Vec<&str> = Vec::new();
    let of_sample = |sample: &Sample<'_>| -> Vec<Layer> { sample.record.layers.clone() };
    for sample in samples {
        for layer in &sample.record.layers {
            if !names.contains(&layer.name.as_str()) {
                names.push(&layer.name);
            }
        }
    }
    let mean = |name: &str| {
        let known: Vec<f64> = samples
            .iter()
            .flat_map(of_sample)
            .filter(|layer| layer.name == name && layer.nanos.p50.is_finite())
            .map(|layer| layer.nanos.p50.max(0.0))
            .collect();
        known.iter().sum::<f64>() / known.len().max(1) as f64
    };
    names.into_iter().map(|name| (name.to_owned(), mean(name))).collect()
}

/// Every layer that a figure shows, in the order in which messages pass them.
pub(crate) fn layer_names(selection: &Selection<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for layer in selection.samples().flat_map(|sample| &sample.record.layers) {
        if !names.contains(&layer.name) {
            names.push(layer.name.clone());
        }
    }
    names
}
