//! `feros lab plan`: what a run would measure here, and how long it would take.

use std::time::Duration;

use feros_lab::machine::Machine;
use feros_lab::peer::Peers;
use feros_lab::peer_builder::{PeerBuilder, PeerState};
use feros_lab::plan::{Costs, Plan};
use feros_lab::record::Missing;

use super::target::Target;
use crate::error::CliError;
use crate::output;

/// The target to plan.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let peers = args.target.places.peers()?;
    let machine = Machine::explore();
    let plan = args.target.plan(&peers, &machine)?;
    let builder = PeerBuilder::new();
    let known = Known::of(&plan, &peers, &builder);
    let costs = Costs::read(builder.cache());
    let is_there = |system: &str| !known.missing.iter().any(|(name, _)| name == system);
    let rows = plan.scenarios.iter().map(|scenario| &scenario.about).map(|scenario| {
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
    output::print_table(&["scenario", "re-runs", "cells", "not possible", "takes"], rows)?;
    let (time, guessed) = costs.of(&plan, |cell| is_there(&cell.system));
    let cells =
        plan.steps.iter().filter(|step| step.skip.is_none() && is_there(&step.cell.system)).count();
    let certainty = match guessed {
        0 => "from earlier cells on this machine".to_owned(),
        _ => format!(
            "for {guessed} of them the start time of the programs is a guess; a run measures it"
        ),
    };
    output::print(&format!("\n{}, about {}: {certainty}.\n", count(cells), duration(time)))?;
    for reason in [&machine.no_remote, &machine.no_realtime].into_iter().flatten() {
        output::print(&format!("{reason}\n"))?;
    }
    known.print()
}

/// The known states of the systems in a plan; nothing is built.
#[derive(Default)]
struct Known {
    missing: Vec<(String, Missing)>,
    /// Systems whose state is not known yet.
    unknown: Vec<String>,
}

impl Known {
    fn of(plan: &Plan, peers: &Peers, builder: &PeerBuilder) -> Self {
        let mut known = Self::default();
        for name in plan.systems() {
            let Ok(system) = peers.system(name) else { continue };
            match builder.known(system) {
                Some(PeerState::Ready(_)) => {}
                Some(PeerState::Missing(missing)) => known.missing.push((name.to_owned(), missing)),
                None => known.unknown.push(name.to_owned()),
            }
        }
        known
    }

    /// Prints the systems that are missing, and the systems that may be missing.
    fn print(self) -> Result<(), CliError> {
        if !self.unknown.is_empty() {
            let names = self.unknown.join(", ");
            output::print(&format!("\nnot built yet, so they may be missing: {names}\n"))?;
        }
        let looks_again = !self.unknown.is_empty() || !self.missing.is_empty();
        if !self.missing.is_empty() {
            output::print("\n")?;
            let rows = self.missing.into_iter().map(|(name, missing)| {
                vec![name, missing.reason, missing.install.unwrap_or_else(|| "-".into())]
            });
            output::print_table(&["not measured", "because", "command that changes it"], rows)?;
        }
        if looks_again {
            output::print(
                "\nA plan builds nothing; to build the programs and check again: feros lab list \
                 --build\n",
            )?;
        }
        Ok(())
    }
}

/// A number of cells, for people: `1 cell`, `12 cells`.
pub(crate) fn count(cells: usize) -> String {
    format!("{cells} cell{}", if cells == 1 { "" } else { "s" })
}

/// A duration, for people: `2 h 05 min`, `9 min`, `40 s`.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6000 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}
