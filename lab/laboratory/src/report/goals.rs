//! The goals that systems should reach relative to reference systems, and whether the systems have
//! reached them.

use super::groups::{Place, cells, label, median, varied};
use super::metric::Metric;
use super::quantity::{Unit, digits, dimension_title};
use super::results::Results;
use crate::record::{Goal, Record, Status};

/// A goal in one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalResult {
    /// The subject of the goal.
    pub title: String,
    /// The cell in words.
    pub cell: String,
    /// The system's number, with its unit.
    pub own: String,
    /// The reference system and its number.
    pub reference: String,
    /// The result: the ratio within each repetition, and its median over the repetitions.
    pub result: String,
    /// The bound to reach.
    pub wanted: String,
    /// Whether the goal is reached; `None` if nothing was measured.
    pub is_reached: Option<bool>,
}

impl GoalResult {
    /// The verdict for people.
    pub fn verdict(&self) -> &'static str {
        match self.is_reached {
            Some(true) => "reached",
            Some(false) => "missed",
            None => "not measured",
        }
    }
}

/// All goals of a run, in each cell of their scenarios.
pub fn goals(results: &Results) -> Vec<GoalResult> {
    let mut found = Vec::new();
    for scenario in &results.run.scenarios {
        let records: Vec<&Record> =
            results.records.iter().filter(|record| record.scenario == scenario.name).collect();
        for goal in &scenario.goals {
            found.extend(evaluate(goal, &records));
        }
    }
    found
}

fn evaluate(goal: &Goal, records: &[&Record]) -> Vec<GoalResult> {
    let of = |system: &str| -> Vec<&Record> {
        records.iter().filter(|record| record.word("system") == Some(system)).copied().collect()
    };
    let mut own = cells(&of(&goal.system), &["system"]);
    // Goals do not apply to impossible cells.
    own.retain(|(_, records)| {
        records.iter().any(|record| !matches!(record.status, Status::Skipped(_)))
    });
    let reference = goal.reference.as_deref().map(|name| cells(&of(name), &["system"]));
    let metric = Metric::parse(&goal.metric);
    let mut names = varied(own.iter().map(|(place, _)| place));
    let size = "size_bytes".to_owned();
    if !names.contains(&size) {
        names.push(size);
    }
    let mut found = Vec::new();
    if goal.at_most.or(goal.at_least).is_some() {
        for (place, records) in &own {
            let beside = reference.as_ref().map(|all| {
                let same = all.iter().find(|(other, _)| other == place);
                same.map_or(&[][..], |(_, records)| records)
            });
            found.push(in_cell(goal, &metric, &label(place, &names), records, beside));
        }
    }
    if let Some(flat) = goal.flat {
        found.extend(over_dimension(goal, &metric, &own, &names, flat));
    }
    found
}

fn in_cell(
    goal: &Goal,
    metric: &Metric,
    cell: &str,
    own: &[&Record],
    reference: Option<&[&Record]>,
) -> GoalResult {
    let result = match reference {
        None => numbers(metric, own),
        Some(reference) => ratio(metric, own, reference),
    };
    let unit = if reference.is_some() { Unit::Ratio } else { metric.unit() };
    let show = |unit: Unit, value: Option<f64>| {
        value.map_or_else(|| "–".to_owned(), |value| unit.show(value))
    };
    let named = goal.reference.as_ref().map_or_else(String::new, |name| {
        let number = reference.and_then(|records| numbers(metric, records));
        format!("{name} {}", show(metric.unit(), number))
    });
    let wanted = match (goal.at_most, goal.at_least) {
        (Some(most), _) => format!("<= {}", unit.show(most)),
        (None, least) => format!(">= {}", show(unit, least)),
    };
    GoalResult {
        title: goal.title.clone(),
        cell: cell.to_owned(),
        own: show(metric.unit(), numbers(metric, own)),
        reference: named,
        result: show(unit, result),
        wanted,
        is_reached: result.map(|result| {
            goal.at_most.is_none_or(|most| result <= most)
                && goal.at_least.is_none_or(|least| result >= least)
        }),
    }
}

/// The median over the repetitions.
fn numbers(metric: &Metric, records: &[&Record]) -> Option<f64> {
    let complete = records.iter().filter(|record| record.is_result());
    median(complete.filter_map(|record| metric.number(record, None)).collect())
}

/// The median of the ratios within the repetitions; a temporary disturbance of the machine affects
/// all cells of a repetition alike.
fn ratio(metric: &Metric, own: &[&Record], reference: &[&Record]) -> Option<f64> {
    let number =
        |record: &Record| record.is_result().then(|| metric.number(record, None)).flatten();
    let pair = |own: &&Record| {
        let same = reference.iter().find(|other| other.repetition == own.repetition)?;
        Some(number(own)? / number(same).filter(|number| *number > 0.0)?)
    };
    median(own.iter().filter_map(pair).collect())
}

/// The spread over the values of a dimension, in each cell that has several values.
fn over_dimension(
    goal: &Goal,
    metric: &Metric,
    own: &[(Place, Vec<&Record>)],
    names: &[String],
    flat: f64,
) -> Vec<GoalResult> {
    let all: Vec<&Record> = own.iter().flat_map(|(_, records)| records).copied().collect();
    let names: Vec<String> = names.iter().filter(|name| **name != goal.across).cloned().collect();
    let spread = |(place, records): &(Place, Vec<&Record>)| {
        let sizes = cells(records, &[]);
        let medians: Vec<f64> =
            sizes.iter().filter_map(|(_, records)| numbers(metric, records)).collect();
        let least = medians.iter().copied().reduce(f64::min).filter(|least| *least > 0.0);
        let most = medians.iter().copied().reduce(f64::max);
        let result =
            least.zip(most).filter(|_| medians.len() > 1).map(|(least, most)| most / least);
        let cell = [
            label(place, &names),
            format!("largest / smallest of all {}", dimension_title(&goal.across)),
        ];
        GoalResult {
            title: goal.title.clone(),
            cell: cell
                .iter()
                .filter(|word| !word.is_empty())
                .cloned()
                .collect::<Vec<_>>()
                .join(", "),
            own: String::new(),
            reference: String::new(),
            result: result.map_or_else(|| "–".to_owned(), |result| Unit::Ratio.show(result)),
            wanted: format!("<= {}×", digits(flat)),
            is_reached: result.map(|result| result <= flat),
        }
    };
    cells(&all, &["system", &goal.across]).iter().map(spread).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::record::Value;

    fn record(system: &str, repetition: u32, size: f64, rate: f64) -> Record {
        Record {
            scenario: "s".into(),
            dimensions: BTreeMap::from([
                ("system".to_owned(), Value::Text(system.to_owned())),
                ("size_bytes".to_owned(), Value::Number(size)),
            ]),
            repetition,
            values: BTreeMap::from([("rate".to_owned(), rate)]),
            ..Record::default()
        }
    }

    fn goal(at_most: Option<f64>, at_least: Option<f64>, flat: Option<f64>) -> Goal {
        Goal {
            title: "g".into(),
            system: "own".into(),
            reference: Some("other".into()),
            metric: "rate".into(),
            at_most,
            at_least,
            flat,
            across: "size_bytes".into(),
        }
    }

    fn verdicts(goal: &Goal, records: &[Record]) -> Vec<Option<bool>> {
        let records: Vec<&Record> = records.iter().collect();
        evaluate(goal, &records).iter().map(|result| result.is_reached).collect()
    }

    /// The ratios are 2, 3 and 4; in one more repetition, the reference failed.
    fn rounds() -> Vec<Record> {
        let pairs = [(2.0, 1.0), (30.0, 10.0), (8.0, 2.0), (1000.0, 1.0)];
        let mut all = Vec::new();
        for (repetition, (own, other)) in (0..).zip(pairs) {
            all.push(record("own", repetition, 256.0, own));
            all.push(record("other", repetition, 256.0, other));
        }
        if let Some(last) = all.last_mut() {
            last.status = Status::Failed("it fell".into());
        }
        all
    }

    #[test]
    fn results_are_of_repetitions_and_skip_failed_ones() {
        let rounds = rounds();
        assert_eq!(verdicts(&goal(Some(3.0), None, None), &rounds), [Some(true)]);
        assert_eq!(verdicts(&goal(Some(2.9), None, None), &rounds), [Some(false)]);
        assert_eq!(verdicts(&goal(None, Some(3.0), None), &rounds), [Some(true)]);
        assert_eq!(verdicts(&goal(None, Some(3.1), None), &rounds), [Some(false)]);
        assert_eq!(verdicts(&goal(Some(1.0), None, None), &[]), []);
        let alone = Goal { reference: None, ..goal(Some(19.0), None, None) };
        assert_eq!(verdicts(&alone, &rounds), [Some(true)]);
        let below = Goal { at_most: Some(18.9), ..alone };
        assert_eq!(verdicts(&below, &rounds), [Some(false)]);
    }

    #[test]
    fn a_goal_without_measurement_is_neither_reached_nor_missed() {
        let own = [record("own", 0, 256.0, 1.0)];
        assert_eq!(verdicts(&goal(Some(1.0), None, None), &own), [None]);
    }

    #[test]
    fn payloads_that_are_far_apart_are_not_flat() {
        let sizes = [record("own", 0, 256.0, 10.0), record("own", 0, 4096.0, 13.0)];
        assert_eq!(verdicts(&goal(None, None, Some(1.3)), &sizes), [Some(true)]);
        assert_eq!(verdicts(&goal(None, None, Some(1.29)), &sizes), [Some(false)]);
    }
}
