//! The signals and the ends of processes that a launch file asks for, and its cancelled timers.

use feros_process::Signal;
use signal_hook::low_level::signal_name;

use super::{LAUNCH, Level, Request, Step, Supervisor, reacting};
use crate::action::{EventKind, ProcessMatch};
use crate::plan::{Cancel, Delayed, ProcessSignal};
use crate::run::child::Child;

impl Supervisor {
    /// Sends a signal to processes, or makes them end.
    pub(super) fn signal(&mut self, signal: &ProcessSignal) {
        let is_meant = |child: &Child| match &signal.processes {
            ProcessMatch::Action(action) => child.process.action == Some(*action),
            ProcessMatch::Name(name) => child.process.name == *name,
            ProcessMatch::Function(_) => false,
        };
        if let ProcessMatch::Function(function) = signal.processes {
            return self.choose(function, signal);
        }
        let meant = self.children.iter().enumerate().filter(|(_, child)| is_meant(child));
        let meant: Vec<usize> = meant.map(|(index, _)| index).collect();
        if meant.is_empty() {
            let text = format!("{}: {} has not been started", signal.at, signal.whom);
            self.output.message(Level::Warning, LAUNCH, &text);
        }
        for index in meant {
            match signal.signal {
                Some(number) => self.send(index, number),
                None => self.end_child(index),
            }
        }
    }

    /// Lets a function of the launch file choose the processes.
    fn choose(&mut self, function: u64, signal: &ProcessSignal) {
        let Some(reactions) = self.reacting.reactions() else { return };
        let request = Request::Choose(reactions, function, Box::new(signal.clone()));
        self.ask(LAUNCH, vec![request]);
    }

    fn send(&mut self, index: usize, signal: Signal) {
        let child = &mut self.children[index];
        let name = signal_name(signal.as_raw()).unwrap_or("a signal");
        let (level, text) = if child.send(signal) {
            (Level::Info, format!("gets {name}"))
        } else {
            (Level::Debug, format!("does not run, so it gets no {name}"))
        };
        self.output.message(level, &child.process.name, &text);
    }

    fn end_child(&mut self, index: usize) {
        let child = &mut self.children[index];
        let (was_done, runs) = (child.is_done(), child.runs());
        child.end_for_good();
        let text = if runs { "gets SIGINT" } else { "is not started again" };
        if !was_done {
            self.output.message(Level::Info, &child.process.name, text);
        }
        if !was_done && child.is_done() {
            self.tell_completion(index);
        }
    }

    /// Drops the steps of a timer. Its action is then complete.
    pub(super) fn cancel(&mut self, cancel: &Cancel) {
        let is_it = |delayed: &Delayed| delayed.timer == Some(cancel.timer);
        let mut dropped = self.timers.cancel(is_it);
        self.clock_timers.retain(|name, delayed| {
            let is_dropped = is_it(delayed);
            if is_dropped {
                self.requests.cancel(name);
                dropped.push(delayed.clone());
            }
            !is_dropped
        });
        let completes =
            |step: &Step| matches!(step, Step::Complete(action) if *action == cancel.timer);
        for delayed in dropped {
            self.output.message(Level::Debug, LAUNCH, &format!("{}: is cancelled", delayed.at));
            if delayed.steps.iter().any(completes) {
                self.tell(|| reacting::of_action(EventKind::Complete, cancel.timer));
            }
        }
    }
}
