//! Component containers: processes that load components on request and run them.
//!
//! The binaries `component_container`, `component_container_mt`, `component_container_isolated` and
//! `component_container_process` each call [`main`] with a [`Kind`]. Another program becomes a
//! container in the same way, if it is linked with the same Feros as its component libraries:
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     feros_container::main(feros_container::Kind::SingleThreaded, &feros_shared::stamp())
//! }
//! ```
//!
//! A program with a Feros of its own becomes a container with [`run`]. It loads no libraries; its
//! components are the shipped ones and those in Python.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `manager`, `request`, `services`, `completion` | the components of a container, load requests, the services |
//! | `placement`, `in_process`, `process`, `python` | the trait of placements, and components in this process, in separate processes or in Python |
//! | `frame` | the messages that containers and child processes exchange |
//! | `loader` | opens libraries |
//! | `restart` | restarts of failed components |
//! | `command_line`, `cpu_list` | the arguments of containers |
//!
//! # Invariants
//!
//! A panic ends only its component. No child process outlives its container. Only `loader` has
//! `unsafe` code.
#![deny(unsafe_code)] // `loader` allows unsafe code again, to open libraries

mod command_line;
mod completion;
mod cpu_list;
mod frame;
mod in_process;
mod loader;
mod manager;
mod placement;
mod process;
mod python;
mod request;
mod restart;
mod services;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use feros::{Arguments, Context, Executor, NodeOptions};
use feros_component::stamp::STAMP;

pub use command_line::Kind;
pub use restart::RestartPolicy;

use command_line::CommandLine;
use in_process::{Isolated, OnExecutor};
use manager::Manager;
use placement::Placement;
use process::{CHILD_FLAG, InProcesses};
use python::WithPython;
use services::Services;

/// The time that a container may take to end after the first signal, before a further signal ends
/// it immediately.
const PATIENCE: Duration = Duration::from_secs(10);

const SUCCESS: u8 = 0;
const FAILURE: u8 = 1;
/// The exit code for wrong usage.
const USAGE: u8 = 2;

/// Runs a container, with the arguments of the process. `shared_stamp` is the stamp of the shared
/// Feros that the process found (`feros_shared::stamp()`).
pub fn main(kind: Kind, shared_stamp: &str) -> ExitCode {
    if shared_stamp != STAMP {
        eprintln!(
            "this container and the libferos_shared that it found come from different builds: \
             build and install both together"
        );
        return ExitCode::FAILURE;
    }
    let line = std::env::args_os().skip(1).map(OsString::into_string).collect();
    match line {
        Ok(line) => ExitCode::from(run(kind, &[], line)),
        Err(argument) => {
            eprintln!("the argument {argument:?} is not UTF-8");
            ExitCode::from(USAGE)
        }
    }
}

/// Runs a container until a signal ends it; returns the exit code. A process becomes this container
/// when it is started with `words`, which `line` follows.
pub fn run(kind: Kind, words: &[&str], mut line: Vec<String>) -> u8 {
    if line.first().is_some_and(|argument| argument == CHILD_FLAG) {
        return process::child::main(line.split_off(1));
    }
    // Components get time to end. A second signal from a launcher must not cut this time short.
    feros::signals::set_patience(PATIENCE);
    let rest = match Arguments::parse(line.iter().cloned()) {
        Ok((_, rest)) => rest,
        Err(error) => {
            eprintln!("{error}");
            return USAGE;
        }
    };
    let options = match CommandLine::read(kind, rest) {
        Ok(CommandLine::Run(options)) => options,
        Ok(CommandLine::Help(text)) => {
            // The reader may have read enough, such as `head`.
            drop(writeln!(std::io::stdout(), "{text}"));
            return SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}");
            return USAGE;
        }
    };
    // A thread inherits these settings when it starts, and the context starts the first threads.
    if let Err(error) = options.realtime.apply() {
        eprintln!("{error}");
        return FAILURE;
    }
    let context = match Context::from_args(line.iter().cloned()) {
        Ok((context, _)) => context,
        Err(error) => {
            eprintln!("{error}");
            return USAGE;
        }
    };
    match serve(kind, &context, &options, words, &line) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            FAILURE
        }
    }
}

fn serve(
    kind: Kind,
    context: &Context,
    options: &command_line::Options,
    words: &[&str],
    line: &[String],
) -> Result<u8, feros::Error> {
    let local_requests_only = options.local_requests_only;
    let node = context.create_node_with(
        NodeOptions::new("ComponentManager").local_requests_only(local_requests_only),
    )?;
    let processors = std::thread::available_parallelism()
        .map_or(1, |count| i64::try_from(count.get()).unwrap_or(1));
    let threads = node
        .build_parameter("thread_num", processors)
        .description("Number of threads of the executor of component_container_mt")
        .range(1..=processors)
        .read_only()
        .declare()?;
    let threads = match kind {
        Kind::MultiThreaded => usize::try_from(threads.get()).unwrap_or(1),
        Kind::Isolated if options.use_multi_threaded_executor => {
            usize::try_from(processors).unwrap_or(1)
        }
        Kind::SingleThreaded | Kind::Isolated | Kind::Process => 1,
    };
    let executor = Arc::new(match kind {
        Kind::MultiThreaded => executor_of(threads),
        Kind::SingleThreaded | Kind::Isolated | Kind::Process => Executor::new(),
    });
    let context = context.clone();
    let placement: Box<dyn Placement> = match kind {
        Kind::SingleThreaded | Kind::MultiThreaded => {
            Box::new(OnExecutor { context, executor: executor.clone() })
        }
        Kind::Isolated if options.use_multi_threaded_executor => {
            Box::new(Isolated { context, new_executor: Arc::new(move || executor_of(threads)) })
        }
        Kind::Isolated => Box::new(Isolated { context, new_executor: Arc::new(Executor::new) }),
        Kind::Process => Box::new(InProcesses {
            words: words.iter().map(|&word| word.to_owned()).collect(),
            locks_memory: options.locks_memory,
            ros_arguments: ros_part(line),
        }),
    };
    let python = python::Options {
        threads,
        is_shared: kind != Kind::Process,
        ros_arguments: ros_part(line),
    };
    let placement = Box::new(WithPython::new(placement, python));
    let (manager, guard) = Manager::new(&node, placement, options.restart)?;
    let services = Services::new(&node, &manager, local_requests_only)?;
    executor.add_node(&node)?;
    executor.spin()?;
    drop((services, guard));
    executor.remove_node(&node);
    if manager.close() {
        return Ok(SUCCESS);
    }
    feros::error!(
        node,
        "not all components ended in time: the container ends without waiting for them"
    );
    Ok(FAILURE)
}

/// An executor with several threads.
fn executor_of(threads: usize) -> Executor {
    Executor::builder().threads(threads).build()
}

/// The part of the command line for children: everything from `--ros-args` to `--`.
fn ros_part(line: &[String]) -> Vec<String> {
    let mut inside = false;
    let mut part = Vec::new();
    for argument in line {
        match argument.as_str() {
            "--ros-args" => inside = true,
            "--" => inside = false,
            _ if inside => part.push(argument.clone()),
            _ => {}
        }
    }
    if !part.is_empty() {
        part.insert(0, "--ros-args".to_owned());
    }
    part
}
