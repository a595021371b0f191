//! The reasons why packages were not built.

use std::path::{Path, PathBuf};

use feros_component::install::InstallError;

/// The reason why one package was not built. The other packages are built nevertheless.
#[derive(Debug, thiserror::Error)]
pub(super) enum PackageFault {
    /// A file cannot be used.
    #[error("{}: {reason}", .path.display())]
    File { path: PathBuf, reason: String },
    /// Two packages have the same name.
    #[error(
        "its name is also that of {}: a prefix has only one package of each name; rename one, or \
         put an empty file COLCON_IGNORE into the folder of the one that is not needed",
        .0.display()
    )]
    OneName(PathBuf),
    /// Two manifests disagree.
    #[error(
        "package.xml names it {ros}, but Cargo.toml {cargo}: give both the same name, as \
         colcon-ros-cargo needs it too"
    )]
    TwoNames { ros: String, cargo: String },
    /// Packages depend on each other.
    #[error("it depends on itself: {}; remove one of these dependencies", .0.join(" -> "))]
    Circle(Vec<String>),
    /// The package has code for another build tool.
    #[error(
        "{}:{line}: `{command}` builds C or C++, which feros build does not: build this package with \
         colcon, name its prefix in AMENT_PREFIX_PATH, and put an empty file COLCON_IGNORE into its \
         folder here", .path.display()
    )]
    Cpp { path: PathBuf, line: usize, command: String },
    /// The interfaces of the package are faulty.
    #[error("{0}")]
    Interface(String),
    /// The package's own build failed.
    #[error("{python} cannot build it as a Python package: {reason}")]
    Python { python: String, reason: String },
    /// The compiler refused the package.
    #[error("cargo could not compile it; its messages are above")]
    Compile,
    /// A package of components is only a program.
    #[error(
        "it depends on feros-component, but has no library: its components belong in src/lib.rs \
         (crate-type \"lib\" or \"rlib\"), where both programs and containers find them"
    )]
    NoLibrary,
    /// Tests of the package failed.
    #[error("its tests failed; their output is above")]
    Tests,
    /// Another package has the same file.
    #[error("it would replace {}, which belongs to the package {owner}", .path.display())]
    TwoOwners { path: PathBuf, owner: String },
    /// A file could not be installed.
    #[error("{0}")]
    Install(InstallError),
    /// A package that this one needs was not built.
    #[error("it depends on {0}, which was not built")]
    Dependency(String),
    /// Anything that concerns all packages in Rust.
    #[error("{0}")]
    Rust(String),
}

impl PackageFault {
    pub(super) fn file(path: &Path, reason: impl ToString) -> Self {
        Self::File { path: path.to_owned(), reason: reason.to_string() }
    }
}
