//! The supervisor of the processes: one `poll` waits for signals, output, answers from nodes,
//! timers and deadlines.

mod ending;
mod reactions;
mod reading;
mod signalling;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_process::described;
use feros_wording::duration;
use rustix::event::{PollFd, Timespec};

use super::child::{Child, State};
use super::options::RunOptions;
use super::orphans::Orphans;
use super::outcome::{Outcome, RunError};
use super::output::{LAUNCH, Output};
use super::reacting::{self, Reacting};
use super::reports;
use super::request_queue::{Answer, Request, RequestQueue};
use super::signals::Signals;
use super::timers::Timers;
use super::transitions::Transitions;
use crate::action::EventKind;
use crate::level::Level;
use crate::missing_module::{missing_module_within, told};
use crate::plan::{Component, Delayed, Load, NodeFacts, Plan, Process, Step};

/// Starts, watches and ends the processes of a plan.
pub(super) struct Supervisor {
    children: Vec<Child>,
    requests: RequestQueue,
    timers: Timers,
    /// The timers in simulated time that wait, by the names of their requests.
    clock_timers: BTreeMap<String, Delayed>,
    /// The number of timers in simulated time so far.
    clock_timer_count: usize,
    /// The full names of the nodes of the plan's processes, including processes that start later.
    planned_nodes: Vec<String>,
    /// The components for containers of this plan, which load them after each start.
    loads: Vec<Load>,
    signals: Signals,
    orphans: Orphans,
    reacting: Reacting,
    transitions: Transitions,
    output: Output,
    wheel_has: Option<fn(&str) -> bool>,
    is_ending: bool,
    failures: Vec<String>,
}

impl Supervisor {
    pub(super) fn new(options: RunOptions) -> Result<Self, RunError> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(|errno| {
            RunError::System {
                what: "this process cannot become a child subreaper",
                cause: errno.into(),
            }
        })?;
        let output = Output::new(options.screen, options.log_file.clone(), options.debug);
        let wheel_has = options.wheel_has;
        let requests = RequestQueue::new(Arc::new(options))?;
        Ok(Self {
            children: Vec::new(),
            output,
            wheel_has,
            transitions: Transitions::new(requests.waker()),
            requests,
            timers: Timers::default(),
            clock_timers: BTreeMap::new(),
            clock_timer_count: 0,
            planned_nodes: Vec::new(),
            loads: Vec::new(),
            signals: Signals::new()?,
            orphans: Orphans::new(),
            reacting: Reacting::default(),
            is_ending: false,
            failures: Vec::new(),
        })
    }

    pub(super) fn run(mut self, plan: &Plan) -> Result<Outcome, RunError> {
        self.planned_nodes = plan.processes().filter_map(node_of).collect();
        self.reacting = Reacting::new(plan.reactions.as_ref());
        self.output.event(reports::begun);
        self.watch_nodes();
        self.take_steps(&plan.steps);
        while !self.is_over() {
            self.do_what_is_due();
            if self.is_over() {
                break;
            }
            if !self.is_ending
                && self.requests.is_idle()
                && self.timers.is_empty()
                && !self.children.iter().any(Child::is_active)
                && !self.has_unheard_output()
            {
                // Only orphans are left, and they do not keep the launch running.
                self.begin_end("idle", false);
                continue;
            }
            self.wait()?;
        }
        self.end_reactions()?;
        self.end_orphans()?;
        self.drain_output();
        Ok(Outcome { failures: self.failures })
    }

    fn is_over(&self) -> bool {
        self.is_ending && self.children.iter().all(Child::is_done) && !self.reacting.is_awaited()
    }

    /// Performs steps until a step ends the launch.
    fn take_steps(&mut self, steps: &[Step]) {
        for step in steps {
            if self.is_ending {
                return;
            }
            match step {
                Step::Start(process) => self.add(process),
                Step::Load(load) => self.load_when_started(load),
                Step::Log(level, text) => self.output.message(*level, LAUNCH, text),
                Step::Change(change) => {
                    self.ask(&change.node, vec![Request::Change(change.transition)]);
                }
                Step::Signal(signal) => self.signal(signal),
                Step::Cancel(cancel) => self.cancel(cancel),
                Step::Complete(action) => {
                    self.tell(|| reacting::of_action(EventKind::Complete, *action));
                }
                Step::Fire(action) => self.tell(|| reacting::of_action(EventKind::Timer, *action)),
                Step::Emit(object, _) => self.tell(|| reacting::own(*object)),
                // These steps only show in the plan what a reaction may do. Its real steps are
                // planned when its event occurs.
                Step::Watch(_) | Step::Call(_) | Step::Unknown(_) => {}
                Step::After(delayed) => {
                    let text = format!("{}: waits {}", delayed.at, duration(delayed.delay));
                    self.output.message(Level::Debug, LAUNCH, &text);
                    if delayed.by_clock {
                        self.wait_by_clock(delayed);
                    } else {
                        self.timers.add(delayed);
                    }
                }
                Step::Shutdown(reason) => {
                    let text = format!("shutdown ({reason}): the whole launch ends");
                    self.output.message(Level::Info, LAUNCH, &text);
                    self.begin_end(reason, false);
                }
            }
        }
    }

    /// Waits in simulated time. Each timer needs a thread of its own, so it gets a unique name.
    fn wait_by_clock(&mut self, delayed: &Delayed) {
        self.clock_timer_count += 1;
        let name = format!("ros_timer {}", self.clock_timer_count);
        self.clock_timers.insert(name.clone(), delayed.clone());
        self.ask(&name, vec![Request::Wait(Box::new(delayed.clone()))]);
    }

    /// Loads components into a container. A container of this plan loads them after each start,
    /// another container once.
    fn load_when_started(&mut self, load: &Load) {
        let is_planned = self.planned_nodes.contains(&load.container);
        if is_planned {
            self.loads.push(load.clone());
        }
        let runs = |child: &Child| {
            matches!(child.state, State::Running(_)) && serves(&child.process, &load.container)
        };
        if !is_planned || self.children.iter().any(runs) {
            self.load(&load.container, &load.components);
        }
    }

    fn add(&mut self, process: &Process) {
        match Child::new(process.clone(), self.children.len()) {
            Ok(child) => self.children.push(child),
            Err(error) => {
                self.fail(&process.name, format!("its parameter file cannot be written: {error}"))
            }
        }
    }

    fn fail(&mut self, name: &str, problem: String) {
        self.output.message(Level::Error, name, &problem);
        self.failures.push(format!("{name}: {problem}"));
    }

    fn load(&mut self, container: &str, components: &[Component]) {
        let load = |component: &Component| Request::Load(Box::new(component.clone()));
        self.ask(container, components.iter().map(load).collect());
    }

    fn ask(&mut self, node: &str, requests: Vec<Request>) {
        if let Err((requests, problem)) = self.requests.ask(node, requests) {
            for request in requests {
                self.fail(node, format!("{}: {problem}", request.undone()));
            }
        }
    }

    fn do_what_is_due(&mut self) {
        for request in self.signals.take_requests() {
            self.end_requested(request);
        }
        if self.output.screen.is_closed() && !self.is_ending {
            self.begin_end("standard output is closed", false);
        }
        let now = Instant::now();
        while let Some(due) = self.timers.take_due(now) {
            self.take_steps(&due);
        }
        for index in 0..self.children.len() {
            self.start_if_due(index, now);
            self.check_child(index);
            let child = &mut self.children[index];
            if let Some(signal) = child.escalate() {
                let text = format!("does not end, so it gets {signal}");
                self.output.message(Level::Warning, &child.process.name, &text);
            }
        }
        self.take_answers();
    }

    fn end_requested(&mut self, request: &str) {
        if !self.is_ending {
            self.output.message(
                Level::Warning,
                LAUNCH,
                &format!("{request}: the whole launch ends"),
            );
            self.begin_end(request, request == "SIGINT");
            return;
        }
        self.output.message(
            Level::Warning,
            LAUNCH,
            &format!("{request} again: processes get no further time to end"),
        );
        for child in &mut self.children {
            if let Some(signal) = child.send_next_signal() {
                self.output.message(Level::Warning, &child.process.name, &format!("gets {signal}"));
            }
        }
    }

    /// Asks all processes to end. Nothing is started after this.
    fn begin_end(&mut self, reason: &str, by_sigint: bool) {
        if std::mem::replace(&mut self.is_ending, true) {
            return;
        }
        self.requests.cancel_all();
        self.timers.cancel_all();
        for child in &mut self.children {
            child.begin_end();
        }
        self.reacting.begin_end();
        self.tell(|| reacting::shutdown(reason, by_sigint));
    }

    fn start_if_due(&mut self, index: usize, now: Instant) {
        let child = &mut self.children[index];
        if !matches!(child.state, State::Waiting { until } if until <= now) {
            return;
        }
        let name = child.process.name.clone();
        let text = format!("command: {}", child.process.command_line());
        self.output.message(Level::Debug, &name, &text);
        match child.start() {
            Ok(pid) => {
                self.output.message(Level::Info, &name, &format!("started with pid {pid}"));
                self.output.event(|| reports::started(&self.children[index]));
                let event = reacting::started(&self.children[index]);
                self.tell(|| event);
                self.ask_started(index);
            }
            Err(error) => {
                let command = child.process.command_line();
                let ends_launch = child.process.ends_launch;
                self.tell_completion(index);
                self.fail(&name, format!("cannot be started: {error} (command: {command})"));
                if ends_launch {
                    self.begin_end(&format!("{name} cannot be started"), false);
                }
            }
        }
    }

    /// Loads the components of a started container, and activates a managed node.
    fn ask_started(&mut self, index: usize) {
        let process = &self.children[index].process;
        let Some(container) = node_of(process) else { return };
        let others = self.loads.iter().filter(|load| load.container == container);
        let activates = process.autostart;
        let components: Vec<Component> = process
            .components
            .iter()
            .chain(others.flat_map(|load| &load.components))
            .cloned()
            .collect();
        if !components.is_empty() {
            self.load(&container, &components);
        }
        if activates {
            self.ask(&container, vec![Request::Activate]);
        }
    }

    fn check_child(&mut self, index: usize) {
        if let Some(status) = self.children[index].poll_exit() {
            self.ended(index, status);
        }
        let child = &mut self.children[index];
        if let State::Running(running) = &child.state
            && running.has_ended
            && (self.is_ending || child.starts_again())
        {
            child.begin_end();
        }
        if child.is_gone() {
            let again = if self.is_ending { None } else { child.respawn_at() };
            child.state = again.map_or(State::Done, |until| State::Waiting { until });
            if again.is_none() {
                self.tell_completion(index);
            }
        }
    }

    fn ended(&mut self, index: usize, status: ExitStatus) {
        self.read_rest(index);
        let child = &self.children[index];
        let (name, command, ends_launch) =
            (child.process.name.clone(), child.process.command_line(), child.process.ends_launch);
        let was_asked = child.is_ending();
        let node = node_of(&child.process);
        let is_well = status.success();
        let how = described(status);
        match (is_well, was_asked) {
            (true, _) => self.output.message(Level::Info, &name, "ended"),
            (false, true) => self.output.message(Level::Info, &name, &format!("ended with {how}")),
            (false, false) => self.output.message(
                Level::Error,
                &name,
                &format!("died with {how} (command: {command})"),
            ),
        }
        let missing = self.children[index].take_missing_module();
        if let Some(module) = missing.filter(|_| !is_well && !was_asked) {
            let program = self.children[index].words.first().map(PathBuf::from);
            self.tell_cure(&name, &module, program.as_deref());
        }
        if let Some(node) = node {
            self.requests.cancel(&node);
        }
        self.output.event(|| reports::ended(&self.children[index], status));
        let event = reacting::ended(&self.children[index], status);
        self.tell(|| event);
        if ends_launch && !self.is_ending {
            if !is_well && !was_asked {
                self.failures.push(format!("{name}: died with {how}"));
            }
            self.output.message(
                Level::Info,
                LAUNCH,
                &format!("{name} ended: the whole launch ends"),
            );
            self.begin_end(&format!("{name} ended"), false);
        }
    }

    fn take_answers(&mut self) {
        self.take_changes();
        for Answer { node, request, result, was_cancelled } in self.requests.take_answers() {
            if let Request::React(_, event) = &request {
                self.reacting.answered(event);
            }
            if matches!(request, Request::Wait(_)) && self.clock_timers.remove(&node).is_none() {
                continue; // the timer was cancelled
            }
            match (result, &request) {
                (Ok(name), Request::Load(component)) => {
                    let text = format!("has loaded {} as {name}", component.plugin);
                    self.output.message(Level::Info, &node, &text);
                }
                (Ok(_), Request::Activate) => {
                    self.output.message(Level::Info, &node, "is active");
                }
                (Ok(_), Request::Change(transition)) => {
                    let text = format!("has done the transition {transition}");
                    self.output.message(Level::Info, &node, &text);
                }
                (Ok(_), Request::Wait(delayed)) => self.take_steps(&delayed.steps),
                (Ok(_), Request::React(reactions, _) | Request::Choose(reactions, ..)) => {
                    self.take_reaction(&reactions.take_steps())
                }
                (Err(_), _) if was_cancelled && (self.is_ending || self.will_serve(&node)) => {}
                (Err(_), request) if was_cancelled => {
                    let what = match request {
                        Request::Load(_) => "the container",
                        Request::Activate | Request::Change(_) => "its process",
                        Request::Wait(_) | Request::React(..) | Request::Choose(..) => "the launch",
                    };
                    self.fail(&node, format!("{}: {what} has ended", request.undone()));
                }
                (Err(problem), request) => {
                    self.fail(&node, format!("{}: {problem}", request.undone()));
                    if let Some(module) = missing_module_within(&problem) {
                        self.tell_cure(&node, module, None);
                    }
                    // As in stock (`launch/launch/launch_service.py`), an error in a reaction ends
                    // the launch.
                    if matches!(request, Request::React(..) | Request::Choose(..)) {
                        self.begin_end("a reaction has failed", false);
                    }
                }
            }
        }
    }

    /// Reports that `name` (a process or a node) does not find a module of Python, and how to get
    /// the module. `program` is the file of the process.
    fn tell_cure(&mut self, name: &str, module: &str, program: Option<&Path>) {
        let text = told(module, program, self.wheel_has);
        self.output.message(Level::Error, name, &text);
    }

    /// Whether a respawned process has this node and will start again, so that cancelled requests
    /// are repeated.
    fn will_serve(&self, node: &str) -> bool {
        self.children.iter().any(|child| child.starts_again() && serves(&child.process, node))
    }
}

/// The full name of a process's node, if it is known.
fn node_of(process: &Process) -> Option<String> {
    process.node.as_ref().and_then(NodeFacts::full_name)
}

/// Whether a process has the node with this name.
fn serves(process: &Process, node: &str) -> bool {
    node_of(process).is_some_and(|name| name == node)
}

fn poll(descriptors: &mut [PollFd<'_>], timeout: Option<Duration>) -> Result<(), RunError> {
    // A timeout that is too long for `poll` counts as endless.
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match rustix::event::poll(descriptors, timeout.as_ref()) {
        Ok(_) => Ok(()),
        Err(rustix::io::Errno::INTR) => {
            descriptors.iter_mut().for_each(PollFd::clear_revents);
            Ok(())
        }
        Err(errno) => {
            Err(RunError::System { what: "processes cannot be waited for", cause: errno.into() })
        }
    }
}
