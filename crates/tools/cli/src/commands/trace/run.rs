//! `feros trace run`: runs a command with the trace points of all its processes on.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use feros_process::hangup_to_handle;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::summarize::print_summary;
use crate::error::CliError;
use crate::notices;

/// The command to run, and the folder for its trace.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder for the trace; it must not contain another trace [default:
    /// ./feros-trace-<seconds since 1970>]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Show the summary as JSON, times in nanoseconds
    #[arg(long)]
    json: bool,
    /// The command, after `--`
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let folder = prepare(args.out.clone().unwrap_or_else(default_folder))?;
    let (program, arguments) = args
        .command
        .split_first()
        .ok_or_else(|| CliError::usage("name the command to run after `--`"))?;
    // Ctrl-C is a signal for the command that runs: it ends and writes its trace, which this verb
    // then summarizes. This verb passes SIGTERM and the end of a terminal on to the command.
    let [interrupted, terminated] = [(), ()].map(|()| Arc::new(AtomicBool::new(false)));
    signal_hook::flag::register(SIGINT, interrupted)?;
    for signal in [SIGTERM].into_iter().chain(hangup_to_handle()) {
        signal_hook::flag::register(signal, Arc::clone(&terminated))?;
    }
    let child =
        Command::new(program).args(arguments).env(feros::trace::FOLDER_VARIABLE, &folder).spawn();
    let child = child.map_err(|error| {
        CliError::failed(format!("{} cannot be started: {error}", Path::new(program).display()))
    })?;
    let status = wait(child, &terminated)?;
    notices::note(format!("the trace is in {}", folder.display()));
    if !status.success() {
        notices::warn(format!("the command ended with {status}"));
    }
    print_summary(&folder, args.json)?;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    match code {
        0 => Ok(()),
        code => Err(CliError::Ended(u8::try_from(code).unwrap_or(1))),
    }
}

fn default_folder() -> PathBuf {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    PathBuf::from(format!("feros-trace-{seconds}"))
}

/// Creates the folder; its path is absolute, since processes may run in other folders.
fn prepare(folder: PathBuf) -> Result<PathBuf, CliError> {
    let failed =
        |error| CliError::failed(format!("{} cannot be created: {error}", folder.display()));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let folder = folder.canonicalize().map_err(failed)?;
    for entry in std::fs::read_dir(&folder)? {
        if entry?
            .path()
            .extension()
            .is_some_and(|extension| extension == feros::trace::FILE_EXTENSION)
        {
            return Err(CliError::usage(format!(
                "there is already a trace in {}, and the new trace would be mixed with it: choose \
                 another --out",
                folder.display()
            )));
        }
    }
    Ok(folder)
}

fn wait(mut child: Child, terminated: &AtomicBool) -> Result<ExitStatus, CliError> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if terminated.swap(false, Ordering::Relaxed)
            && let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(pid, Signal::TERM); // it may just have ended
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
