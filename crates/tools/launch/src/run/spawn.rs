//! Starts one process: its command line, environment, process group and output.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use feros_process::ChildGroup;
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use tempfile::NamedTempFile;

use super::parameter_files;
use crate::commandline::SHELL;
use crate::plan::{Process, Word};

/// The words of a command line. Writes its parameter files, which exist as long as the returned
/// values.
pub(super) fn command_line(process: &Process) -> io::Result<(Vec<String>, Vec<NamedTempFile>)> {
    let mut files = Vec::new();
    let mut words = Vec::new();
    for word in &process.command {
        words.push(match word {
            Word::Text(text) => text.clone(),
            Word::ParameterFile(parameters) => {
                let file = parameter_files::write(&std::env::temp_dir(), &parameters.text)?;
                let path = file.path().display().to_string();
                files.push(file);
                path
            }
        });
    }
    if process.by_shell {
        words = vec![SHELL.to_owned(), "-c".to_owned(), words.join(" ")];
    }
    Ok((words, files))
}

/// Starts a process with no standard input; returns also its standard output and standard error.
pub(super) fn start(process: &Process, words: &[String]) -> io::Result<(ChildGroup, [OwnedFd; 2])> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    if process.replaces_environment {
        command.env_clear();
    }
    for (name, value) in &process.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = &process.directory {
        // The system's error would not say whether the program or the folder is missing.
        if !folder.is_dir() {
            let problem = format!("there is no folder {}, which `cwd` names", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, problem));
        }
        command.current_dir(folder);
    }
    let pair = || if process.emulate_tty { terminal() } else { pipe() };
    let (out, out_of_child) = pair()?;
    let (err, err_of_child) = pair()?;
    command.stdout(out_of_child).stderr(err_of_child);
    // The command, which holds the child's ends of the pipes open, is dropped here. So they close
    // when the child ends.
    Ok((ChildGroup::spawn(&mut command)?, [out, err]))
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

/// Opens a pseudo terminal for a process that would otherwise buffer its output. It is not the
/// controlling terminal of the process.
fn terminal() -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    let name = rustix::pty::ptsname(&ours, Vec::new())?;
    let theirs =
        rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let mut settings = rustix::termios::tcgetattr(&theirs)?;
    // With this setting lines arrive as written, without an added carriage return.
    settings.output_modes.remove(rustix::termios::OutputModes::OPOST);
    rustix::termios::tcsetattr(&theirs, rustix::termios::OptionalActions::Now, &settings)?;
    Ok((File::from(ours).into(), theirs))
}
