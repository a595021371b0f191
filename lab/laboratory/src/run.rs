//! Runs a plan: one cell after the other. Each result is on disk before the next cell begins.

mod calibration;
mod costs;
mod error;
mod evaluate;
mod folder;
mod layers;
mod leftovers;
mod load;
mod lock;
mod network;
mod outcome;
mod participants;
mod ports;
mod processors;
mod program;
mod raw;
mod said;
mod session;
mod traffic;
mod transport;

pub use self::error::RunError;
pub use self::leftovers::remove_shared_memory;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::folder::Folder;
use self::network::Network;
use self::outcome::Outcome;
use self::raw::RawFile;
use self::session::{CellError, Context, Ended, Session};
use crate::contract::Placement;
use crate::machine::Machine;
use crate::noise::NoiseWatch;
use crate::peer::{Peers, SystemRef};
use crate::peer_builder::{PeerBuilder, PeerState};
use crate::plan::{Cell, Costs, Plan, Step};
use crate::record::{FORMAT, Missing, Record, Run, Status, System};
use crate::scenario::{LinkConditions, Workload};

/// Receives the progress of a run.
pub trait Observer {
    /// Called with a sentence that a person should read.
    fn note(&mut self, text: &str);
    /// Called when a cell begins, with the number of cells done, the number of all cells, its
    /// label, and the remaining time of the run.
    fn begins(&mut self, done: usize, of: usize, label: &str, remaining: Duration);
    /// Called when a cell has ended.
    fn ended(&mut self, record: &Record);
}

/// The settings of a run.
pub struct Options<'a> {
    /// The folder for the results.
    pub out: &'a Path,
    /// The command that repeats the run, for the report.
    pub command: String,
    /// The permissions of the machine.
    pub machine: &'a Machine,
    /// The peers to which the systems belong.
    pub peers: &'a Peers,
    /// Set to interrupt the run.
    pub interrupted: &'a AtomicBool,
}

/// The result of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of cells in the folder.
    pub cells: usize,
    /// The number of complete cells; this number and the next two count only this attempt.
    pub complete: usize,
    /// The number of cells that failed or hung.
    pub failed: usize,
    /// The number of impossible cells.
    pub skipped: usize,
    /// The number of complete cells whose messages took a transport other than the one under test.
    pub unexpected_transport: usize,
}

/// Runs a plan, or the rest of it.
///
/// # Errors
/// Returns a [`RunError`]. In every case, the folder has all results so far, and the same call
/// continues the run.
pub fn run(
    plan: &Plan,
    options: &Options<'_>,
    builder: &mut PeerBuilder,
    observer: &mut dyn Observer,
) -> Result<Summary, RunError> {
    let new = Run {
        format: FORMAT,
        grid: plan.grid.clone(),
        command: options.command.clone(),
        seed: plan.scenarios.first().map_or(0, |scenario| scenario.procedure.seed),
        began_unix_seconds: unix_seconds(),
        environment: options.machine.environment(),
        scenarios: plan.scenarios.iter().map(|scenario| scenario.about.clone()).collect(),
        ..Run::default()
    };
    let folder = Folder::open(options.out, plan, new)?;
    if let Some(resumed) = folder.resumed {
        let half =
            if resumed.interrupted > 0 { "; the interrupted cell is measured again" } else { "" };
        observer.note(&format!(
            "continuing the run in {}; results so far: {}{half}",
            options.out.display(),
            resumed.cells
        ));
    }
    let mut runner = Runner {
        plan,
        options,
        folder,
        costs: Costs::read(builder.cache()),
        cache: builder.cache().to_owned(),
        states: BTreeMap::new(),
        observer,
        summary: Summary::default(),
        said: Vec::new(),
    };
    runner.prepare(builder)?;
    let result = runner.cells();
    runner.costs.write(&runner.cache);
    result?;
    runner.folder.run.ended_unix_seconds = Some(unix_seconds());
    runner.folder.write_run()?;
    runner.summary.cells = runner.folder.records();
    Ok(runner.summary)
}

struct Runner<'a> {
    plan: &'a Plan,
    options: &'a Options<'a>,
    folder: Folder,
    costs: Costs,
    cache: PathBuf,
    /// The state of each system, by name.
    states: BTreeMap<String, PeerState>,
    observer: &'a mut dyn Observer,
    summary: Summary,
    /// The notes that have already been reported, since each note is reported only once.
    said: Vec<String>,
}

impl Runner<'_> {
    /// Builds the systems, and measures the laboratory's own cost.
    fn prepare(&mut self, builder: &mut PeerBuilder) -> Result<(), RunError> {
        let mut systems = Vec::new();
        for name in self.plan.systems() {
            let Ok(system) = self.options.peers.system(name) else { continue };
            let state = builder.prepare(system, self.options.interrupted, &mut |text| {
                self.observer.note(text);
            })?;
            let missing = match &state {
                PeerState::Ready(_) => None,
                PeerState::Missing(missing) => Some(missing.clone()),
            };
            if let Some(missing) = &missing {
                let install = missing
                    .install
                    .as_ref()
                    .map_or_else(String::new, |command| format!(" (install: {command})"));
                // A configuration without a separate build is missing if its peer is missing.
                let builds = system.variant.is_some_and(|variant| !variant.build.is_empty());
                let who = if builds { name } else { &system.peer.name };
                self.say_once(&format!("{who}: not measured, {}{install}", missing.reason));
            }
            let known = self.folder.run.systems.iter().find(|known| known.name == name);
            let version = known.and_then(|known| known.version.clone());
            systems.push(System {
                name: name.to_owned(),
                title: system.title(),
                why: system.why().to_owned(),
                callback: system.callback(),
                version,
                missing,
                declares: self.options.peers.declarations(system),
            });
            self.states.insert(name.to_owned(), state);
        }
        self.folder.run.systems = systems;
        if self.states.values().all(|state| matches!(state, PeerState::Missing(_))) {
            self.folder.write_run()?;
            return Err(RunError::NothingInstalled);
        }
        if self.folder.run.floors.is_empty() {
            self.folder.run.floors.extend(calibration::recording(self.folder.run.seed));
        }
        self.folder.write_run()
    }

    fn cells(&mut self) -> Result<(), RunError> {
        let plan = self.plan;
        // Cells of missing systems are not counted.
        let of = plan.steps.iter().filter(|step| self.ready(step).is_some()).count();
        for (index, step) in plan.steps.iter().enumerate() {
            if self.options.interrupted.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted { done: self.folder.records(), of });
            }
            if self.folder.is_done(&step.cell) {
                continue;
            }
            let Some(out) = self.ready(step).map(Path::to_owned) else { continue };
            let record = match &step.skip {
                Some(reason) => skipped(&step.cell, reason.clone()),
                None => {
                    self.folder.check_space()?;
                    let remaining = self.remaining(&plan.steps[index..]);
                    self.observer.begins(self.folder.records(), of, &step.cell.label(), remaining);
                    match self.measure(&step.cell, index, &out) {
                        Ok(record) => record,
                        Err(CellError::Interrupted) => {
                            return Err(RunError::Interrupted { done: self.folder.records(), of });
                        }
                        Err(CellError::Raw(error)) => return Err(self.folder.failed(error)),
                    }
                }
            };
            match &record.status {
                Status::Complete => self.summary.complete += 1,
                Status::Failed(_) | Status::Hung(_) => self.summary.failed += 1,
                Status::Skipped(_) => self.summary.skipped += 1,
            }
            self.summary.unexpected_transport += usize::from(record.unexpected_transport);
            self.folder.append(&record)?;
            self.observer.ended(&record);
        }
        Ok(())
    }

    /// The folder with the programs of a step, if its system is installed.
    fn ready(&self, step: &Step) -> Option<&Path> {
        match self.states.get(&step.cell.system)? {
            PeerState::Ready(out) => Some(out),
            PeerState::Missing(_) => None,
        }
    }

    fn remaining(&self, steps: &[Step]) -> Duration {
        let is_open = |step: &&Step| step.skip.is_none() && self.ready(step).is_some();
        let seconds = steps.iter().filter(is_open).map(|step| self.costs.seconds(&step.cell)).sum();
        Duration::from_secs_f64(seconds)
    }

    fn say_once(&mut self, text: &str) {
        if !self.said.iter().any(|said| said == text) {
            self.said.push(text.to_owned());
            self.observer.note(text);
        }
    }

    fn measure(&mut self, cell: &Cell, index: usize, out: &Path) -> Result<Record, CellError> {
        let began_unix_seconds = unix_seconds();
        let began = Instant::now();
        let noise = NoiseWatch::begin();
        let about = serde_json::to_string(cell).unwrap_or_default();
        let name = format!("{index:05}-{}-{}", cell.scenario, cell.system.replace(':', "-"));
        let mut raw = RawFile::create(&self.folder.raw(), &name, &about).map_err(CellError::Raw)?;
        let mut record = self.programs(cell, index, out, &mut raw)?;
        let took = began.elapsed();
        let (noise, said) = noise.end();
        if let Some(said) = said {
            self.observer.note(&format!("{}: {said}; its times are in doubt", cell.label()));
        }
        if let Some(count) = record.values.get("samples_before_sent") {
            self.observer.note(&format!(
                "{}: {count} messages were received before they were sent: a clock jumped; they do not count",
                cell.label()
            ));
        }
        if let (true, Some(transport)) = (record.unexpected_transport, &record.transport) {
            self.observer.note(&format!(
                "{}: its messages took another transport than the one under test ({transport}); \
                 statistics leave it out",
                cell.label()
            ));
        }
        record.noise = noise;
        record.began_unix_seconds = began_unix_seconds;
        record.seconds = took.as_secs_f64();
        record.raw = Some(format!("raw/{}", raw.finish().map_err(CellError::Raw)?));
        if record.status == Status::Complete {
            self.costs.learn(cell, took);
        }
        Ok(record)
    }

    /// Sets up a cell, runs its programs, and cleans up.
    fn programs(
        &mut self,
        cell: &Cell,
        index: usize,
        out: &Path,
        raw: &mut RawFile,
    ) -> Result<Record, CellError> {
        let failed = |reason: String| Ok(Record { status: Status::Failed(reason), ..empty(cell) });
        let Ok(system) = self.options.peers.system(&cell.system) else {
            return failed(format!("there is no system {}", cell.system));
        };
        let scratch = match program::scratch() {
            Ok(scratch) => scratch,
            Err(error) => {
                return failed(format!(
                    "the folder for temporary files cannot be created: {error}"
                ));
            }
        };
        let network = match self.network(cell) {
            Ok(network) => network,
            Err(reason) => return failed(reason),
        };
        let realtime = cell.procedure.realtime && self.options.machine.no_realtime.is_none();
        if cell.procedure.realtime
            && let Some(reason) = &self.options.machine.no_realtime
        {
            self.say_once(&format!("measured without real-time scheduling: {reason}"));
        }
        let locks_memory = cell.procedure.realtime && self.options.machine.no_memory_lock.is_none();
        if cell.procedure.realtime
            && let Some(reason) = &self.options.machine.no_memory_lock
        {
            self.say_once(&format!("measured without locked memory: {reason}"));
        }
        let load = match load::ProcessorLoad::begin(cell.cpu_load_percent) {
            Ok(load) => load,
            Err(error) => {
                return failed(format!(
                    "the programs that load the processors cannot be started: {error}"
                ));
            }
        };
        let awake = match load::AwakeProcessors::begin(cell.procedure.awake) {
            Ok(awake) => awake,
            Err(error) => return failed(format!("processors cannot be kept awake: {error}")),
        };
        let context = Context {
            system,
            out,
            scratch: scratch.path(),
            foreign: self.options.peers.variables(),
            mark: format!("lab{}x{index}", std::process::id()),
            domain: ports::free_domain(u32::try_from(index).unwrap_or(0).wrapping_mul(7)),
            port: ports::free_port(index),
            realtime,
            locks_memory,
            interrupted: self.options.interrupted,
        };
        let ended = Session::new(cell, &context, &network, raw).run();
        drop((load, awake));
        leftovers::kill_what_is_left(&context.mark);
        leftovers::remove_shared_memory(&system.peer.manifest.shared_memory);
        self.record(cell, system, ended?, realtime)
    }

    /// Creates the hosts of a cell.
    fn network(&self, cell: &Cell) -> Result<Network, String> {
        let seed = cell.procedure.seed.wrapping_add(u64::from(cell.repetition));
        // The processes of a robot get a host of their own, so that its counters have no packets of
        // others. It has a link, since discovery by multicast needs a device beside loopback.
        let is_apart =
            cell.workload == Workload::Discovery && self.options.machine.no_remote.is_none();
        match cell.placement {
            Placement::Remote => Network::remote(&cell.link, seed),
            _ if is_apart => Network::remote(&LinkConditions::default(), seed),
            _ => Ok(Network::Local),
        }
    }

    fn record(
        &mut self,
        cell: &Cell,
        system: SystemRef<'_>,
        mut ended: Ended,
        realtime: bool,
    ) -> Result<Record, CellError> {
        let version = ended
            .programs
            .iter()
            .find_map(|program| program.hello.as_ref())
            .map(|hello| hello.version.clone());
        self.note_version(&cell.system, version);
        let evaluation = evaluate::evaluate(cell, &mut ended.programs);
        for note in &evaluation.notes {
            self.say_once(&format!("{}: {note}", cell.system));
        }
        let mut values = evaluation.values;
        if cell.procedure.realtime {
            values.insert("realtime".into(), f64::from(u8::from(realtime)));
        }
        if cell.procedure.apart {
            let is_apart = processors::half_of(cell, network::Host::Talker).is_some();
            values.insert("apart".into(), f64::from(u8::from(is_apart)));
        }
        if let Some((before, after)) = &ended.wire {
            costs::wire(before, after, evaluation.sent + cell.procedure.warm_up, &mut values);
        }
        let taken = transport::taken(cell, system, &values);
        let status = match ended.outcome {
            Outcome::Complete => Status::Complete,
            Outcome::Failed(reason) => Status::Failed(reason),
            Outcome::Hung(reason) => Status::Hung(reason),
            Outcome::Unsupported(reason) => Status::Skipped(reason),
            Outcome::NotInstalled(reason) => {
                self.mark_missing(&cell.system, &reason);
                Status::Skipped(reason)
            }
        };
        let asked: Vec<String> =
            ended.programs.iter().map(|program| program.name.clone()).collect();
        values.extend(ended.discovery);
        let processes = costs::of_processes(cell, ended.programs, ended.servers, &mut values);
        costs::of_one_member(cell, &mut values);
        if cell.procedure.realtime {
            let is_locked = costs::is_locked(&asked, &processes);
            values.insert("memory_locked".into(), f64::from(u8::from(is_locked)));
            if self.options.machine.no_memory_lock.is_none()
                && !is_locked
                && status == Status::Complete
            {
                self.say_once(&format!("{}: its programs did not lock their memory", cell.system));
            }
        }
        Ok(Record {
            status,
            unexpected_transport: taken.as_ref().is_some_and(|taken| taken.missed.is_some()),
            transport: taken.map(|taken| taken.name),
            sent: evaluation.sent,
            subscriptions: evaluation.subscriptions,
            publish_call: evaluation.publish_call,
            layers: evaluation.layers,
            timeline: evaluation.timeline,
            values,
            processes,
            ..empty(cell)
        })
    }

    fn note_version(&mut self, system: &str, version: Option<String>) {
        let version = version.filter(|version| !version.is_empty());
        let known = self.folder.run.systems.iter_mut().find(|known| known.name == system);
        if let (Some(version), Some(known)) = (version, known)
            && known.version.as_ref() != Some(&version)
        {
            known.version = Some(version);
            // The file is written again at the end in any case.
            let _ = self.folder.write_run();
        }
    }

    /// Marks a system as missing if it reported a missing requirement only when it was started.
    fn mark_missing(&mut self, system: &str, reason: &str) {
        let Ok(found) = self.options.peers.system(system) else { return };
        let missing =
            Missing { reason: reason.to_owned(), install: found.peer.manifest.install.clone() };
        for known in self.folder.run.systems.iter_mut().filter(|known| known.name == system) {
            known.missing = Some(missing.clone());
        }
        self.states.insert(system.to_owned(), PeerState::Missing(missing));
        self.say_once(&format!("{system}: not measured, {reason}"));
        let _ = self.folder.write_run();
    }
}

/// Makes the record of a cell that has no results yet.
fn empty(cell: &Cell) -> Record {
    Record {
        scenario: cell.scenario.clone(),
        dimensions: cell.dimensions(),
        repetition: cell.repetition,
        began_unix_seconds: unix_seconds(),
        ..Record::default()
    }
}

fn skipped(cell: &Cell, reason: String) -> Record {
    Record { status: Status::Skipped(reason), ..empty(cell) }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
