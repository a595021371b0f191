//! `feros interface hash`: the hash that tells both ends of a topic whether they mean the same
//! type.

use super::arguments::type_argument;
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types};

/// Print the RIHS01 hash of types
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros interface hash std_msgs/msg/String\n  feros interface hash std_srvs/srv/SetBool \
                        example_interfaces/action/Fibonacci --json"
)]
pub(crate) struct Args {
    /// Messages, services or actions; - reads one from standard input
    #[arg(required = true, value_name = "TYPE")]
    types: Vec<String>,
    /// Print a JSON object: hashes by name
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    let mut hashes = Vec::new();
    for text in &args.types {
        let name = types.find(&type_argument(text)?)?;
        let hash = types.set().type_hash(&name).map_err(CliError::failed)?;
        hashes.push((name.to_string(), hash.to_string()));
    }
    if args.json {
        let object: serde_json::Map<_, _> =
            hashes.into_iter().map(|(name, hash)| (name, serde_json::Value::from(hash))).collect();
        output::print_json(&object)
    } else if let [(_, hash)] = hashes.as_slice() {
        output::print_lines([hash])
    } else {
        output::print_lines(hashes.iter().map(|(name, hash)| format!("{name} {hash}")))
    }
}
