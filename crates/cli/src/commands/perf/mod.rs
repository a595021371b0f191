//! `feros perf`: how long messages take, how many pass, and what an idle node costs.
//!
//! The command itself only coordinates. What is measured are processes that it starts from the same
//! executable with a hidden `--role`, so that neither a progress bar nor the making of tables is in
//! what is measured.

mod chain;
mod coordinator;
mod cpu;
mod executor;
pub(crate) mod family;
mod idle;
mod image;
mod memory;
mod options;
mod payload;
mod peer;
pub(crate) mod protocol;
mod publisher;
mod report;
mod role;
mod statistics;
mod subscription;
mod tally;
mod usage;

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::CliError;

/// What the verb takes.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// How long a message takes from the call that publishes it to the callback
    Latency(options::Options),
    /// How many messages and bytes pass a second
    Throughput(options::Options),
    /// What a node costs that does nothing: threads, memory, wake-ups
    Idle(idle::Options),
    /// What nodes cost in memory and threads: a process for each, or all in one; beside stock ROS 2
    Memory(memory::Options),
    /// What an event costs an executor among idle entities; beside stock ROS 2
    Executor(executor::Options),
    /// How long a message takes through a chain of nodes
    Chain(chain::Options),
    /// What placements and containers cost in processor time and latency
    Cpu(cpu::Options),
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Latency,
    Throughput,
}

impl Kind {
    /// Its word on the command line.
    fn word(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
        }
    }
}

pub(crate) fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.command {
        Command::Latency(options) => measure(Kind::Latency, &options),
        Command::Throughput(options) => measure(Kind::Throughput, &options),
        Command::Idle(options) => idle::run(&options),
        Command::Memory(options) => memory::run(&options),
        Command::Executor(options) => executor::run(&options),
        Command::Chain(options) => chain::run(&options),
        Command::Cpu(options) => cpu::run(&options),
    }
}

fn measure(kind: Kind, options: &options::Options) -> Result<ExitCode, CliError> {
    match options.role {
        Some(role) => role::run(role, kind, options),
        None => coordinator::run(kind, options),
    }
}
