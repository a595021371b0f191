//! Compiles packages in Rust together with the container programs that load their components, for
//! `feros component build` and `feros build`.
//!
//! Rust has no stable ABI, so one call of cargo builds the libraries and the containers, from a
//! workspace that is written for this purpose (`workspace`). Cargo itself (`cargo`) provides what
//! the call needs to know: the packages and the source of their Feros (`package`, `feros`), and the
//! crates and features that Feros depends on (`crates`). Packages that are built on different days
//! agree because they start from the same versions (`lock`); this is checked before anything is
//! installed (`prefix`).

pub(crate) mod cargo;
pub(crate) mod crates;
pub(crate) mod error;
pub(crate) mod feros;
pub(crate) mod lock;
pub(crate) mod package;
pub(crate) mod prefix;
pub(crate) mod workspace;

use std::path::PathBuf;

use crate::error::CliError;

/// The default folder for compiled files: `$XDG_CACHE_HOME/feros/components`, below `~/.cache`
/// unless that is set.
pub(crate) fn default_build_dir() -> Result<PathBuf, CliError> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    Ok(cache.ok_or_else(|| no_home("--build-dir"))?.join("feros/components"))
}

/// The error of an option whose default needs a home folder.
pub(crate) fn no_home(option: &str) -> CliError {
    CliError::usage(format!(
        "{option} is needed, because the environment does not name a home folder (HOME)"
    ))
}
