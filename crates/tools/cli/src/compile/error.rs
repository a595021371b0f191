//! The reasons why packages with components were not built.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use feros_component::install::InstallError;
use feros_component::library::LibraryError;

/// The reason why packages were not built and installed. The prefix is unchanged, unless one of its
/// files could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    /// The folder has no package.
    #[error("there is no {}: name the folder of a package with components", .0.display())]
    NoManifest(PathBuf),
    /// No package in the folder has components.
    #[error(
        "no package in {} depends on feros-component: `cargo add feros feros-component`, and call \
         feros_component::register! in its src/lib.rs", .0.display()
    )]
    NoComponents(PathBuf),
    /// A package is only a program.
    #[error(
        "package {0} has no library: its components belong in src/lib.rs (crate-type \"lib\" or \"rlib\"), where both \
         programs and containers find them"
    )]
    NoLibrary(String),
    /// Two packages have the same name.
    #[error(
        "two packages are named {name}, in {} and {}: a prefix has only one package of each name", .first.display(), .second.display()
    )]
    OneName { name: String, first: PathBuf, second: PathBuf },
    /// The packages depend on different versions or sources of Feros.
    #[error(
        "{first} depends on Feros {first_feros}, {second} on Feros {second_feros}: components of one container share \
         one Feros; make both packages depend on the same version"
    )]
    TwoFeros { first: String, first_feros: String, second: String, second_feros: String },
    /// Part of Feros is missing.
    #[error(
        "{} is missing: the folder of feros-component is not in a complete checkout of Feros",
        .0.display()
    )]
    IncompleteSources(PathBuf),
    /// A kind of source that this command does not know.
    #[error(
        "feros-component comes from {0}, which is neither a folder, a git repository nor a registry"
    )]
    UnknownSource(String),
    /// Two workspaces ask for different settings.
    #[error(
        "{} and {} have different tables [{table}]: the packages of one call are built as one \
         workspace; make the tables equal",
        .first.display(), .second.display()
    )]
    TwoSettings { table: String, first: PathBuf, second: PathBuf },
    /// A program cannot be started.
    #[error("{program} cannot be started: {source}; Rust comes from https://rustup.rs")]
    Start { program: String, source: io::Error },
    /// Cargo or the compiler failed, and has printed the reason.
    #[error("{command} ended with {status}; see its output above")]
    Failed { command: String, status: ExitStatus },
    /// The answer of cargo has an unexpected form.
    #[error("the answer of {command} cannot be used: {reason}")]
    Answer { command: String, reason: String },
    /// A file cannot be used.
    #[error("{}: {reason}", .path.display())]
    File { path: PathBuf, reason: String },
    /// The prefix has packages that would no longer load.
    #[error(
        "{} has packages for another Feros: {names}{differences}. A container loads only packages that were built with \
         the same Feros: build all in one call (`{command}`), choose another --prefix, or remove the packages that you \
         do not need from {}",
        .prefix.display(), .index.display()
    )]
    OtherPackages {
        prefix: PathBuf,
        names: String,
        differences: String,
        command: String,
        index: PathBuf,
    },
    /// A signal with this number ended the build.
    #[error("signal {0} ended the build")]
    Signal(i32),
    /// A library that was built is not a component library.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A library cannot be installed.
    #[error(transparent)]
    Install(#[from] InstallError),
}

impl BuildError {
    pub(crate) fn file(path: impl Into<PathBuf>, reason: impl ToString) -> Self {
        Self::File { path: path.into(), reason: reason.to_string() }
    }
}
