//! The goals that systems should reach relative to reference systems, and whether the systems have
//! reached them.

use super::checks::{Outcome, Scope, outcomes};
use super::results::Results;
use crate::record::{Check, Record};

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
        let scope =
            Scope { systems: &results.run.systems, records: &records, seed: results.run.seed };
        found.extend(scenario.goals.iter().flat_map(|goal| evaluate(goal, &scope)));
    }
    found
}

fn evaluate(goal: &Check, scope: &Scope<'_, '_>) -> Vec<GoalResult> {
    // Goals do not apply to impossible cells.
    let possible = outcomes(goal, scope).into_iter().filter(|outcome| outcome.is_possible);
    let result = |outcome: Outcome<'_>| {
        let Outcome { system, cell, own, reference, result, wanted, holds, .. } = outcome;
        let cell = if goal.system.len() > 1 { format!("{system}, {cell}") } else { cell };
        let result = if result.is_empty() { "–".to_owned() } else { result };
        let title = goal.title.clone();
        GoalResult { title, cell, own, reference, result, wanted, is_reached: holds }
    };
    possible.map(result).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::record::{Status, Value};

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

    fn goal(at_most: Option<f64>, at_least: Option<f64>, flat: Option<f64>) -> Check {
        Check {
            title: "g".into(),
            system: vec!["own".into()],
            reference: [("system".to_owned(), Value::Text("other".into()))].into(),
            metric: "rate".into(),
            at_most,
            at_least,
            flat,
            ..Check::default()
        }
    }

    fn verdicts(goal: &Check, records: &[Record]) -> Vec<Option<bool>> {
        let records: Vec<&Record> = records.iter().collect();
        let scope = Scope { systems: &[], records: &records, seed: 1 };
        evaluate(goal, &scope).iter().map(|result| result.is_reached).collect()
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
        let alone = Check { reference: BTreeMap::new(), ..goal(Some(19.0), None, None) };
        assert_eq!(verdicts(&alone, &rounds), [Some(true)]);
        let below = Check { at_most: Some(18.9), ..alone };
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
