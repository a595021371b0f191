//! The state of the evaluation of a launch file's actions.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use feros_process::EndSignals;
use serde_json::Value as Json;

use super::containers::Containers;
use super::mistakes::Mistakes;
use super::python_state::PythonState;
use super::scope::Scope;
use super::steps::Step;
use crate::action::Handler;
use crate::error::LaunchError;
use crate::packages::Packages;
use crate::position::Position;
use crate::python::Session;

/// The limit on the nesting of groups and included files together.
pub(super) const MAX_DEPTH: usize = 100;
/// The limit on the length of a string after substitution. Without a limit, each `let` could double
/// a string.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 20;
/// The limit on included files; a file that is included twice counts twice.
pub(super) const MAX_INCLUDES: usize = 1000;

/// The handling of `$(command ...)`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Commands {
    /// The command is an error, since a query must not start anything.
    Refused,
    Run,
    Shown,
}

/// The state of an evaluation: the scope, the steps so far, the used names, and counters for the
/// limits.
pub(super) struct Evaluator {
    pub(super) packages: Arc<Packages>,
    /// The current file and the files that include it; the current file is the last.
    pub(super) files: Vec<PathBuf>,
    pub(super) scope: Scope,
    pub(super) python: PythonState,
    pub(super) containers: Containers,
    /// Whether files were not included because a condition does not hold.
    pub(super) left_out: bool,
    /// The handlers of events, in the order of their registration.
    pub(super) handlers: Vec<Arc<Handler>>,
    /// Whether a step asks a function of Python when it is performed.
    pub(super) asks_later: bool,
    /// The event to which the current reaction belongs.
    pub(super) event: Option<Json>,
    /// Whether all output of processes is shown and logged, regardless of the file.
    pub(super) shows_all_output: bool,
    pub(super) steps: Vec<Step>,
    warnings: RefCell<Vec<String>>,
    pub(super) mistakes: Mistakes,
    /// The handling of `$(command ...)`.
    pub(super) commands: Cell<Commands>,
    /// The signals that end commands.
    pub(super) signals: EndSignals,
    /// The names of the arguments declared so far.
    pub(super) declared: BTreeSet<String>,
    anonymous: RefCell<BTreeMap<String, String>>,
    /// The parameter files that were read to find their mistakes.
    pub(super) checked_files: RefCell<BTreeSet<PathBuf>>,
    node_names: BTreeSet<String>,
    process_count: usize,
    pub(super) step_count: usize,
    pub(super) include_count: usize,
    pub(super) action_count: usize,
    pub(super) depth: usize,
    /// The number of timers within which the current action is.
    pub(super) timer_depth: usize,
}

/// The state before the rehearsal of a reaction.
pub(super) struct Saved {
    scope: Scope,
    steps: Vec<Step>,
    warnings: Vec<String>,
    checked_files: BTreeSet<PathBuf>,
    declared: BTreeSet<String>,
    node_names: BTreeSet<String>,
    process_count: usize,
    action_count: usize,
}

impl Evaluator {
    pub(super) fn new(
        packages: Arc<Packages>,
        session: Arc<Session>,
        file: &Path,
        assignments: &[(String, String)],
    ) -> Self {
        let scope =
            Scope { configurations: assignments.iter().cloned().collect(), ..Scope::default() };
        Self {
            packages,
            files: vec![file.to_owned()],
            scope,
            python: PythonState::new(session),
            containers: Containers::default(),
            left_out: false,
            handlers: Vec::new(),
            asks_later: false,
            event: None,
            shows_all_output: false,
            steps: Vec::new(),
            warnings: RefCell::default(),
            mistakes: Mistakes::default(),
            commands: Cell::new(Commands::Refused),
            signals: EndSignals::default(),
            declared: BTreeSet::new(),
            anonymous: RefCell::default(),
            checked_files: RefCell::default(),
            node_names: BTreeSet::new(),
            process_count: 0,
            step_count: 0,
            include_count: 0,
            action_count: 0,
            depth: 0,
            timer_depth: 0,
        }
    }

    /// Adds a warning about a possible mistake.
    pub(super) fn warn(&self, at: &Position, problem: &str) {
        self.warnings.borrow_mut().push(format!("{at}: {problem}"));
    }

    /// Turns a mistake that may be none into a warning.
    pub(super) fn warn_of(&self, mistake: &LaunchError) {
        self.warnings.borrow_mut().push(mistake.to_string());
    }

    /// Removes and returns the warnings so far.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// Saves the state that the rehearsal of a reaction changes, and begins with no steps.
    pub(super) fn save(&mut self) -> Saved {
        Saved {
            scope: self.scope.clone(),
            steps: std::mem::take(&mut self.steps),
            warnings: self.warnings.borrow().clone(),
            checked_files: self.checked_files.borrow().clone(),
            declared: self.declared.clone(),
            node_names: self.node_names.clone(),
            process_count: self.process_count,
            action_count: self.action_count,
        }
    }

    pub(super) fn restore(&mut self, saved: Saved) {
        self.scope = saved.scope;
        self.steps = saved.steps;
        self.warnings.replace(saved.warnings);
        self.checked_files.replace(saved.checked_files);
        self.declared = saved.declared;
        self.node_names = saved.node_names;
        self.process_count = saved.process_count;
        self.action_count = saved.action_count;
    }

    /// The current file.
    pub(super) fn file(&self) -> &Path {
        self.files.last().map_or(Path::new(""), PathBuf::as_path)
    }

    /// A unique name for `$(anon name)`; the same `name` always gets the same result.
    pub(super) fn anonymous(&self, name: &str) -> String {
        use std::hash::{BuildHasher as _, RandomState};
        let mut names = self.anonymous.borrow_mut();
        names
            .entry(name.to_owned())
            .or_insert_with(|| {
                format!("{name}_{}_{:016x}", std::process::id(), RandomState::new().hash_one(name))
            })
            .clone()
    }

    /// The number of the next process, which is appended to its name.
    pub(super) fn next_process(&mut self) -> usize {
        self.process_count += 1;
        self.process_count
    }

    /// Warns if another node has the same name.
    pub(super) fn note_node(&mut self, name: String, at: &Position) {
        if self.node_names.contains(&name) {
            self.warn(at, &format!("there is more than one node with the name {name}"));
        } else {
            self.node_names.insert(name);
        }
    }

    /// Resolves a path. A relative path that does not exist is taken relative to the folder of the
    /// current file, if it exists there.
    pub(super) fn resolve(&self, path: &str) -> PathBuf {
        let path = PathBuf::from(path);
        let beside = folder_of(self.file()).join(&path);
        if path.is_relative() && !path.exists() && beside.exists() { beside } else { path }
    }

    /// Refuses a file that is already being evaluated, since a launch file cannot include itself.
    pub(super) fn refuse_cycle(&self, path: &Path, at: &Position) -> Result<(), LaunchError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let path = real(path);
        let Some(first) = self.files.iter().position(|file| real(file) == path) else {
            return Ok(());
        };
        let way: Vec<String> = self.files[first..]
            .iter()
            .chain([&path])
            .map(|file| file.display().to_string())
            .collect();
        Err(LaunchError::at(at, format!("a launch file includes itself: {}", way.join(" -> "))))
    }

    /// Enters an included file to collect its arguments; returns whether the limits allow that.
    pub(super) fn enter(&mut self, file: PathBuf) -> bool {
        self.include_count += 1;
        let here = Position::new(&file.as_path().into(), 1, 1);
        let may = self.files.len() < MAX_DEPTH
            && self.include_count <= MAX_INCLUDES
            && self.refuse_cycle(&file, &here).is_ok();
        if may {
            self.files.push(file);
        }
        may
    }
}

/// The folder of a file; `.` for a name without a folder.
pub(super) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
