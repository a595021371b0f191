//! `feros component`: what can be loaded, and loading it into containers.

mod list;
mod load;
mod register;
mod standalone;
mod types;
mod unload;

use std::process::ExitCode;
use std::time::Duration;

use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::msgs::rcl_interfaces::msg::Parameter;
use feros::{LogLevel, ParameterValue};
use feros_component::remote::{ContainerClient, containers};

use crate::connection::Connection;
use crate::error::CliError;
use crate::nearest::did_you_mean;

/// A constructor may take its time: hardware wants to be found.
const PATIENCE: Duration = Duration::from_secs(60);
/// A container that is there is found within this time.
const SOON: Duration = Duration::from_secs(5);

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Types(types::Args),
    Load(load::Args),
    Unload(unload::Args),
    Standalone(standalone::Args),
    Register(register::Args),
}

pub(crate) fn run(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Types(args) => types::run(&args),
        Command::Load(args) => load::run(&args),
        Command::Unload(args) => unload::run(&args),
        Command::Standalone(args) => standalone::run(&args),
        Command::Register(args) => register::run(&args),
    }
}

/// Which component, and how its node is to be.
#[derive(clap::Args, Clone)]
struct ComponentArgs {
    /// The package that has it
    #[arg(value_name = "PACKAGE")]
    package_name: String,
    /// Its name, such as pipeline::Camera
    #[arg(value_name = "PLUGIN")]
    plugin_name: String,
    /// Name of its node
    #[arg(short, long, value_name = "NAME")]
    node_name: Option<String>,
    /// Namespace of its node
    #[arg(long, value_name = "NAMESPACE")]
    node_namespace: Option<String>,
    /// Least severe level that its node logs
    #[arg(long, value_name = "LEVEL", value_parser = log_level)]
    log_level: Option<u8>,
    /// A remap rule of its node, as from:=to; may be repeated
    #[arg(short, long = "remap-rule", value_name = "FROM:=TO")]
    remap_rules: Vec<String>,
    /// A parameter of its node, as name:=value; may be repeated
    #[arg(short, long = "parameter", value_name = "NAME:=VALUE", value_parser = parameter)]
    parameters: Vec<Parameter>,
    /// An argument for the container, as name:=value, such as use_intra_process_comms:=true; may be
    /// repeated
    #[arg(short, long = "extra-argument", value_name = "NAME:=VALUE", value_parser = parameter)]
    extra_arguments: Vec<Parameter>,
}

fn log_level(text: &str) -> Result<u8, String> {
    match (text.parse::<u8>(), text.parse::<LogLevel>()) {
        (Ok(number), _) => Ok(number),
        (_, Ok(level)) => Ok(level as u8),
        _ => Err("expected debug, info, warn, error or fatal".to_owned()),
    }
}

fn parameter(text: &str) -> Result<Parameter, String> {
    let (name, yaml) =
        text.split_once(":=").filter(|(name, _)| !name.is_empty()).ok_or("expected name:=value")?;
    let value = ParameterValue::from_yaml(yaml).map_err(|error| error.to_string())?;
    Ok(Parameter { name: name.to_owned(), value: value.into() })
}

impl ComponentArgs {
    fn request(&self) -> LoadNode_Request {
        LoadNode_Request {
            package_name: self.package_name.clone(),
            plugin_name: self.plugin_name.clone(),
            node_name: self.node_name.clone().unwrap_or_default(),
            node_namespace: self.node_namespace.clone().unwrap_or_default(),
            log_level: self.log_level.unwrap_or_default(),
            remap_rules: self.remap_rules.clone(),
            parameters: self.parameters.clone(),
            extra_arguments: self.extra_arguments.clone(),
        }
    }
}

/// A client of a container that runs.
///
/// # Errors
/// When there is no such container, with those that there are.
fn find_container(connection: &Connection, name: &str) -> Result<ContainerClient, CliError> {
    let client = ContainerClient::new(&connection.node, name).map_err(CliError::usage)?;
    let wanted = client.container().to_owned();
    if !connection.wait_until(SOON, |graph| containers(graph).contains(&wanted))? {
        let known = containers(&connection.context.graph());
        return Err(CliError::failed(format!(
            "Unable to find container node '{name}': start one with `feros container`{}",
            did_you_mean(&wanted, known.iter().map(String::as_str))
        )));
    }
    // Seen is not yet matched: a request before that would be lost.
    client.wait(SOON)?;
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_rcl_reads_them() {
        let read = |text: &str| ParameterValue::from(parameter(text).unwrap().value);
        assert_eq!(read("rate:=5"), ParameterValue::Integer(5));
        assert_eq!(read("use_intra_process_comms:=true"), ParameterValue::Bool(true));
        assert_eq!(parameter("a.b:=x").unwrap().name, "a.b");
        for bad in ["rate", ":=5", "a:=[1, x"] {
            assert!(parameter(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn levels_have_names_and_numbers() {
        assert_eq!(log_level("debug"), Ok(10));
        assert_eq!(log_level("40"), Ok(40));
        assert!(log_level("loud").is_err());
    }
}
