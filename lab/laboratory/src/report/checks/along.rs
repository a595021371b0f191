//! Statements about numbers along a dimension: whether they hardly vary, how they change, and which
//! of them is smaller.

use super::{Outcome, Scope, names_of, nothing};
use crate::record::{Check, Record, Status, Trend, Value};
use crate::report::groups::{cells, label};
use crate::report::metric::Metric;
use crate::report::quantity::{Unit, digits, dimension_title, dimension_with_value};
use crate::statistics::{Line, growth_exponent, power_law};

/// The largest distance of a point from a straight line, in percent of the line.
const LINE_PERCENT: f64 = 10.0;
/// The least power of a growth that is faster than a straight line.
const FASTER: f64 = 1.1;

/// The outcomes along a dimension: `flat`, `power`, `trend` and `order`. An empty system compares systems.
pub(super) fn along<'a>(check: &Check, scope: &Scope<'_, 'a>, system: &str) -> Vec<Outcome<'a>> {
    let all = scope.own(check, system);
    let possible: Vec<&Record> =
        all.iter().filter(|record| !matches!(record.status, Status::Skipped(_))).copied().collect();
    let series = cells(&possible, &["system", &check.across]);
    let mut wanted = Vec::from_iter(check.flat.map(Along::Flat));
    wanted.extend(check.power.map(Along::Power));
    wanted.extend(check.trend.map(Along::Trend));
    wanted.extend((!check.order.is_empty()).then_some(Along::Order(&check.order)));
    let mut found = Vec::new();
    for way in wanted {
        if series.is_empty() {
            let mut absent = nothing(scope, system, &all);
            if check.is_across_systems() {
                absent.reason = absent_systems(check, scope, &[]);
            }
            found.push(Outcome { wanted: way.wanted(check), ..absent });
        }
        let names = names_of(series.iter().map(|(place, _)| place));
        let names: Vec<String> = names.into_iter().filter(|name| *name != check.across).collect();
        for (place, records) in &series {
            let cell = [label(place, &names), way.title(check)];
            let cell: Vec<&str> =
                cell.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
            found.push(Outcome {
                system: system.to_owned(),
                cell: cell.join(", "),
                wanted: way.wanted(check),
                ..way.outcome(check, scope, records)
            });
        }
    }
    found
}

/// What numbers should do along a dimension.
enum Along<'c> {
    Flat(f64),
    Power(f64),
    Trend(Trend),
    Order(&'c [Value]),
}

/// A value of the dimension, its number, and its records.
type Point<'p, 'a> = (Value, f64, &'p [&'a Record]);

impl Along<'_> {
    fn title(&self, check: &Check) -> String {
        match self {
            Self::Flat(_) => {
                format!("largest / smallest of all {}", dimension_title(&check.across))
            }
            Self::Power(_) | Self::Trend(_) | Self::Order(_) => {
                format!("by {}", dimension_title(&check.across))
            }
        }
    }

    fn wanted(&self, check: &Check) -> String {
        match self {
            Self::Flat(most) => format!("<= {}×", digits(*most)),
            Self::Power(most) => format!("power <= {}", digits(*most)),
            Self::Trend(Trend::Falls) => "falls".to_owned(),
            Self::Trend(Trend::Rises) => "rises".to_owned(),
            Self::Trend(Trend::Linear) => format!("a straight line, within {LINE_PERCENT} %"),
            Self::Trend(Trend::Faster) => format!("faster than a line: power >= {FASTER}"),
            Self::Order(order) => {
                let names = order.iter().map(|value| dimension_with_value(&check.across, value));
                names.collect::<Vec<_>>().join(" <= ")
            }
        }
    }

    fn outcome<'a>(
        &self,
        check: &Check,
        scope: &Scope<'_, 'a>,
        records: &[&'a Record],
    ) -> Outcome<'a> {
        let metric = Metric::parse(&check.metric);
        let places = points(check, records);
        let points: Vec<Point<'_, 'a>> = places
            .iter()
            .filter_map(|(value, records)| {
                Some((value.clone(), scope.number(&metric, records)?.number, records.as_slice()))
            })
            .collect();
        let shown = points.iter().map(|(value, number, _)| {
            let value = dimension_with_value(&check.across, value);
            format!("{} ({value})", metric.unit().show(*number))
        });
        let mut outcome = Outcome {
            own: shown.collect::<Vec<_>>().join(", "),
            records: records.to_vec(),
            is_possible: true,
            ..Outcome::default()
        };
        match self {
            Self::Flat(most) => flat(*most, &points, &mut outcome),
            Self::Power(most) => grows(*most, &points, &mut outcome),
            Self::Trend(Trend::Linear) => linear(&points, &mut outcome),
            Self::Trend(Trend::Faster) => faster(&points, &mut outcome),
            Self::Trend(Trend::Falls) => {
                let ends = [points.first(), points.last()];
                ends_of(scope, &metric, ends, (Some(1.0), None), &mut outcome);
            }
            Self::Trend(Trend::Rises) => {
                let ends = [points.first(), points.last()];
                ends_of(scope, &metric, ends, (None, Some(1.0)), &mut outcome);
            }
            Self::Order(_) => ordered(scope, &metric, &points, &mut outcome),
        }
        if check.is_across_systems() {
            outcome.reason = absent_systems(check, scope, &points);
        } else if outcome.holds.is_none() {
            outcome.reason = match points.len() {
                0 => scope.absence("", records),
                few => format!("only {few} values of {} count", dimension_title(&check.across)),
            };
        }
        outcome
    }
}

/// The records at each value of the dimension, numbers by size; of an order, in the wanted order.
fn points<'a>(check: &Check, records: &[&'a Record]) -> Vec<(Value, Vec<&'a Record>)> {
    let mut places: Vec<(Value, Vec<&'a Record>)> = Vec::new();
    for &record in records {
        let Some(value) = record.dimensions.get(&check.across) else { continue };
        match places.iter_mut().find(|(known, _)| known == value) {
            Some((_, same)) => same.push(record),
            None => places.push((value.clone(), vec![record])),
        }
    }
    if check.order.is_empty() {
        places.sort_by(|(one, _), (other, _)| {
            one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
        });
        return places;
    }
    let at = |value: &Value| check.order.iter().position(|known| known == value);
    places.retain(|(value, _)| at(value).is_some());
    places.sort_by_key(|(value, _)| at(value));
    places
}

fn flat(most: f64, points: &[Point<'_, '_>], outcome: &mut Outcome<'_>) {
    let numbers = || points.iter().map(|(_, number, _)| *number);
    let least = numbers().reduce(f64::min).filter(|least| *least > 0.0);
    let ratio = least.zip(numbers().reduce(f64::max)).filter(|_| points.len() > 1);
    let ratio = ratio.map(|(least, largest)| largest / least);
    outcome.result = ratio.map_or_else(|| "–".to_owned(), |ratio| Unit::Ratio.show(ratio));
    outcome.holds = ratio.map(|ratio| ratio <= most);
}

fn linear(points: &[Point<'_, '_>], outcome: &mut Outcome<'_>) {
    let Some(line) = coordinates(points).and_then(|points| Line::through(&points)) else { return };
    outcome.result = format!(
        "within {} % of a line ({} points)",
        digits(line.worst_deviation_percent),
        points.len()
    );
    outcome.holds = Some(line.worst_deviation_percent <= LINE_PERCENT);
}

fn faster(points: &[Point<'_, '_>], outcome: &mut Outcome<'_>) {
    let Some(coordinates) = coordinates(points).filter(|points| points.len() >= 3) else { return };
    let power = growth_exponent(&coordinates);
    let shown =
        power.map_or("no steady growth".to_owned(), |power| format!("power {}", digits(power)));
    outcome.result = format!("{shown} ({} points)", points.len());
    outcome.holds = Some(power.is_some_and(|power| power >= FASTER));
}

/// Compares the power of a law through zero with a limit.
fn grows(most: f64, points: &[Point<'_, '_>], outcome: &mut Outcome<'_>) {
    let Some(power) = coordinates(points).and_then(|points| power_law(&points)) else { return };
    outcome.result = format!("power {} ({} points)", digits(power), points.len());
    outcome.holds = Some(power <= most);
}

/// The points as coordinates; `None` if the dimension has words.
fn coordinates(points: &[Point<'_, '_>]) -> Option<Vec<(f64, f64)>> {
    let coordinate = |(value, number, _): &Point<'_, '_>| match value {
        Value::Number(at) => Some((*at, *number)),
        Value::Text(_) => None,
    };
    points.iter().map(coordinate).collect()
}

/// Compares the ratio of the last number to the first with bounds.
fn ends_of(
    scope: &Scope<'_, '_>,
    metric: &Metric,
    ends: [Option<&Point<'_, '_>>; 2],
    (at_most, at_least): (Option<f64>, Option<f64>),
    outcome: &mut Outcome<'_>,
) {
    let [Some(first), Some(last)] = ends else { return };
    if first.0 == last.0 {
        return;
    }
    let Some(found) = scope.ratio(metric, last.2, first.2) else { return };
    outcome.result = Unit::Ratio.show(found.number);
    outcome.compare(at_most, at_least, &found);
}

/// Compares each number with the next one.
fn ordered(
    scope: &Scope<'_, '_>,
    metric: &Metric,
    points: &[Point<'_, '_>],
    outcome: &mut Outcome<'_>,
) {
    let mut results = Vec::new();
    let (mut fails, mut is_open) = (false, false);
    for pair in points.windows(2) {
        let Some(found) = scope.ratio(metric, pair[1].2, pair[0].2) else { continue };
        results.push(Unit::Ratio.show(found.number));
        let mut step = Outcome::default();
        step.compare(None, Some(1.0), &found);
        is_open |= step.is_undecided;
        fails |= step.holds == Some(false) && !step.is_undecided;
    }
    if results.is_empty() {
        return;
    }
    outcome.result = results.join(", then ");
    outcome.holds = Some(!fails);
    outcome.is_undecided = is_open && !fails;
}

/// The systems of an order without a number, and why.
fn absent_systems(check: &Check, scope: &Scope<'_, '_>, points: &[Point<'_, '_>]) -> String {
    let is_absent = |system: &&Value| points.iter().all(|(known, ..)| known != *system);
    let reasons = check.order.iter().filter(is_absent).filter_map(|system| match system {
        Value::Text(name) => {
            let only = Check { order: vec![system.clone()], ..check.clone() };
            Some(format!("{name}: {}", scope.absence(name, &scope.own(&only, ""))))
        }
        Value::Number(_) => None,
    });
    reasons.collect::<Vec<_>>().join("; ")
}
