//! The severity of the messages of a launch.

/// The severity of a message of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Details for debugging; shown only on request.
    Debug,
    /// Normal events.
    Info,
    /// Possible mistakes.
    Warning,
    /// Failures.
    Error,
}

impl Level {
    pub(crate) const NAMES: [(&'static str, Self); 5] = [
        ("DEBUG", Self::Debug),
        ("INFO", Self::Info),
        ("WARNING", Self::Warning),
        ("ERROR", Self::Error),
        ("CRITICAL", Self::Error),
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        }
    }
}
