//! A plan as text, for `feros launch --dry-run`.

use std::fmt::{self, Display, Formatter};

use feros_wording::duration;
use signal_hook::low_level::signal_name;

use super::complete::Plan;
use super::steps::{Component, NodeFacts, Parameters, Process, Step, Word};
use crate::commandline;
use crate::level::Level;
use crate::output::Output;

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let processes = self.processes().count();
        let components = self.component_count();
        writeln!(
            f,
            "{}: {}, {}",
            self.file.display(),
            counted(processes, "process", "processes"),
            counted(components, "component", "components")
        )?;
        let is_shown = |step: &&Step| !matches!(step, Step::Complete(_) | Step::Fire(_));
        for step in self.steps.iter().filter(is_shown) {
            write!(f, "\n{step}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "\nwarning: {warning}")?;
        }
        Ok(())
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(process) => write!(f, "{process}"),
            Self::Load(load) => {
                writeln!(f, "load into {}  ({})", load.container, load.at)?;
                load.components.iter().try_for_each(|component| write!(f, "{component}"))
            }
            Self::Log(Level::Info, text) => writeln!(f, "say: {text}"),
            Self::Log(level, text) => writeln!(f, "say [{}]: {text}", level.name()),
            Self::After(delayed) => {
                let clock = if delayed.by_clock { " of /clock" } else { "" };
                writeln!(f, "after {}{clock}  ({})", duration(delayed.delay), delayed.at)?;
                let text: String = delayed.steps.iter().map(ToString::to_string).collect();
                text.lines().try_for_each(|line| writeln!(f, "  {line}"))
            }
            Self::Shutdown(reason) => writeln!(f, "end the launch: {reason}"),
            Self::Watch(watch) => {
                let once = if watch.once { ", the first time" } else { "" };
                writeln!(f, "when {}{once}:  ({})", watch.when, watch.at)?;
                let text: String = watch.steps.iter().map(ToString::to_string).collect();
                text.lines().try_for_each(|line| writeln!(f, "  {line}"))
            }
            Self::Change(change) => writeln!(
                f,
                "change {} by the transition {}  ({})",
                change.node, change.transition, change.at
            ),
            Self::Signal(signal) => {
                let (whom, at) = (&signal.whom, &signal.at);
                match signal.signal.and_then(|signal| signal_name(signal.as_raw())) {
                    Some(name) => writeln!(f, "send {name} to {whom}  ({at})"),
                    None => writeln!(f, "end {whom}  ({at})"),
                }
            }
            Self::Cancel(cancel) => writeln!(f, "cancel the timer  ({})", cancel.at),
            // The reaction to such an event is shown.
            Self::Complete(_) | Self::Fire(_) => Ok(()),
            Self::Emit(_, name) => writeln!(f, "emit the event {name}"),
            Self::Call(function) => writeln!(f, "calls {function}"),
            Self::Unknown(at) => writeln!(f, "an action that depends on the event  ({at})"),
        }
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

impl Process {
    /// The command line, quoted for a shell. `<parameters-N>` stands for a parameter file that is
    /// written when the process starts.
    pub fn command_line(&self) -> String {
        let mut number = 0;
        let words = self.command.iter().map(|word| match word {
            Word::Text(text) => text.clone(),
            Word::ParameterFile(_) => {
                number += 1;
                format!("<parameters-{number}>")
            }
        });
        if self.by_shell {
            return commandline::by_shell(words);
        }
        commandline::shell_quoted(words)
    }
}

impl Display for Process {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "start [{}]  ({})", self.name, self.at)?;
        writeln!(f, "  command: {}", self.command_line())?;
        if let Some(facts) = &self.node {
            facts.print(f, "  ")?;
        }
        if let Some(directory) = &self.directory {
            writeln!(f, "  folder: {}", directory.display())?;
        }
        if self.replaces_environment {
            writeln!(f, "  environment: only these variables")?;
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => writeln!(
                    f,
                    "  environment: {}",
                    commandline::shell_quoted([format!("{name}={value}")])
                )?,
                None => writeln!(f, "  environment: {name} is removed")?,
            }
        }
        writeln!(f, "  output: {}", self.output)?;
        if let Some(respawn) = &self.respawn {
            let delay = match respawn.delay {
                Some(delay) => format!("after {}", duration(delay)),
                None => "immediately, or later if it keeps dying".to_owned(),
            };
            let most = respawn
                .max_retries
                .map(|most| format!(", {most} times at most"))
                .unwrap_or_default();
            writeln!(f, "  when it ends: restarted {delay}{most}")?;
        }
        if self.ends_launch {
            writeln!(f, "  when it ends: the whole launch ends")?;
        }
        if self.autostart {
            writeln!(f, "  when it has started: configured and activated")?;
        }
        self.components.iter().try_for_each(|component| write!(f, "{component}"))
    }
}

impl NodeFacts {
    fn print(&self, f: &mut Formatter<'_>, indent: &str) -> fmt::Result {
        match (self.full_name(), &self.namespace) {
            (Some(name), _) => writeln!(f, "{indent}node: {name}")?,
            (None, Some(namespace)) => {
                writeln!(f, "{indent}node: its own name, in {namespace}")?;
            }
            (None, None) => {}
        }
        for source in &self.parameters {
            match source {
                Parameters::Values(values) => values.iter().try_for_each(|(name, value)| {
                    writeln!(f, "{indent}parameter: {name} = {value}")
                })?,
                Parameters::File(path) => writeln!(f, "{indent}parameters: {}", path.display())?,
                Parameters::Text(text) => {
                    writeln!(f, "{indent}parameters:")?;
                    text.lines().try_for_each(|line| writeln!(f, "{indent}  | {line}"))?;
                }
            }
        }
        self.remaps.iter().try_for_each(|(from, to)| writeln!(f, "{indent}remap: {from} -> {to}"))
    }
}

impl Display for Component {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "  component: {} of {}  ({})", self.plugin, self.package, self.at)?;
        self.node.print(f, "    ")?;
        self.extra_arguments
            .iter()
            .try_for_each(|(name, value)| writeln!(f, "    extra argument: {name} = {value}"))
    }
}

impl Display for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let place = |screen, log| match (screen, log) {
            (true, true) => "screen and log",
            (true, false) => "screen",
            (false, true) => "log",
            (false, false) => "nowhere",
        };
        let (out, err) = (self.stdout, self.stderr);
        if out == err {
            return f.write_str(place(out.screen, out.log));
        }
        write!(f, "{}, errors {}", place(out.screen, out.log), place(err.screen, err.log))
    }
}
