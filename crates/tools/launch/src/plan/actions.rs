//! Evaluates actions in order. They change the scope, and yield the steps of a plan.

use std::sync::Arc;

use super::evaluator::{Evaluator, MAX_DEPTH, MAX_INCLUDES};
use super::log_folder::{LOG_VARIABLE, log_folder};
use super::scope::{Scope, check_namespace, check_variable, joined_namespace};
use super::steps::{Cancel, Delayed, Parameters, ProcessSignal, Step};
use crate::action::{
    Action, Body, Declaration, EventKind, ForEach, Group, Handler, Item, LogLevel, Loop, NodeKind,
    ProcessMatch, Source, Timer,
};
use crate::error::{LaunchError, hint, shown};
use crate::level::Level;
use crate::position::Position;
use crate::substitution::Template;
use crate::value::Value;

/// The limit on evaluated actions.
pub(super) const MAX_ACTIONS: usize = 1_000_000;
/// The limit on event handlers. Each event costs a look at each handler.
const MAX_HANDLERS: usize = 1_000;

/// Whether an action changes nothing that later actions read.
fn changes_nothing(action: &Action) -> bool {
    match action {
        Action::Node(node) => node.kind == NodeKind::Node,
        Action::Executable(_)
        | Action::Load { .. }
        | Action::Log { .. }
        | Action::Shutdown { .. }
        | Action::Change { .. }
        | Action::Emit { .. }
        | Action::Signal { .. } => true,
        _ => false,
    }
}

/// Whether an action may include files.
fn may_include(action: &Action) -> bool {
    let any = |items: &[Item]| items.iter().any(|item| may_include(&item.action));
    match action {
        Action::Include { .. } | Action::Python { .. } => true,
        Action::Group(Group { actions, .. }) | Action::Timer(Timer { actions, .. }) => any(actions),
        Action::For(Loop { body, .. }) | Action::ForEach(ForEach { body, .. }) => match body {
            Body::Actions(actions) => any(actions),
            Body::Python(_) => true,
        },
        _ => false,
    }
}

impl Evaluator {
    /// Evaluates actions. After a mistake, the other actions are evaluated too.
    pub(super) fn items(&mut self, items: &[Item]) -> Result<(), LaunchError> {
        for item in items {
            self.action_count += 1;
            if self.action_count > MAX_ACTIONS {
                let problem = format!("more than {MAX_ACTIONS} actions, with all included files");
                return Err(self.limit(&item.at, problem));
            }
            self.forget_error();
            match self.item(item) {
                Ok(()) => {}
                Err(_) if self.python.follows() && self.python.rehearses() => {
                    self.steps.push(Step::Unknown(item.at.clone()));
                }
                Err(error) => self.note(error)?,
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<(), LaunchError> {
        let holds = self.holds(item.condition.as_ref()).inspect_err(|_| {
            if !changes_nothing(&item.action) {
                self.python.end_early();
            }
        })?;
        if holds {
            self.action(item)?;
            self.note_completion(item);
            Ok(())
        } else {
            if let Action::Argument(declaration) = &item.action {
                self.declared.insert(declaration.name.clone());
            }
            self.left_out |= may_include(&item.action);
            Ok(())
        }
    }

    /// Evaluates a complete file; reports all mistakes that do not follow from earlier ones.
    pub(super) fn all_items(&mut self, items: &[Item]) -> Result<(), LaunchError> {
        self.with_all_mistakes(|evaluator| evaluator.items(items))
    }

    fn action(&mut self, item: &Item) -> Result<(), LaunchError> {
        match &item.action {
            Action::Argument(declaration) => self.argument(declaration, &item.at),
            Action::Let { name, value } => {
                let (name, value) = (self.name_to_set(name)?, self.text(value)?);
                self.scope.configurations.insert(name, value);
                Ok(())
            }
            Action::Unset { name } => {
                let name = self.text(name)?;
                self.scope.configurations.remove(&name);
                Ok(())
            }
            Action::SetEnvironment { name, value } => {
                let value = self.text(value)?;
                self.set_variable(name, Some(value))
            }
            Action::UnsetEnvironment { name } => self.set_variable(name, None),
            Action::AppendEnvironment { name, value, prepend, separator } => {
                self.append_variable(name, value, prepend.as_ref(), separator.as_ref())
            }
            Action::PushEnvironment => self.push_environment(&item.at),
            Action::PopEnvironment => self.pop_environment(&item.at),
            Action::ResetEnvironment => {
                self.scope.environment.clear();
                Ok(())
            }
            Action::SetLogFolder(folder) => self.set_log_folder(folder),
            Action::Reset { keep } => {
                self.scope.configurations = self.pairs(keep)?.into_iter().collect();
                Ok(())
            }
            Action::PushConfigurations => self.push_configurations(&item.at),
            Action::PopConfigurations => self.pop_configurations(&item.at),
            Action::PushNamespace(namespace) => self.push_namespace(namespace),
            Action::SetParameter(entry) => self.set_parameter(entry),
            Action::SetParametersFromFile(path) => self.set_parameters_from_file(path),
            Action::SetRemap { from, to } => self.set_remap(from, to),
            Action::Group(group) => self.deeper(&item.at, |evaluator| evaluator.group(group)),
            Action::Include { source, arguments } => {
                self.deeper(&item.at, |evaluator| evaluator.include(source, arguments, &item.at))
            }
            Action::Executable(executable) => {
                self.python.note_start(item)?;
                self.executable(executable, item.id, &item.at)
            }
            Action::Node(node) => {
                self.python.note_start(item)?;
                self.node(node, item.id, &item.at)
            }
            Action::Load { target, components } => self.load(target, components, &item.at),
            Action::Log { message, level } => self.log(message, level),
            Action::SetUseSimTime(value) => {
                let value = vec![("use_sim_time".to_owned(), Value::Bool(self.truth(value)?))];
                self.scope.parameters.push(Parameters::Values(value));
                Ok(())
            }
            Action::For(rounds) => {
                self.deeper(&item.at, |evaluator| evaluator.rounds(rounds, &item.at))
            }
            Action::ForEach(for_each) => {
                self.deeper(&item.at, |evaluator| evaluator.for_each(for_each, &item.at))
            }
            Action::Timer(timer) => {
                self.deeper(&item.at, |evaluator| evaluator.timer(timer, item.id, &item.at))
            }
            Action::Shutdown { reason } => {
                let reason = self.optional_text(reason.as_ref())?;
                let reason = reason.unwrap_or_else(|| "reason not given".to_owned());
                self.push(Step::Shutdown(reason), &item.at)
            }
            Action::Python { name, .. } if self.python.rehearses() => {
                let place = format!("{}:{}", item.at.file.display(), item.at.line);
                self.steps.push(Step::Call(format!("{name} ({place})")));
                Ok(())
            }
            Action::Python { id, .. } => self.deeper(&item.at, |evaluator| {
                let items = evaluator.execute(*id, &item.at)?;
                evaluator.items(&items)
            }),
            Action::Change { nodes, transitions } => {
                self.change_states(nodes, transitions, &item.at)
            }
            Action::Signal { processes, signal } => {
                self.asks_later |= matches!(processes, ProcessMatch::Function(_));
                let whom = self.whom(processes);
                let (at, processes, signal) = (item.at.clone(), processes.clone(), *signal);
                self.push(Step::Signal(ProcessSignal { at, processes, whom, signal }), &item.at)
            }
            Action::CancelTimer(_) if self.python.rehearses() => Ok(()),
            Action::CancelTimer(timer) => {
                if self.timer_depth == 0 {
                    self.python.note_cancelled(*timer);
                }
                self.push(Step::Cancel(Cancel { at: item.at.clone(), timer: *timer }), &item.at)
            }
            Action::Emit { id, name } => {
                self.steps.push(Step::Emit(*id, name.clone()));
                Ok(())
            }
            Action::Register(handler) => self.register(Arc::clone(handler)),
            Action::Unregister(_) if self.python.rehearses() => Ok(()),
            Action::Unregister(id) => {
                self.handlers.retain(|handler| handler.id != Some(*id));
                Ok(())
            }
        }
    }

    fn deeper(
        &mut self,
        at: &Position,
        action: impl FnOnce(&mut Self) -> Result<(), LaunchError>,
    ) -> Result<(), LaunchError> {
        if self.depth >= MAX_DEPTH {
            let problem = format!("groups and included files are nested deeper than {MAX_DEPTH}");
            return Err(self.limit(at, problem));
        }
        self.depth += 1;
        let result = action(self);
        self.depth -= 1;
        result
    }

    fn argument(&mut self, declaration: &Declaration, at: &Position) -> Result<(), LaunchError> {
        self.declared.insert(declaration.name.clone());
        let value = self.text_or_placeholder(self.value_of_argument(declaration, at))?;
        self.scope.configurations.insert(declaration.name.clone(), value);
        Ok(())
    }

    fn value_of_argument(
        &self,
        declaration: &Declaration,
        at: &Position,
    ) -> Result<String, LaunchError> {
        let Declaration { name, default, description, choices } = declaration;
        let value = match (self.scope.configurations.get(name), default) {
            (Some(given), _) => given,
            (None, Some(default)) => self.text(default)?,
            (None, None) => {
                let purpose =
                    description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
                let problem = format!(
                    "the argument `{name}`{purpose} is not given and has no default: add {name}:=VALUE"
                );
                return Err(LaunchError::at(at, problem));
            }
        };
        if !choices.is_empty() && !choices.contains(&value) && !self.is_unknown(&value) {
            let problem = format!(
                "{} for the argument `{name}`: expected one of {}",
                shown(&value),
                choices.join(", ")
            );
            return Err(LaunchError::at(at, problem));
        }
        Ok(value)
    }

    fn set_variable(&mut self, name: &Template, value: Option<String>) -> Result<(), LaunchError> {
        let text = self.name_to_set(name)?;
        check_variable(&text, value.as_deref().unwrap_or(""), &name.at)?;
        self.scope.environment.insert(text, value);
        Ok(())
    }

    fn append_variable(
        &mut self,
        name: &Template,
        value: &Template,
        prepend: Option<&Template>,
        separator: Option<&Template>,
    ) -> Result<(), LaunchError> {
        let (added, separator) = (self.text(value)?, self.optional_text(separator)?);
        let prepend = self.tried(self.optional_truth(prepend, false))?;
        let before = self.scope.variable(&self.text(name)?);
        let separator = separator.unwrap_or_else(|| ":".to_owned());
        let value = match before {
            None => added,
            Some(before) if prepend => format!("{added}{separator}{before}"),
            Some(before) => format!("{before}{separator}{added}"),
        };
        self.set_variable(name, Some(value))
    }

    fn push_environment(&mut self, at: &Position) -> Result<(), LaunchError> {
        if self.scope.pushed_environments.len() >= MAX_DEPTH {
            let problem = format!("more than {MAX_DEPTH} `push_env` without `pop_env`");
            return Err(self.limit(at, problem));
        }
        self.scope.pushed_environments.push(self.scope.environment.clone());
        Ok(())
    }

    fn pop_environment(&mut self, at: &Position) -> Result<(), LaunchError> {
        let pushed = self.scope.pushed_environments.pop();
        let missing = || LaunchError::at(at, "`pop_env` without a `push_env` before it");
        self.scope.environment = pushed.ok_or_else(missing)?;
        Ok(())
    }

    pub(super) fn register(&mut self, handler: Arc<Handler>) -> Result<(), LaunchError> {
        if self.handlers.len() >= MAX_HANDLERS {
            let problem = format!("more than {MAX_HANDLERS} event handlers");
            return Err(self.limit(&handler.at, problem));
        }
        self.handlers.push(handler);
        Ok(())
    }

    fn push_configurations(&mut self, at: &Position) -> Result<(), LaunchError> {
        if self.scope.push_configurations() > MAX_DEPTH {
            let problem = format!(
                "more than {MAX_DEPTH} `PushLaunchConfigurations` without `PopLaunchConfigurations`"
            );
            return Err(self.limit(at, problem));
        }
        Ok(())
    }

    fn pop_configurations(&mut self, at: &Position) -> Result<(), LaunchError> {
        if self.scope.pop_configurations() {
            return Ok(());
        }
        let problem = "`PopLaunchConfigurations` without a `PushLaunchConfigurations` before it";
        Err(LaunchError::at(at, problem))
    }

    fn push_namespace(&mut self, namespace: &Template) -> Result<(), LaunchError> {
        let text = self.text(namespace)?;
        let joined = joined_namespace(self.scope.namespace.as_deref(), Some(&text));
        let asked = joined.as_deref().unwrap_or("/");
        if !self.is_unknown(asked)
            && let Err(error) = check_namespace(asked, &namespace.at)
        {
            self.note(error)?;
            self.scope.namespace = Some(self.placeholder());
            return Ok(());
        }
        self.scope.namespace = joined;
        Ok(())
    }

    /// Sets the log folder. A relative folder is relative to the previous log folder.
    fn set_log_folder(&mut self, folder: &Template) -> Result<(), LaunchError> {
        let text = self.text(folder)?;
        let before = log_folder(|name| self.scope.variable(name));
        let value = before.unwrap_or_default().join(&text);
        if !value.is_absolute() {
            let problem = format!(
                "{} for `new_log_dir`: expected an absolute path, because none of ROS_LOG_DIR, \
                 ROS_HOME and HOME is set",
                shown(&text)
            );
            return Err(LaunchError::at(&folder.at, problem));
        }
        let value = value.display().to_string();
        check_variable(LOG_VARIABLE, &value, &folder.at)?;
        self.scope.environment.insert(LOG_VARIABLE.to_owned(), Some(value));
        Ok(())
    }

    /// Evaluates a group. A scoped group restores the scope at its end; without forwarding it also
    /// begins with an empty scope.
    fn group(&mut self, group: &Group) -> Result<(), LaunchError> {
        let flag = |given: &Option<Template>| {
            self.tried(self.optional_truth(given.as_ref(), true).map(Some))
                .map(|is| is != Some(false))
        };
        let (is_scoped, forwards) = (flag(&group.scoped)?, flag(&group.forwarding)?);
        let kept = self.pairs(&group.keep)?;
        let before = is_scoped.then(|| self.scope.clone());
        if is_scoped && !forwards {
            let loop_variables = std::mem::take(&mut self.scope.loop_variables);
            self.scope = Scope { loop_variables, ..Scope::default() };
        }
        self.scope.configurations.extend(kept);
        let result = self.items(&group.actions);
        if let Some(before) = before {
            self.scope = before;
        }
        result
    }

    /// Evaluates a timer. Changes that its actions make to the scope end with the timer, since the
    /// actions are performed later than the rest of the file.
    fn timer(&mut self, timer: &Timer, id: Option<u64>, at: &Position) -> Result<(), LaunchError> {
        let delay = self.tried(self.seconds(&timer.period))?;
        if let Some(cancel) = &timer.cancel_on_shutdown {
            self.tried(self.truth(cancel).and_then(|cancels| refuse_to_outlive(cancels, cancel)))?;
        }
        let by_clock = timer.is_ros && self.uses_simulated_time();
        let told = self.awaited(id, &[EventKind::Timer, EventKind::Complete]);
        if self.python.is_cancelled(id) {
            self.steps.extend(told.map(Step::Complete));
            return Ok(());
        }
        let (scope, steps) = (self.scope.clone(), std::mem::take(&mut self.steps));
        self.steps.extend(told.map(Step::Fire));
        self.timer_depth += 1;
        let result = self.items(&timer.actions);
        self.timer_depth -= 1;
        self.steps.extend(told.map(Step::Complete));
        self.scope = scope;
        let steps = std::mem::replace(&mut self.steps, steps);
        result?;
        self.push(Step::After(Delayed { at: at.clone(), timer: id, delay, by_clock, steps }), at)
    }

    /// Whether `use_sim_time` is true for all following nodes.
    fn uses_simulated_time(&self) -> bool {
        let said = self.scope.parameter("use_sim_time");
        matches!(said, Some(Value::Bool(true)))
    }

    fn set_remap(&mut self, from: &Template, to: &Template) -> Result<(), LaunchError> {
        let remap = (self.text(from)?, self.text(to)?);
        self.scope.remaps.push(remap);
        Ok(())
    }

    fn log(&mut self, message: &Template, level: &LogLevel) -> Result<(), LaunchError> {
        let level = self.tried(self.level(level).map(Some))?;
        let message = self.text(message)?;
        self.steps.extend(level.map(|level| Step::Log(level, message)));
        Ok(())
    }

    fn level(&self, level: &LogLevel) -> Result<Level, LaunchError> {
        let template = match level {
            LogLevel::Known(level) => return Ok(*level),
            LogLevel::Named(template) => template,
        };
        let text = self.known_text(template)?;
        let known = Level::NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text));
        known.map(|(_, level)| *level).ok_or_else(|| {
            let names = Level::NAMES.iter().map(|(name, _)| *name);
            let problem = format!("{} for `level` of `log`{}", shown(&text), hint(&text, names));
            LaunchError::at(&template.at, problem)
        })
    }

    fn include(
        &mut self,
        source: &Source,
        arguments: &[(Template, Template)],
        at: &Position,
    ) -> Result<(), LaunchError> {
        self.include_count += 1;
        if self.include_count > MAX_INCLUDES {
            return Err(self.limit(at, format!("more than {MAX_INCLUDES} files are included")));
        }
        let (file, language) = match source {
            Source::File { path, language } => (path, *language),
            Source::Actions(items) => {
                self.set_arguments(arguments)?;
                return self.items(items);
            }
        };
        let found = self.known_text(file).map(|path| self.resolve(&path));
        let found = found.and_then(|path| self.refuse_cycle(&path, &file.at).map(|()| path));
        if let Ok(path) = &found
            && self.python.rehearses()
            && self.python.reads(path, language)
        {
            self.steps.push(Step::Call(path.display().to_string()));
            return Ok(());
        }
        let read =
            found.and_then(|path| Ok((self.launch_file(&path, language, Some(&file.at))?, path)));
        let (launch_file, path) = match read {
            Ok(read) => read,
            Err(error) => {
                self.python.end_early();
                self.note(error)?;
                return self.set_arguments(arguments);
            }
        };
        self.python.note_read(launch_file.variables);
        self.set_arguments(arguments)?;
        self.files.push(path);
        let result = self.items(&launch_file.items);
        self.files.pop();
        result
    }

    fn set_arguments(&mut self, arguments: &[(Template, Template)]) -> Result<(), LaunchError> {
        for (name, value) in arguments {
            let (name, value) = (self.name_to_set(name)?, self.text(value)?);
            self.scope.configurations.insert(name, value);
        }
        Ok(())
    }
}

/// Refuses a timer whose actions are performed after the end of the launch.
fn refuse_to_outlive(is_cancelled: bool, cancel: &Template) -> Result<(), LaunchError> {
    if is_cancelled {
        return Ok(());
    }
    let problem = "`cancel_on_shutdown`: a timer that outlives the launch is not supported";
    Err(LaunchError::at(&cancel.at, problem))
}
