//! The start of Python.

/// How a launcher starts Python for launch files in Python.
#[derive(Clone, Debug)]
pub struct PythonOptions {
    /// The words of the command line that starts the host, which speaks on its standard input.
    pub command: Vec<String>,
    /// What launch files find in `sys.argv`: the words of the launcher's command line.
    pub arguments: Vec<String>,
    /// Whether the text that launch files print goes to standard error, as is needed when standard
    /// output is for results.
    pub prints_to_standard_error: bool,
    /// Receives a message when a launch file takes long.
    pub notice: Option<fn(&str)>,
}
