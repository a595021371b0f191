//! One figure of a scenario: its panels, its legend, and its numbers in a table.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::context::Context;
use super::lines::{LineAxes, lines, timeline};
use super::measured::rates_and_counts;
use super::palette::Ink;
use super::quantity::{dimension_title, dimension_value};
use super::rows::{layer_names, row_figure, row_panels, row_scales};
use super::selection::{Panel, Selection};
use super::tables;
use super::threads::MARK_MEANS;
use crate::record::{CallbackThread, Figure, FigureKind, Record, Status};

/// The limit on panels, since readers do not look at more panels. The numbers of further panels are
/// in the table.
const MOST_PANELS: usize = 24;

/// Draws a figure with its heading, legend, panels and numbers.
pub(crate) fn figure(
    context: &Context<'_>,
    figure: &Figure,
    records: &[&Record],
    id: &str,
) -> Markup {
    let selection = Selection::new(figure, context.run, records);
    let heading = html! { h4 id=(id) { (figure.title) } };
    if !selection.is_measured() {
        return html! { figure { figcaption { (heading) } (not_measured(&selection)) } };
    }
    let body = match figure.kind {
        FigureKind::Matrix => html! { (tables::matrix(context, &selection)) },
        FigureKind::Capability => html! { (tables::capability(&selection)) },
        FigureKind::Lines | FigureKind::Timeline => line_panels(context, &selection),
        FigureKind::Boxes | FigureKind::Bars | FigureKind::Layers => rows(context, &selection),
    };
    html! {
        figure {
            figcaption { (heading) p class="how" { (explanation(context, &selection)) } }
            (body)
            @if !matches!(figure.kind, FigureKind::Matrix | FigureKind::Capability) {
                details class="numbers" { summary { "Numbers" } (tables::numbers(context, &selection)) }
            }
        }
    }
}

fn line_panels(context: &Context<'_>, selection: &Selection<'_>) -> Markup {
    let axes = LineAxes::of(selection, context);
    let draw = |panel: &Panel<'_>, wide: bool| match selection.figure.kind {
        FigureKind::Timeline => timeline(context, selection, panel, wide),
        _ => lines(context, selection, panel, &axes, wide),
    };
    let drawn: Vec<&Panel<'_>> = selection
        .panels
        .iter()
        .filter(|panel| match selection.figure.kind {
            FigureKind::Timeline => {
                panel.samples().any(|sample| !sample.record.timeline.is_empty())
            }
            _ => panel.samples().any(|sample| {
                selection.metric.number(sample.record, sample.subscription).is_some()
            }),
        })
        .collect();
    html! {
        (legend(context, selection))
        @if let [panel] = drawn[..] {
            div class="single" {
                @if !panel.title().is_empty() { p class="panel-title" { (capital(&panel.title())) } }
                (draw(panel, true)) (draw(panel, false))
            }
        } @else {
            div class=(columns(drawn.len())) {
                @for panel in drawn.iter().take(MOST_PANELS) {
                    div class="panel" { p class="panel-title" { (capital(&panel.title())) } (draw(panel, false)) }
                }
            }
            (left_out(drawn.len()))
        }
    }
}

fn rows(context: &Context<'_>, selection: &Selection<'_>) -> Markup {
    let panels = row_panels(context, selection);
    let scales = row_scales(context, selection, &panels);
    let own_scales = scales.windows(2).any(|pair| pair[0] != pair[1]);
    let layer_names = layer_names(selection);
    html! {
        @if selection.figure.kind == FigureKind::Layers {
            ul class="legend" {
                @for (index, name) in layer_names.iter().enumerate() { li { (Ink::counted(index).block()) (name) } }
            }
        }
        @if own_scales { p class="how" { "Each panel has a scale of its own." } }
        div class=(columns(panels.len())) {
            @for (panel, scale) in panels.iter().zip(&scales).take(MOST_PANELS) {
                div class="panel" {
                    @if !panel.title.is_empty() { p class="panel-title" { (capital(&panel.title)) } }
                    (row_figure(context, selection, panel, scale, &layer_names))
                }
            }
        }
        (left_out(panels.len()))
    }
}

/// Chooses the number of columns so that, if possible, no panel is alone in the last row.
fn columns(panels: usize) -> &'static str {
    match panels {
        1 => "panels one",
        2 | 4 => "panels two",
        _ => "panels",
    }
}

fn left_out(panels: usize) -> Markup {
    html! {
        @if panels > MOST_PANELS {
            p class="how" { "Drawn are the first " (MOST_PANELS) " of " (panels) " panels; the numbers of all are below." }
        }
    }
}

/// The legend of the series, with the name of the limit line if there is one.
fn legend(context: &Context<'_>, selection: &Selection<'_>) -> Markup {
    let limited = selection
        .panels
        .iter()
        .any(|panel| context.limits(selection, panel).iter().any(Option::is_some));
    html! {
        ul class="legend" {
            @for (series, _) in selection.series.values.iter().enumerate() {
                li { button type="button" data-series=(series) aria-pressed="false" {
                    (context.ink(selection, series).swatch()) (selection.series.label(series))
                } }
            }
            @if limited && selection.figure.kind == FigureKind::Lines {
                li { svg class="swatch limit" viewBox="0 0 28 12" width="28" height="12" aria-hidden="true" { path d="M1 6H27" {} } "floor" }
            }
        }
    }
}

/// The explanation of how to read the figure.
fn explanation(context: &Context<'_>, selection: &Selection<'_>) -> String {
    let repetitions =
        selection.samples().map(|sample| sample.record.repetition + 1).max().unwrap_or(0);
    let times = if repetitions == 1 {
        "one repetition".to_owned()
    } else {
        format!("{repetitions} repetitions")
    };
    let what = match selection.figure.kind {
        FigureKind::Lines => format!("{}; bands: 95 % interval where medians of times are shown, else the range. ", capital(&selection.metric.title())),
        FigureKind::Boxes => "Boxes hold the middle half, whiskers 90 % of the samples; the dot is the 99th percentile. ".to_owned(),
        FigureKind::Bars => "Thin lines: 95 % interval where medians of times are shown, else the range. ".to_owned(),
        FigureKind::Layers => "Median time in each layer, on top of each other. ".to_owned(),
        FigureKind::Matrix => format!("{} per cell. ", capital(&selection.metric.title())),
        FigureKind::Capability => "Works: every message arrived within its deadline. Late: some after it. Lossy: some did not arrive. Halts: nothing \
            arrived, or it hung. Initial loss: whether messages before the first that arrived were lost. The worst repetition counts. "
            .to_owned(),
        FigureKind::Timeline => "Lines: received in each second. Dotted: sent. ".to_owned(),
    };
    let marks = [&selection.series, &selection.x].iter().any(|names| names.has_marks());
    let only_limit = |panel| context.floor_name(selection, panel);
    let floor = selection.panels.iter().find_map(only_limit).map_or_else(String::new, |name| {
        let title = context.system(name).map_or(name, |system| title_of_variant(&system.title));
        let of_whom = match context.system(name).and_then(|system| system.callback) {
            Some(CallbackThread::OtherThread) if marks => ", for names without †",
            Some(CallbackThread::PublishingThread) if marks => ", for names with †",
            _ => "",
        };
        format!(" Limit line{of_whom}: {title} ({name}), in the same cells.")
    });
    let marks = if marks { format!(" {MARK_MEANS}") } else { String::new() };
    let only: Vec<String> = selection
        .figure
        .only
        .iter()
        .filter(|(dimension, _)| *dimension != "system")
        .map(|(dimension, values)| {
            let values: Vec<String> =
                values.iter().map(|value| dimension_value(dimension, value)).collect();
            format!("{} {}", dimension_title(dimension), values.join(" or "))
        })
        .collect();
    let only = if only.is_empty() { String::new() } else { format!(" Only {}.", only.join("; ")) };
    let records: Vec<&Record> = selection.samples().map(|sample| sample.record).collect();
    let measured = rates_and_counts(&records);
    let measured = if measured.is_empty() { times } else { format!("{measured}, {times}") };
    format!("{what}{}.{floor}{only}{marks}", capital(&measured))
}

/// The part of a title that describes the configuration, without its peer.
pub(crate) fn title_of_variant(title: &str) -> &str {
    title.split_once(", ").map_or(title, |(_, variant)| variant)
}

pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// The reasons why there is nothing to show, each with the number of cells.
fn not_measured(selection: &Selection<'_>) -> Markup {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for sample in selection.samples() {
        let reason = match &sample.record.status {
            Status::Complete => "it ended, but did not report this".to_owned(),
            Status::Failed(reason) => format!("failed: {reason}"),
            Status::Hung(reason) => format!("hung: {reason}"),
            Status::Skipped(reason) => format!("skipped: {reason}"),
        };
        *reasons.entry(reason).or_default() += 1;
    }
    html! {
        div class="empty" {
            @if reasons.is_empty() { p { "No cell of this figure has ended in this run." } }
            @else {
                p { "Nothing was measured:" }
                ul { @for (reason, cells) in reasons.iter().take(8) { li { (reason) " (" (cells) (if *cells == 1 { " cell)" } else { " cells)" }) } } }
            }
        }
    }
}
