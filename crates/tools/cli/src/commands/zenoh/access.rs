//! `feros zenoh access`: the access rules for the router of a fleet, which nobody wants to write by
//! hand, because they name the keys of Zenoh.

use feros::engine::NamePrefix;
use feros_zenoh::access_of_fleet;

use crate::error::CliError;
use crate::output;

/// Print access rules for a fleet's router, by which each robot may use only its own names
///
/// A program whose certificate has the common name `robot1` may use the names below `/robot1`, and
/// an operator may use all names. Programs with other certificates, or without, may use nothing.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros zenoh access --robots robot1,robot2 --operators \
                        operator > access.json\n  feros zenoh router --access access.json")]
pub(crate) struct Args {
    /// The robots: the namespace of each, which is also the common name of its certificate
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = NamePrefix::new, required = true)]
    robots: Vec<NamePrefix>,
    /// The common names of the certificates of operators
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    operators: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let rules = access_of_fleet(&args.robots, &args.operators).map_err(CliError::usage)?;
    output::print_lines([rules])
}
