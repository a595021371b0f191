//! `feros service echo`: the events of a service's clients and servers, which publish them if
//! service introspection is on.

use std::time::Duration;

use feros::{QosProfile, TypeIdentity};
use feros_engine::EndpointKind;
use feros_engine::name::is_hidden;

use crate::commands::topic::echo::{Form, Format, Limits, listen};
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::qos_args::QosArgs;
use crate::silent_services::{events_of, warn_of_silent};
use crate::types::described;
use crate::types::{InterfaceArgs, Types, identity_of};
use crate::value_parsers::{parse_count, parse_seconds};

/// Print requests and responses of a service
#[derive(clap::Args)]
#[command(
    after_help = "Only clients and servers with introspection (configure_introspection) publish events; the \
                        events include requests and responses only if the introspection state is \
                        `Contents`.\n\nExamples:\n  feros service echo /add_two_ints\n  \
                        feros service echo /enable std_srvs/srv/SetBool --flow-style"
)]
pub(crate) struct Args {
    /// Name of the service
    service: String,
    /// Type of the service, as package/srv/Name; by default, the type that the service's clients
    /// and servers announce
    #[arg(value_name = "TYPE")]
    service_type: Option<String>,
    /// Print this many events and end
    #[arg(long, value_name = "N", value_parser = parse_count)]
    times: Option<usize>,
    /// End after this time, with failure if no event came
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Print only this part of each event, such as info.stamp or request[0].data
    #[arg(long, value_name = "PATH", conflicts_with = "raw")]
    field: Option<String>,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    discovery: DiscoveryArgs,
    #[command(flatten)]
    qos: QosArgs,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    // The arguments are checked before the network is used.
    let given = match &args.service_type {
        Some(name) => Some(types.service(name)?.name.to_string()),
        None => None,
    };
    let connection = Connection::open()?;
    let service = connection.service_name(&args.service)?;
    connection.discover(&args.discovery)?;
    let service_type = match given {
        Some(name) => name,
        None => type_of(&connection, &service)?,
    };
    let (topic, name) = (events_of(&service), format!("{service_type}_Event"));
    let graph = connection.context.graph();
    let hash = graph.endpoints_of(EndpointKind::Publisher, &topic).find_map(|e| e.type_hash);
    let (identity, ty) = if args.form.raw {
        (TypeIdentity { name, hash }, None)
    } else {
        let ty = described::message_of_topic(&connection, &types, &topic, &name, hash)?;
        (identity_of(&ty), Some(ty))
    };
    warn_of_silent(&connection, &service)?;
    let qos = args.qos.over(QosProfile::services_default());
    let limits = Limits { messages: args.times, time: args.timeout };
    let format = Format::of_service_events(&args.form, ty, args.field.clone());
    listen(&connection, &topic, &identity, qos, limits, format)
}

/// The type that servers and clients of a service announce.
fn type_of(connection: &Connection, service: &str) -> Result<String, CliError> {
    let graph = connection.context.graph();
    let kinds = [EndpointKind::Service, EndpointKind::Client];
    let found = kinds.into_iter().find_map(|kind| graph.endpoints_of(kind, service).next());
    if let Some(endpoint) = found {
        return Ok(endpoint.type_name.clone());
    }
    let services = graph.services();
    let names = services.keys().map(String::as_str).filter(|name| !is_hidden(name));
    Err(CliError::failed(format!(
        "there is no service {service}: name its type to wait for it, or see `feros service list`{}",
        did_you_mean(service, names)
    )))
}
