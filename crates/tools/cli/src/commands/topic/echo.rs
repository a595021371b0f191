//! `feros topic echo`: the messages of a topic, as text.

mod form;
mod printer;

use std::sync::Arc;
use std::time::Duration;

use feros::{MessageInfo, QosProfile, SerializedMessage};
use feros_wording::within;

pub(in crate::commands) use self::form::{Form, TextForm};
use self::printer::Printer;
pub(in crate::commands) use self::printer::{Format, name_event};
use super::watch::{self, End};
use feros_sync::Mutex;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::filter::{Filter, parse_filter};
use crate::qos_args::QosArgs;
use crate::types::described;
use crate::types::{InterfaceArgs, Types, identity_of};
use crate::value_parsers::{parse_count, parse_seconds};

/// How long to wait for a topic when the user names no type.
const PATIENCE: Duration = Duration::from_secs(2);
/// The limit on messages that wait to be printed.
const DEPTH: usize = 100;

/// Print the messages of a topic
#[derive(clap::Args)]
#[command(
    after_help = "The QoS adapts to the existing publishers, unless --qos-* options set it.\n\nExamples:\n  \
                        feros topic echo /chatter\n  feros topic echo /imu --field orientation --once\n  feros topic echo \
                        /scan --json --times 10 > scans.jsonl\n  feros topic echo /rosout --filter 'm.level >= 30 and \
                        \"nav\" in m.name'\n  feros topic echo /imu --clear --field linear_acceleration.x --field \
                        linear_acceleration.y"
)]
pub(crate) struct Args {
    /// Name of the topic
    topic: String,
    /// Type of the messages, as package/msg/Name; by default, the type that the publishers announce
    #[arg(value_name = "TYPE")]
    message_type: Option<String>,
    /// Print the first message and end
    #[arg(long)]
    once: bool,
    /// Print this many messages and end
    #[arg(short = 'n', long, value_name = "N", value_parser = parse_count, conflicts_with = "once")]
    times: Option<usize>,
    /// End after this time, with failure if no message came
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Print only this part of each message, such as header.stamp or points[0].x; may be repeated
    #[arg(long = "field", value_name = "PATH", conflicts_with = "raw")]
    fields: Vec<String>,
    /// Print only messages that satisfy an expression over the message m, such as m.level >= 30;
    /// with one --field, m is that part
    #[arg(long, value_name = "EXPRESSION", value_parser = parse_filter, conflicts_with = "raw")]
    filter: Option<Arc<Filter>>,
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
    if let Some(name) = &args.message_type
        && !args.form.raw
    {
        types.check_name(name)?;
    }
    let connection = Connection::open()?;
    let topic = connection.topic_name(&args.topic)?;
    let found = match &args.message_type {
        Some(name) => {
            // Finds the publishers that the QoS has to match.
            connection.discover(&args.discovery)?;
            feros::TypeIdentity { name: name.clone(), hash: None }
        }
        None => {
            let patience = args.timeout.unwrap_or(PATIENCE);
            watch::find_type(&connection, &args.discovery, &topic, Some(patience))?
        }
    };
    let (identity, ty) = if args.form.raw {
        (found, None)
    } else {
        let ty = described::message_of_topic(&connection, &types, &topic, &found.name, found.hash)?;
        (identity_of(&ty), Some(ty))
    };
    let format = Format::new(&args.form, ty, &args.fields, args.filter.as_ref());
    let qos = args.qos.over(QosProfile { depth: DEPTH, ..QosProfile::best_available() });
    let messages = if args.once { Some(1) } else { args.times };
    let limits = Limits { messages, time: args.timeout };
    listen(&connection, &topic, &identity, qos, limits, format)
}

/// The limits at which printing ends without an interrupt.
#[derive(Clone, Copy)]
pub(in crate::commands) struct Limits {
    /// The number of messages.
    pub(in crate::commands) messages: Option<usize>,
    /// The time; the command fails if nothing has been printed by then.
    pub(in crate::commands) time: Option<Duration>,
}

/// Prints the messages of a topic until a limit is reached or the user interrupts.
pub(in crate::commands) fn listen(
    connection: &Connection,
    topic: &str,
    identity: &feros::TypeIdentity,
    qos: QosProfile,
    limits: Limits,
    format: Format,
) -> Result<(), CliError> {
    let wanted = limits.messages;
    let options =
        feros::SubscriptionOptions::from(qos).log_lost_messages(!format.form.no_lost_messages);
    let printer = Arc::new(Mutex::new(Printer::new(format)));
    let subscription = connection.node.create_generic_subscription(topic, identity, options, {
        let printer = printer.clone();
        move |message: SerializedMessage, info: MessageInfo| {
            let mut printer = printer.lock();
            // The executor may take more messages at once than are still wanted.
            if wanted.is_none_or(|wanted| printer.printed < wanted) {
                printer.print(&message, &info);
            }
        }
    })?;
    let done = || {
        let printer = printer.lock();
        printer.failure.is_some() || wanted.is_some_and(|wanted| printer.printed >= wanted)
    };
    let end = watch::spin(&connection.node, limits.time, done)?;
    // This reads the graph while it still has the subscription.
    let why = watch::why_silent(&connection.context.graph(), topic);
    drop(subscription);
    let mut printer = printer.lock();
    if let Some(failure) = printer.failure.take() {
        return Err(failure);
    }
    if end == End::TimedOut && printer.printed == 0 {
        let waited = within(limits.time.unwrap_or_default());
        if printer.left_out > 0 {
            return Err(CliError::failed(format!(
                "none of the {} messages that came {waited} satisfies --filter",
                printer.left_out
            )));
        }
        return Err(CliError::failed(format!("no message came {waited}: {why}")));
    }
    Ok(())
}
