//! The programs that this command starts with the Python interpreter beside it.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use feros_launch::{PythonHost, PythonOptions};
use feros_process::python_interpreter;

use crate::notices;

/// The code that finds the host for launch files and becomes it.
const LAUNCH_HOST: &str = include_str!("python/launch_host.py");

/// The start of Python for launch files. Their output goes to standard error if standard output
/// is for results.
pub(crate) fn launch_host(prints_to_standard_error: bool) -> PythonOptions {
    PythonOptions {
        host: PythonHost::Command(vec![
            python_interpreter(),
            "-c".to_owned(),
            LAUNCH_HOST.to_owned(),
        ]),
        arguments: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        prints_to_standard_error,
        notice: Some(|text| notices::note(text)),
    }
}

/// The Python process at the other end of standard input, which is a socket.
///
/// # Errors
/// When standard input cannot be duplicated.
pub(crate) fn launch_host_on_standard_input() -> io::Result<PythonHost> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(PythonHost::Socket(Arc::new(UnixStream::from(socket))))
}
