//! `feros component register`: has containers find the components of a library.

use std::path::PathBuf;
use std::process::ExitCode;

use feros_component::index::{PREFIX_VARIABLES, register};

use crate::error::CliError;
use crate::{notices, output};

/// Put a component library into a prefix, where containers find it
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  cargo build --release\n  feros component register target/release/libpipeline_library.so \
                        --package pipeline --prefix ~/robot\n  FEROS_PREFIX_PATH=~/robot feros component types"
)]
pub(crate) struct Args {
    /// The library that cargo built
    #[arg(value_name = "LIBRARY")]
    library: PathBuf,
    /// The package that its components are to belong to
    #[arg(long, value_name = "PACKAGE")]
    package: String,
    /// Where it is put, as lib/<file>
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let registered =
        register(&args.library, &args.package, &args.prefix).map_err(CliError::failed)?;
    let names = registered
        .plugins
        .iter()
        .map(|plugin| format!("{plugin};{}", registered.library.display()));
    output::print_lines(names)?;
    let searched = PREFIX_VARIABLES.iter().filter_map(std::env::var_os);
    let mut searched = searched.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>());
    if !searched.any(|prefix| prefix.canonicalize().ok() == args.prefix.canonicalize().ok()) {
        notices::note(format!(
            "containers find it when FEROS_PREFIX_PATH holds {}",
            args.prefix.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}
