//! `feros lab`: experiments on Feros and on its peers, side by side.

mod compare;
mod goals;
mod list;
mod measure;
mod places;
mod plan;
mod report;
mod run;
mod runner;
mod target;

use std::process::ExitCode;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// What there is: scenarios, grids, systems and whether they are installed
    List(list::Args),
    /// What a grid or a scenario file would do here: cells, how long it takes, what is missing
    Plan(plan::Args),
    /// How long a message takes from the call that publishes it to the callback
    Latency(measure::Args),
    /// How many messages and bytes pass a second
    Throughput(measure::Args),
    /// What a node costs that does nothing: threads, memory, wake-ups
    Idle(measure::Args),
    /// What nodes cost in memory and threads: a process for each, or all in one; beside stock ROS 2
    Memory(measure::Args),
    /// What an event costs an executor among idle entities; beside stock ROS 2
    Executor(measure::Args),
    /// How long a message takes through a chain of nodes
    Chain(measure::Args),
    /// What placements and containers cost in processor time and latency
    Cpu(measure::Args),
    /// Measure a grid or a scenario file; given again, an interrupted run continues
    Run(run::Args),
    /// Show a run as a page that a browser opens, and a summary in Markdown
    Report(report::Args),
    /// What a run was to reach, and whether it did
    Goals(goals::Args),
    /// Two runs side by side: what became better or worse, and where nobody can tell
    Compare(compare::Args),
}

pub(crate) fn run(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Latency(args) => measure::run(&["latency"], &args),
        Command::Throughput(args) => measure::run(&["throughput"], &args),
        Command::Idle(args) => measure::run(&["idle"], &args),
        Command::Memory(args) => measure::run(&["memory"], &args),
        Command::Executor(args) => measure::run(&["executor"], &args),
        Command::Chain(args) => measure::run(&["chain"], &args),
        Command::Cpu(args) => measure::run(&["cpu-placements", "cpu-containers"], &args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Goals(args) => goals::run(&args),
        Command::Compare(args) => compare::run(&args),
    }
}
