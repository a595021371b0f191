//! Sentences about the growth of a number with the number of nodes or subscriptions.

use crate::record::Value;
use crate::report::context::Context;
use crate::report::quantity::digits;
use crate::report::selection::{Panel, Selection};
use crate::statistics::{Line, growth_exponent, power_law};

/// The limit on places in a sentence about the growth of discovery.
const MOST_PLACES: usize = 4;

/// Sentences for numbers of nodes or subscriptions: the increase per additional node or
/// subscription, the number of points behind it, and the power of the growth, since a straight line
/// through a few points hides that the growth is faster.
pub(super) fn growth(context: &Context<'_>, selection: &Selection<'_>) -> Option<String> {
    let counted = ["nodes", "subscriptions"].contains(&selection.x.name.as_str());
    let panel = selection.panels.first().filter(|_| counted && selection.x.values.len() >= 3)?;
    let of_series = |series: usize| {
        let points = points_of(context, selection, panel, series);
        let line = Line::through(&points)?;
        let name = name_of(selection, series);
        let power = growth_exponent(&points)
            .map_or(String::new(), |power| format!(", power {}", digits(power)));
        let slope = selection.metric.unit().show(line.slope);
        Some(format!("{name} {slope} ({} points{power})", points.len()))
    };
    let slopes: Vec<String> =
        (0..selection.series.values.len().max(1)).filter_map(of_series).collect();
    if slopes.is_empty() {
        return None;
    }
    let title = selection.place_title(panel);
    let place = if title.is_empty() { String::new() } else { format!(" ({title})") };
    let one = selection.x.name.trim_end_matches('s');
    Some(format!(
        "A straight line through {}{place} adds for each {one}: {}. The power is that of the growth \
         from the first point on: 1 is a straight line, 2 a square.",
        selection.metric.title(),
        slopes.join(", ")
    ))
}

/// The values of x with the estimates of a series.
fn points_of(
    context: &Context<'_>,
    selection: &Selection<'_>,
    panel: &Panel<'_>,
    series: usize,
) -> Vec<(f64, f64)> {
    let of_value = |(x, value): (usize, &Value)| match value {
        Value::Number(number) => {
            Some((*number, context.estimate(selection, panel.cell(series, x))?.value))
        }
        Value::Text(_) => None,
    };
    selection.x.values.iter().enumerate().filter_map(of_value).collect()
}

fn name_of(selection: &Selection<'_>, series: usize) -> String {
    let name = selection.series.label(series);
    if name.is_empty() { "all".to_owned() } else { name }
}

/// A sentence about discovery: the power with which a number grows with the number of processes.
pub(super) fn powers(context: &Context<'_>, selection: &Selection<'_>) -> Option<String> {
    if selection.x.name != "nodes" {
        return None;
    }
    let of_panel = |panel: &Panel<'_>| {
        let of_series = |series: usize| {
            let points = points_of(context, selection, panel, series);
            let power = digits(power_law(&points)?);
            Some(format!("{} {power} ({} points)", name_of(selection, series), points.len()))
        };
        let all = 0..selection.series.values.len().max(1);
        let named: Vec<String> = all.filter_map(of_series).collect();
        let title = selection.place_title(panel);
        let place = if title.is_empty() { String::new() } else { format!("{title}: ") };
        (!named.is_empty()).then(|| format!("{place}{}", named.join(", ")))
    };
    let places: Vec<String> =
        selection.panels.iter().filter_map(of_panel).take(MOST_PLACES).collect();
    (!places.is_empty()).then(|| {
        format!(
            "Growth of the {}, as a power of the number of nodes (1 is a straight line through \
             zero, 2 a square): {}.",
            selection.metric.title(),
            places.join("; ")
        )
    })
}
