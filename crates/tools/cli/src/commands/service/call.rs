//! `feros service call`: sends a request and prints the response.

use std::time::{Duration, Instant};

use feros::{ClientOptions, GenericClient, QosProfile};
use feros_engine::GraphSnapshot;
use feros_engine::name::is_hidden;
use feros_message::dynamic::{DynamicMessage, PrintOptions, StampFields};
use feros_wording::within;

use crate::connection::Connection;
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::qos_args::QosArgs;
use crate::types::values;
use crate::types::values::ValuesArgs;
use crate::types::{DynamicService, InterfaceArgs, Types};
use crate::value_parsers::parse_seconds;
use crate::{notices, output};

/// The time limit if the user sets no limit.
const FOREVER: Duration = Duration::from_secs(31_536_000);
/// An existing service is found within this time.
const SOON: Duration = Duration::from_secs(1);

/// Call a service and print its response
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros service call /add_two_ints example_interfaces/srv/AddTwoInts '{a: 1, b: 2}'\n  \
                        feros service call /enable std_srvs/srv/SetBool '{data: true}' --timeout 5 --json"
)]
pub(crate) struct Args {
    /// Name of the service
    service: String,
    /// Type of the service, as package/srv/Name
    #[arg(value_name = "TYPE")]
    service_type: String,
    #[command(flatten)]
    values: ValuesArgs,
    /// Repeat the call this many times per second until Ctrl-C
    #[arg(short, long, value_name = "HZ", value_parser = rate)]
    rate: Option<f64>,
    /// Wait at most this long for the service, and for each response
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Print only the response, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    qos: QosArgs,
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (1e-6..=1e6).contains(&rate) => Ok(rate),
        _ => Err("expected calls per second, from 0.000001 to 1000000".to_owned()),
    }
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let service = Types::load(interfaces)?.service(&args.service_type)?;
    let text = args.values.text()?;
    let (mut request, stamps) = values::read(&service.request, &text)?;
    let connection = Connection::open()?;
    let name = connection.service_name(&args.service)?;
    let options = ClientOptions::from(args.qos.over(QosProfile::services_default()));
    let client = connection.node.create_generic_client(&name, &service.identity(), options)?;
    wait_for_service(&connection, &client, &service, args.timeout)?;
    let Some(rate) = args.rate else {
        return call(&client, &service, &mut request, &stamps, args);
    };
    let period = Duration::from_secs_f64(1.0 / rate);
    // Ctrl-C is the normal end, no matter whether it comes during a call or between two calls.
    let mut call_and_wait = || {
        let started = Instant::now();
        call(&client, &service, &mut request, &stamps, args)?;
        connection.wait_until(period.saturating_sub(started.elapsed()), |_| false)
    };
    loop {
        match call_and_wait() {
            Err(CliError::Interrupted) => return Ok(()),
            other => drop(other?),
        }
    }
}

fn call(
    client: &GenericClient,
    service: &DynamicService,
    request: &mut DynamicMessage,
    stamps: &StampFields,
    args: &Args,
) -> Result<(), CliError> {
    let (sec, nanosec) = values::now();
    stamps.set(request, sec, nanosec);
    let bytes = request.to_cdr().map_err(CliError::usage)?;
    if !args.json {
        let options = PrintOptions {
            flow_style: true,
            truncate_length: Some(128),
            ..PrintOptions::default()
        };
        output::print(&format!(
            "requester: making request: {}\n\n",
            request.to_yaml(&options).trim_end()
        ))?;
    }
    let response = client.call_serialized(&bytes)?.wait(args.timeout.unwrap_or(FOREVER));
    let response = response.map_err(|error| match error {
        feros::CallError::Shutdown { .. } => CliError::Interrupted,
        other => other.into(),
    })?;
    let response = service.response.decode(&response).map_err(|error| {
        CliError::failed(format!(
            "the response of {} is not a {}: {error}; check that both sides use the same definition",
            client.service_name(),
            service.response.name()
        ))
    })?;
    let options = PrintOptions::default();
    if args.json {
        output::print(&format!("{}\n", response.to_json(&options)))
    } else {
        output::print(&format!("response:\n{}\n", response.to_yaml(&options)))
    }
}

fn wait_for_service(
    connection: &Connection,
    client: &GenericClient,
    service: &DynamicService,
    timeout: Option<Duration>,
) -> Result<(), CliError> {
    let name = client.service_name();
    let started = Instant::now();
    let wait = |time: Duration| {
        let what = || "the service";
        let looked = connection.context.wait_for_graph(time, what, || {
            client.service_is_ready()
                || other_type(&connection.context.graph(), name, service).is_some()
        });
        match looked {
            Err(feros::WaitError::Shutdown { .. }) => Err(CliError::Interrupted),
            _ => Ok(client.service_is_ready()),
        }
    };
    let limit = timeout.unwrap_or(FOREVER);
    let refuse_other_type = || match other_type(&connection.context.graph(), name, service) {
        Some(other) => Err(CliError::failed(format!(
            "service {name} has type {other}, not {}: call it with {other}",
            service.name
        ))),
        None => Ok(()),
    };
    if wait(SOON.min(limit))? {
        return Ok(());
    }
    refuse_other_type()?;
    let left = limit.saturating_sub(started.elapsed());
    if !left.is_zero() {
        notices::note("waiting for service to become available...");
        if wait(left)? {
            return Ok(());
        }
        refuse_other_type()?;
    }
    let services = connection.context.graph().services();
    let others =
        services.keys().map(String::as_str).filter(|other| *other != name && !is_hidden(other));
    Err(CliError::failed(format!(
        "no server of {name} appeared {}: start one, or see `feros service list`{}",
        within(limit),
        did_you_mean(name, others)
    )))
}

/// The type of the servers of this name, if it differs from the type of the call.
fn other_type(graph: &GraphSnapshot, name: &str, service: &DynamicService) -> Option<String> {
    let wanted = service.name.to_string();
    let mut types: Vec<String> = graph
        .endpoints_of(feros_engine::EndpointKind::Service, name)
        .map(|endpoint| endpoint.type_name.clone())
        .collect();
    if types.contains(&wanted) { None } else { types.pop() }
}
