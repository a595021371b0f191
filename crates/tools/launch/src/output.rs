//! Where the output of a process goes: actions choose it, plans contain it, and runs follow it.

/// The destinations of an output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sinks {
    /// Whether the stream goes to the terminal.
    pub screen: bool,
    /// Whether the stream goes to the launch's log file.
    pub log: bool,
}

/// The destinations of a process's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: Sinks,
    /// Standard error.
    pub stderr: Sinks,
}

impl Output {
    pub(crate) const MODES: [&'static str; 5] = ["screen", "log", "both", "own_log", "full"];

    /// The default mode, `log`: standard error is shown, and everything is logged.
    pub(crate) const LOG: Self = Self {
        stdout: Sinks { screen: false, log: true },
        stderr: Sinks { screen: true, log: true },
    };

    /// The destinations in the output mode with this name.
    pub(crate) fn from_mode(mode: &str) -> Option<Self> {
        let sinks = |screen, log| Sinks { screen, log };
        match mode {
            "screen" => Some(Self { stdout: sinks(true, false), stderr: sinks(true, false) }),
            "log" => Some(Self::LOG),
            "own_log" => Some(Self { stdout: sinks(false, true), stderr: sinks(false, true) }),
            "both" | "full" => Some(Self { stdout: sinks(true, true), stderr: sinks(true, true) }),
            _ => None,
        }
    }
}
