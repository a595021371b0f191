//! Starts the processes of the demo, lets them talk when all are there, and ends them.

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::conversation::{Conversation, Event, Go, Voice};
use super::place::Place;
use super::ros2::{self, Search};
use super::{Args, Role, stage};
use crate::error::CliError;
use crate::process_group::{Member, ProcessEvent, ProcessGroup};

/// How long all processes may take until their nodes are there; Python is the slow one.
const READY_LIMIT: Duration = Duration::from_secs(60);

/// On top of the time that talking takes: finding each other, a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// After the last word: what was not heard by then is not heard any more.
const QUIET: Duration = Duration::from_secs(3);

pub(super) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let place = Place::from_environment();
    stage::introduce(&place, args.count)?;
    let mut group = ProcessGroup::new()?;
    let search = match args.without_ros2 {
        true => Search::Missing,
        false => ros2::find(&mut group, &place)?,
    };
    if search == Search::Interrupted {
        return Err(CliError::Interrupted);
    }
    if !args.without_ros2 {
        stage::introduce_ros2(&search)?;
    }
    let mut demo =
        Demo { group, cast: Vec::new(), conversation: Conversation::default(), interrupted: false };
    demo.start(Voice::Listener, place.apply(&mut own_command(Role::Listener)?))?;
    demo.start(Voice::Talker, place.apply(&mut own_command(Role::Talker)?))?;
    if let Search::Found(python) = &search {
        demo.start(Voice::Ros2, place.apply(&mut ros2::node(python)))?;
    }
    let played = demo.play(args);
    demo.group.end_all();
    let voices = demo.voices();
    if demo.has_talked() {
        stage::conclude(&demo.conversation, &voices, &place, args.count == 0)?;
    }
    played?;
    match demo.conversation.silent_pairs(&voices).first() {
        None => Ok(ExitCode::SUCCESS),
        Some(_) if demo.interrupted => Err(CliError::Interrupted),
        Some((talker, listener)) => Err(CliError::failed(format!(
            "{} heard nothing of {}; `feros doctor` says what may stand in the way",
            listener.node(),
            talker.node()
        ))),
    }
}

fn own_command(role: Role) -> Result<Command, CliError> {
    let program = std::env::current_exe()
        .map_err(|error| CliError::failed(format!("this program cannot find itself: {error}")))?;
    let role =
        role.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let mut command = Command::new(program);
    command.args(["demo", "--role", &role]);
    Ok(command)
}

/// The demo while it runs.
struct Demo {
    group: ProcessGroup,
    cast: Vec<(Member, Voice)>,
    conversation: Conversation,
    interrupted: bool,
}

impl Demo {
    fn start(&mut self, voice: Voice, command: &mut Command) -> Result<(), CliError> {
        let started = self.group.start(voice.node(), command);
        let member = started.map_err(|error| {
            CliError::failed(format!("{} cannot be started: {error}", voice.node()))
        })?;
        self.cast.push((member, voice));
        Ok(())
    }

    fn voices(&self) -> Vec<Voice> {
        self.cast.iter().map(|(_, voice)| *voice).collect()
    }

    fn has_talked(&self) -> bool {
        self.voices().into_iter().any(|voice| self.conversation.said(voice) > 0)
    }

    fn play(&mut self, args: &Args) -> Result<(), CliError> {
        let mut missing = self.voices();
        let deadline = Instant::now() + READY_LIMIT;
        while !missing.is_empty() && !self.interrupted {
            let what = || format!("{} did not start in time", missing[0].node());
            if let Some((voice, Event::Ready)) = self.next(deadline, what)? {
                missing.retain(|other| *other != voice);
            }
        }
        // A talker waits for its listeners; the one of stock ROS 2 has itself among them.
        let listeners = self.voices().into_iter().filter(|voice| voice.listens()).count();
        let go = Go { count: args.count, listeners, rate_hz: args.rate_hz };
        let mut talking: Vec<Voice> =
            self.voices().into_iter().filter(|voice| voice.talks()).collect();
        for (member, voice) in self.cast.clone() {
            if voice.talks() {
                self.group.tell(member, &go);
            }
        }
        let talk_limit = match args.count {
            0 => Duration::MAX,
            count => {
                Duration::from_secs_f64((count as f64 / args.rate_hz * 3.0).min(1e9)) + PATIENCE
            }
        };
        let far = Duration::from_secs(100 * 365 * 24 * 3600);
        let deadline = Instant::now() + talk_limit.min(far);
        while !talking.is_empty() && !self.interrupted {
            let what = || format!("{} did not come to an end", talking[0].node());
            if let Some((voice, Event::Done)) = self.next(deadline, what)? {
                talking.retain(|other| *other != voice);
            }
        }
        self.hear_out()
    }

    /// Waits until everything that was said was heard, or will not be.
    fn hear_out(&mut self) -> Result<(), CliError> {
        let voices = self.voices();
        let deadline = Instant::now() + QUIET;
        while !self.conversation.is_complete(&voices) && Instant::now() < deadline {
            match self.group.next(deadline) {
                ProcessEvent::Line(member, line) => drop(self.note(member, &line)?),
                ProcessEvent::Ended(_) | ProcessEvent::Interrupted | ProcessEvent::Timeout => {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The next event of anybody; `None` when the user wants to end.
    fn next(
        &mut self,
        deadline: Instant,
        late: impl Fn() -> String,
    ) -> Result<Option<(Voice, Event)>, CliError> {
        match self.group.next(deadline) {
            ProcessEvent::Line(member, line) => self.note(member, &line).map(Some),
            ProcessEvent::Interrupted => {
                self.interrupted = true;
                Ok(None)
            }
            ProcessEvent::Ended(member) => Err(CliError::failed(format!(
                "{} ended too early; what it said stands above",
                self.group.name(member)
            ))),
            ProcessEvent::Timeout => Err(CliError::failed(late())),
        }
    }

    /// Counts and shows what a process tells.
    fn note(&mut self, member: Member, line: &str) -> Result<(Voice, Event), CliError> {
        let name = self.group.name(member);
        let voice = self.cast.iter().find(|(other, _)| *other == member).map(|(_, voice)| *voice);
        let (Some(voice), Ok(event)) = (voice, serde_json::from_str(line)) else {
            return Err(CliError::failed(format!(
                "{name} said something that is no part of the demo: {line}"
            )));
        };
        match &event {
            Event::Said { text } => {
                self.conversation.say(voice);
                stage::tell(voice, &format!("says   {text}"))?;
            }
            Event::Heard { text, latency_us } => {
                self.conversation.hear(voice, text, *latency_us);
                stage::heard(voice, text, *latency_us)?;
            }
            Event::Ready | Event::Done => {}
        }
        Ok((voice, event))
    }
}
