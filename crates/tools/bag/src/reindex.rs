//! Rebuilds the index of a bag, in its files and in `metadata.yaml`, after a recorder was killed, a
//! disk became full, or the metadata was lost.

use std::path::Path;

use crate::error::ReadError;
use crate::former::Former;
use crate::mcap_file;
use crate::metadata::{BagMetadata, METADATA_FILE};
use crate::reader::{BagReader, ReaderOptions};
use crate::writer::replace_file;

/// The result of reindexing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reindexed {
    /// The content of the bag.
    pub metadata: BagMetadata,
    /// The files whose index was written.
    pub mended_files: Vec<String>,
    /// The number of bytes of incomplete records that were cut off the ends of files.
    pub cut_bytes: u64,
    /// Other damage.
    pub damages: Vec<String>,
}

/// Rebuilds the index of a bag. Entries of a `metadata.yaml` that the files do not contain are
/// kept, even if Feros does not know them. An interrupt ends the work between two changes: each
/// file then has either its index or its old content.
///
/// # Errors
/// When there is no bag, a file does not belong to ROS 2, reading was interrupted, or the system
/// does not let a file be written.
pub fn reindex(path: &Path, options: &ReaderOptions) -> Result<Reindexed, ReadError> {
    let options = ReaderOptions { use_metadata_file: false, ..options.clone() };
    let reader = BagReader::open_with(path, &options)?;
    let (mut mended_files, mut cut_bytes, mut damages) = (Vec::new(), 0, Vec::new());
    for file in &reader.metadata().files {
        if !file.path.ends_with(".mcap") {
            continue;
        }
        let whole = if path.is_dir() { path.join(&file.path) } else { path.to_owned() };
        let reindexed = mcap_file::reindex(&whole, options.max_chunk_bytes, &options.interrupt)?;
        if reindexed.was_changed {
            mended_files.push(file.path.clone());
            cut_bytes += reindexed.cut_bytes;
            let damage = reindexed.damage;
            damages.extend(damage.map(|damage| format!("{}: {damage}", whole.display())));
        }
    }
    let mut metadata = BagReader::open_with(path, &options)?.metadata().clone();
    if path.is_dir() {
        let former = Former::read(path);
        former.complete(&mut metadata);
        let (place, text) = (path.join(METADATA_FILE), former.text_with(&metadata));
        replace_file(&place, &text).map_err(|error| ReadError::io(&place, &error))?;
    }
    Ok(Reindexed { metadata, mended_files, cut_bytes, damages })
}
