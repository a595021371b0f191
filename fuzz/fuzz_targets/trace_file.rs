//! Reads any bytes as a file of trace points, and as the content of blocks after a valid head, with
//! valid checksums. Every trace that can be read can be summarized and exported.

use std::path::Path;

use feros_trace::format::{MAGIC, checksum};
use feros_trace_analysis::{Process, Summary, Trace};

/// Runs one input: as a file, then as the content of blocks.
pub(crate) fn run(bytes: &[u8]) {
    look_at(bytes);
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
    look_at(&file);
}

fn look_at(bytes: &[u8]) {
    let Ok(process) = Process::parse(Path::new("file"), bytes) else { return };
    let trace = Trace { processes: vec![process.clone(), process] };
    let summary = Summary::of(&trace);
    for topic in &summary.topics {
        assert!(topic.end_to_end.count > 0 && !topic.layers.is_empty());
    }
    trace.write_perfetto(std::io::sink()).expect("a sink takes all");
}
