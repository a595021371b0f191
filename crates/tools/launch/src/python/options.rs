//! The start of Python.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// The Python process for launch files in Python.
#[derive(Clone, Debug)]
pub enum PythonHost {
    /// The words of the command line that starts the host, which speaks on its standard input.
    Command(Vec<String>),
    /// The socket to a host that runs already, and that ends when the socket does.
    Socket(Arc<UnixStream>),
}

/// How a launcher uses Python for launch files in Python.
#[derive(Clone, Debug)]
pub struct PythonOptions {
    /// The process that runs the files.
    pub host: PythonHost,
    /// What launch files find in `sys.argv`: the words of the launcher's command line.
    pub arguments: Vec<String>,
    /// Whether the text that launch files print goes to standard error, as is needed when standard
    /// output is for results.
    pub prints_to_standard_error: bool,
    /// Receives a message when a launch file takes long.
    pub notice: Option<fn(&str)>,
}
