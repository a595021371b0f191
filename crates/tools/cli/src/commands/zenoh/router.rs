//! `feros zenoh router`: the router through which nodes on Zenoh find each other, so that nobody
//! has to install one. It does what `ros2 run rmw_zenoh_cpp rmw_zenohd` does.

use feros_zenoh::Router;

use crate::error::CliError;
use crate::{ending, notices, output};

/// Run the router by which nodes on Zenoh find each other, on this host and on others
///
/// It listens on port 7447 of all addresses, as the router of `rmw_zenoh` does, and serves nodes of
/// stock ROS 2 (`RMW_IMPLEMENTATION=rmw_zenoh_cpp`) and of Feros (`FEROS_ENGINE=zenoh`) alike.
/// Ctrl-C ends it.
#[derive(clap::Args)]
#[command(
    after_help = "Environment: ZENOH_ROUTER_CONFIG_URI (a configuration of Zenoh), ZENOH_CONFIG_OVERRIDE \
                  (key/path=value, separated by `;`), FEROS_MEETING_POINTS (hosts whose routers it joins).\n\
                  Examples:\n  feros zenoh router\n  FEROS_MEETING_POINTS=192.168.1.1 feros zenoh router   # join another host's\n  \
                  ZENOH_CONFIG_OVERRIDE='connect/endpoints=[\"tcp/192.168.1.1:7447\"]' feros zenoh router   # on another port or by TLS"
)]
pub(crate) struct Args {
    /// Print the configuration of the router, as JSON
    #[arg(long)]
    print_config: bool,
    /// Let each program use only what these access rules allow, which `feros zenoh access` prints
    #[arg(long, value_name = "FILE")]
    access: Option<std::path::PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let (sender, ended) = std::sync::mpsc::sync_channel(1);
    let (_, _listening) = ending::flag(move || {
        let _ = sender.try_send(()); // one notification is enough
    });
    let router = match &args.access {
        None => Router::start(),
        Some(file) => {
            let rules = std::fs::read_to_string(file)
                .map_err(|error| CliError::failed(format!("{}: {error}", file.display())))?;
            Router::start_with_access(&rules)
        }
    };
    let router = router.map_err(|error| CliError::failed(error.to_string()))?;
    if args.print_config {
        output::print_lines([router.configuration()])?;
    }
    output::print_lines([format!("Routing at {}", router.locators().join(", "))])?;
    notices::note(format!("The id of the router is {}; Ctrl-C ends it.", router.id()));
    let _ = ended.recv(); // nothing else is ever sent
    drop(router);
    Ok(())
}
