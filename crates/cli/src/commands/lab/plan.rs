//! `feros lab plan`.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use feros_lab::machine::Machine;
use feros_lab::peer::Peers;
use feros_lab::peer_builder::{PeerBuilder, PeerState};
use feros_lab::plan::{Costs, Plan};

use super::target::Target;
use crate::error::CliError;
use crate::{notices, output};

/// What is planned.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let peers = args.target.places.peers()?;
    let machine = Machine::explore();
    let plan = args.target.plan(&peers, &machine)?;
    let mut builder = PeerBuilder::new();
    let missing = build(&plan, &peers, &mut builder)?;
    let costs = Costs::read(builder.cache());
    let is_there = |system: &str| !missing.iter().any(|(name, _)| name == system);
    let rows = plan.scenarios.iter().map(|scenario| {
        let own = |step: &&feros_lab::plan::Step| step.cell.scenario == scenario.name;
        let cells = plan.steps.iter().filter(own);
        let runnable =
            cells.clone().filter(|step| step.skip.is_none() && is_there(&step.cell.system)).count();
        let skipped =
            cells.filter(|step| step.skip.is_some() && is_there(&step.cell.system)).count();
        let (time, _) =
            costs.of(&plan, |cell| cell.scenario == scenario.name && is_there(&cell.system));
        let source = format!("{} {}", scenario.document, scenario.item);
        vec![
            scenario.name.clone(),
            source.trim().to_owned(),
            runnable.to_string(),
            skipped.to_string(),
            duration(time),
        ]
    });
    output::print_table(&["scenario", "re-runs", "cells", "cannot be", "takes"], rows)?;
    let (time, guessed) = costs.of(&plan, |cell| is_there(&cell.system));
    let cells =
        plan.steps.iter().filter(|step| step.skip.is_none() && is_there(&step.cell.system)).count();
    let certainty = match guessed {
        0 => "from what cells took on this machine before".to_owned(),
        _ => format!(
            "{guessed} of them with a guess of what starting their programs takes; a run learns it"
        ),
    };
    output::print(&format!("\n{}, about {}: {certainty}.\n", count(cells), duration(time)))?;
    for reason in [&machine.no_remote, &machine.no_realtime].into_iter().flatten() {
        output::print(&format!("{reason}\n"))?;
    }
    if !missing.is_empty() {
        output::print("\n")?;
        let rows = missing.into_iter().map(|(name, state)| match state {
            PeerState::Missing(missing) => {
                vec![name, missing.reason, missing.install.unwrap_or_else(|| "-".into())]
            }
            PeerState::Ready(_) => vec![name],
        });
        output::print_table(&["not measured", "because", "command that changes it"], rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds what the plan needs; the systems that are missing are the answer.
fn build(
    plan: &Plan,
    peers: &Peers,
    builder: &mut PeerBuilder,
) -> Result<Vec<(String, PeerState)>, CliError> {
    let interrupted = AtomicBool::new(false);
    let mut missing = Vec::new();
    for name in plan.systems() {
        let Ok(system) = peers.system(name) else { continue };
        if builder.known(system.peer).is_none() {
            notices::note(format!("builds {}", system.peer.name));
        }
        let state = builder.prepare(system.peer, &interrupted).map_err(CliError::failed)?;
        if matches!(state, PeerState::Missing(_)) {
            missing.push((name.to_owned(), state));
        }
    }
    Ok(missing)
}

/// For people: `1 cell`, `12 cells`.
pub(crate) fn count(cells: usize) -> String {
    format!("{cells} cell{}", if cells == 1 { "" } else { "s" })
}

/// For people: `2 h 05 min`, `9 min`, `40 s`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6000 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}
