//! The rmw on which a program runs.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

/// The rmw through which a program communicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rmw {
    /// The default of ROS 2.
    Stock,
    /// The rmw of Feros.
    Feros {
        /// The folder with the library.
        folder: PathBuf,
    },
}

impl Rmw {
    /// The value of `RMW_IMPLEMENTATION`.
    pub fn identifier(&self) -> &'static str {
        match self {
            Self::Stock => "rmw_fastrtps_cpp",
            Self::Feros { .. } => "rmw_feros",
        }
    }

    pub(crate) fn choose(&self, command: &mut Command) {
        command.env("RMW_IMPLEMENTATION", self.identifier());
        match self {
            Self::Stock => command.env_remove("FEROS_RMW_DIR"),
            Self::Feros { folder } => command.env("FEROS_RMW_DIR", folder),
        };
    }
}

impl fmt::Display for Rmw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.identifier())
    }
}
