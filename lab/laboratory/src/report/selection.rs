//! Selects the records that a figure shows, and assigns them to panels, series and values of x.
//!
//! The first dimension of [`Figure::series`] distinguishes the series within a panel. Every other
//! dimension in that list makes separate panels. Every dimension in which the records differ also
//! makes separate panels, even if the figure does not name it: results of different conditions are
//! never combined.

use std::collections::BTreeMap;

use super::floors::is_of_floor;
use super::metric::{Metric, Statistic};
use super::quantity::{dimension_value, dimension_with_value};
use super::sample::Sample;
use super::threads;
use crate::record::{Distribution, Figure, FigureKind, Record, Run, Status, Value};
use crate::statistics::{Repetition, median_over_repetitions};

/// A dimension and the values that occur in it, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dimension {
    pub(crate) name: String,
    pub(crate) values: Vec<Value>,
    /// The values whose name is marked with [`threads::MARK`].
    marked: Vec<Value>,
}

impl Dimension {
    pub(crate) fn label(&self, index: usize) -> String {
        let Some(value) = self.values.get(index) else { return String::new() };
        let label = dimension_value(&self.name, value);
        if self.marked.contains(value) { format!("{label} {}", threads::MARK) } else { label }
    }

    /// Whether any name is marked.
    pub(crate) fn has_marks(&self) -> bool {
        !self.marked.is_empty()
    }
}

/// The records that a figure shows.
pub(crate) struct Selection<'a> {
    pub(crate) figure: &'a Figure,
    pub(crate) metric: Metric,
    pub(crate) series: Dimension,
    pub(crate) x: Dimension,
    pub(crate) panels: Vec<Panel<'a>>,
    /// The values that all shown records share, but other records of the scenario do not have.
    restriction: Vec<(String, Value)>,
}

/// One panel of a figure.
pub(crate) struct Panel<'a> {
    pub(crate) key: Vec<(String, Value)>,
    cells: BTreeMap<(usize, usize), Vec<Sample<'a>>>,
}

/// A number with its interval and its number of repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) interval: (f64, f64),
    pub(crate) repetitions: usize,
    /// Whether all programs did their work; if not, the number is the result until a program
    /// failed.
    pub(crate) whole: bool,
}

impl Panel<'_> {
    pub(crate) fn title(&self) -> String {
        title_of(&self.key)
    }
}

/// Formats dimensions and their values for people.
fn title_of<'v>(values: impl IntoIterator<Item = &'v (String, Value)>) -> String {
    let parts: Vec<String> = values
        .into_iter()
        .map(|(dimension, value)| match (dimension.as_str(), value) {
            ("placement", Value::Text(placement)) => placement_words(placement).to_owned(),
            _ => dimension_with_value(dimension, value),
        })
        .collect();
    parts.join(", ")
}

impl<'a> Panel<'a> {
    pub(crate) fn cell(&self, series: usize, x: usize) -> &[Sample<'a>] {
        self.cells.get(&(series, x)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn samples(&self) -> impl Iterator<Item = &Sample<'a>> {
        self.cells.values().flatten()
    }
}

impl<'a> Selection<'a> {
    pub(crate) fn new(figure: &'a Figure, run: &Run, records: &[&'a Record]) -> Self {
        let y = if figure.y.is_empty() { "latency" } else { &figure.y };
        let metric = Metric::parse(y);
        let named = |dimension: &str| {
            figure.x == dimension || figure.series.iter().any(|name| name == dimension)
        };
        let samples: Vec<Sample<'a>> = records
            .iter()
            // Limits are drawn as separate lines, never as series.
            .filter(|record| !is_of_floor(record))
            .flat_map(|&record| each(record, named("subscription")))
            .filter(|sample| wanted(figure, sample))
            .collect();
        // The dimension on the axis cannot also distinguish series.
        let first = figure.series.iter().find(|name| **name != figure.x);
        let series_name = match first {
            Some(name) if *name != "layer" && *name != "second" => name.clone(),
            _ if figure.x != "system" => "system".to_owned(),
            _ => String::new(),
        };
        let dimension = |name: &str| Dimension {
            name: name.to_owned(),
            values: values_of(name, run, &samples),
            marked: if name == "system" { threads::marked(run, &samples) } else { Vec::new() },
        };
        let (series, x) = (dimension(&series_name), dimension(&figure.x));
        let further = further_dimensions(figure, &series_name, run, &samples);
        let panels = panels_of(&samples, &series, &x, &further);
        let restriction = restriction_of(figure, records);
        Self { figure, metric, series, x, panels, restriction }
    }

    /// The conditions of a panel, for a sentence outside its figure.
    pub(crate) fn place_title(&self, panel: &Panel<'_>) -> String {
        title_of(self.restriction.iter().chain(&panel.key))
    }

    pub(crate) fn samples(&self) -> impl Iterator<Item = &Sample<'a>> {
        self.panels.iter().flat_map(Panel::samples)
    }

    /// Whether the processes of a robot found each other in the shown cells.
    pub(crate) fn is_of_discovery(&self) -> bool {
        self.samples().any(|sample| sample.record.dimensions.contains_key("topology"))
    }

    /// Whether there is anything to draw.
    pub(crate) fn is_measured(&self) -> bool {
        self.samples().any(|sample| match self.figure.kind {
            FigureKind::Layers => !sample.record.layers.is_empty(),
            FigureKind::Timeline => !sample.record.timeline.is_empty(),
            FigureKind::Capability => true,
            _ => self.metric.number(sample.record, sample.subscription).is_some(),
        })
    }
}

fn each(record: &Record, by_subscription: bool) -> Vec<Sample<'_>> {
    if by_subscription && !record.subscriptions.is_empty() {
        (0..record.subscriptions.len())
            .map(|index| Sample { record, subscription: Some(index) })
            .collect()
    } else {
        vec![Sample { record, subscription: None }]
    }
}

fn wanted(figure: &Figure, sample: &Sample<'_>) -> bool {
    figure.only.iter().all(|(dimension, allowed)| {
        sample.value(dimension).is_some_and(|value| allowed.contains(&value))
    })
}

/// The values to which a figure is restricted, if its scenario has other values too.
fn restriction_of(figure: &Figure, records: &[&Record]) -> Vec<(String, Value)> {
    let is_other = |dimension: &str, value: &Value| {
        let mut known = records.iter().filter_map(|record| record.dimensions.get(dimension));
        known.any(|other| other != value)
    };
    let single = figure.only.iter().filter_map(|(dimension, allowed)| match allowed.as_slice() {
        [value] if is_other(dimension, value) => Some((dimension.clone(), value.clone())),
        _ => None,
    });
    single.collect()
}

/// The dimensions that make panels, with their values.
fn further_dimensions(
    figure: &Figure,
    series: &str,
    run: &Run,
    samples: &[Sample<'_>],
) -> Vec<Dimension> {
    let within_one = ["layer", "second", "subscription", "repetition"];
    let mut names: Vec<&str> = figure.series.iter().skip(1).map(String::as_str).collect();
    let mut unnamed: Vec<&str> = samples
        .iter()
        .flat_map(|sample| sample.record.dimensions.keys())
        .map(String::as_str)
        .collect();
    unnamed.sort_unstable();
    unnamed.dedup();
    names.extend(unnamed);
    let mut further: Vec<Dimension> = Vec::new();
    for name in names {
        let shown = name == series
            || name == figure.x
            || further.iter().any(|dimension| dimension.name == name);
        let inner = within_one.contains(&name)
            && !figure.series.iter().any(|series| series == name && name == "subscription");
        if shown || inner {
            continue;
        }
        let values = values_of(name, run, samples);
        if values.len() > 1 {
            further.push(Dimension { name: name.to_owned(), values, marked: Vec::new() });
        }
    }
    further
}

fn panels_of<'a>(
    samples: &[Sample<'a>],
    series: &Dimension,
    x: &Dimension,
    further: &[Dimension],
) -> Vec<Panel<'a>> {
    let index = |dimension: &Dimension, sample: &Sample<'_>| {
        let value = sample.value(&dimension.name);
        value.and_then(|value| dimension.values.iter().position(|known| *known == value))
    };
    let mut panels: BTreeMap<Vec<Option<usize>>, Panel<'a>> = BTreeMap::new();
    for sample in samples {
        let place: Vec<Option<usize>> =
            further.iter().map(|dimension| index(dimension, sample)).collect();
        let key = || {
            let known = further.iter().zip(&place).filter_map(|(dimension, &at)| {
                Some((dimension.name.clone(), dimension.values.get(at?)?.clone()))
            });
            known.collect()
        };
        let panel = panels
            .entry(place.clone())
            .or_insert_with(|| Panel { key: key(), cells: BTreeMap::new() });
        let at = (index(series, sample).unwrap_or(0), index(x, sample).unwrap_or(0));
        panel.cells.entry(at).or_default().push(*sample);
    }
    panels.into_values().collect()
}

/// The values that occur: systems and placements in their fixed order, numbers by size, other words
/// in order of appearance.
pub(crate) fn values_of(dimension: &str, run: &Run, samples: &[Sample<'_>]) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    for value in samples.iter().filter_map(|sample| sample.value(dimension)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values.sort_by(|a, b| match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::Text(a), Value::Text(b)) => {
            place_of(dimension, a, run).cmp(&place_of(dimension, b, run))
        }
        (Value::Number(_), Value::Text(_)) => std::cmp::Ordering::Less,
        (Value::Text(_), Value::Number(_)) => std::cmp::Ordering::Greater,
    });
    values
}

/// The rank of a word in its dimension. Words without a fixed order have equal ranks, so they stay
/// in the order of appearance.
fn place_of(dimension: &str, word: &str, run: &Run) -> usize {
    let place = match dimension {
        "system" => run.systems.iter().position(|system| system.name == word),
        "placement" => PLACEMENTS.iter().position(|placement| *placement == word),
        _ => Some(0),
    };
    place.unwrap_or(usize::MAX)
}

/// The placements, from far to near.
pub(crate) const PLACEMENTS: [&str; 4] = ["remote", "local", "composed", "intra"];

/// A placement for people.
pub(crate) fn placement_words(placement: &str) -> &str {
    match placement {
        "remote" => "between two hosts",
        "local" => "between two processes of a host",
        "composed" => "in one process, as between processes",
        "intra" => "in one process, by pointer",
        other => other,
    }
}

/// The joint estimate of samples that differ only in their repetition.
///
/// A median of times gets the bootstrap interval over repetitions and samples; any other number is
/// the mean of its repetitions, with their range as the interval.
pub(crate) fn estimate(metric: &Metric, samples: &[Sample<'_>], seed: u64) -> Option<Estimate> {
    let measured: Vec<(&Sample<'_>, f64)> = samples
        .iter()
        .filter_map(|sample| Some((sample, metric.number(sample.record, sample.subscription)?)))
        .collect();
    if measured.is_empty() {
        return None;
    }
    let repetitions = measured.len();
    let whole = measured.iter().all(|(sample, _)| sample.record.status == Status::Complete);
    if matches!(metric, Metric::Latency(Statistic::Median) | Metric::PublishCall(Statistic::Median))
        && let Some((value, interval)) =
            median_over_repetitions(&repetitions_of(metric, samples), seed)
    {
        return Some(Estimate { value, interval, repetitions, whole });
    }
    let numbers = || measured.iter().map(|(_, number)| *number);
    let value = numbers().sum::<f64>() / repetitions as f64;
    let interval =
        (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
    Some(Estimate { value, interval, repetitions, whole })
}

/// The repetitions of samples, ready to be compared with others.
pub(crate) fn repetitions_of(metric: &Metric, samples: &[Sample<'_>]) -> Vec<Repetition> {
    let of_one = |sample: &Sample<'_>| match metric {
        Metric::Latency(Statistic::Median) | Metric::PublishCall(Statistic::Median) => {
            Repetition::of(&metric.distribution(sample.record, sample.subscription)?)
        }
        _ => Repetition::of_number(metric.number(sample.record, sample.subscription)?),
    };
    samples.iter().filter_map(of_one).collect()
}

/// The distributions of all samples merged into one.
pub(crate) fn distribution(metric: &Metric, samples: &[Sample<'_>]) -> Option<Distribution> {
    let parts: Vec<Distribution> = samples
        .iter()
        .filter_map(|sample| metric.distribution(sample.record, sample.subscription))
        .collect();
    Distribution::merged(&parts)
}
