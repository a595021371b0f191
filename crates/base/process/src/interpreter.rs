//! The Python interpreter that this program starts.

/// Returns the path of the `python3` in this program's folder, as in a virtual environment into
/// which the program was installed. If there is no such file, returns `python3`, which is looked up
/// on `PATH`.
pub fn python_interpreter() -> String {
    std::env::current_exe()
        .ok()
        .map(|program| program.with_file_name("python3"))
        .filter(|beside| beside.is_file())
        .map_or_else(|| "python3".to_owned(), |beside| beside.display().to_string())
}
