//! The Python interpreter of this program.

/// The interpreter of the environment that this program was installed into; otherwise the first on
/// `PATH`.
pub fn python_interpreter() -> String {
    std::env::current_exe()
        .ok()
        .map(|program| program.with_file_name("python3"))
        .filter(|beside| beside.is_file())
        .map_or_else(|| "python3".to_owned(), |beside| beside.display().to_string())
}
