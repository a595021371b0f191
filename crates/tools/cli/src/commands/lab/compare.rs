//! `feros lab compare`: compares two runs, cell by cell.

use std::path::PathBuf;

use feros_lab::report::{Results, compare_runs};

use super::report::warn;
use crate::error::CliError;
use crate::{notices, output};

/// The runs to compare.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of the first run
    first: PathBuf,
    /// The folder of the second run; ratios are second / first
    second: PathBuf,
    /// Also write the comparison as a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show only the cells with a clear difference
    #[arg(long)]
    differences: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let read = |folder: &PathBuf| -> Result<Results, CliError> {
        let results = Results::read(folder).map_err(CliError::failed)?;
        warn(&results.notices);
        Ok(results)
    };
    let found =
        compare_runs(&read(&args.first)?, &read(&args.second)?).map_err(CliError::failed)?;
    found.warnings.iter().for_each(notices::warn);
    for reason in &found.refused {
        notices::note(format!("not compared: {reason}"));
    }
    let shown = found.cells.iter().filter(|cell| !args.differences || cell.better.is_some());
    let rows = shown.map(|cell| {
        let words =
            [&cell.scenario, &cell.system, &cell.cell, &cell.metric, &cell.first, &cell.second];
        let mut row: Vec<String> = words.into_iter().cloned().collect();
        row.extend([cell.ratio(), cell.verdict().to_owned()]);
        row
    });
    let heading = ["experiment", "system", "cell", "what", "first", "second", "second / first", ""];
    output::print_table(&heading, rows)?;
    let (better, worse, same) = found.counts();
    output::print(&format!(
        "\n{better} better, {worse} worse, {same} without a clear difference\n"
    ))?;
    if let Some(path) = &args.html {
        std::fs::write(path, found.html()).map_err(|error| {
            CliError::failed(format!("{} cannot be written: {error}", path.display()))
        })?;
        output::print_lines([path.display().to_string()])?;
    }
    Ok(())
}
