//! Reads any bytes as a file of trace points that grows while it is read, and as the content of
//! blocks after a valid head, with valid checksums. No matter how the file grows, each complete
//! block is reported once.

use std::io::Cursor;
use std::path::Path;

use feros_trace::format::{MAGIC, checksum};
use feros_trace_analysis::GrowingFile;

/// Runs one input: its first byte gives the rate at which the file grows, the rest is the file.
pub(crate) fn run(bytes: &[u8]) {
    let Some((step, bytes)) = bytes.split_first() else { return };
    let step = usize::from(*step) + 1;
    grow(bytes, step);
    // The blocks: the first byte of each gives its kind and length.
    let mut file = [&MAGIC[..], &feros_trace::FORMAT.to_le_bytes(), &[0; 20], &[0, 0]].concat();
    let mut rest = bytes;
    while let Some((first, others)) = rest.split_first() {
        let (content, left) = others.split_at(others.len().min(usize::from(first >> 2) * 4));
        file.push(first & 3);
        file.extend((content.len() as u32).to_le_bytes());
        file.extend(checksum(content).to_le_bytes());
        file.extend(content);
        rest = left;
    }
    grow(&file, step);
}

fn grow(bytes: &[u8], step: usize) {
    let mut growing = GrowingFile::new(Path::new("file"), "");
    let mut in_steps = 0_u64;
    let ends = (0..bytes.len()).step_by(step).chain([bytes.len()]);
    for end in ends {
        if growing
            .read(&mut Cursor::new(&bytes[..end]), end as u64, 1 << 20, |_, _| in_steps += 1)
            .is_err()
        {
            return;
        }
        assert!(growing.read_bytes() <= end as u64);
    }
    let mut at_once = 0;
    let mut whole = GrowingFile::new(Path::new("file"), "");
    let read =
        whole.read(&mut Cursor::new(bytes), bytes.len() as u64, 1 << 20, |_, _| at_once += 1);
    assert!(read.is_ok() && (in_steps, growing.read_bytes()) == (at_once, whole.read_bytes()));
    // A small budget does not cause any block to be reported twice, either.
    let mut bounded = GrowingFile::new(Path::new("file"), "");
    let mut told = 0;
    for _ in 0..3 {
        let read = bounded.read(&mut Cursor::new(bytes), bytes.len() as u64, 64, |_, _| told += 1);
        assert!(read.is_err() || told <= at_once);
    }
}
