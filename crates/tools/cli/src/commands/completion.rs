//! `feros completion`, and the completion itself: clap provides the words of the command line; the
//! running system and the installed packages provide the names of topics, nodes, services, types,
//! parameters and packages.
//!
//! The shell runs the command itself for each completion ([`VARIABLE`] says for which shell), so
//! that the script that the shell sources contains no names. A completion takes a fraction of a
//! second at most, and offers no names of nodes or topics if nothing runs.

mod live;
mod script;
mod words;

use std::ffi::OsStr;

use clap::Command;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::CompleteEnv;

pub(crate) use self::script::{Args, run};

/// The variable through which a shell's script asks for completions.
const VARIABLE: &str = "FEROS_COMPLETE";

/// If a shell asks for completions, prints them and ends the process; nothing may have been printed
/// before.
pub(super) fn complete_if_asked(command: impl Fn() -> Command) {
    CompleteEnv::with_factory(|| with_values(command(), None)).var(VARIABLE).complete();
}

/// A value, and its description.
struct Candidate {
    value: String,
    help: Option<String>,
}

/// Attaches completions to the arguments of all verbs; `group` is the verb's first word.
fn with_values(command: Command, group: Option<&str>) -> Command {
    let command = match group {
        Some(group) => command.mut_args(|argument| match (group, argument.get_id().as_str()) {
            ("launch", "words") => argument.add(ArgValueCompleter::new(launch_words)),
            (group, id) => match candidates(group, id) {
                Some(found) => argument.add(ArgValueCandidates::new(move || shown(found()))),
                None => argument,
            },
        }),
        None => command,
    };
    command.mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        with_values(verb, Some(group.unwrap_or(&name)))
    })
}

/// Returns the function that offers the values of an argument. `group` is the first word of its
/// verb. Returns `None` for arguments that are not listed here.
fn candidates(group: &str, argument: &str) -> Option<fn() -> Vec<Candidate>> {
    Some(match (group, argument) {
        ("topic", "topic" | "topics") => live::topics,
        ("topic", "message_type") => live::message_types,
        ("service", "service") => live::services,
        ("service", "service_type") => live::service_types,
        ("action", "action") => live::actions,
        ("action", "action_type") => live::action_types,
        ("node" | "param" | "lifecycle", "node") => live::nodes,
        ("param", "parameter" | "parameters") => live::parameters,
        ("interface", "name" | "types") => live::types,
        ("interface", "package") => live::interface_packages,
        ("component", "container_node_name") => live::containers,
        ("component", "package_name") => live::component_packages,
        ("component", "plugin_name") => live::components,
        ("pkg", "package") => live::packages,
        ("run", "package") => live::packages_to_run,
        ("run", "executable") => live::executables,
        _ => return None,
    })
}

fn shown(candidates: Vec<Candidate>) -> Vec<CompletionCandidate> {
    let shown = |candidate: Candidate| {
        CompletionCandidate::new(candidate.value)
            .help(candidate.help.map(|help| feros_wording::harmless(&help).into_owned().into()))
    };
    // Names from the network that would steer a terminal are never offered.
    let is_seen = |candidate: &Candidate| !candidate.value.contains(feros_wording::is_unseen);
    candidates.into_iter().filter(is_seen).map(shown).collect()
}

/// Completes a word of `feros launch`: packages, their launch files, and other files.
fn launch_words(current: &OsStr) -> Vec<CompletionCandidate> {
    let begun = current.to_string_lossy();
    let mut known = live::launch_words();
    known.retain(|candidate| candidate.value.starts_with(&*begun));
    let mut all = shown(known);
    all.extend(PathCompleter::any().complete(current));
    all
}
