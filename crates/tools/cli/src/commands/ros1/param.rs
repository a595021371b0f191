//! `feros ros1 param`: the parameters that a master of ROS 1 keeps.

use feros_ros1::{Address, DEFAULT_MASTER, Master, Value};

use crate::error::CliError;
use crate::output;

/// Print parameters of a ROS 1 master, one per line
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  feros ros1 param\n  feros ros1 param /move_base")]
pub(crate) struct Args {
    /// The parameter, or the namespace of parameters
    #[arg(default_value = "/")]
    name: String,
    /// The ROS 1 master
    #[arg(long, value_name = "URI", env = "ROS_MASTER_URI", default_value = DEFAULT_MASTER)]
    master: String,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let address = Address::parse(&args.master).ok_or_else(|| {
        CliError::usage(format!("`{}` is not an address, such as {DEFAULT_MASTER}", args.master))
    })?;
    let master = Master::new(address, "/feros_ros1_param");
    let value = master.parameter(&args.name).map_err(CliError::failed)?;
    let mut lines = Vec::new();
    collect(args.name.trim_end_matches('/'), &value, &mut lines);
    output::print(&lines.concat())
}

/// Appends a line for each parameter under a name.
fn collect(name: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Struct(members) if !members.is_empty() => {
            for (member, value) in members {
                collect(&format!("{name}/{member}"), value, lines);
            }
        }
        value => {
            let name = if name.is_empty() { "/" } else { name };
            lines.push(format!("{}: {value}\n", feros_ros1::shown_name(name)));
        }
    }
}
