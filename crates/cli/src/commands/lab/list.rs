//! `feros lab list`.

use std::process::ExitCode;

use super::places::Places;
use crate::error::CliError;
use crate::output;

/// What is looked at.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    places: Places,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let scenarios = args.places.scenarios()?;
    let rows = scenarios.iter().map(|scenario| {
        let grids: Vec<&str> = scenario.grids().map(feros_lab::scenario::Grid::word).collect();
        vec![scenario.name(), scenario.source(), grids.join(" "), scenario.title().to_owned()]
    });
    output::print_table(&["scenario", "re-runs", "grids", "what"], rows)?;
    let peers = args.places.peers()?;
    let rows = peers.iter().map(|peer| vec![peer.name.clone(), peer.manifest.title.clone()]);
    output::print("\n")?;
    output::print_table(&["system", "what"], rows)?;
    Ok(ExitCode::SUCCESS)
}
