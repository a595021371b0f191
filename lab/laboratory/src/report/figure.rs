//! One figure of a scenario: its panels, its legend, and its numbers in a table.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::lines::{LineAxes, lines, timeline};
use super::palette::{Ink, Palette};
use super::quantity::{dimension_title, dimension_value, dimension_with_value};
use super::rows::{layer_names, row_figure, row_panels, row_scales};
use super::selection::{
    Estimate, Panel, Sample, Selection, estimate, floor_at, floor_of_placement, link_nanos,
};
use super::tables;
use crate::record::{Figure, FigureKind, Record, Run, Status, Value};

/// More panels than this are not looked at; their numbers are in the table.
const MOST_PANELS: usize = 24;

type EstimateKey = (String, Vec<(usize, Option<usize>)>);

/// What all figures of a report share.
pub(crate) struct Context<'a> {
    pub(crate) run: &'a Run,
    pub(crate) records: &'a [Record],
    pub(crate) palette: Palette,
    estimates: RefCell<BTreeMap<EstimateKey, Option<Estimate>>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(run: &'a Run, records: &'a [Record]) -> Self {
        Self { run, records, palette: Palette::of(run), estimates: RefCell::default() }
    }

    /// The records of a scenario.
    pub(crate) fn of_scenario(&self, name: &str) -> Vec<&'a Record> {
        self.records.iter().filter(|record| record.scenario == name).collect()
    }

    /// As [`estimate`], each computed once.
    pub(crate) fn estimate(
        &self,
        selection: &Selection<'_>,
        samples: &[Sample<'_>],
    ) -> Option<Estimate> {
        let place =
            |sample: &Sample<'_>| (std::ptr::from_ref(sample.record) as usize, sample.subscription);
        let key = (format!("{:?}", selection.metric), samples.iter().map(place).collect());
        if let Some(known) = self.estimates.borrow().get(&key) {
            return *known;
        }
        let found = estimate(&selection.metric, samples, self.run.seed);
        self.estimates.borrow_mut().insert(key, found);
        found
    }

    pub(crate) fn ink(&self, selection: &Selection<'_>, series: usize) -> Ink {
        self.palette.ink(&selection.series.name, selection.series.values.get(series), series)
    }

    /// The name of the floor that limits a panel.
    pub(crate) fn floor_name(
        &self,
        selection: &Selection<'_>,
        panel: &Panel<'_>,
    ) -> Option<String> {
        if !selection.metric.has_floor() {
            return None;
        }
        let known = |name: &str| self.run.floors.iter().any(|floor| floor.name == name);
        if let Some(name) = selection.figure.floor.as_deref().filter(|name| known(name)) {
            return Some(name.to_owned());
        }
        let placements: BTreeSet<String> = panel
            .samples()
            .filter_map(|sample| match sample.value("placement") {
                Some(Value::Text(placement)) => Some(placement),
                _ => None,
            })
            .collect();
        // Where several placements stand beside each other, the limit of the nearest is the limit
        // of all.
        let name = placements
            .iter()
            .map(|placement| floor_of_placement(placement))
            .min_by_key(|name| name.len());
        name.filter(|name| known(name)).map(str::to_owned)
    }

    /// The limit of this machine for each value of x, nanoseconds: hops times the floor, and what
    /// the link needs at its rate.
    pub(crate) fn floors(&self, selection: &Selection<'_>, panel: &Panel<'_>) -> Vec<Option<f64>> {
        let Some(name) = self.floor_name(selection, panel) else { return Vec::new() };
        let least = |dimension: &str, at: usize| {
            let of_x = match selection.x.values.get(at) {
                Some(Value::Number(number)) if selection.x.name == dimension => Some(*number),
                _ => None,
            };
            let number = |sample: &Sample<'_>| match sample.value(dimension) {
                Some(Value::Number(number)) => Some(number),
                _ => None,
            };
            of_x.or_else(|| panel.samples().filter_map(number).reduce(f64::min))
        };
        let limit = |at: usize| {
            let size = least("size_bytes", at).unwrap_or(0.0);
            let hops = least("nodes", at).map_or(1.0, |nodes| (nodes - 1.0).max(1.0));
            let link = panel
                .samples()
                .map(|sample| link_nanos(sample, size))
                .reduce(f64::min)
                .unwrap_or(0.0);
            Some(floor_at(&self.run.floors, &name, size)? * hops + link)
        };
        (0..selection.x.values.len().max(1)).map(limit).collect()
    }

    pub(crate) fn panel_title(&self, selection: &Selection<'_>, panel: &Panel<'_>) -> String {
        let title = panel.title();
        if title.is_empty() { selection.figure.title.clone() } else { title }
    }

    /// `payload 4 KB`, or the word alone.
    pub(crate) fn x_title(&self, selection: &Selection<'_>, x: usize) -> String {
        selection
            .x
            .values
            .get(x)
            .map_or_else(String::new, |value| dimension_with_value(&selection.x.name, value))
    }

    /// For who cannot see the image.
    pub(crate) fn description(&self, selection: &Selection<'_>, panel: &Panel<'_>) -> String {
        let names: Vec<String> = (0..selection.series.values.len())
            .map(|series| selection.series.label(series))
            .collect();
        let over = match selection.figure.kind {
            FigureKind::Timeline => "messages per second over time".to_owned(),
            _ => {
                format!("{} over {}", selection.metric.title(), dimension_title(&selection.x.name))
            }
        };
        let floor = self
            .floor_name(selection, panel)
            .map_or(String::new(), |name| format!(" Limit line: the floor {name}."));
        format!("{over}, for {}.{floor} The numbers are in the table below.", names.join(", "))
    }
}

/// A figure with heading, legend, panels and numbers.
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
                @if !panel.title().is_empty() { p class="panel-title" { (panel.title()) } }
                (draw(panel, true)) (draw(panel, false))
            }
        } @else {
            div class=(columns(drawn.len())) {
                @for panel in drawn.iter().take(MOST_PANELS) {
                    div class="panel" { p class="panel-title" { (panel.title()) } (draw(panel, false)) }
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
                    @if !panel.title.is_empty() { p class="panel-title" { (panel.title) } }
                    (row_figure(context, selection, panel, scale, &layer_names))
                }
            }
        }
        (left_out(panels.len()))
    }
}

/// No panel stands alone in the last line where that can be avoided.
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

/// What distinguishes lines. The limit line is named where there is one.
fn legend(context: &Context<'_>, selection: &Selection<'_>) -> Markup {
    let limited = selection
        .panels
        .iter()
        .any(|panel| context.floors(selection, panel).iter().any(Option::is_some));
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

/// How the figure is to be read.
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
    let floors: BTreeSet<String> =
        selection.panels.iter().filter_map(|panel| context.floor_name(selection, panel)).collect();
    let limited =
        matches!(selection.figure.kind, FigureKind::Lines | FigureKind::Boxes | FigureKind::Bars);
    let floor = match floors.len() {
        _ if !limited => String::new(),
        0 if selection.metric.has_floor()
            && !matches!(
                selection.figure.kind,
                FigureKind::Layers | FigureKind::Capability | FigureKind::Timeline
            ) =>
        {
            " No floor was measured for it.".to_owned()
        }
        0 => String::new(),
        _ => format!(
            " Limit line: {}, on this machine in this run.",
            Vec::from_iter(floors).join(" or ")
        ),
    };
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
    format!("{what}{}.{floor}{only}", capital(&times))
}

pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// Why there is nothing to show: each reason with the number of cells.
fn not_measured(selection: &Selection<'_>) -> Markup {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for sample in selection.samples() {
        let reason = match &sample.record.status {
            Status::Complete => "it ended, but did not say this".to_owned(),
            Status::Failed(reason) => format!("failed: {reason}"),
            Status::Hung(reason) => format!("hung: {reason}"),
            Status::Skipped(reason) => format!("skipped: {reason}"),
        };
        *reasons.entry(reason).or_default() += 1;
    }
    html! {
        div class="empty" {
            @if reasons.is_empty() { p { "No cell of it has ended in this run." } }
            @else {
                p { "Nothing was measured:" }
                ul { @for (reason, cells) in reasons.iter().take(8) { li { (reason) " (" (cells) (if *cells == 1 { " cell)" } else { " cells)" }) } } }
            }
        }
    }
}
