//! `feros bag reindex`: rebuilds the index of a bag after its recorder was killed or its
//! `metadata.yaml` was lost.

use std::path::PathBuf;

use feros_bag::{ReadError, ReaderOptions};

use super::storage_args::StorageArgs;
use crate::error::CliError;
use crate::{ending, notices, output};

/// Rebuild the index of a bag
#[derive(clap::Args)]
#[command(
    after_help = "An index is added in place to files that lack one; data after the last whole record is cut off. \
                  metadata.yaml is written from the contents of the files."
)]
pub(crate) struct Args {
    /// Folder of the bag
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    #[command(flatten)]
    storage: StorageArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let (is_ending, _listening) = ending::flag(|| {});
    let storage = args.storage.named();
    let options =
        ReaderOptions { storage, interrupt: is_ending.into(), ..ReaderOptions::default() };
    let reindexed = feros_bag::reindex(&args.bag, &options).map_err(|error| match error {
        ReadError::Interrupted { .. } => {
            notices::note("interrupted: the bag is intact; run `feros bag reindex` again");
            CliError::Interrupted
        }
        error => error.into(),
    })?;
    reindexed.damages.iter().for_each(notices::warn);
    if reindexed.cut_bytes > 0 {
        notices::note(format!(
            "cut off {} bytes that were not a whole record",
            reindexed.cut_bytes
        ));
    }
    let mended = match reindexed.mended_files.len() {
        0 => "every file had its index".to_owned(),
        _ => format!("wrote the index of {}", reindexed.mended_files.join(", ")),
    };
    output::print_lines([format!(
        "{}: {} messages of {} topics; {mended}",
        args.bag.display(),
        reindexed.metadata.message_count,
        reindexed.metadata.topics.len()
    )])
}
