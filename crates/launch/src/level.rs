//! How grave a message of a launch is.

/// How grave a message of a launch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// For those who look for a mistake; shown where it is asked for.
    Debug,
    /// What goes as it should.
    Info,
    /// What may be a mistake.
    Warning,
    /// What went wrong.
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
