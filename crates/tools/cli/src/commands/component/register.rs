//! `feros component register`: lets containers find the components of a library.

use std::path::{Path, PathBuf};

use feros_component::index::Index;
use feros_component::install::register;

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
    /// The package that its components will belong to
    #[arg(long, value_name = "PACKAGE")]
    package: String,
    /// The prefix that receives the library, as lib/<file>
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let registered =
        register(&args.library, &args.package, &args.prefix).map_err(CliError::failed)?;
    let names = registered
        .plugins
        .iter()
        .map(|plugin| format!("{plugin};{}", registered.library.display()));
    output::print_lines(names)?;
    note_prefix(&args.prefix);
    Ok(())
}

/// If containers do not search a prefix yet, prints the setting that makes them do so.
pub(super) fn note_prefix(prefix: &Path) {
    let wanted = prefix.canonicalize().ok();
    let is_searched = |searched: &PathBuf| searched.canonicalize().ok() == wanted;
    if !Index::from_env().prefixes().iter().any(is_searched) {
        notices::note(format!(
            "containers find the components if FEROS_PREFIX_PATH contains {}",
            prefix.display()
        ));
    }
}
