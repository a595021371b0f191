//! `feros lab goals`: the goals of a run, and whether it reached them, and the conclusions of
//! documents, and whether it shows them.

use std::path::PathBuf;

use feros_lab::report::{Results, Verdict, goals, verdicts};

use super::report::warn;
use crate::error::CliError;
use crate::output;

/// The run whose goals are shown.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of a run
    dir: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let results = Results::read(&args.dir).map_err(CliError::failed)?;
    warn(&results.notices);
    print(&results)?;
    print_verdicts(&verdicts(&results))
}

/// Prints the conclusions of documents as a table, or nothing if there are no conclusions.
fn print_verdicts(verdicts: &[Verdict]) -> Result<(), CliError> {
    if verdicts.is_empty() {
        return Ok(());
    }
    let rows = verdicts.iter().map(|verdict| {
        let figure = format!("{} {}", verdict.document, verdict.item);
        let ruling = verdict.ruling.word().to_owned();
        vec![figure, verdict.conclusion.clone(), ruling, verdict.numbers(), verdict.paper.clone()]
    });
    let heading = ["figure", "conclusion", "", "here", "in the document"];
    output::print_table(&heading, rows)
}

/// Prints the goals of a run as a table, or nothing if the run has no goals.
pub(super) fn print(results: &Results) -> Result<(), CliError> {
    let goals = goals(results);
    if goals.is_empty() {
        return Ok(());
    }
    let missed = goals.iter().filter(|goal| goal.is_reached == Some(false)).count();
    let rows = goals.iter().map(|goal| {
        let words =
            [&goal.title, &goal.cell, &goal.own, &goal.reference, &goal.result, &goal.wanted];
        let mut row: Vec<String> = words.into_iter().cloned().collect();
        row.push(goal.verdict().to_owned());
        row
    });
    output::print_table(&["goal", "cell", "here", "reference", "result", "wanted", ""], rows)?;
    output::print(&format!("\n{} goals, {missed} missed\n", goals.len()))
}
