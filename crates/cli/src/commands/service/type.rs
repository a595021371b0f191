//! `feros service type`: the type of one service.

use std::process::ExitCode;

use feros_rmw::name::is_hidden;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::output;

/// Print the type of a service
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros service type /enable | feros interface show -")]
pub(crate) struct Args {
    /// Name of the service
    service: String,
    /// Print a JSON array of types
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let connection = Connection::open()?;
    let name = connection.service_name(&args.service)?;
    let services = connection.discover(&args.discovery)?.services();
    let Some(types) = services.get(&name) else {
        let likely = did_you_mean(
            &name,
            services.keys().map(String::as_str).filter(|name| !is_hidden(name)),
        );
        return Err(CliError::failed(format!("there is no service {name}{likely}")));
    };
    if args.json {
        output::print_json(types)?
    } else {
        output::print_lines(types)?
    }
    Ok(ExitCode::SUCCESS)
}
