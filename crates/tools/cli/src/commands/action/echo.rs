//! `feros action echo`: prints the messages on the topics of an action, and the events of its
//! services if their introspection is turned on.

use std::sync::Arc;

use feros::{Executor, MessageInfo, QosProfile, SerializedMessage, SubscriptionOptions};
use feros_engine::{EndpointKind, FailureCounter};
use feros_message::dynamic::{DynamicMessage, DynamicType, PrintOptions, ValueRef};
use feros_sync::Mutex;

use super::no_such_action;
use crate::asking::all_at_once;
use crate::commands::topic::echo::{TextForm, name_event};
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::types::described;
use crate::types::{InterfaceArgs, Types, identity_of};
use crate::{csv, notices, output};

/// Print the messages of an action: feedback, statuses, and the events of its services
///
/// Only servers and clients whose introspection is turned on send events of services.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros action echo /fibonacci\n  feros action echo /fibonacci \
                        -i 'FEEDBACK_TOPIC|STATUS_TOPIC' --json"
)]
pub(crate) struct Args {
    /// Name of the action
    action: String,
    /// Type of the action, as package/action/Name; by default, the type that the nodes of the
    /// action announce
    #[arg(value_name = "TYPE")]
    action_type: Option<String>,
    /// Print only these parts, separated by `|`: GOAL_SERVICE, CANCEL_SERVICE, RESULT_SERVICE,
    /// FEEDBACK_TOPIC, STATUS_TOPIC
    #[arg(short = 'i', long, value_name = "LIST", value_parser = parts)]
    action_interfaces: Option<Parts>,
    #[command(flatten)]
    form: TextForm,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

/// One of the five parts of an action.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    GoalService,
    CancelService,
    ResultService,
    Feedback,
    Status,
}

type Parts = Vec<Part>;

impl Part {
    const ALL: [Self; 5] =
        [Self::GoalService, Self::CancelService, Self::ResultService, Self::Feedback, Self::Status];

    /// The part's name in `ros2`.
    fn name(self) -> &'static str {
        match self {
            Self::GoalService => "GOAL_SERVICE",
            Self::CancelService => "CANCEL_SERVICE",
            Self::ResultService => "RESULT_SERVICE",
            Self::Feedback => "FEEDBACK_TOPIC",
            Self::Status => "STATUS_TOPIC",
        }
    }

    /// The topic under the name of the action.
    fn topic(self) -> &'static str {
        match self {
            Self::GoalService => "send_goal/_service_event",
            Self::CancelService => "cancel_goal/_service_event",
            Self::ResultService => "get_result/_service_event",
            Self::Feedback => "feedback",
            Self::Status => "status",
        }
    }

    /// The type of the topic's messages.
    fn message_type(self, action: &str) -> String {
        match self {
            Self::GoalService => format!("{action}_SendGoal_Event"),
            Self::CancelService => "action_msgs/srv/CancelGoal_Event".to_owned(),
            Self::ResultService => format!("{action}_GetResult_Event"),
            Self::Feedback => format!("{action}_FeedbackMessage"),
            Self::Status => "action_msgs/msg/GoalStatusArray".to_owned(),
        }
    }

    /// Whether service introspection publishes the messages of this part.
    fn is_event(self) -> bool {
        !matches!(self, Self::Feedback | Self::Status)
    }

    fn qos(self) -> QosProfile {
        match self {
            Self::Status => QosProfile::action_status_default(),
            _ => QosProfile::keep_last(100),
        }
    }
}

/// Reads the names of parts.
fn parts(text: &str) -> Result<Parts, String> {
    let part = |name: &str| {
        let wanted = name.trim().to_uppercase();
        Part::ALL.into_iter().find(|part| part.name() == wanted).ok_or_else(|| {
            let names = Part::ALL.map(Part::name).join(", ");
            format!("{:?} is not one of {names}", name.trim())
        })
    };
    text.split('|').map(part).collect()
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let types = Types::load(interfaces)?;
    let given = args.action_type.as_ref().map(|name| types.action(name)).transpose()?;
    let connection = Connection::open()?;
    let name = connection.topic_name(&args.action)?;
    let action = match given {
        Some(action) => action.name.to_string(),
        None => {
            let graph = connection.discover(&args.discovery)?;
            let found = graph.actions().remove(&name).and_then(|mut types| types.pop_first());
            found.ok_or_else(|| no_such_action(&graph, &name))?
        }
    };
    let failure: Arc<Mutex<Option<CliError>>> = Arc::default();
    let mut subscriptions = Vec::new();
    let parts = args.action_interfaces.as_deref().unwrap_or(&Part::ALL);
    let topic = |part: Part| format!("{name}/_action/{}", part.topic());
    let found = all_at_once(parts, |part| {
        type_of(&connection, &types, &topic(*part), &part.message_type(&action))
    });
    for (part, ty) in parts.iter().zip(found) {
        let ty = match ty {
            Ok(ty) => ty,
            Err(CliError::Interrupted) => return Err(CliError::Interrupted),
            // Nobody publishes these events, and so nobody describes their type.
            Err(_) if part.is_event() && args.action_interfaces.is_none() => continue,
            Err(error) => return Err(error),
        };
        let identity = identity_of(&ty);
        let (printer, failed) = (Printer::new(args.form.clone(), *part, ty), failure.clone());
        subscriptions.push(connection.node.create_generic_subscription(
            &topic(*part),
            &identity,
            SubscriptionOptions::from(part.qos()),
            move |message: SerializedMessage, info: MessageInfo| {
                if let Err(error) = printer.print(&message, &info) {
                    failed.lock().get_or_insert(error);
                }
            },
        )?);
    }
    let executor = Executor::new();
    executor.add_node(&connection.node)?;
    executor.spin_until(None, || failure.lock().is_some())?;
    let failure = failure.lock().take();
    failure.map_or(Ok(()), Err)
}

/// The type of a part's messages, as the command knows it or as a node describes it.
fn type_of(
    connection: &Connection,
    types: &Types,
    topic: &str,
    name: &str,
) -> Result<DynamicType, CliError> {
    let graph = connection.context.graph();
    let hash = graph.endpoints_of(EndpointKind::Publisher, topic).find_map(|e| e.type_hash);
    described::message_of_topic(connection, types, topic, name, hash)
}

/// Prints the messages of one part.
struct Printer {
    part: Part,
    ty: DynamicType,
    form: TextForm,
    options: PrintOptions,
    refused: FailureCounter,
}

impl Printer {
    fn new(form: TextForm, part: Part, ty: DynamicType) -> Self {
        Self { part, ty, options: form.options(), form, refused: FailureCounter::new() }
    }

    /// Prints a message. Malformed messages are counted and rarely reported.
    fn print(&self, bytes: &[u8], info: &MessageInfo) -> Result<(), CliError> {
        match self.ty.decode(bytes) {
            Ok(message) => output::print(&self.text(&message)),
            Err(error) => {
                if let Some(refused) = self.refused.count() {
                    notices::warn(format!(
                        "{refused} messages so far could not be printed; the last, of {} bytes \
                         from publisher {}, is malformed: {error}",
                        bytes.len(),
                        info.publisher_gid
                    ));
                }
                Ok(())
            }
        }
    }

    fn text(&self, message: &DynamicMessage) -> String {
        let name = self.part.name();
        if self.form.json {
            let message = message.to_json(&self.options);
            return format!("{{\"interface\":\"{name}\",\"message\":{message}}}\n");
        }
        if self.form.csv {
            let line = csv::line([ValueRef::Message(message)], &self.options);
            return format!("interface: {name}\n{line}");
        }
        let yaml = message.to_yaml(&self.options);
        let yaml = if self.part.is_event() { name_event(yaml) } else { yaml };
        format!("interface: {name}\n{yaml}---\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_as_in_ros2() {
        let read = |text: &str| parts(text).map(|parts| parts.iter().map(|p| p.name()).collect());
        let both: Result<Vec<_>, _> = read("feedback_topic| STATUS_TOPIC");
        assert_eq!(both, Ok(vec!["FEEDBACK_TOPIC", "STATUS_TOPIC"]));
        assert!(
            read("GOAL").is_err_and(|error| error.contains("\"GOAL\" is not one of GOAL_SERVICE"))
        );
        assert!(read("").is_err());
    }
}
