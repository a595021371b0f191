//! The session of one cell: starts its servers and programs, reads their output, watches them and
//! ends them.

mod discovery;
mod servers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};

use feros_link::Counters;

use super::leftovers::CELL_MARK;
use super::network::{Host, Network};
use super::outcome::{Outcome, judge};
use super::participants::{Participant, participants, program_timeout};
use super::processors::half_of;
use super::program::{Event, Placeholders, Program, Said, Start};
use super::raw::RawFile;
use super::said::LEADERS;
use crate::contract::LOCK_MEMORY;
use crate::peer::SystemRef;
use crate::plan::Cell;
use crate::scenario::{StartOrder, Workload};
use discovery::Discovery;

/// The context of a cell.
pub(super) struct Context<'a> {
    pub(super) system: SystemRef<'a>,
    /// The folder with the peer's programs.
    pub(super) out: &'a Path,
    pub(super) scratch: &'a Path,
    /// The prefixes of the user's variables that programs do not get.
    pub(super) foreign: BTreeSet<&'a str>,
    /// A word that identifies this cell.
    pub(super) mark: String,
    pub(super) domain: u32,
    pub(super) port: u16,
    pub(super) realtime: bool,
    /// Whether programs should lock their memory.
    pub(super) locks_memory: bool,
    pub(super) interrupted: &'a AtomicBool,
}

/// The reason why a cell has no result.
pub(super) enum CellError {
    Interrupted,
    /// The raw file cannot be written.
    Raw(std::io::Error),
}

/// The state of a cell when all its programs have ended.
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) programs: Vec<Program>,
    pub(super) servers: Vec<Program>,
    /// The counters of the link before the first message, and at the end.
    pub(super) wire: Option<(Counters, Counters)>,
    /// The numbers of a cell in which processes found each other; otherwise empty.
    pub(super) discovery: BTreeMap<String, f64>,
}

/// The interval at which the session checks for changes that no event reports.
const TICK: Duration = Duration::from_millis(20);
/// The time that a program may take to end after the laboratory has stopped it.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time that the other programs may take to end after a program has failed.
const PATIENCE_AFTER_FAILURE: Duration = Duration::from_secs(2);
/// The time that a program may run beyond its own time limit before it is killed.
const GRACE: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Starting,
    /// The entities exist; idle nodes are not watched until they have settled.
    Settling(Instant),
    Measuring(Instant),
    /// The publisher has ended; messages may still be on their way.
    UnderWay(Instant),
    /// The laboratory has stopped all programs.
    Stopping(Instant),
}

pub(super) struct Session<'a> {
    cell: &'a Cell,
    context: &'a Context<'a>,
    network: &'a Network,
    raw: &'a mut RawFile,
    programs: Vec<Program>,
    servers: Vec<Program>,
    events: Receiver<Event>,
    sender: SyncSender<Event>,
    server_said: Vec<String>,
    phase: Phase,
    last_look: Instant,
    memory_seen: bool,
    failing: bool,
    wire_before: Option<Counters>,
    /// The course of a cell in which processes find each other.
    discovery: Option<Discovery>,
}

/// The number of the first server in events.
const SERVERS: usize = 1 << 20;

impl<'a> Session<'a> {
    pub(super) fn new(
        cell: &'a Cell,
        context: &'a Context<'a>,
        network: &'a Network,
        raw: &'a mut RawFile,
    ) -> Self {
        let (sender, events) = mpsc::sync_channel(256);
        Self {
            cell,
            context,
            network,
            raw,
            programs: Vec::new(),
            servers: Vec::new(),
            events,
            sender,
            server_said: Vec::new(),
            phase: Phase::Starting,
            last_look: Instant::now(),
            memory_seen: false,
            failing: false,
            wire_before: None,
            discovery: None,
        }
    }

    /// Runs the cell to its end.
    pub(super) fn run(mut self) -> Result<Ended, CellError> {
        if let Some(outcome) = self.start_servers()? {
            return Ok(self.finish(Some(outcome)));
        }
        if self.cell.workload == Workload::Discovery {
            self.discovery = Some(Discovery::begin(self.network));
        }
        let waiting = match self.start_programs() {
            Ok(waiting) => waiting,
            Err(reason) => return Ok(self.finish(Some(Outcome::Failed(reason)))),
        };
        if let Err(reason) = self.drive(waiting)? {
            return Ok(self.finish(Some(Outcome::Failed(reason))));
        }
        Ok(self.finish(None))
    }

    /// Starts programs; returns the programs that must wait until the others are ready.
    fn start_programs(&mut self) -> Result<Vec<Participant>, String> {
        let (first, later): (Vec<_>, Vec<_>) =
            participants(self.cell).into_iter().partition(|participant| !participant.after_others);
        for participant in &first {
            self.start(participant)?;
        }
        Ok(later)
    }

    fn start(&mut self, participant: &Participant) -> Result<(), String> {
        let manifest = &self.context.system.peer.manifest;
        let placeholders = self.placeholders(participant.host);
        let mut command: Vec<String> =
            manifest.program.iter().map(|word| placeholders.fill(word)).collect();
        if let Some(variant) = self.context.system.variant {
            command.extend(variant.arguments.iter().map(|word| placeholders.fill(word)));
        }
        command.extend(participant.arguments(self.cell));
        let mut environment = self.environment(participant.host);
        if self.context.locks_memory {
            environment.insert(LOCK_MEMORY.to_owned(), "1".to_owned());
        }
        let start = Start {
            name: participant.name.clone(),
            words: command,
            environment: &environment,
            foreign: &self.context.foreign,
            folder: self.context.scratch,
            namespace: self.network.namespace(participant.host),
            realtime: self.context.realtime,
            processors: half_of(self.cell, participant.host),
            first_subscription: participant.index,
        };
        let index = self.programs.len();
        let program = Program::start(&start, index, &self.sender)
            .map_err(|error| format!("{} cannot be started: {error}", participant.name))?;
        self.programs.push(program);
        Ok(())
    }

    fn placeholders(&self, host: Host) -> Placeholders {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let scenarios = crate::peer_builder::repository().join("lab/scenarios");
        Placeholders {
            all: vec![
                ("out", text(self.context.out)),
                ("peer", text(&self.context.system.peer.folder)),
                ("repository", text(&crate::peer_builder::repository())),
                ("scenarios", text(&scenarios)),
                ("scratch", text(self.context.scratch)),
                ("domain", self.context.domain.to_string()),
                ("port", self.context.port.to_string()),
                ("run", self.context.mark.clone()),
                ("address", self.network.address(host).to_owned()),
                ("server_address", self.network.address(Host::Talker).to_owned()),
            ],
        }
    }

    fn environment(&self, host: Host) -> BTreeMap<String, String> {
        let placeholders = self.placeholders(host);
        let variant = self.context.system.variant.map(|variant| &variant.environment);
        let own = &self.context.system.peer.manifest.environment;
        let scratch = self.context.scratch.to_string_lossy().into_owned();
        [("ROS_LOG_DIR".to_owned(), scratch), (CELL_MARK.to_owned(), self.context.mark.clone())]
            .into_iter()
            .chain(
                own.iter()
                    .chain(variant.into_iter().flatten())
                    .chain(&self.cell.environment)
                    .map(|(name, value)| (name.clone(), placeholders.fill(value))),
            )
            .collect()
    }

    /// Waits a moment for output of the programs, and reads it.
    fn hear(&mut self) -> Result<(), CellError> {
        if self.context.interrupted.load(Ordering::Relaxed) {
            return Err(CellError::Interrupted);
        }
        let mut next = self.events.recv_timeout(TICK).ok();
        while let Some(event) = next {
            self.take_in(event)?;
            next = self.events.try_recv().ok();
        }
        Ok(())
    }

    fn take_in(&mut self, event: Event) -> Result<(), CellError> {
        let program = match event.program.checked_sub(SERVERS) {
            Some(index) => self.servers.get_mut(index),
            None => self.programs.get_mut(event.program),
        };
        let Some(program) = program else { return Ok(()) };
        let (stream, text) = match &event.said {
            Said::Out(text) => ("out", text),
            Said::Err(text) => ("err", text),
        };
        self.raw.line(&program.name, stream, text).map_err(CellError::Raw)?;
        if event.program >= SERVERS && self.server_said.len() < 10_000 {
            self.server_said.push(text.clone());
        }
        program.hear(event.said);
        Ok(())
    }

    /// Drives the programs until all have ended. Returns the reason if a program could not be
    /// started.
    fn drive(&mut self, mut waiting: Vec<Participant>) -> Result<Result<(), String>, CellError> {
        let longest = program_timeout(self.cell) + GRACE;
        let began = Instant::now();
        loop {
            self.hear()?;
            if !waiting.is_empty() && self.programs.iter().all(|program| program.ready) {
                let in_turn = self.cell.start == StartOrder::InTurn;
                let next = if in_turn { 1 } else { waiting.len() };
                for participant in waiting.drain(..next) {
                    if let Err(reason) = self.start(&participant) {
                        return Ok(Err(reason));
                    }
                }
            }
            let alive = self
                .programs
                .iter_mut()
                .filter_map(|program| (!program.has_ended()).then_some(()))
                .count();
            if alive == 0 && (waiting.is_empty() || self.programs.iter().any(Program::has_failed)) {
                return Ok(Ok(()));
            }
            if !self.failing && self.programs.iter().any(Program::has_failed) {
                self.failing = true;
                waiting.clear();
                self.stop();
            }
            if self.discovery.is_none() {
                self.advance();
                self.look();
            } else if let Err(reason) = self.advance_discovery(waiting.is_empty()) {
                return Ok(Err(reason));
            }
            let patience = match self.failing {
                true => PATIENCE_AFTER_FAILURE,
                // All processes of a robot end at the same time.
                false if self.discovery.is_some() => self.settling_limit(),
                false => PATIENCE,
            };
            let told = matches!(self.phase, Phase::Stopping(since) if since.elapsed() > patience);
            if told || began.elapsed() > longest {
                for program in self.programs.iter_mut() {
                    if !program.has_ended() {
                        program.hung = !self.failing;
                        program.killed = self.failing;
                        program.kill();
                    }
                }
                return Ok(Ok(()));
            }
        }
    }

    fn stop(&mut self) {
        for program in &mut self.programs {
            program.stop();
        }
        self.phase = Phase::Stopping(Instant::now());
    }

    /// Enters the next phase when it is time.
    fn advance(&mut self) {
        let settle = Duration::from_secs_f64(self.cell.procedure.settle_seconds);
        let watched = !self.cell.has_messages();
        match self.phase {
            Phase::Starting => {
                let leader = self.programs.iter().find(|program| leads(&program.name));
                let ready = match leader {
                    Some(leader) => leader.ready,
                    None => {
                        !self.programs.is_empty()
                            && self.programs.iter().all(|program| program.ready)
                    }
                };
                if ready && watched {
                    self.phase = Phase::Settling(Instant::now());
                } else if ready {
                    self.begin_measuring();
                }
            }
            Phase::Settling(since) if since.elapsed() >= settle => self.begin_measuring(),
            Phase::Measuring(since) if watched => {
                if since.elapsed().as_secs_f64() >= self.cell.procedure.seconds {
                    for program in &mut self.programs {
                        program.usage.sample();
                        program.usage.look_at_memory();
                    }
                    self.stop();
                }
            }
            Phase::Measuring(_) => {
                if self
                    .programs
                    .iter_mut()
                    .any(|program| leads(&program.name) && program.has_ended())
                {
                    self.phase = Phase::UnderWay(Instant::now());
                }
            }
            Phase::UnderWay(since) if since.elapsed() >= settle => self.stop(),
            Phase::Settling(_) | Phase::UnderWay(_) | Phase::Stopping(_) => {}
        }
    }

    fn begin_measuring(&mut self) {
        for program in self.programs.iter_mut().chain(&mut self.servers) {
            program.usage.begin();
        }
        self.wire_before = self.network.counters();
        self.last_look = Instant::now();
        self.phase = Phase::Measuring(Instant::now());
    }

    /// Samples the cost of the programs, at long intervals.
    fn look(&mut self) {
        let Phase::Measuring(since) = self.phase else { return };
        if self.last_look.elapsed() >= Duration::from_millis(250) {
            for program in self.programs.iter_mut().chain(&mut self.servers) {
                program.usage.sample();
            }
            self.last_look = Instant::now();
        }
        // This is late enough that all memory is in use, and early enough that no program has
        // ended.
        let due = 0.7 * self.cell.active_seconds();
        if self.cell.procedure.memory
            && self.cell.has_messages()
            && !self.memory_seen
            && since.elapsed().as_secs_f64() >= due
        {
            self.memory_seen = true;
            for program in self.programs.iter_mut().chain(&mut self.servers) {
                program.usage.look_at_memory();
            }
        }
    }

    /// Ends the servers, reads the remaining output, and judges the outcome.
    fn finish(mut self, outcome: Option<Outcome>) -> Ended {
        for program in &mut self.programs {
            program.kill();
        }
        if self.cell.procedure.memory {
            for server in &mut self.servers {
                server.usage.look_at_memory();
            }
        }
        for server in &mut self.servers {
            server.terminate();
        }
        let began = Instant::now();
        while !self.servers.iter_mut().all(Program::has_ended)
            && began.elapsed() < PATIENCE_AFTER_FAILURE
        {
            let _ = self.hear();
        }
        for server in &mut self.servers {
            server.kill();
        }
        // Reads the rest of the pipes, which have only output from before the programs' end, unless
        // a process was left behind.
        while !self.programs.iter().all(Program::is_silent)
            && began.elapsed() < PATIENCE_AFTER_FAILURE
        {
            if self.hear().is_err() {
                break;
            }
        }
        while let Ok(event) = self.events.try_recv() {
            let _ = self.take_in(event);
        }
        let outcome = outcome.unwrap_or_else(|| judge(&self.programs));
        let wire = self.wire_before.zip(self.network.counters());
        let discovery = self.discovery.map(|discovery| discovery.finish(&self.programs));
        Ended {
            outcome,
            programs: self.programs,
            servers: self.servers,
            wire,
            discovery: discovery.unwrap_or_default(),
        }
    }
}

/// Whether a program with this name leads its cell; see [`LEADERS`].
fn leads(name: &str) -> bool {
    LEADERS.contains(&name)
}
