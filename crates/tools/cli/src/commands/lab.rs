//! `feros lab`: experiments that compare Feros with other systems, which it calls peers.

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

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List scenarios, grids and systems, and whether the systems are installed
    List(list::Args),
    /// Show the plan of a grid or a scenario file on this machine: its cells, its duration, and the
    /// missing parts
    Plan(plan::Args),
    /// Measure how long a message takes from the call that publishes it to the callback
    Latency(measure::Args),
    /// Measure how many messages and bytes pass per second
    Throughput(measure::Args),
    /// Measure the costs of an idle node: threads, memory, wake-ups
    Idle(measure::Args),
    /// Measure the memory and threads of nodes, in one process each or all in one process, and
    /// compare with stock ROS 2
    Memory(measure::Args),
    /// Measure the costs of an event in an executor with idle entities, and compare with
    /// stock ROS 2
    Executor(measure::Args),
    /// Measure how long a message takes through a chain of nodes
    Chain(measure::Args),
    /// Measure the costs of placements and containers, in processor time and latency
    Cpu(measure::Args),
    /// Measure a grid or a scenario file; given again, an interrupted run continues
    Run(run::Args),
    /// Show a run as a page that a browser opens, and a summary in Markdown
    Report(report::Args),
    /// Show the goals of a run and the conclusions of documents, and whether it reached them
    Goals(goals::Args),
    /// Compare two runs: list improvements, regressions, and values without a clear difference
    Compare(compare::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
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
