//! Checks statements about cells: goals, and conclusions of documents.

mod along;

use along::along;

use super::groups::{Place, cells, label, median, varied};
use super::metric::Metric;
use super::quantity::{Unit, dimension_with_value};
use crate::record::{Check, Record, Status, System, Value};
use crate::statistics::{Repetition, median_over_repetitions};

/// With one repetition, a ratio that is closer to its bound than this factor decides nothing.
const MARGIN: f64 = 1.1;

/// The records that statements are about.
pub(crate) struct Scope<'s, 'a> {
    pub(crate) systems: &'s [System],
    pub(crate) records: &'s [&'a Record],
    pub(crate) seed: u64,
}

/// The outcome of a statement in one cell, or along a dimension.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome<'a> {
    /// The system; empty if the statement compares systems.
    pub(crate) system: String,
    /// The cell in words.
    pub(crate) cell: String,
    /// The number, or the numbers along the dimension.
    pub(crate) own: String,
    /// The reference and its number.
    pub(crate) reference: String,
    /// The number that is compared with the bound.
    pub(crate) result: String,
    /// The bound.
    pub(crate) wanted: String,
    /// Whether the median is within the bound; `None` if it was not measured.
    pub(crate) holds: Option<bool>,
    /// Whether the bound lies within the scatter, so that nothing is decided.
    pub(crate) is_undecided: bool,
    /// The reason why nothing was measured.
    pub(crate) reason: String,
    /// Whether any cell was possible.
    pub(crate) is_possible: bool,
    /// The records behind the numbers.
    pub(crate) records: Vec<&'a Record>,
}

/// A number with the range in which it may lie.
struct Found {
    number: f64,
    range: (f64, f64),
}

/// The outcomes of a statement: of each system in each of its cells.
pub(crate) fn outcomes<'a>(check: &Check, scope: &Scope<'_, 'a>) -> Vec<Outcome<'a>> {
    if check.is_across_systems() {
        return along(check, scope, "");
    }
    check
        .system
        .iter()
        .chain(&check.also)
        .flat_map(|system| {
            let mut found = Vec::new();
            if check.at_most.or(check.at_least).is_some() {
                found.extend(in_cells(check, scope, system));
            }
            found.extend(along(check, scope, system));
            found
        })
        .collect()
}

impl<'a> Scope<'_, 'a> {
    /// The records of the statement's cells; of all systems if the name is empty.
    fn own(&self, check: &Check, system: &str) -> Vec<&'a Record> {
        let is_wanted = |record: &&&Record| {
            let fits = |(name, values): (&String, &Vec<Value>)| {
                record.dimensions.get(name).is_some_and(|value| values.contains(value))
            };
            let is_own = match system {
                "" => check.order.iter().any(|name| record.dimensions.get("system") == Some(name)),
                name => record.word("system") == Some(name),
            };
            is_own && check.only.iter().all(fits)
        };
        self.records.iter().filter(is_wanted).copied().collect()
    }

    /// The records of the reference of a cell.
    fn reference(
        &self,
        check: &Check,
        system: &str,
        place: &Place,
    ) -> Result<Vec<&'a Record>, String> {
        let own_system = Value::Text(system.to_owned());
        let fits = |(name, value): (&String, &Value)| match check.reference.get(name) {
            Some(other) => value == other,
            None if name == "system" => *value == own_system,
            // A dimension may exist in one placement only.
            None => place.get(name).is_none_or(|own| own == value),
        };
        let is_wanted = |record: &&&Record| record.dimensions.iter().all(fits);
        let found: Vec<&'a Record> = self.records.iter().filter(is_wanted).copied().collect();
        match cells(&found, &[]).len() {
            0 | 1 => Ok(found),
            several => Err(format!("{several} cells fit the reference")),
        }
    }

    /// The reason why there is no number of a system.
    fn absence(&self, system: &str, records: &[&Record]) -> String {
        let missing = self.systems.iter().find(|known| known.name == system);
        if let Some(missing) = missing.and_then(|known| known.missing.as_ref()) {
            return missing.reason.clone();
        }
        let of_record = |record: &&Record| match (&record.status, record.why_left_out()) {
            (Status::Skipped(reason), _) => reason.clone(),
            (Status::Failed(reason), _) => format!("failed: {reason}"),
            (Status::Hung(reason), _) => format!("hung: {reason}"),
            (Status::Complete, Some(reason)) => reason,
            (Status::Complete, None) => "no cell has this number".to_owned(),
        };
        records.first().map_or_else(|| "this run has no such cell".to_owned(), of_record)
    }

    /// The median over the repetitions, with its range.
    fn number(&self, metric: &Metric, records: &[&Record]) -> Option<Found> {
        let numbers = numbers(metric, records).into_iter().map(|(_, number)| number).collect();
        self.found(numbers, 1.0)
    }

    /// The median of the ratios within the repetitions, with its range; a temporary disturbance of
    /// the machine affects all cells of a repetition alike.
    fn ratio(&self, metric: &Metric, own: &[&Record], other: &[&Record]) -> Option<Found> {
        let others = numbers(metric, other);
        let pair = |(repetition, own): (u32, f64)| {
            let same = others.iter().find(|(other, _)| *other == repetition)?;
            Some(own / Some(same.1).filter(|number| *number > 0.0)?)
        };
        self.found(numbers(metric, own).into_iter().filter_map(pair).collect(), MARGIN)
    }

    /// `margin`: the factor up to which one repetition may be wrong.
    fn found(&self, numbers: Vec<f64>, margin: f64) -> Option<Found> {
        let repetitions: Option<Vec<Repetition>> =
            numbers.iter().map(|number| Repetition::of_number(*number)).collect();
        let number = median(numbers)?;
        let range = match repetitions {
            Some(one) if one.len() == 1 => (number / margin, number * margin),
            Some(all) => median_over_repetitions(&all, self.seed)
                .map_or((number, number), |(_, (low, high))| (low.min(number), high.max(number))),
            None => (number, number),
        };
        Some(Found { number, range })
    }
}

/// The number of each repetition that counts as a result.
fn numbers(metric: &Metric, records: &[&Record]) -> Vec<(u32, f64)> {
    let of_record = |record: &&Record| Some((record.repetition, metric.number(record, None)?));
    records.iter().filter(|record| record.is_result()).filter_map(of_record).collect()
}

impl Outcome<'_> {
    /// Compares a number with the bounds.
    fn compare(&mut self, at_most: Option<f64>, at_least: Option<f64>, found: &Found) {
        let holds = |number: f64| {
            at_most.is_none_or(|most| number <= most)
                && at_least.is_none_or(|least| number >= least)
        };
        let (low, high) = found.range;
        self.holds = Some(holds(found.number));
        self.is_undecided = holds(low) != holds(found.number) || holds(high) != holds(found.number);
    }
}

/// Outcomes of a threshold: the number, or its ratio to the reference, in each cell of a system.
fn in_cells<'a>(check: &Check, scope: &Scope<'_, 'a>, system: &str) -> Vec<Outcome<'a>> {
    let all = scope.own(check, system);
    let mut own = cells(&all, &["system"]);
    own.retain(|(_, records)| is_possible(records));
    let is_compared = !check.reference.is_empty();
    let unit = if is_compared { Unit::Ratio } else { Metric::parse(&check.metric).unit() };
    if own.is_empty() {
        let wanted = bounds(check, unit);
        return vec![Outcome { wanted, ..nothing(scope, system, &all) }];
    }
    let names = names_of(own.iter().map(|(place, _)| place));
    own.iter()
        .map(|(place, records)| Outcome {
            system: system.to_owned(),
            cell: label(place, &names),
            wanted: bounds(check, unit),
            ..in_cell(check, scope, (system, place), records)
        })
        .collect()
}

fn in_cell<'a>(
    check: &Check,
    scope: &Scope<'_, 'a>,
    (system, place): (&str, &Place),
    records: &[&'a Record],
) -> Outcome<'a> {
    let metric = Metric::parse(&check.metric);
    let own = scope.number(&metric, records);
    let mut outcome = Outcome {
        own: show(metric.unit(), own.as_ref()),
        records: records.to_vec(),
        is_possible: true,
        ..Outcome::default()
    };
    if check.reference.is_empty() {
        outcome.result.clone_from(&outcome.own);
        match &own {
            Some(found) => outcome.compare(check.at_most, check.at_least, found),
            None => outcome.reason = scope.absence(system, records),
        }
        return outcome;
    }
    let other = match check.reference.get("system") {
        Some(Value::Text(name)) => name.as_str(),
        _ => system,
    };
    let beside = scope.reference(check, system, place);
    let others = beside.as_deref().unwrap_or_default();
    let ratio = scope.ratio(&metric, records, others);
    let number = scope.number(&metric, others);
    outcome.reference =
        format!("{} {}", reference_name(check), show(metric.unit(), number.as_ref()));
    outcome.result = show(Unit::Ratio, ratio.as_ref());
    outcome.records.extend(others);
    match (&ratio, beside.as_ref().err()) {
        (Some(found), _) => outcome.compare(check.at_most, check.at_least, found),
        (None, Some(reason)) => outcome.reason.clone_from(reason),
        (None, None) if own.is_none() => outcome.reason = scope.absence(system, records),
        (None, None) => outcome.reason = format!("{other}: {}", scope.absence(other, others)),
    }
    outcome
}

/// The reference in words: another system, other values of dimensions, or both.
fn reference_name(check: &Check) -> String {
    let words = check.reference.iter().map(|(name, value)| dimension_with_value(name, value));
    words.collect::<Vec<_>>().join(", ")
}

/// The outcome of a system without a possible cell.
fn nothing<'a>(scope: &Scope<'_, 'a>, system: &str, records: &[&'a Record]) -> Outcome<'a> {
    Outcome {
        system: system.to_owned(),
        reason: scope.absence(system, records),
        ..Outcome::default()
    }
}

/// A cell is possible unless all of its records were skipped.
fn is_possible(records: &[&Record]) -> bool {
    records.iter().any(|record| !matches!(record.status, Status::Skipped(_)))
}

/// The dimensions that name a cell: those that vary, and the payload.
fn names_of<'p>(places: impl Iterator<Item = &'p Place> + Clone) -> Vec<String> {
    let mut names = varied(places);
    let size = "size_bytes".to_owned();
    if !names.contains(&size) {
        names.push(size);
    }
    names
}

fn show(unit: Unit, found: Option<&Found>) -> String {
    found.map_or_else(|| "–".to_owned(), |found| unit.show(found.number))
}

/// The bounds of a threshold.
fn bounds(check: &Check, unit: Unit) -> String {
    let most = check.at_most.map(|most| format!("<= {}", unit.show(most)));
    let least = check.at_least.map(|least| format!(">= {}", unit.show(least)));
    [most, least].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}
