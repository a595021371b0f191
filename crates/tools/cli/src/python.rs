//! The Python interpreter that belongs to this command, and what the command starts with it.

use feros_launch::PythonOptions;

use crate::notices;

/// The code that finds the host for launch files and becomes it.
const LAUNCH_HOST: &str = include_str!("python/launch_host.py");

/// The interpreter of the environment that this command was installed into; otherwise the first on
/// PATH.
pub(crate) fn interpreter() -> String {
    std::env::current_exe()
        .ok()
        .map(|command| command.with_file_name("python3"))
        .filter(|beside| beside.is_file())
        .map_or_else(|| "python3".to_owned(), |beside| beside.display().to_string())
}

/// The start of Python for launch files. Their output goes to standard error if standard output
/// is for results.
pub(crate) fn launch_host(prints_to_standard_error: bool) -> PythonOptions {
    PythonOptions {
        command: vec![interpreter(), "-c".to_owned(), LAUNCH_HOST.to_owned()],
        arguments: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        prints_to_standard_error,
        notice: Some(|text| notices::note(text)),
    }
}
