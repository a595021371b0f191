//! `feros launch`: starts the system that a launch file describes.

mod component_loader;
mod lifecycle_manager;
mod ros_node;
mod simulated_clock;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use feros_launch::{
    Argument, FindError, LaunchError, Output, Packages, Plan, Planner, RunError, RunOptions,
    ScreenForm, Step,
};
use feros_process::EndSignals;

use self::component_loader::ServiceComponentLoader;
use self::lifecycle_manager::ServiceLifecycleManager;
use self::ros_node::RosNode;
use self::simulated_clock::ClockListener;
use crate::error::CliError;
use crate::packages::installed_packages;
use crate::python::{launch_host, launch_host_on_standard_input, wheel_has};
use crate::{ending, notices, output};

/// The arguments of a launch.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A launch file (.launch.xml, .launch.yaml or .launch.py), or a package and the name of one of
    /// its launch files; then arguments for it
    #[arg(required = true, value_name = "FILE", num_args = 1..)]
    words: Vec<String>,
    /// Print the programs that would be started, with all command lines, and start nothing
    #[arg(short = 'p', long, visible_alias = "print", alias = "print-description")]
    dry_run: bool,
    /// Print the arguments that the launch file takes
    #[arg(short, long, alias = "show-arguments", conflicts_with = "dry_run")]
    show_args: bool,
    /// Print the launch file, which may be in Python, as a launch file in XML
    #[arg(long, conflicts_with_all = ["dry_run", "show_args"])]
    to_xml: bool,
    /// Log more: command lines, timers, and the messages of `log_debug`
    #[arg(short, long)]
    debug: bool,
    /// Print the output of all processes, regardless of the settings in the file; it is logged as
    /// well
    #[arg(short = 'a', long)]
    show_all_subprocesses_output: bool,
    /// A command before all executables, such as 'gdb -ex run --args'
    #[arg(long, value_name = "COMMAND")]
    launch_prefix: Option<String>,
    /// Only executables whose names begin with this text get the prefix
    #[arg(long, value_name = "NAME", requires = "launch_prefix")]
    launch_prefix_filter: Option<String>,
    /// Print events for programs instead of output and messages: a JSON object per line, also for
    /// output that goes only to the log
    #[arg(long, conflicts_with_all = ["dry_run", "show_args"])]
    json: bool,
    /// Standard input is the socket to a Python process that has the launch description, as
    /// `feros.testing` starts it
    #[arg(long, hide = true)]
    python_socket: bool,
    /// Accepted for command lines written for `ros2`: a launch never asks for input
    #[arg(long, hide = true)]
    noninteractive: bool,
    /// Refused: in other commands it prints what would be done, but in `ros2` it starts everything
    #[arg(short = 'n', hide = true)]
    unclear: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    if args.unclear {
        return Err(CliError::usage(
            "-n is not accepted: -p prints what would be started, and --noninteractive starts it",
        ));
    }
    let packages = installed_packages();
    let (file, words) = find(&packages, &args.words)?;
    let mut assignments = feros_launch::parse_assignments(words).map_err(CliError::usage)?;
    let prefix = [
        ("launch-prefix", &args.launch_prefix),
        ("launch-prefix-filter", &args.launch_prefix_filter),
    ];
    for (name, value) in prefix {
        assignments.extend(value.iter().map(|value| (name.to_owned(), value.clone())));
    }
    // A launch file in Python could run for ever, so signals end it.
    let signals = ending::end_signals()?;
    let mut python = launch_host(args.show_args || args.dry_run || args.to_xml);
    if args.python_socket {
        python.host = launch_host_on_standard_input().map_err(CliError::failed)?;
    }
    let planner = Planner::new(packages)
        .python(python)
        .showing_all_output(args.show_all_subprocesses_output)
        .ended_by(signals.clone());
    if args.show_args {
        let arguments = planner.arguments(&file, &assignments).map_err(refused)?;
        return output::print(&listed(&arguments));
    }
    if args.to_xml {
        return output::print(&planner.to_xml(&file).map_err(refused)?);
    }
    if args.dry_run {
        let plan = planner.preview(&file, &assignments).map_err(refused)?;
        return output::print(&plan.to_string());
    }
    let plan = planner.plan(&file, &assignments).map_err(refused)?;
    for warning in &plan.warnings {
        notices::warn(warning);
    }
    start(&plan, args, signals)
}

fn start(plan: &Plan, args: &Args, signals: EndSignals) -> Result<(), CliError> {
    let started = plan.processes().map(|process| process.components.as_slice());
    let loaded = plan.all_steps().into_iter().filter_map(|step| {
        if let Step::Load(load) = step { Some(&*load.components) } else { None }
    });
    for component in started.chain(loaded).flatten() {
        // A plan that cannot be carried out starts nothing.
        let _ = component_loader::request(component)
            .map_err(|problem| CliError::failed(format!("{}: {problem}", component.at)))?;
    }
    let log_file = log_file();
    if let Some(path) =
        log_file.as_deref().filter(|_| plan.processes().any(|process| logs(process.output)))
    {
        notices::note(format!("the output is also logged in {}", path.display()));
    }
    let node = Arc::<RosNode>::default();
    let options = RunOptions {
        screen: screen_form(args.json),
        component_loader: Some(Arc::new(ServiceComponentLoader::new(&node))),
        lifecycle_manager: Some(Arc::new(ServiceLifecycleManager::new(&node))),
        simulated_clock: Some(Arc::<ClockListener>::default()),
        wheel_has: Some(wheel_has),
        debug: args.debug,
        log_file,
        signals,
    };
    let outcome = feros_launch::run(plan, options).map_err(|error| match error {
        RunError::Signal(signal) => CliError::ended_by(signal),
        error => CliError::failed(error),
    })?;
    // Failures were reported when they occurred.
    if outcome.failures.is_empty() { Ok(()) } else { Err(CliError::Ended(1)) }
}

fn screen_form(json: bool) -> ScreenForm {
    let choice = anstream::AutoStream::choice(&std::io::stdout());
    match (json, choice) {
        (true, _) => ScreenForm::Json,
        (false, anstream::ColorChoice::Never) => ScreenForm::Plain,
        (false, _) => ScreenForm::Coloured,
    }
}

fn logs(output: Output) -> bool {
    output.stdout.log || output.stderr.log
}

/// A log file for this launch, in the folder where ROS 2 puts its logs.
fn log_file() -> Option<PathBuf> {
    let folder = feros_launch::log_folder(|name| std::env::var(name).ok())?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(folder.join(format!("launch_{}_{}.log", std::process::id(), now.as_millis())))
}

/// The launch file, and the words after it.
fn find<'a>(packages: &Packages, words: &'a [String]) -> Result<(PathBuf, &'a [String]), CliError> {
    let (first, rest) = words.split_first().ok_or_else(|| CliError::usage("name a launch file"))?;
    let path = Path::new(first);
    let is_path = first.contains('/');
    // Two words are a package and a file, even if this folder has a file with the package's name.
    if !is_path
        && let Some((file, rest)) = rest.split_first().filter(|(file, _)| !file.contains(":="))
    {
        match packages.launch_file(first, file) {
            Ok(file) => return Ok((file, rest)),
            Err(FindError::Package { .. }) if path.exists() => {}
            Err(error) => return Err(CliError::usage(error)),
        }
    }
    if is_path || path.exists() {
        return Ok((path.to_owned(), rest));
    }
    if first.contains('.') {
        return Ok((path.to_owned(), rest));
    }
    Err(CliError::usage(format!(
        "there is no file {first}; if {first} is a package, name its launch file: feros launch \
         {first} FILE"
    )))
}

fn refused(error: LaunchError) -> CliError {
    match error {
        LaunchError::Argument(_) => CliError::usage(error),
        LaunchError::Signal(signal) => CliError::ended_by(signal),
        _ => CliError::failed(error),
    }
}

/// The list of arguments in the form of `ros2 launch --show-args`
/// (`ros2launch/ros2launch/api/api.py`).
fn listed(arguments: &[Argument]) -> String {
    let mut text = "Arguments (pass arguments as '<name>:=<value>'):\n".to_owned();
    if arguments.is_empty() {
        text.push_str("\n  No arguments.\n");
    }
    for argument in arguments {
        let mark = if argument.is_conditional { "*" } else { "" };
        text.push_str(&format!(
            "\n    '{}':{mark}\n        {}\n",
            argument.name,
            description(argument)
        ));
        if let Some(default) = &argument.default {
            text.push_str(&format!("        (default: '{default}')\n"));
        }
    }
    if arguments.iter().any(|argument| argument.is_conditional) {
        text.push_str("\n* argument(s) which are only used if specific conditions occur\n");
    }
    text
}

fn description(argument: &Argument) -> String {
    let choices =
        argument.choices.iter().map(|choice| format!("'{choice}'")).collect::<Vec<_>>().join(", ");
    match (&argument.description, choices.is_empty()) {
        (None, true) => "no description given".to_owned(),
        (None, false) => format!("One of: [{choices}]"),
        (Some(text), true) => text.clone(),
        (Some(text), false) => {
            format!("{}. Valid choices are: [{choices}]", text.trim_end_matches('.'))
        }
    }
}
