//! The conclusions of documents, checked with the cells of a run. Each is reproduced, refuted, or
//! not measured here, with the reason.

mod doubts;
mod page;
mod text;

pub(crate) use page::{in_scenario, section};
pub(crate) use text::{write_in_scenario, write_section};

use super::checks::{Outcome, Scope, outcomes};
use super::measured::conditions;
use super::quantity::dimension_with_value;
use super::results::Results;
use crate::record::{Check, Condition, Record, Scenario, Value};

/// The limit on cells whose numbers are part of a sentence.
const MOST_CELLS: usize = 3;

/// A conclusion of a document, and what the cells of the run show.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The name of the scenario.
    pub scenario: String,
    /// The document: `M16`, `K21`, `C23` or `R20`.
    pub document: String,
    /// The figure or table of the document.
    pub item: String,
    /// The conclusion, as a sentence.
    pub conclusion: String,
    /// The numbers that the document prints; may be empty.
    pub paper: String,
    /// The finding that the cells show.
    pub ruling: Ruling,
    /// The reasons why cells were not measured; of a conclusion that was measured, the reasons for
    /// its other cells.
    pub reason: String,
    /// The numbers of each system in each cell.
    pub rows: Vec<VerdictRow>,
    /// The reasons to doubt the numbers: lost messages, a publisher that was held back.
    pub doubts: Vec<String>,
    /// The conditions of the document, and those of the cells that decide.
    pub conditions: Vec<Condition>,
}

/// The answer of the cells of a run to a conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling {
    /// Every cell shows what the document concludes.
    Reproduced,
    /// A cell shows the contrary.
    Refuted,
    /// A bound lies within the scatter of the numbers, and no cell shows the contrary.
    Undecided,
    /// No cell was measured.
    NotMeasured,
}

/// The numbers of one system in one cell, or along a dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictRow {
    /// The system; empty if systems are compared.
    pub system: String,
    /// The cell in words.
    pub cell: String,
    /// The number, or the numbers along the dimension.
    pub own: String,
    /// The reference and its number.
    pub reference: String,
    /// The number that is compared with the bound.
    pub result: String,
    /// The bound.
    pub wanted: String,
    /// Whether the row shows what the document concludes; `None` if it decides nothing.
    pub holds: Option<bool>,
    /// Whether the row counts for the verdict; the others are shown beside it.
    pub decides: bool,
    /// The reason why nothing was measured; empty if the row has a number.
    pub reason: String,
}

impl Ruling {
    /// The ruling for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Refuted => "refuted",
            Self::Undecided => "not decided here",
            Self::NotMeasured => "not measured here",
        }
    }
}

impl VerdictRow {
    /// The finding of the row, in words.
    pub fn word(&self) -> &str {
        match self.holds {
            Some(true) => "as concluded",
            Some(false) => "the contrary",
            None if self.reason.is_empty() => "within the scatter",
            None => &self.reason,
        }
    }

    /// The numbers in words.
    fn numbers(&self) -> String {
        let system =
            if self.system.is_empty() { String::new() } else { format!("{} ", self.system) };
        let reference = if self.reference.is_empty() {
            String::new()
        } else {
            format!(" against {}", self.reference)
        };
        let result = if self.result == self.own || self.result.is_empty() {
            String::new()
        } else {
            format!(": {}", self.result)
        };
        format!("{system}{}{reference}{result}", self.own)
    }
}

impl Verdict {
    /// The numbers behind the ruling in words, or the reason why there is no number.
    pub fn numbers(&self) -> String {
        if self.ruling == Ruling::NotMeasured {
            return self.reason.clone();
        }
        let mut deciding: Vec<&VerdictRow> = self.rows.iter().filter(|row| row.decides).collect();
        // The contrary comes first: it is what decides.
        deciding.sort_by_key(|row| row.holds != Some(false));
        let mut text = listed(&deciding);
        let agreeing = deciding.iter().filter(|row| row.holds == Some(true)).count();
        if deciding.len() > 1 {
            text.push_str(&format!("; as concluded in {agreeing} of {} cells", deciding.len()));
        }
        if let Some(row) = deciding.first() {
            text.push_str(&format!(" (concluded: {})", row.wanted));
        }
        if !self.reason.is_empty() {
            text.push_str(&format!(". Not measured: {}", self.reason));
        }
        text
    }

    /// The numbers of the systems that do not decide; may be empty.
    pub fn others(&self) -> String {
        let others = self.rows.iter().filter(|row| !row.decides && row.reason.is_empty());
        listed(&others.collect::<Vec<_>>())
    }
}

/// The numbers of a few rows in words.
fn listed(rows: &[&VerdictRow]) -> String {
    let shown = rows.iter().take(MOST_CELLS).map(|row| match row.cell.as_str() {
        "" => row.numbers(),
        cell => format!("{cell}: {}", row.numbers()),
    });
    let mut shown: Vec<String> = shown.collect();
    if rows.len() > MOST_CELLS {
        shown.push(format!("and {} more", rows.len() - MOST_CELLS));
    }
    shown.join("; ")
}

/// The verdicts of a run, by document and figure.
pub fn verdicts(results: &Results) -> Vec<Verdict> {
    let run = &results.run;
    let mut found = Vec::new();
    for scenario in &run.scenarios {
        let records: Vec<&Record> =
            results.records.iter().filter(|record| record.scenario == scenario.name).collect();
        let scope = Scope { systems: &run.systems, records: &records, seed: run.seed };
        found.extend(scenario.verdicts.iter().map(|check| verdict(scenario, check, &scope)));
    }
    found.sort_by_cached_key(|verdict| (verdict.document.clone(), place_of(&verdict.item)));
    found
}

/// The place of a figure in its document: its kind, then its number.
fn place_of(item: &str) -> (String, u32) {
    let (kind, number) = item.rsplit_once(' ').unwrap_or((item, ""));
    match number.parse() {
        Ok(number) => (kind.to_owned(), number),
        Err(_) => (item.to_owned(), 0),
    }
}

fn verdict(scenario: &Scenario, check: &Check, scope: &Scope<'_, '_>) -> Verdict {
    let found = outcomes(check, scope);
    let decider = decider(check, &found);
    let deciding: Vec<&Outcome<'_>> =
        found.iter().filter(|outcome| Some(&outcome.system) == decider).collect();
    let measured: Vec<&Record> = deciding
        .iter()
        .filter(|outcome| outcome.holds.is_some())
        .flat_map(|outcome| outcome.records.iter().copied())
        .filter(|record| record.is_result())
        .collect();
    let ruling = ruling(&deciding);
    let mut reasons = reasons(check, &found, decider);
    if ruling != Ruling::NotMeasured {
        reasons.extend(absent_cells(check, &deciding, &measured));
    }
    Verdict {
        scenario: scenario.name.clone(),
        document: scenario.document.clone(),
        item: check.item.clone(),
        conclusion: check.title.clone(),
        paper: check.paper.clone(),
        ruling,
        reason: reasons.join("; "),
        rows: found.iter().map(|outcome| row(outcome, decider)).collect(),
        doubts: doubts::doubts(check, &measured),
        conditions: conditions(scenario, scope.systems, &measured),
    }
}

/// The system that decides: the first of the conclusion's systems with a number.
fn decider<'o>(check: &Check, found: &'o [Outcome<'_>]) -> Option<&'o String> {
    let mut measured = found.iter().filter(|outcome| outcome.holds.is_some());
    let decides = |outcome: &&Outcome<'_>| !check.also.contains(&outcome.system);
    measured.find(decides).map(|outcome| &outcome.system)
}

fn ruling(deciding: &[&Outcome<'_>]) -> Ruling {
    let mut measured = deciding.iter().filter(|outcome| outcome.holds.is_some()).peekable();
    if measured.peek().is_none() {
        return Ruling::NotMeasured;
    }
    let decided: Vec<Option<bool>> = measured.map(|outcome| decided(outcome)).collect();
    if decided.contains(&Some(false)) {
        Ruling::Refuted
    } else if decided.contains(&None) {
        Ruling::Undecided
    } else {
        Ruling::Reproduced
    }
}

/// Whether an outcome shows what the document concludes, if it decides anything.
fn decided(outcome: &Outcome<'_>) -> Option<bool> {
    outcome.holds.filter(|_| !outcome.is_undecided)
}

fn row(outcome: &Outcome<'_>, decider: Option<&String>) -> VerdictRow {
    VerdictRow {
        system: outcome.system.clone(),
        cell: outcome.cell.clone(),
        own: outcome.own.clone(),
        reference: outcome.reference.clone(),
        result: outcome.result.clone(),
        wanted: outcome.wanted.clone(),
        holds: decided(outcome),
        decides: outcome.holds.is_some() && Some(&outcome.system) == decider,
        reason: match outcome.holds {
            Some(_) => String::new(),
            None => outcome.reason.clone(),
        },
    }
}

/// The reasons why systems of a conclusion were not measured, each once.
fn reasons(check: &Check, found: &[Outcome<'_>], decider: Option<&String>) -> Vec<String> {
    let is_absent = |outcome: &&Outcome<'_>| {
        let is_other = Some(&outcome.system) != decider && !check.also.contains(&outcome.system);
        outcome.holds.is_none() && is_other
    };
    let mut reasons: Vec<String> = Vec::new();
    for outcome in found.iter().filter(is_absent) {
        let reason = match outcome.system.as_str() {
            "" => outcome.reason.clone(),
            system => format!("{system}: {}", outcome.reason),
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

/// The cells of a measured conclusion that have no number.
fn absent_cells(check: &Check, deciding: &[&Outcome<'_>], measured: &[&Record]) -> Vec<String> {
    let mut absent: Vec<String> = Vec::new();
    for (name, values) in &check.only {
        // Words may be alternatives, such as the QoS of different grids.
        let is_absent = |value: &&Value| {
            matches!(value, Value::Number(_))
                && measured.iter().all(|record| record.dimensions.get(name) != Some(*value))
        };
        let values = values.iter().filter(is_absent);
        absent.extend(values.map(|value| dimension_with_value(name, value)));
    }
    for outcome in deciding.iter().filter(|outcome| !outcome.reason.is_empty()) {
        absent.push(match outcome.cell.as_str() {
            cell if outcome.holds.is_none() && !cell.is_empty() => {
                format!("{cell} ({})", outcome.reason)
            }
            _ => outcome.reason.clone(),
        });
    }
    absent
}

#[cfg(test)]
mod tests;
