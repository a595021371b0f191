//! `feros lab list`: the scenarios, grids and systems.

use feros_lab::peer::Peers;
use feros_lab::peer_builder::{PeerBuilder, PeerState};
use feros_lab::record::Feature;

use super::places::Places;
use super::runner::not_built;
use crate::error::CliError;
use crate::{ending, notices, output};

/// The systems to look at.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    places: Places,
    /// Build the programs of all systems first, to know which are installed; takes minutes the
    /// first time
    #[arg(long)]
    build: bool,
    /// Show the declared features of the systems instead
    #[arg(long, conflicts_with = "build")]
    features: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    if args.features {
        return features(&args.places.peers()?);
    }
    let (scenarios, peers) = (args.places.scenarios()?, args.places.peers()?);
    let rows = scenarios.iter().map(|scenario| {
        let grids: Vec<&str> = scenario.grids().map(feros_lab::scenario::Grid::word).collect();
        vec![scenario.name(), scenario.source(), grids.join(" "), scenario.title().to_owned()]
    });
    output::print_table(&["scenario", "re-runs", "grids", "what"], rows)?;
    let mut builder = PeerBuilder::new();
    let (interrupted, _listening) = ending::flag(|| {});
    let mut rows = Vec::new();
    for peer in peers.iter() {
        let mut states = Vec::new();
        let mut command = None;
        for system in peer.systems() {
            if args.build {
                builder
                    .prepare(system, &interrupted, &mut |text| notices::note(text))
                    .map_err(not_built)?;
            }
            let state = match builder.known(system) {
                None => "not built yet: --build tries".to_owned(),
                Some(PeerState::Ready(_)) => "installed".to_owned(),
                Some(PeerState::Missing(missing)) => {
                    command = missing.install;
                    format!("not installed: {}", missing.reason)
                }
            };
            match system.variant {
                None => states.push(state),
                // A variant is only mentioned if its state differs from the peer's.
                Some(variant) if states[0] != state => {
                    states.push(format!("{}: {state}", variant.name));
                }
                Some(_) => {}
            }
        }
        let variants: Vec<&str> =
            peer.manifest.variant.iter().map(|variant| variant.name.as_str()).collect();
        rows.push(vec![
            peer.name.clone(),
            peer.manifest.title.clone(),
            variants.join(" "),
            states.join("; "),
            command.unwrap_or_default(),
        ]);
    }
    output::print("\n")?;
    output::print_table(
        &["system", "what", "configurations", "state", "command that installs it"],
        rows,
    )
}

/// Prints the features that each system declares in its manifest.
fn features(peers: &Peers) -> Result<(), CliError> {
    let described = peers.iter().filter(|peer| peer.manifest.features.is_some());
    let rows = described.flat_map(|peer| {
        let declared = peer.systems().next().map(|system| peers.declarations(system));
        let features = declared.into_iter().flatten().flat_map(|one| one.features);
        features.map(move |(feature, words)| {
            vec![peer.name.clone(), Feature::title(feature).to_owned(), words.join(", ")]
        })
    });
    output::print_table(&["system", "feature", "declared"], rows)
}
