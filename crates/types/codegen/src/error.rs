//! The errors of generating source.

use std::fmt;
use std::path::PathBuf;

use feros_interface::{LoadError, ResolveError};

/// The reason why a [`Generator`](crate::Generator) generated no source.
///
/// The `Debug` form is the same as the message, so that a build script whose `main` returns the
/// error prints a readable text.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A package cannot be read, or one of its definitions breaks the rules.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A definition refers to a missing type, or refers to itself, either directly or through other
    /// types.
    #[error("{}{source}", place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default())]
    Resolve {
        /// The file and the line of the faulty field, if the definition is in a package folder.
        place: Option<String>,
        /// The problem.
        source: ResolveError,
    },
    /// The caller added the same package twice.
    #[error("the package `{package}` in `{}` was given before: give each package once", path.display())]
    Duplicate {
        /// The package.
        package: String,
        /// The folder that was added second.
        path: PathBuf,
    },
    /// The caller named a package that is not among the packages of robots that Feros ships.
    #[error(
        "`robot_package` and `robot_dependency` do not know the interface package `{package}`: \
         name its folder with `package_dir`, or name one of {}; a standard package needs no such \
         call",
        known.join(", ")
    )]
    UnknownRobotPackage {
        /// The package.
        package: String,
        /// The packages of robots that Feros ships.
        known: Vec<String>,
    },
    /// The caller added no package.
    #[error("no package to generate: name its folder with `package_dir(\"interfaces/my_msgs\")`")]
    NoPackage,
    /// `OUT_DIR` is not set, so there is no folder to write to.
    #[error(
        "OUT_DIR is not set: call `generate` from a build script, or `generate_text` elsewhere"
    )]
    NoOutDir,
    /// The generated source cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
