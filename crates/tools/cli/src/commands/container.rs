//! `feros container`: turns this process into a component container.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::error::CliError;
use crate::packages::container_words;

/// Run a component container
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros container --process --restart\n  feros container --priority 80 \
                        --cpus 2-3 --lock-memory\n  feros container --threads 4 -- --ros-args -r \
                        __node:=front -r __ns:=/robot"
)]
pub(crate) struct Args {
    /// Run all components on this many threads, instead of a single thread
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Run each component on an executor and a thread of its own
    #[arg(long, conflicts_with = "threads")]
    isolated: bool,
    /// Run each component in a process of its own: a component that crashes does not harm the
    /// others
    #[arg(long, conflicts_with_all = ["threads", "isolated"])]
    process: bool,
    /// Restart components that failed, after a pause that doubles each time
    #[arg(long)]
    restart: bool,
    /// Restart a component at most this many times in a row
    #[arg(long, value_name = "N")]
    restart_limit: Option<u32>,
    /// Ignore requests from other hosts, by the address that they come from
    #[arg(long)]
    local_requests_only: bool,
    /// Schedule all threads with SCHED_FIFO, before all ordinary programs; from 1 (low) to 99
    /// (high)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=99))]
    priority: Option<u8>,
    /// Use only these processors, such as 0,2-3
    #[arg(long, value_name = "LIST")]
    cpus: Option<String>,
    /// Keep all memory in RAM
    #[arg(long)]
    lock_memory: bool,
    /// Arguments for the container, such as --ros-args -r __node:=NAME
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let name = match (args.threads, args.isolated, args.process) {
        (Some(_), ..) => "component_container_mt",
        (_, true, _) => "component_container_isolated",
        (.., true) => "component_container_process",
        _ => "component_container",
    };
    let words = container_words(name)?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    if let Some(limit) = args.restart_limit {
        command.args(["--restart-limit", &limit.to_string()]);
    } else if args.restart {
        command.arg("--restart");
    }
    if args.local_requests_only {
        command.arg("--local-requests-only");
    }
    if let Some(priority) = args.priority {
        command.args(["--priority", &priority.to_string()]);
    }
    if let Some(cpus) = &args.cpus {
        command.args(["--cpus", cpus]);
    }
    if args.lock_memory {
        command.arg("--lock-memory");
    }
    if let Some(threads) = args.threads {
        command.args(["--ros-args", "-p", &format!("thread_num:={threads}"), "--"]);
    }
    // From here on this process is the container: the container gets the user's signals and the
    // terminal, and its exit code is the command's.
    let error = command.args(&args.arguments).exec();
    Err(CliError::failed(format!("{name} cannot be started: {error}")))
}
