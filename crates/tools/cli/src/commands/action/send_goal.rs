//! `feros action send_goal`: sends a goal and follows it to its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::action::{ActionClientOptions, SendGoalError};
use feros::{Executor, GenericActionClient, GoalId, GoalStatus, Outcome, Stopper};
use feros_message::dynamic::{DynamicMessage, DynamicType, PrintOptions, Value};
use feros_sync::Mutex;
use feros_wording::{duration, within};

use super::interrupt::Interrupt;
use crate::connection::Connection;
use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::output;
use crate::types::values;
use crate::types::values::ValuesArgs;
use crate::types::{DynamicAction, InterfaceArgs, Types};
use crate::value_parsers::parse_seconds;

/// The time limit if the user sets no limit.
const FOREVER: Duration = Duration::from_secs(31_536_000);
/// A live server answers a cancel request within this time.
const PATIENCE_FOR_CANCEL: Duration = Duration::from_secs(10);

/// Send a goal to an action and print its result
///
/// Ctrl-C cancels the goal. The exit code is 0 when the goal succeeded.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros action send_goal /fibonacci example_interfaces/action/Fibonacci '{order: 5}' -f\n  \
                        feros action send_goal /dock nav2_msgs/action/DockRobot --stdin --json < goal.yaml"
)]
pub(crate) struct Args {
    /// Name of the action
    action: String,
    /// Type of the action, as package/action/Name
    #[arg(value_name = "TYPE")]
    action_type: String,
    #[command(flatten)]
    values: ValuesArgs,
    /// Print feedback as it comes
    #[arg(short, long)]
    feedback: bool,
    /// Wait at most this long for the server and the result; a goal that has not ended by then is
    /// canceled
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Print only the result, and feedback with -f, as one JSON object per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let action = Types::load(interfaces)?.action(&args.action_type)?;
    let (mut goal, stamps) = values::read(&action.goal, &args.values.text()?)?;
    let connection = Connection::open_without_signals()?;
    let interrupt = Interrupt::listen(&connection.context);
    let name = connection.topic_name(&args.action)?;
    let client = connection.node.create_generic_action_client(
        &name,
        &action.identity(),
        ActionClientOptions::default(),
    )?;
    let began = Instant::now();
    say(args, "Waiting for an action server to become available...\n")?;
    wait_for_server(&connection, &client, &action, args.timeout.unwrap_or(FOREVER))?;
    let (sec, nanosec) = values::now();
    stamps.set(&mut goal, sec, nanosec);
    say(args, &format!("Sending goal:\n     {}\n", yaml(&goal)))?;
    let executor = Executor::new();
    executor.add_node(&connection.node)?;
    interrupt.stop_instead(executor.stopper());
    let left = args.timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
    Goal { args, action: &action, client, executor }.follow(goal, left)
}

fn yaml(message: &DynamicMessage) -> String {
    message.to_yaml(&PrintOptions::default())
}

/// Prints progress, unless the user wants only JSON.
fn say(args: &Args, text: &str) -> Result<(), CliError> {
    if args.json { Ok(()) } else { output::print(text) }
}

fn wait_for_server(
    connection: &Connection,
    client: &GenericActionClient,
    action: &DynamicAction,
    limit: Duration,
) -> Result<(), CliError> {
    let name = client.action_name();
    // Only publishers of feedback count, since this command itself subscribes to feedback with the
    // wanted type.
    let other_type = || {
        let graph = connection.context.graph();
        let mut types = graph.names_and_types(|endpoint| {
            endpoint.kind == feros_engine::EndpointKind::Publisher
                && endpoint.name == format!("{name}/_action/feedback")
        });
        let types = types.pop_first().map(|(_, types)| types).unwrap_or_default();
        let mut types = types.iter().map(|name| name.trim_end_matches("_FeedbackMessage"));
        let wanted = action.name.to_string();
        let is_other = types.clone().all(|name| name != wanted);
        types.next().filter(|_| is_other).map(str::to_owned)
    };
    let found =
        connection.wait_until(limit, |_| client.server_is_ready() || other_type().is_some())?;
    if client.server_is_ready() {
        return Ok(());
    }
    if let (true, Some(other)) = (found, other_type()) {
        return Err(CliError::failed(format!(
            "action {name} has type {other}, not {}: send a goal of that type",
            action.name
        )));
    }
    let actions = connection.context.graph().actions();
    let others = actions.keys().map(String::as_str).filter(|other| *other != name);
    Err(CliError::failed(format!(
        "no server of the action {name} appeared {}: start one, or see `feros action list`{}",
        within(limit),
        did_you_mean(name, others)
    )))
}

/// A goal to send and follow.
struct Goal<'a> {
    args: &'a Args,
    action: &'a DynamicAction,
    client: GenericActionClient,
    executor: Executor,
}

impl Goal<'_> {
    /// Sends the goal and waits for its end.
    fn follow(&self, goal: DynamicMessage, limit: Option<Duration>) -> Result<(), CliError> {
        let began = Instant::now();
        let left = || limit.map(|limit| limit.saturating_sub(began.elapsed()));
        let mut request = self.action.send_goal.request.default_message();
        request.set("goal", Value::Message(goal)).map_err(CliError::failed)?;
        let request = request.to_cdr().map_err(CliError::usage)?;
        let acceptance = Arc::new(Acceptance { json: self.args.json, ..Acceptance::default() });
        let stopper = self.executor.stopper();
        let printer = Printer::new(&acceptance, &self.action.feedback, stopper);
        let failure = printer.failure.clone();
        let sent = if self.args.feedback {
            self.client.send_goal_with_feedback(request, move |bytes| printer.print(&bytes))?
        } else {
            self.client.send_goal(request)?
        };
        let id = sent.goal_id();
        *acceptance.unsaid.lock() = Some(id);
        let accepted = match self.executor.spin_until_complete(left(), sent)? {
            Outcome::Completed(Err(SendGoalError::Rejected { .. })) => {
                say(self.args, "Goal was rejected.\n")?;
                return if self.args.json {
                    Err(CliError::failed("the goal was rejected"))
                } else {
                    Err(CliError::Ended(1))
                };
            }
            Outcome::Completed(accepted) => accepted?,
            Outcome::TimedOut => return Err(self.give_up(&id, self.args.timeout, &failure)),
            Outcome::Stopped => return Err(self.give_up(&id, None, &failure)),
        };
        acceptance.say()?;
        let result = match self.executor.spin_until_complete(left(), accepted.get_result()?)? {
            Outcome::Completed(result) => result?,
            Outcome::TimedOut => return Err(self.give_up(&id, self.args.timeout, &failure)),
            Outcome::Stopped => return Err(self.give_up(&id, None, &failure)),
        };
        self.print_result(&id, result.status, &result.result)
    }

    fn print_result(
        &self,
        id: &GoalId,
        status: GoalStatus,
        response: &[u8],
    ) -> Result<(), CliError> {
        let result = part(&self.action.get_result.response, response, "result")?;
        if self.args.json {
            let result = result.to_json(&PrintOptions::default());
            let id = hex(id);
            output::print(&format!(
                "{{\"goal_id\":\"{id}\",\"status\":\"{status}\",\"result\":{result}}}\n"
            ))?;
        } else {
            output::print(&format!(
                "Result:\n    {}\nGoal finished with status: {status}\n",
                yaml(&result)
            ))?;
        }
        if status == GoalStatus::Succeeded { Ok(()) } else { Err(CliError::Ended(1)) }
    }

    /// Cancels the goal after Ctrl-C, a timeout or a failure to print feedback, and returns the
    /// reason why the command ends.
    fn give_up(
        &self,
        id: &GoalId,
        limit: Option<Duration>,
        failure: &Mutex<Option<CliError>>,
    ) -> CliError {
        if let Err(error) = self.cancel(id) {
            return error;
        }
        if let Some(failure) = failure.lock().take() {
            return failure;
        }
        match limit {
            Some(limit) => CliError::failed(format!(
                "the goal had not ended after {} and was canceled: give it more time with --timeout",
                duration(limit)
            )),
            None => CliError::Interrupted,
        }
    }

    fn cancel(&self, id: &GoalId) -> Result<(), CliError> {
        let canceled = self.client.cancel_goal(id)?;
        // If nobody reads the output any longer, the goal is canceled nevertheless.
        let said = say(self.args, "Canceling goal...\n");
        match self.executor.spin_until_complete(Some(PATIENCE_FOR_CANCEL), canceled)? {
            Outcome::Completed(canceled) => {
                canceled
                    .map_err(|error| CliError::failed(format!("failed to cancel goal: {error}")))?;
                said.and_then(|()| say(self.args, "Goal canceled.\n"))
            }
            Outcome::TimedOut => Err(CliError::failed(format!(
                "failed to cancel goal: {} did not answer {}",
                self.client.action_name(),
                within(PATIENCE_FOR_CANCEL)
            ))),
            Outcome::Stopped => Err(CliError::Interrupted),
        }
    }
}

/// Prints once that the goal was accepted: feedback may arrive before the server's answer.
#[derive(Default)]
struct Acceptance {
    json: bool,
    unsaid: Mutex<Option<GoalId>>,
}

impl Acceptance {
    fn say(&self) -> Result<(), CliError> {
        let unsaid = self.unsaid.lock().take();
        match unsaid {
            Some(id) if !self.json => {
                output::print(&format!("Goal accepted with ID: {}\n\n", hex(&id)))
            }
            _ => Ok(()),
        }
    }
}

/// Prints feedback.
struct Printer {
    acceptance: Arc<Acceptance>,
    message: DynamicType,
    stopper: Stopper,
    /// The reason why printing failed, if it did.
    failure: Arc<Mutex<Option<CliError>>>,
}

impl Printer {
    fn new(acceptance: &Arc<Acceptance>, message: &DynamicType, stopper: Stopper) -> Self {
        let (acceptance, message) = (acceptance.clone(), message.clone());
        Self { acceptance, message, stopper, failure: Arc::default() }
    }

    fn print(&self, bytes: &[u8]) {
        let printed = part(&self.message, bytes, "feedback").and_then(|feedback| {
            self.acceptance.say()?;
            output::print(&if self.acceptance.json {
                format!("{{\"feedback\":{}}}\n", feedback.to_json(&PrintOptions::default()))
            } else {
                format!("Feedback:\n    {}\n", yaml(&feedback))
            })
        });
        if let Err(error) = printed {
            self.failure.lock().get_or_insert(error);
            self.stopper.stop();
        }
    }
}

/// Decodes a message, and returns the field that holds the user's part.
fn part(ty: &DynamicType, bytes: &[u8], field: &str) -> Result<DynamicMessage, CliError> {
    let message = ty.decode(bytes).map_err(|error| {
        CliError::failed(format!(
            "the received message is not a {}: {error}; check that both sides use the same definition",
            ty.name()
        ))
    })?;
    match message.get(field) {
        Some(Value::Message(part)) => Ok(part.clone()),
        _ => Err(CliError::failed(format!("{} has no field {field}", ty.name()))),
    }
}

fn hex(id: &GoalId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
