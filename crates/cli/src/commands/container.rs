//! `feros container`: becomes a component container.

use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use feros_component::index::Index;

use crate::error::CliError;

/// The package under which containers are installed.
const PACKAGE: &str = "feros_component";

/// Run a component container
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros container --process --restart\n  feros container --threads 4 -- --ros-args -r \
                        __node:=front -r __ns:=/robot"
)]
pub(crate) struct Args {
    /// All components on so many threads, instead of one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Each component on an executor and a thread of its own
    #[arg(long, conflicts_with = "threads")]
    isolated: bool,
    /// Each component in a process of its own: what one does to itself, the others survive
    #[arg(long, conflicts_with_all = ["threads", "isolated"])]
    process: bool,
    /// Start components again that failed, after a pause that doubles
    #[arg(long)]
    restart: bool,
    /// ... at most so many times in a row
    #[arg(long, value_name = "N")]
    restart_limit: Option<u32>,
    /// Arguments for the container, such as --ros-args -r __node:=NAME
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let name = match (args.threads, args.isolated, args.process) {
        (Some(_), ..) => "component_container_mt",
        (_, true, _) => "component_container_isolated",
        (.., true) => "component_container_process",
        _ => "component_container",
    };
    let mut command = command(name)?;
    if let Some(limit) = args.restart_limit {
        command.args(["--restart-limit", &limit.to_string()]);
    } else if args.restart {
        command.arg("--restart");
    }
    if let Some(threads) = args.threads {
        command.args(["--ros-args", "-p", &format!("thread_num:={threads}"), "--"]);
    }
    // From here on this process is the container: its signals, its terminal and its exit code are
    // the user's.
    let error = command.args(&args.arguments).exec();
    Err(CliError::failed(format!("{name} cannot be started: {error}")))
}

/// A container's executable: beside this one, or where packages are installed.
pub(crate) fn command(name: &str) -> Result<Command, CliError> {
    let beside = std::env::current_exe().ok().map(|path| path.with_file_name(name));
    let found = beside
        .filter(|path| path.is_file())
        .or_else(|| Index::from_env().executable(PACKAGE, name));
    found.map(Command::new).ok_or_else(|| {
        CliError::failed(format!(
            "there is no {name}, neither beside this command nor as lib/{PACKAGE}/{name} under FEROS_PREFIX_PATH: build \
             the package feros-container"
        ))
    })
}

/// A number that no other process is likely to have drawn.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(std::process::id()) & 0xffff_ffff_ffff
}
