//! `feros demo`: the main job, to be seen working: a talker and a listener in two processes, and a
//! stock ROS 2 node beside them when one is installed. Everything that is heard is printed, and at
//! the end who heard how much of whom.

mod conversation;
mod director;
mod nodes;
mod place;
mod ros2;
mod stage;

use std::process::ExitCode;

use clap::ValueEnum;

use crate::error::CliError;

/// What the verb takes.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Args {
    /// Messages that each talker says; 0 goes on until Ctrl-C
    #[arg(long, default_value_t = 5)]
    count: u64,

    /// Messages a second of each talker
    #[arg(long, value_name = "HZ", default_value_t = 2.0, value_parser = parse_rate)]
    rate_hz: f64,

    /// Leave stock ROS 2 out, also when it is installed
    #[arg(long)]
    without_ros2: bool,

    /// What this process is in the demo; set by the process that directs it.
    #[arg(long, hide = true, value_enum)]
    role: Option<Role>,
}

/// A part in the demo that this executable plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Role {
    /// It publishes.
    Talker,
    /// It subscribes.
    Listener,
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.1..=1000.0).contains(rate));
    rate.ok_or("it takes a rate from 0.1 to 1000".to_owned())
}

pub(crate) fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.role {
        Some(Role::Talker) => nodes::talk(),
        Some(Role::Listener) => nodes::listen(),
        None => director::run(&args),
    }
}
