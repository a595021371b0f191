//! Processes and nodes: their command lines, parameters and names.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::evaluator::Evaluator;
use super::parameters::file_of;
use super::scope::{check_namespace, check_variable, is_token};
use super::steps::{NodeFacts, ParameterFile, Parameters, Process, Respawn, Step, Word};
use super::substitutions::parse_truth;
use crate::action::{
    self, EventKind, Executable, Handler, HandlerTarget, Node, NodeKind, OutputChoice,
    ProcessOptions, StateFilter, Words,
};
use crate::commandline;
use crate::error::{LaunchError, hint, shown};
use crate::output::{Output, Sinks};
use crate::packages::FindError;
use crate::position::Position;
use crate::substitution::Template;

/// The limit on the steps of a plan.
const MAX_STEPS: usize = 10_000;
/// The default time that processes may take to end, in seconds, as in `ros2 launch`
/// (`launch/launch/actions/execute_local.py`).
const DEFAULT_TIMEOUT: &str = "5";
/// The limit on durations: a year is practically forever, and does not overflow the arithmetic with
/// clocks.
const LONGEST_SECONDS: f64 = 31_536_000.0;

impl Evaluator {
    pub(super) fn executable(
        &mut self,
        executable: &Executable,
        id: Option<u64>,
        at: &Position,
    ) -> Result<(), LaunchError> {
        let words = self.tried(self.words_of(executable, at))?;
        let program = file_name(words.first().map_or("", String::as_str));
        let words = words.into_iter().map(Word::Text).collect();
        let label = executable.name.as_ref();
        let process = self.process(words, &program, label, &executable.options, at)?;
        self.start(process, id, &executable.options)
    }

    /// The words of the command line, at least one.
    fn words_of(&self, executable: &Executable, at: &Position) -> Result<Vec<String>, LaunchError> {
        let by_shell = self.tried(self.optional_truth(executable.shell.as_ref(), false))?;
        let words = if by_shell {
            let line = match &executable.command {
                Words::Line(line) => self.text(line)?,
                Words::List(words) => self.texts(words)?.join(" "),
            };
            vec![commandline::SHELL.to_owned(), "-c".to_owned(), line]
        } else {
            self.words(Some(&executable.command))?
        };
        if words.first().is_none_or(String::is_empty) {
            let place = match &executable.command {
                Words::Line(line) => &line.at,
                Words::List(_) => at,
            };
            return Err(LaunchError::at(place, "the command is empty"));
        }
        Ok(words)
    }

    /// Evaluates a node; `id` is the number of its Python object, if it has any.
    pub(super) fn node(
        &mut self,
        node: &Node,
        id: Option<u64>,
        at: &Position,
    ) -> Result<(), LaunchError> {
        let mut facts = self.node_facts(&node.facts)?;
        if node.kind != NodeKind::Node {
            // Containers and managed nodes are addressed by their full names, so their namespaces
            // must be known.
            facts.namespace.get_or_insert_with(|| "/".to_owned());
        }
        let executable = self.text(&node.executable)?;
        let program = file_name(&executable);
        let command = match &node.package {
            Some(package) => self.tried(self.command_of(package, &node.executable, &executable))?,
            None => vec![executable],
        };
        let mut words: Vec<Word> = command.into_iter().map(Word::Text).collect();
        let text_words = |given: Option<&Words>| -> Result<Vec<Word>, LaunchError> {
            Ok(self.tried(self.words(given))?.into_iter().map(Word::Text).collect())
        };
        words.extend(text_words(node.arguments.as_ref())?);
        let mut ros_words = text_words(node.ros_arguments.as_ref())?;
        ros_words.extend(ros_arguments(&facts));
        if !ros_words.is_empty() {
            words.push(Word::Text("--ros-args".to_owned()));
            words.extend(ros_words);
        }
        let mut process = self.process(words, &program, node.label.as_ref(), &node.options, at)?;
        if let Some(name) = facts.full_name() {
            self.note_node(name, at);
        }
        if node.kind == NodeKind::Lifecycle {
            self.python.note_managed(id, facts.full_name());
        }
        if node.kind == NodeKind::Container {
            self.python.note_container(id, facts.full_name());
            let loaded = self.load_at_start(&mut process, facts.full_name(), &node.components);
            self.tried(loaded)?;
        }
        process.node = Some(facts);
        process.by_shell = self.tried(self.optional_truth(node.shell.as_ref(), false))?;
        process.autostart = self.tried(self.optional_truth(node.autostart.as_ref(), false))?;
        self.start(process, id, &node.options)
    }

    /// The words of the command line that start an executable of a package.
    fn command_of(
        &self,
        package: &Template,
        executable: &Template,
        name: &str,
    ) -> Result<Vec<String>, LaunchError> {
        let found = self.packages.command(&self.known_text(package)?, name);
        found.map_err(|error| match error {
            FindError::Package { .. } => LaunchError::at(&package.at, error.to_string()),
            _ if self.is_unknown(name) => self.unknown(&executable.at),
            _ => LaunchError::at(&executable.at, error.to_string()),
        })
    }

    /// Adds the start of a process, and the reaction to its end.
    fn start(
        &mut self,
        mut process: Process,
        id: Option<u64>,
        options: &ProcessOptions,
    ) -> Result<(), LaunchError> {
        let at = process.at.clone();
        self.refuse_placeholders(&process)?;
        process.action = id;
        process.tells_completion = self.awaited(id, &[EventKind::Complete]).is_some();
        self.python.note_process(id, &process.name);
        self.push(Step::Start(Box::new(process)), &at)?;
        if let (Some(id), Some(reaction)) = (id, &options.on_exit) {
            self.register(Arc::new(Handler {
                id: None,
                at,
                kind: Some(EventKind::ProcessExit),
                target: HandlerTarget::Actions(vec![id]),
                states: StateFilter::default(),
                streams: Vec::new(),
                once: false,
                reaction: reaction.clone(),
            }))?;
        }
        Ok(())
    }

    /// Refuses a process whose command line has a placeholder from an earlier reaction that failed.
    fn refuse_placeholders(&self, process: &Process) -> Result<(), LaunchError> {
        let is_unknown = |word: &Word| match word {
            Word::Text(text) => self.is_unknown(text),
            Word::ParameterFile(file) => self.is_unknown(&file.text),
        };
        if process.command.iter().any(is_unknown) {
            self.note(self.unknown(&process.at))?;
        }
        Ok(())
    }

    pub(super) fn push(&mut self, step: Step, at: &Position) -> Result<(), LaunchError> {
        if self.step_count >= MAX_STEPS {
            let problem = format!("more than {MAX_STEPS} processes, components and timers");
            return Err(self.limit(at, problem));
        }
        self.step_count += 1;
        self.steps.push(step);
        Ok(())
    }

    fn words(&self, words: Option<&Words>) -> Result<Vec<String>, LaunchError> {
        match words {
            None => Ok(Vec::new()),
            Some(Words::Line(line)) => commandline::words(line, |part| self.part(part)),
            Some(Words::List(words)) => self.texts(words),
        }
    }

    fn texts(&self, templates: &[Template]) -> Result<Vec<String>, LaunchError> {
        templates.iter().map(|template| self.text(template)).collect()
    }

    /// Makes a process with its options. `command` is complete except for the launch prefix, and
    /// `program` is the name of the program.
    fn process(
        &mut self,
        mut command: Vec<Word>,
        program: &str,
        label: Option<&Template>,
        options: &ProcessOptions,
        at: &Position,
    ) -> Result<Process, LaunchError> {
        let prefix = self.tried(self.prefix(options, program, at))?;
        let name = match (self.optional_text(label)?, prefix.first()) {
            (Some(label), _) => label,
            (None, Some(first)) => file_name(first),
            (None, None) => program.to_owned(),
        };
        command.splice(0..0, prefix.into_iter().map(Word::Text));
        let has_nul = |word: &Word| matches!(word, Word::Text(text) if text.contains('\0'));
        if command.iter().any(has_nul) {
            self.note(LaunchError::at(at, "a NUL character in a command line"))?;
        }
        let replaces_environment = options.replaces_environment;
        let mut environment =
            if replaces_environment { BTreeMap::new() } else { self.scope.environment.all() };
        for (name, value) in &options.environment {
            let (text, value) = (self.text(name)?, self.text(value)?);
            self.tried(check_variable(&text, &value, &name.at))?;
            environment.insert(text, Some(value));
        }
        let emulate_tty = self.tried(self.emulate_tty(options))?;
        let output = self.tried(self.output(options).map(Some))?.unwrap_or(Output::LOG);
        let timeout =
            |own: &Option<Template>, name: &str| self.tried(self.timeout(own.as_ref(), name));
        let directory = self.optional_text(options.directory.as_ref())?;
        Ok(Process {
            output,
            directory: directory.map(|path| self.resolve(&path)),
            respawn: self.tried(self.respawn(options))?,
            ends_launch: options.ends_launch,
            sigterm_timeout: timeout(&options.sigterm_timeout, "sigterm_timeout")?,
            sigkill_timeout: timeout(&options.sigkill_timeout, "sigkill_timeout")?,
            emulate_tty,
            name: format!("{}-{}", feros_wording::harmless(&name), self.next_process()),
            at: at.clone(),
            command,
            by_shell: false,
            environment: environment.into_iter().collect(),
            replaces_environment,
            action: None,
            tells_completion: false,
            node: None,
            autostart: false,
            components: Vec::new(),
        })
    }

    fn emulate_tty(&self, options: &ProcessOptions) -> Result<bool, LaunchError> {
        let Some(everywhere) = self.scope.configurations.get("emulate_tty") else {
            return self.optional_truth(options.emulate_tty.as_ref(), false);
        };
        parse_truth(&everywhere).ok_or_else(|| {
            LaunchError::Argument(format!("emulate_tty:={everywhere}: expected true or false"))
        })
    }

    /// The words of the launch prefix: from the option of the process, or from the argument
    /// `launch-prefix`, which applies to all processes.
    fn prefix(
        &self,
        options: &ProcessOptions,
        program: &str,
        at: &Position,
    ) -> Result<Vec<String>, LaunchError> {
        if let Some(prefix) = &options.prefix {
            let text = self.text(prefix)?;
            return commandline::split_words(&text).map_err(|problem| {
                LaunchError::at(&prefix.at, format!("{problem}, in {}", shown(&text)))
            });
        }
        let everywhere = &self.scope.configurations;
        let Some(prefix) = everywhere.get("launch-prefix") else { return Ok(Vec::new()) };
        let filter = everywhere.get("launch-prefix-filter").unwrap_or_default();
        if filter.contains(['*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '\\', '^', '$']) {
            let problem = format!(
                "launch-prefix-filter:={filter}: expected the beginning of program names; patterns are not supported"
            );
            return Err(LaunchError::Argument(problem));
        }
        if !program.starts_with(&filter) {
            return Ok(Vec::new());
        }
        commandline::split_words(&prefix).map_err(|problem| {
            LaunchError::at(at, format!("{problem}, in launch-prefix:={prefix}"))
        })
    }

    fn output(&self, options: &ProcessOptions) -> Result<Output, LaunchError> {
        if self.shows_all_output {
            let seen = Sinks { screen: true, log: true };
            return Ok(Output { stdout: seen, stderr: seen });
        }
        let (mode, at) = match (std::env::var("OVERRIDE_LAUNCH_PROCESS_OUTPUT"), &options.output) {
            (Ok(mode), _) => (mode, None),
            (Err(_), Some(OutputChoice::Streams(output))) => return Ok(*output),
            (Err(_), Some(OutputChoice::Mode(mode))) => (self.known_text(mode)?, Some(&mode.at)),
            (Err(_), None) => ("log".to_owned(), None),
        };
        Output::from_mode(&mode).ok_or_else(|| {
            let problem = format!("{} for `output`{}", shown(&mode), hint(&mode, Output::MODES));
            match at {
                Some(at) => LaunchError::at(at, problem),
                None => LaunchError::Argument(format!("OVERRIDE_LAUNCH_PROCESS_OUTPUT: {problem}")),
            }
        })
    }

    fn respawn(&self, options: &ProcessOptions) -> Result<Option<Respawn>, LaunchError> {
        let delay = options.respawn_delay.as_ref().map(|delay| self.seconds(delay)).transpose()?;
        let max_retries = match &options.respawn_max_retries {
            None => None,
            Some(template) => {
                let text = self.known_text(template)?;
                let number: i64 = text.trim().parse().map_err(|_| {
                    LaunchError::at(
                        &template.at,
                        format!(
                            "{} for `respawn_max_retries`: expected a whole number",
                            shown(&text)
                        ),
                    )
                })?;
                // A negative number means no limit.
                u32::try_from(number).ok()
            }
        };
        let wanted = self.optional_truth(options.respawn.as_ref(), false)?;
        Ok(wanted.then_some(Respawn { delay, max_retries }))
    }

    fn timeout(&self, own: Option<&Template>, everywhere: &str) -> Result<Duration, LaunchError> {
        if let Some(own) = own {
            return self.seconds(own);
        }
        let given = self.scope.configurations.get(everywhere);
        let text = given.as_deref().unwrap_or(DEFAULT_TIMEOUT);
        parse_seconds(text).ok_or_else(|| {
            LaunchError::Argument(format!(
                "{everywhere}:={text}: expected seconds, such as 5 or 0.5"
            ))
        })
    }

    pub(super) fn seconds(&self, template: &Template) -> Result<Duration, LaunchError> {
        let text = self.known_text(template)?;
        parse_seconds(&text).ok_or_else(|| {
            LaunchError::at(
                &template.at,
                format!("{}: expected seconds, such as 5 or 0.5", shown(&text)),
            )
        })
    }

    pub(super) fn node_facts(&self, facts: &action::NodeFacts) -> Result<NodeFacts, LaunchError> {
        let name = self.node_name(facts.name.as_ref())?;
        let namespace = self.namespace(facts.namespace.as_ref())?;
        let mut parameters = self.scope.parameters.clone();
        parameters.extend(self.parameters(&facts.parameters)?);
        let mut remaps = self.scope.remaps.clone();
        remaps.extend(self.pairs(&facts.remaps)?);
        Ok(NodeFacts { name, namespace, parameters, remaps })
    }

    fn node_name(&self, template: Option<&Template>) -> Result<Option<String>, LaunchError> {
        let Some(template) = template else { return Ok(None) };
        let name = self.text(template)?;
        if is_token(&name) || self.is_unknown(&name) {
            return Ok(Some(name));
        }
        let problem = format!(
            "{} is not a valid node name: expected letters, digits and _, with no digit first",
            shown(&name)
        );
        self.text_or_placeholder(Err(LaunchError::at(&template.at, problem))).map(Some)
    }

    fn namespace(&self, template: Option<&Template>) -> Result<Option<String>, LaunchError> {
        let asked = self.optional_text(template)?;
        let namespace = self.scope.namespace_of(asked.as_deref());
        if let (Some(namespace), Some(template)) = (&namespace, template)
            && !self.is_unknown(namespace)
        {
            self.tried(check_namespace(namespace, &template.at))?;
        }
        Ok(namespace)
    }
}

/// The last part of a path.
fn file_name(path: &str) -> String {
    Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The ROS arguments of a node (`-r __node:=...` and so on), in the order of `ros2 launch`.
fn ros_arguments(facts: &NodeFacts) -> Vec<Word> {
    let mut words = Vec::new();
    let mut pair = |flag: &str, value: Word| words.extend([Word::Text(flag.to_owned()), value]);
    if let Some(name) = &facts.name {
        pair("-r", Word::Text(format!("__node:={name}")));
    }
    if let Some(namespace) = &facts.namespace {
        pair("-r", Word::Text(format!("__ns:={namespace}")));
    }
    // The values are limited to this node only if its full name is certain; otherwise they apply to
    // all nodes of the process.
    let whose = facts.namespace.as_ref().and_then(|_| facts.full_name());
    for parameters in &facts.parameters {
        let file = match parameters {
            Parameters::File(path) => Word::Text(path.display().to_string()),
            Parameters::Text(text) => {
                Word::ParameterFile(ParameterFile { text: text.clone(), entries: Vec::new() })
            }
            Parameters::Values(values) => Word::ParameterFile(file_of(whose.as_deref(), values)),
        };
        pair("--params-file", file);
    }
    for (from, to) in &facts.remaps {
        pair("-r", Word::Text(format!("{from}:={to}")));
    }
    words
}

fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    (0.0..=LONGEST_SECONDS).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}
