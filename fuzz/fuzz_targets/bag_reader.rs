//! Reads any bytes as an MCAP file, and as the content of records after a valid head: valid content
//! is read, all other content is an error, and memory stays bounded. A rebuilt index can be read.

use std::path::Path;

use feros_bag::{BagMetadata, BagReader, MessageFilter, ReaderOptions, reindex};

/// The limit on the memory that a reader holds at any time.
const LIMIT: usize = 4 << 20;

/// Runs one input: as a file, then as the content of records and, if it is text, as the metadata of
/// a bag.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(metadata) = BagMetadata::from_yaml(text)
    {
        assert_eq!(BagMetadata::from_yaml(&metadata.to_yaml()).as_ref(), Ok(&metadata));
    }
    look_at(bytes);
    // The records: the first byte of each gives its kind, the second byte its length.
    let mut file = b"\x89MCAP0\r\n".to_vec();
    let mut rest = bytes;
    while let [opcode, length, others @ ..] = rest {
        let (content, left) = others.split_at(others.len().min(usize::from(*length)));
        file.push(opcode % 16);
        file.extend((content.len() as u64).to_le_bytes());
        file.extend(content);
        rest = left;
    }
    look_at(&file);
}

fn look_at(bytes: &[u8]) {
    let folder = std::env::temp_dir().join(format!("feros-fuzz-bag-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room for a folder");
    let path = folder.join("bag_0.mcap");
    std::fs::write(&path, bytes).expect("there is room for a file");
    let options = ReaderOptions { max_chunk_bytes: LIMIT, ..ReaderOptions::default() };
    let before = count(&path, &options);
    if let Ok(reindexed) = reindex(&path, &options) {
        let after = count(&path, &options);
        assert!(!reindexed.mended_files.is_empty() || before == after);
    }
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}

fn count(path: &Path, options: &ReaderOptions) -> Option<usize> {
    let reader = BagReader::open_with(path, options).ok()?;
    let messages = reader.messages(&MessageFilter::default()).ok()?;
    Some(messages.take_while(Result::is_ok).count())
}
