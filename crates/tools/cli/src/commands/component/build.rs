//! `feros component build`: builds packages of components as libraries, together with the container
//! programs that can load them, and installs both into one prefix.
//!
//! `crate::compile` does the work.

use std::path::{Path, PathBuf};

use feros_component::install::Installed;
use feros_files::default_prefix;
use feros_process::EndSignals;

use super::register::note_prefix;
use crate::compile::cargo::{Built, Call, Cargo};
use crate::compile::crates::Crates;
use crate::compile::error::BuildError;
use crate::compile::feros::Feros;
use crate::compile::package::{ComponentPackage, find_packages};
use crate::compile::prefix::Prefix;
use crate::compile::workspace::{BuildFolder, Workspace};
use crate::compile::{default_build_dir, lock, no_home};
use crate::error::CliError;
use crate::{ending, notices, output};

/// Build packages of components and the container programs that can load them, and install both
/// into a prefix
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros component build\n  feros component build ~/camera ~/arm --release --prefix ~/robot\n  \
                  feros container\n\nA package is an ordinary library of cargo that depends on feros and feros-component and \
                  calls feros_component::register!."
)]
pub(crate) struct Args {
    /// Folders of packages, or of workspaces with packages
    #[arg(value_name = "DIR", default_value = ".")]
    folders: Vec<PathBuf>,
    /// The prefix to install the packages in; by default $XDG_DATA_HOME/feros, or
    /// ~/.local/share/feros if XDG_DATA_HOME is not set, where containers look without any setting
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// Build with optimization
    #[arg(short, long)]
    release: bool,
    /// The folder in which cargo keeps its compiled files, for all packages;
    /// ~/.cache/feros/components by default
    #[arg(long, value_name = "DIR")]
    build_dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let prefix = args.prefix.clone().or_else(default_prefix);
    let prefix = Prefix::new(prefix.ok_or_else(|| no_home("--prefix"))?);
    let build_dir = args.build_dir.clone().map_or_else(default_build_dir, Ok)?;
    let signals = ending::end_signals()?;
    let installed = build(args, &prefix, &build_dir, &signals).map_err(|error| match error {
        BuildError::Signal(signal) => CliError::ended_by(signal),
        error => CliError::failed(error),
    })?;
    let line = |plugin: &String, library: &Path| format!("{plugin};{}", library.display());
    let lines = installed.iter().flat_map(|package| {
        package.plugins.iter().map(move |plugin| line(plugin, &package.library))
    });
    output::print_lines(lines)?;
    note_prefix(prefix.folder());
    Ok(())
}

fn build(
    args: &Args,
    prefix: &Prefix,
    build_dir: &Path,
    signals: &EndSignals,
) -> Result<Vec<Installed>, BuildError> {
    let packages = find_packages(&args.folders, signals)?;
    let feros = one_feros(&packages)?;
    let others = prefix.others(&packages);
    let cargo = Cargo::in_folder(&packages[0].folder, signals);

    let build_folder = BuildFolder::lock(build_dir, signals)?;
    let workspace = Workspace::write(build_folder.workspace(), &packages, feros)?;
    let locks = lock::sources(prefix, &others, feros, &packages);
    workspace.write_lock(&lock::merged(&locks)?)?;

    let profile = if args.release { "release" } else { "dev" };
    let settings = [cargo.compiler()?, workspace.profile(profile)];
    let crates = Crates::below_shared(&cargo.tree(workspace.manifest())?, settings)?;
    prefix.check_crates(&crates, &others, &packages)?;

    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    notices::note(format!(
        "building {} and the containers with Feros {feros}; the first time takes some minutes",
        names.join(", ")
    ));
    let target = build_folder.target(&crates.number());
    let number = crates.number();
    let artifacts = cargo.build(&Call {
        manifest: workspace.manifest(),
        target: &target,
        release: args.release,
        crates: Some(&number),
    })?;
    let built = Built::new(&artifacts, workspace.libraries(), &cargo)?;
    prefix.check_stamps(&built, &others, &packages)?;
    if let Some(signal) = signals.received() {
        return Err(BuildError::Signal(signal));
    }
    prefix.install(&built, &packages, &crates, &workspace.lock_file())
}

/// The Feros that all packages depend on.
fn one_feros(packages: &[ComponentPackage]) -> Result<&Feros, BuildError> {
    let first = &packages[0];
    match packages.iter().find(|package| package.feros != first.feros) {
        None => Ok(&first.feros),
        Some(other) => Err(BuildError::TwoFeros {
            first: first.name.clone(),
            first_feros: first.feros.to_string(),
            second: other.name.clone(),
            second_feros: other.feros.to_string(),
        }),
    }
}
