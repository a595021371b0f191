//! Starts the processes of the demo, lets them talk when all are ready, and ends them.

use std::process::Command;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::args::{Args, Role};
use super::conversation::{Conversation, Event, Participant, Start};
use super::discovery::Discovery;
use super::display;
use super::ros2::{self, Search};
use crate::error::CliError;
use crate::process_group::{Member, ProcessEvent, ProcessGroup};

/// How long all processes may take until their nodes are ready; Python is the slowest.
const READY_LIMIT: Duration = Duration::from_secs(60);

/// The time allowed in addition to the time of publishing: for discovery, and for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message that is not heard within this time after the last one counts as lost.
const QUIET: Duration = Duration::from_secs(3);

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let discovery = Discovery::from_environment();
    display::introduce(&discovery, args.count)?;
    let mut group = ProcessGroup::new()?;
    let search = match args.without_ros2 {
        true => Search::Missing,
        false => ros2::find(&mut group, &discovery)?,
    };
    if search == Search::Interrupted {
        return Err(CliError::Interrupted);
    }
    if !args.without_ros2 {
        display::introduce_ros2(&search)?;
    }
    let mut demo = Demo {
        group,
        participants: Vec::new(),
        conversation: Conversation::default(),
        interrupted: false,
    };
    demo.start(Participant::Listener, discovery.apply(&mut own_command(Role::Listener)?))?;
    demo.start(Participant::Talker, discovery.apply(&mut own_command(Role::Talker)?))?;
    if let Search::Found(python) = &search {
        demo.start(Participant::Ros2, discovery.apply(&mut ros2::node(python)))?;
    }
    let outcome = demo.run(args);
    demo.group.end_all();
    let participants = demo.participants();
    if demo.has_published() {
        display::conclude(&demo.conversation, &participants, &discovery, args.count == 0)?;
    }
    outcome?;
    match demo.conversation.silent_pairs(&participants).first() {
        None => Ok(()),
        Some(_) if demo.interrupted => Err(CliError::Interrupted),
        Some((talker, listener)) => Err(CliError::failed(format!(
            "{} heard nothing from {}; `feros doctor` checks for the cause",
            listener.node(),
            talker.node()
        ))),
    }
}

fn own_command(role: Role) -> Result<Command, CliError> {
    let program = std::env::current_exe().map_err(|error| {
        CliError::failed(format!("the path of this program cannot be determined: {error}"))
    })?;
    let role =
        role.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let mut command = Command::new(program);
    command.args(["demo", "--role", &role]);
    Ok(command)
}

/// The demo while it runs.
struct Demo {
    group: ProcessGroup,
    participants: Vec<(Member, Participant)>,
    conversation: Conversation,
    interrupted: bool,
}

impl Demo {
    fn start(&mut self, participant: Participant, command: &mut Command) -> Result<(), CliError> {
        let started = self.group.start(participant.node(), command);
        let member = started.map_err(|error| {
            CliError::failed(format!("{} cannot be started: {error}", participant.node()))
        })?;
        self.participants.push((member, participant));
        Ok(())
    }

    fn participants(&self) -> Vec<Participant> {
        self.participants.iter().map(|(_, participant)| *participant).collect()
    }

    fn has_published(&self) -> bool {
        self.participants().into_iter().any(|participant| self.conversation.said(participant) > 0)
    }

    fn run(&mut self, args: &Args) -> Result<(), CliError> {
        let mut missing = self.participants();
        let deadline = Instant::now() + READY_LIMIT;
        while !missing.is_empty() && !self.interrupted {
            let what = || format!("{} did not start in time", missing[0].node());
            if let Some((participant, Event::Ready)) = self.next(deadline, what)? {
                missing.retain(|other| *other != participant);
            }
        }
        // A talker waits for its listeners; the stock ROS 2 node also listens to itself.
        let listeners =
            self.participants().into_iter().filter(|participant| participant.subscribes()).count();
        let go = Start { count: args.count, listeners, rate_hz: args.rate_hz };
        let mut publishing: Vec<Participant> =
            self.participants().into_iter().filter(|participant| participant.publishes()).collect();
        for (member, participant) in self.participants.clone() {
            if participant.publishes() {
                self.group.tell(member, &go);
            }
        }
        let publishing_limit = match args.count {
            0 => Duration::MAX,
            count => {
                Duration::from_secs_f64((count as f64 / args.rate_hz * 3.0).min(1e9)) + PATIENCE
            }
        };
        let far = Duration::from_secs(100 * 365 * 24 * 3600);
        let deadline = Instant::now() + publishing_limit.min(far);
        while !publishing.is_empty() && !self.interrupted {
            let what = || format!("{} did not finish", publishing[0].node());
            if let Some((participant, Event::Done)) = self.next(deadline, what)? {
                publishing.retain(|other| *other != participant);
            }
        }
        self.wait_for_deliveries()
    }

    /// Waits until every message has been heard, or until [`QUIET`] is over.
    fn wait_for_deliveries(&mut self) -> Result<(), CliError> {
        let participants = self.participants();
        let deadline = Instant::now() + QUIET;
        while !self.conversation.is_complete(&participants) && Instant::now() < deadline {
            match self.group.next(deadline) {
                ProcessEvent::Line(member, line) => drop(self.note(member, &line)?),
                ProcessEvent::Ended(_) | ProcessEvent::Interrupted | ProcessEvent::Timeout => {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The next event of any process; `None` if the user wants to end.
    fn next(
        &mut self,
        deadline: Instant,
        late: impl Fn() -> String,
    ) -> Result<Option<(Participant, Event)>, CliError> {
        match self.group.next(deadline) {
            ProcessEvent::Line(member, line) => self.note(member, &line).map(Some),
            ProcessEvent::Interrupted => {
                self.interrupted = true;
                Ok(None)
            }
            ProcessEvent::Ended(member) => Err(CliError::failed(format!(
                "{} ended too early; see its output above",
                self.group.name(member)
            ))),
            ProcessEvent::Timeout => Err(CliError::failed(late())),
        }
    }

    /// Counts and shows an event of a process.
    fn note(&mut self, member: Member, line: &str) -> Result<(Participant, Event), CliError> {
        let name = self.group.name(member);
        let participant = self
            .participants
            .iter()
            .find(|(other, _)| *other == member)
            .map(|(_, participant)| *participant);
        let (Some(participant), Ok(event)) = (participant, serde_json::from_str(line)) else {
            return Err(CliError::failed(format!("{name} printed an unexpected line: {line}")));
        };
        match &event {
            Event::Said { text } => {
                self.conversation.say(participant);
                display::tell(participant, &format!("says   {text}"))?;
            }
            Event::Heard { text, latency_us } => {
                self.conversation.hear(participant, text, *latency_us);
                display::heard(participant, text, *latency_us)?;
            }
            Event::Ready | Event::Done => {}
        }
        Ok((participant, event))
    }
}
