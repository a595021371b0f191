//! `feros trace run`: runs a command with the trace points of all its processes on.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use feros_process::{Ending, Signal, hangup_to_handle};
use rustix::process::{Pid, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::raw::WithRawSiginfo;

use super::summarize::print_summary;
use crate::error::CliError;
use crate::notices;

/// How long the command may take to end by itself before it gets a signal. A signal to the whole
/// process group has reached it already, and a second signal may end it before its trace is
/// written.
const BY_ITSELF: Duration = Duration::from_millis(200);

/// How often to look for signals and for the end of the command.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

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
    // On a signal, the command that runs ends and writes its trace. This verb then summarizes it.
    let signals = [SIGINT, SIGTERM].into_iter().chain(hangup_to_handle());
    let signals = SignalsInfo::<WithRawSiginfo>::new(signals)?;
    let child =
        Command::new(program).args(arguments).env(feros::trace::FOLDER_VARIABLE, &folder).spawn();
    let child = child.map_err(|error| {
        CliError::failed(format!("{} cannot be started: {error}", Path::new(program).display()))
    })?;
    let status = wait(child, signals)?;
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

/// Waits for the command, and passes signals on to it.
fn wait(
    mut child: Child,
    mut signals: SignalsInfo<WithRawSiginfo>,
) -> Result<ExitStatus, CliError> {
    let mut ending: Option<Ending<1>> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        for info in signals.pending() {
            let is_from_kernel = info.si_code > 0; // sigaction(2)
            let signal = match info.si_signo {
                SIGINT if is_from_kernel => continue, // the terminal sends it to the command, too
                SIGINT => Signal::INT,
                _ => Signal::TERM, // programs that do not handle SIGHUP write their trace, too
            };
            ending = Some(Ending::begin([(BY_ITSELF, signal)]));
        }
        if let Some(signal) = ending.as_mut().and_then(Ending::next_if_due) {
            let _ = kill_process(Pid::from_child(&child), signal); // it may just have ended
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
}
