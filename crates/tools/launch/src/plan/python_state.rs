//! The facts about Python files and objects that the evaluation of a launch collects.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::action::Item;
use crate::error::LaunchError;
use crate::python::Session;
use crate::tree::Language;

/// The facts about Python that the evaluation knows.
#[derive(Default)]
pub(super) struct PythonState {
    session: Arc<Session>,
    /// The number of requests that wait for their replies.
    pub(super) depth: Cell<usize>,
    /// Whether Python code has seen a placeholder since its request began.
    pub(super) has_seen_placeholder: Cell<bool>,
    /// Whether a file was left early or not read, or an action that sets variables was left out, so
    /// that variables may be missing.
    has_ended_early: Cell<bool>,
    /// Whether the last error may follow from an earlier error.
    follows: Cell<bool>,
    /// The objects that have started a process.
    started: BTreeSet<u64>,
    /// What Python sees of the processes that have started, by the objects that start them.
    details: BTreeMap<u64, Json>,
    /// The timers that are cancelled.
    cancelled: BTreeSet<u64>,
    /// The names of the processes, by the objects that start them.
    processes: BTreeMap<u64, String>,
    /// Whether reactions are planned for people to see them, and the earlier value of
    /// `has_ended_early`.
    rehearsal: Cell<Option<bool>>,
    rehearsal_depth: Cell<usize>,
    /// The full names of the nodes of containers, by the objects that start them.
    containers: BTreeMap<u64, String>,
    /// The full names of managed nodes, by the objects that start them.
    managed: BTreeMap<u64, String>,
    /// The variables that Python code has read, and those of included files.
    read: RefCell<BTreeSet<String>>,
}

impl PythonState {
    pub(super) fn new(session: Arc<Session>) -> Self {
        Self { session, ..Self::default() }
    }

    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Whether a file is for Python, and Python can be started.
    pub(super) fn reads(&self, path: &Path, language: Option<Language>) -> bool {
        self.session.is_offered()
            && language.or_else(|| Language::of(path)) == Some(Language::Python)
    }

    /// Forgets what is known about the last error, before the next action or after the error is
    /// noted.
    pub(super) fn forget_error(&self) {
        self.follows.set(false);
    }

    /// Notes that Python code failed, that an included file cannot be read, or that an action that
    /// sets variables is left out: variables may be missing.
    pub(super) fn end_early(&self) {
        self.has_ended_early.set(true);
    }

    /// Notes that the error which is about to be returned may follow from an earlier error.
    pub(super) fn follow(&self) {
        self.follows.set(true);
    }

    /// Whether the last error may follow from an earlier error.
    pub(super) fn follows(&self) -> bool {
        self.follows.get()
    }

    /// Notes that something is missing which a file that ended early may have set.
    pub(super) fn note_missing(&self) {
        if self.has_ended_early.get() {
            self.follow();
        }
    }

    /// Notes that something is missing that no event sets, but perhaps a file that ended early.
    pub(super) fn note_missing_setting(&self) {
        if self.may_lack_variables() {
            self.follow();
        }
    }

    /// Whether variables may be missing because of an earlier mistake.
    pub(super) fn may_lack_variables(&self) -> bool {
        self.rehearsal.get().unwrap_or(self.has_ended_early.get())
    }

    /// Notes the variables that a file or an object reads.
    pub(super) fn note_read(&self, names: impl IntoIterator<Item = String>) {
        self.read.borrow_mut().extend(names);
    }

    /// The variables that Python code and included files read.
    pub(super) fn read(&self) -> BTreeSet<String> {
        self.read.borrow().clone()
    }

    /// Refuses an object that starts a process for the second time
    /// (`launch/launch/actions/execute_local.py`).
    pub(super) fn note_start(&mut self, item: &Item) -> Result<(), LaunchError> {
        match item.id {
            Some(_) if self.rehearses() => Ok(()),
            Some(id) if !self.started.insert(id) => Err(LaunchError::at(
                &item.at,
                "this action is performed twice, but it starts one process: make an object for \
                 each process",
            )),
            _ => Ok(()),
        }
    }

    /// From now on variables may be missing, and Python's functions are not called.
    pub(super) fn begin_rehearsal(&self) {
        if self.rehearsal.get().is_none() {
            self.rehearsal.set(Some(self.has_ended_early.replace(true)));
            self.rehearsal_depth.set(0);
        }
        self.rehearsal_depth.set(self.rehearsal_depth.get() + 1);
    }

    pub(super) fn end_rehearsal(&self) {
        self.rehearsal_depth.set(self.rehearsal_depth.get().saturating_sub(1));
        if self.rehearsal_depth.get() == 0
            && let Some(before) = self.rehearsal.take()
        {
            self.has_ended_early.set(before);
        }
    }

    /// Whether a reaction is planned for people to see it.
    pub(super) fn rehearses(&self) -> bool {
        self.rehearsal.get().is_some()
    }

    pub(super) fn note_process(&mut self, id: Option<u64>, name: &str) {
        let Some(id) = id else { return };
        if self.rehearses() {
            self.processes.entry(id).or_insert_with(|| name.to_owned());
        } else {
            self.processes.insert(id, name.to_owned());
        }
    }

    /// The name of the process that an object starts.
    pub(super) fn process(&self, id: u64) -> Option<String> {
        self.processes.get(&id).cloned()
    }

    /// Notes what Python sees of a process that has started.
    pub(super) fn note_details(&mut self, id: u64, details: &Json) {
        self.details.insert(id, details.clone());
    }

    /// What Python sees of the process of an action, if it has started.
    pub(super) fn details(&self, id: u64) -> Option<&Json> {
        self.details.get(&id)
    }

    /// The objects that start processes.
    pub(super) fn started(&self) -> &BTreeSet<u64> {
        &self.started
    }

    pub(super) fn note_cancelled(&mut self, timer: u64) {
        self.cancelled.insert(timer);
    }

    pub(super) fn is_cancelled(&self, timer: Option<u64>) -> bool {
        timer.is_some_and(|timer| self.cancelled.contains(&timer))
    }

    pub(super) fn note_container(&mut self, id: Option<u64>, name: Option<String>) {
        self.containers.extend(id.zip(name));
    }

    pub(super) fn note_managed(&mut self, id: Option<u64>, name: Option<String>) {
        self.managed.extend(id.zip(name));
    }

    /// The full names of managed nodes, by the objects that start them.
    pub(super) fn managed(&self) -> &BTreeMap<u64, String> {
        &self.managed
    }

    pub(super) fn container(&self, id: u64) -> Option<String> {
        self.containers.get(&id).cloned()
    }
}
