//! `feros lab goals`: the goals of a run, and whether it reached them.

use std::path::PathBuf;

use feros_lab::report::{Results, goals};

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
    print(&results)
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
