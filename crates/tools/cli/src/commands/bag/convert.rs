//! `feros bag convert`: makes new bags out of bags: in another storage, merged, split, compressed,
//! or with fewer topics.

use std::path::PathBuf;

use feros_bag::{OutputBag, read_output_bags};

use super::compression_args::CompressionArgs;
use super::new_bags;
use super::selection_args::SelectionArgs;
use super::storage_args::{INPUT, InputArgs};
use crate::ending;
use crate::error::CliError;
use crate::types::InterfaceArgs;

/// Convert bags: to another storage, merged, split, compressed, or with fewer topics
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros bag convert -i old_sqlite_bag -o new_bag --compression-format zstd\n  \
                  feros bag convert -i one -i two -o both\n  feros bag convert -i one -o options.yaml",
    mut_arg(INPUT, |input| input.required(true))
)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// Folder to create for the new bag, or a YAML file with `output_bags` as for `ros2`
    #[arg(short, long, visible_alias = "output-options", value_name = "DIR|FILE")]
    output: PathBuf,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    files: CompressionArgs,
}

pub(crate) fn run(args: &Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    let (is_ending, _listening) = ending::flag(|| {});
    let inputs = args.input.bags()?;
    let bags =
        new_bags::opened(is_ending.into(), |interrupt| super::open_all(&inputs, &interrupt))?;
    let is_file = args.output.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let outputs = if is_file {
        let text = super::read_text(&args.output)?;
        read_output_bags(&text)
            .map_err(|error| CliError::usage(format!("{}: {error}", args.output.display())))?
    } else {
        let selection = args.selection.selection_of_bag();
        let writer = args.files.writer_options();
        let uri = args.output.clone();
        vec![OutputBag { uri, writer, selection, start: None, end: None }]
    };
    new_bags::make(&bags, outputs, interfaces)
}
