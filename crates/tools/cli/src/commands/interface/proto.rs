//! `feros interface proto`: a message to fill in, for `topic pub` and `service call`.

use feros_interface::Interface;
use feros_message::dynamic::{DynamicType, PrintOptions};

use super::arguments::type_argument;
use crate::error::CliError;
use crate::output;
use crate::types::{InterfaceArgs, Types};

/// Print a message with its defaults, to be filled in for `topic pub` or `service call`
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros interface proto geometry_msgs/msg/Twist > twist.yaml")]
pub(crate) struct Args {
    /// A message, or a service or action, whose request or goal is printed; - reads it from
    /// standard input
    #[arg(value_name = "TYPE")]
    name: String,
    /// Accepted for command lines written for `ros2`: the message is printed without quotes
    #[arg(long, hide = true)]
    no_quotes: bool,
    /// Print JSON instead of YAML
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    let name = types.find(&type_argument(&args.name)?)?;
    let part = match types.set().get(&name).map(AsRef::as_ref) {
        Some(Interface::Service(service)) => service.request.name.clone(),
        Some(Interface::Action(action)) => action.goal.name.clone(),
        Some(Interface::Message(_)) | None => name,
    };
    let ty = DynamicType::resolve(types.set(), &part).map_err(CliError::failed)?;
    let message = ty.default_message();
    let options = PrintOptions::default();
    let text = if args.json { message.to_json(&options) + "\n" } else { message.to_yaml(&options) };
    output::print(&text)
}
