//! Draws lines over a dimension, each with its confidence band, and messages over time.

use maud::{Markup, html};

use super::canvas::{Frame, px};
use super::context::Context;
use super::palette::Ink;
use super::quantity::{Unit, dimension_title, dimension_value};
use super::scale::Scale;
use super::selection::{Estimate, Panel, Selection};

/// A point of a line: its position, its interval, and the text shown when pointed at.
struct Point {
    share: f64,
    estimate: Estimate,
}

/// The axes that all panels of a figure share, so that they can be compared by eye.
pub(crate) struct LineAxes {
    x: Scale,
    y: Scale,
    unit: Unit,
}

impl LineAxes {
    pub(crate) fn of(selection: &Selection<'_>, context: &Context<'_>) -> Self {
        let unit = selection.metric.unit();
        let mut numbers = Vec::new();
        for panel in &selection.panels {
            for series in 0..selection.series.values.len().max(1) {
                for x in 0..selection.x.values.len() {
                    if let Some(estimate) = context.estimate(selection, panel.cell(series, x)) {
                        numbers.extend([estimate.value, estimate.interval.0, estimate.interval.1]);
                    }
                }
            }
            numbers.extend(context.limits(selection, panel).into_iter().flatten());
        }
        // Only a linear scale shows whether latency grows linearly with the number of nodes. What
        // discovery costs grows by a power, so that small robots would lie on the axis.
        let counted = ["nodes", "subscriptions"].contains(&selection.x.name.as_str())
            && !selection.is_of_discovery();
        let y = if counted {
            Scale::from_zero(numbers.into_iter())
        } else {
            Scale::of_values(numbers.into_iter())
        };
        Self { x: Scale::of_dimension(&selection.x.values), y, unit }
    }
}

fn frame(wide: bool) -> Frame {
    if wide {
        Frame { width: 860.0, height: 400.0, left: 62.0, right: 22.0, top: 26.0, bottom: 40.0 }
    } else {
        Frame { width: 420.0, height: 300.0, left: 58.0, right: 18.0, top: 26.0, bottom: 40.0 }
    }
}

pub(crate) fn lines(
    context: &Context<'_>,
    selection: &Selection<'_>,
    panel: &Panel<'_>,
    axes: &LineAxes,
    wide: bool,
) -> Markup {
    let frame = frame(wide);
    let marks: Vec<(f64, String)> = selection
        .x
        .values
        .iter()
        .enumerate()
        .map(|(index, value)| {
            (inset(axes.x.at_value(index, value)), dimension_value(&selection.x.name, value))
        })
        .collect();
    let floor = context.limits(selection, panel);
    let content = html! {
        (frame.vertical_axis(&axes.y, axes.unit, &selection.metric.title()))
        (frame.horizontal_axis(&marks, &dimension_title(&selection.x.name), false))
        (limit_line(&frame, selection, axes, &floor))
        @for series in 0..selection.series.values.len().max(1) {
            @let ink = context.ink(selection, series);
            @let name = selection.series.label(series);
            (line(&frame, axes, &points(context, selection, panel, axes, series), ink, &name, series))
        }
    };
    let title = context.panel_title(selection, panel);
    let class = if wide { "wide" } else { "narrow" };
    frame.image(class, &title, &context.description(selection, panel), &content)
}

/// Keeps points away from the edge of the area.
fn inset(share: f64) -> f64 {
    0.02 + share * 0.96
}

fn points(
    context: &Context<'_>,
    selection: &Selection<'_>,
    panel: &Panel<'_>,
    axes: &LineAxes,
    series: usize,
) -> Vec<Point> {
    let values = selection.x.values.iter().enumerate();
    values
        .filter_map(|(index, value)| {
            let estimate = context.estimate(selection, panel.cell(series, index))?;
            Some(Point { share: inset(axes.x.at_value(index, value)), estimate })
        })
        .collect()
}

fn line(
    frame: &Frame,
    axes: &LineAxes,
    points: &[Point],
    ink: Ink,
    name: &str,
    series: usize,
) -> Markup {
    let at = |point: &Point, number: f64| {
        format!("{} {}", px(frame.x(point.share)), px(frame.y(axes.y.at(number))))
    };
    let middle: Vec<String> = points.iter().map(|point| at(point, point.estimate.value)).collect();
    let upper = points.iter().map(|point| at(point, point.estimate.interval.1));
    let lower = points.iter().rev().map(|point| at(point, point.estimate.interval.0));
    let band: Vec<String> = upper.chain(lower).collect();
    html! {
        g class={ "series " (ink.class()) } data-series=(series) {
            @if points.len() > 1 {
                path class="band" d={ "M" (band.join("L")) "Z" } {}
                path class="line" d={ "M" (middle.join("L")) } {}
            }
            @for point in points {
                @let (x, y) = (frame.x(point.share), frame.y(axes.y.at(point.estimate.value)));
                g class=(if point.estimate.whole { "point" } else { "point partial" }) {
                    (ink.marker(x, y, 3.4))
                    title { (name) ": " (shown(axes.unit, &point.estimate)) }
                }
            }
        }
    }
}

/// A number with its interval.
pub(crate) fn shown(unit: Unit, estimate: &Estimate) -> String {
    let (low, high) = estimate.interval;
    let partial = if estimate.whole { "" } else { ", incomplete" };
    if low == high {
        return format!("{}{partial}", unit.show(estimate.value));
    }
    format!("{} ({} to {}){partial}", unit.show(estimate.value), unit.show(low), unit.show(high))
}

fn limit_line(
    frame: &Frame,
    selection: &Selection<'_>,
    axes: &LineAxes,
    floor: &[Option<f64>],
) -> Markup {
    let values = selection.x.values.iter().enumerate();
    let mut places: Vec<(f64, f64)> = values
        .zip(floor)
        .filter_map(|((index, value), nanos)| {
            Some((inset(axes.x.at_value(index, value)), (*nanos)?))
        })
        .collect();
    // A limit that was measured at only one value of x gets a short line there.
    if let [(share, nanos)] = places[..] {
        places = vec![((share - 0.03).max(0.0), nanos), ((share + 0.03).min(1.0), nanos)];
    }
    let Some(&(last_share, last_nanos)) = places.last() else { return html! {} };
    let path: Vec<String> = places
        .iter()
        .map(|&(share, nanos)| format!("{} {}", px(frame.x(share)), px(frame.y(axes.y.at(nanos)))))
        .collect();
    let y = frame.y(axes.y.at(last_nanos));
    let beside = if y + 18.0 > frame.y(0.0) { y - 5.0 } else { y + 14.0 };
    html! {
        g class="limit" {
            path d={ "M" (path.join("L")) } {}
            text x=(px(frame.x(last_share))) y=(px(beside)) text-anchor="end" { "floor" }
        }
    }
}

/// Draws messages per second since the first message: sent messages as a dotted line, received
/// messages as a solid line.
pub(crate) fn timeline(
    context: &Context<'_>,
    selection: &Selection<'_>,
    panel: &Panel<'_>,
    wide: bool,
) -> Markup {
    let frame = frame(wide);
    let rows: Vec<(usize, Vec<(f64, f64)>)> = (0..selection.series.values.len().max(1))
        .map(|series| (series, mean_timeline(selection, panel, series)))
        .filter(|(_, seconds)| !seconds.is_empty())
        .collect();
    let longest = selection
        .samples()
        .map(|sample| sample.record.timeline.len())
        .max()
        .unwrap_or(0)
        .min(LONGEST_TIMELINE);
    let highest = selection
        .samples()
        .flat_map(|sample| &sample.record.timeline)
        .map(|(sent, got)| *sent.max(got) as f64);
    let y = Scale::of_values(std::iter::once(0.0).chain(highest));
    let x = Scale::Linear { low: 0.0, high: longest.saturating_sub(1).max(1) as f64 };
    let marks: Vec<(f64, String)> =
        x.ticks(Unit::Seconds, 6).into_iter().map(|(second, text)| (x.at(second), text)).collect();
    let path = |of: &dyn Fn(&(f64, f64)) -> f64, seconds: &[(f64, f64)]| {
        let points: Vec<String> = seconds
            .iter()
            .enumerate()
            .map(|(second, pair)| {
                format!("{} {}", px(frame.x(x.at(second as f64))), px(frame.y(y.at(of(pair)))))
            })
            .collect();
        format!("M{}", points.join("L"))
    };
    let content = html! {
        (frame.vertical_axis(&y, Unit::PerSecond, "messages per second"))
        (frame.horizontal_axis(&marks, "time since the first message", false))
        @for (series, seconds) in &rows {
            @let ink = context.ink(selection, *series);
            g class={ "series time " (ink.class()) } data-series=(series) {
                path class="sent" d=(path(&|pair| pair.0, seconds)) {}
                path class="line" d=(path(&|pair| pair.1, seconds)) {}
                @if let Some((second, pair)) = seconds.iter().enumerate().next_back() {
                    (ink.marker(frame.x(x.at(second as f64)), frame.y(y.at(pair.1)), 3.4))
                }
                title { (selection.series.label(*series)) ", received (line) and sent (dotted)" }
            }
        }
    };
    let class = if wide { "wide" } else { "narrow" };
    frame.image(
        class,
        &context.panel_title(selection, panel),
        &context.description(selection, panel),
        &content,
    )
}

/// The longest timeline in seconds (one hour). A longer timeline is cut off.
const LONGEST_TIMELINE: usize = 3600;

/// The messages sent and received in each second, as the mean over repetitions.
pub(crate) fn mean_timeline(
    selection: &Selection<'_>,
    panel: &Panel<'_>,
    series: usize,
) -> Vec<(f64, f64)> {
    let samples: Vec<_> =
        (0..selection.x.values.len().max(1)).flat_map(|x| panel.cell(series, x)).collect();
    let longest = samples
        .iter()
        .map(|sample| sample.record.timeline.len())
        .max()
        .unwrap_or(0)
        .min(LONGEST_TIMELINE);
    let of_second = |second: usize| {
        let known: Vec<(u64, u64)> = samples
            .iter()
            .filter_map(|sample| sample.record.timeline.get(second).copied())
            .collect();
        let mean = |of: fn(&(u64, u64)) -> u64| {
            known.iter().map(|pair| of(pair) as f64).sum::<f64>() / known.len() as f64
        };
        (mean(|pair| pair.0), mean(|pair| pair.1))
    };
    (0..longest).map(of_second).collect()
}
