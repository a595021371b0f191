//! Several runs in one report, such as the parts of a grid that were measured on different days.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use maud::{Markup, html};

use super::escape::escaped;
use super::groups::median;
use super::quantity::{Unit, digits, duration, moment};
use super::results::{Part, ReadError, Results};
use super::tables::scrolling;
use crate::record::{FORMAT, Record, Run, System};

impl Part {
    fn of(results: &Results) -> Self {
        let run = &results.run;
        let noise = |name: &str| {
            median(results.records.iter().filter_map(|one| one.noise.get(name).copied()).collect())
        };
        Self {
            name: run.grid.clone(),
            began_unix_seconds: run.began_unix_seconds,
            ended_unix_seconds: run.ended_unix_seconds,
            cells: results.records.len(),
            load: noise("load"),
            stolen_percent: noise("stolen_percent"),
        }
    }

    fn seconds(&self) -> Option<f64> {
        Some(self.ended_unix_seconds?.saturating_sub(self.began_unix_seconds) as f64)
    }

    /// The row of a table, in the order of [`HEADING`].
    fn row(&self) -> [String; 6] {
        let absent = || "–".to_owned();
        [
            self.name.clone(),
            moment(self.began_unix_seconds),
            self.seconds().map_or_else(|| "not ended".to_owned(), duration),
            self.cells.to_string(),
            self.load.map_or_else(absent, digits),
            self.stolen_percent.map_or_else(absent, |percent| Unit::Percent.show(percent)),
        ]
    }
}

const HEADING: [&str; 6] = ["part", "began", "took", "cells", "load", "stolen"];

const MEANING: &str = "Each part is a run of its own, whole in itself: the systems of a figure and \
                       their floors took turns within one part. Load and stolen processor time are \
                       the medians over its cells.";

impl Results {
    /// Reads the folders of several runs, such as the parts of a grid, and joins them into one. A
    /// scenario that several of them have measured keeps the description of the first; the records
    /// of the others count as further repetitions.
    ///
    /// # Errors
    /// If nothing in one of the folders can be used, or there is no folder.
    pub fn read_parts(folders: &[PathBuf]) -> Result<Self, ReadError> {
        let runs: Vec<Self> =
            folders.iter().map(|folder| Self::read(folder)).collect::<Result<_, _>>()?;
        joined(runs).ok_or_else(|| ReadError::NoRun(PathBuf::from(".")))
    }
}

/// Joins runs into one. A scenario that several runs have measured keeps the description of the
/// first; the records of the others count as further repetitions. Nothing if there is no run.
fn joined(mut runs: Vec<Results>) -> Option<Results> {
    if runs.len() < 2 {
        return runs.pop();
    }
    let parts: Vec<Part> = runs.iter().map(Part::of).collect();
    let ends: Option<Vec<u64>> = parts.iter().map(|part| part.ended_unix_seconds).collect();
    let mut whole = Results {
        run: Run {
            format: FORMAT,
            grid: words(&runs, |run| run.grid.as_str(), ", "),
            command: words(&runs, |run| run.command.as_str(), "\n"),
            seed: runs.first().map_or(0, |one| one.run.seed),
            began_unix_seconds: parts.iter().map(|part| part.began_unix_seconds).min().unwrap_or(0),
            ended_unix_seconds: ends.and_then(|ends| ends.into_iter().max()),
            environment: environment(&runs),
            systems: systems(&runs),
            scenarios: Vec::new(),
            floors: runs.iter().flat_map(|one| one.run.floors.iter().cloned()).collect(),
        },
        records: Vec::new(),
        notices: Vec::new(),
        parts,
    };
    for one in runs {
        for scenario in one.run.scenarios {
            if whole.run.scenarios.iter().all(|known| known.name != scenario.name) {
                whole.run.scenarios.push(scenario);
            }
        }
        let before = repetitions(&whole.records);
        whole.records.extend(one.records.into_iter().map(|record| {
            let first = before.get(&record.scenario).copied().unwrap_or(0);
            Record { repetition: record.repetition.saturating_add(first), ..record }
        }));
        whole.notices.extend(one.notices);
    }
    Some(whole)
}

/// A text of each run, one after the other.
fn words(runs: &[Results], of: impl Fn(&Run) -> &str, between: &str) -> String {
    runs.iter().map(|one| of(&one.run)).collect::<Vec<_>>().join(between)
}

/// The number of repetitions of each scenario.
fn repetitions(records: &[Record]) -> BTreeMap<String, u32> {
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for record in records {
        let most = found.entry(record.scenario.clone()).or_default();
        *most = (*most).max(record.repetition.saturating_add(1));
    }
    found
}

/// The texts of the runs under one name: one text if they agree, otherwise each with its run.
fn agreed(said: &[(&str, &str)]) -> String {
    let mut distinct: Vec<(&str, Vec<&str>)> = Vec::new();
    for &(run, text) in said {
        match distinct.iter_mut().find(|(known, _)| *known == text) {
            Some((_, runs)) => runs.push(run),
            None => distinct.push((text, vec![run])),
        }
    }
    match distinct.as_slice() {
        [(only, _)] => (*only).to_owned(),
        several => several
            .iter()
            .map(|(text, runs)| format!("{text} ({})", runs.join(", ")))
            .collect::<Vec<_>>()
            .join("; "),
    }
}

/// The facts about the machine; a fact that differs between runs has their names.
fn environment(runs: &[Results]) -> BTreeMap<String, String> {
    let mut said: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for one in runs {
        for (name, value) in &one.run.environment {
            said.entry(name.as_str()).or_default().push((one.run.grid.as_str(), value.as_str()));
        }
    }
    said.into_iter().map(|(name, said)| (name.to_owned(), agreed(&said))).collect()
}

/// Every system of the runs, once, with its version in each run. A system counts as missing only
/// if no run has measured it.
fn systems(runs: &[Results]) -> Vec<System> {
    let mut found: Vec<System> = Vec::new();
    for system in runs.iter().flat_map(|one| &one.run.systems) {
        match found.iter_mut().find(|known| known.name == system.name) {
            None => found.push(system.clone()),
            Some(known) if system.missing.is_none() => known.missing = None,
            Some(_) => {}
        }
    }
    for system in &mut found {
        let said: Vec<(&str, &str)> = runs
            .iter()
            .flat_map(|one| one.run.systems.iter().map(move |other| (one.run.grid.as_str(), other)))
            .filter(|(_, other)| other.name == system.name)
            .filter_map(|(run, other)| Some((run, other.version.as_deref()?)))
            .collect();
        system.version = (!said.is_empty()).then(|| agreed(&said));
    }
    found
}

/// The time that the run took, or its parts together; `None` if any of them has not ended.
pub(super) fn seconds(results: &Results) -> Option<f64> {
    if results.parts.is_empty() {
        return Part::of(results).seconds();
    }
    results.parts.iter().map(Part::seconds).sum()
}

/// The section of the page on the parts; nothing for a single run.
pub(super) fn section(results: &Results) -> Markup {
    let table = html! {
        table {
            thead { tr { @for word in HEADING { th scope="col" { (word) } } } }
            tbody {
                @for part in &results.parts {
                    tr { @for cell in part.row() { td { (cell) } } }
                }
            }
        }
    };
    html! {
        @if !results.parts.is_empty() {
            section id="parts" {
                h2 { "Parts" }
                p { (MEANING) }
                (scrolling("Parts", &table))
            }
        }
    }
}

/// Writes the parts into the summary; nothing for a single run.
pub(super) fn write(text: &mut String, results: &Results) {
    if results.parts.is_empty() {
        return;
    }
    let rule = "---|".repeat(HEADING.len());
    let _ = writeln!(text, "## Parts\n\n{MEANING}\n\n| {} |\n|{rule}", HEADING.join(" | "));
    for part in &results.parts {
        let _ = writeln!(text, "| {} |", part.row().map(|cell| escaped(&cell)).join(" | "));
    }
    text.push('\n');
}
