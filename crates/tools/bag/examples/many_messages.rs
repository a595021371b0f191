//! Measures a bag of many small messages: writes them, opens the bag, reads them, and prints the
//! seconds, the size and the peak memory of the process after each step.
//!
//! `many_messages FOLDER COUNT [none|zstd|lz4]`

use std::path::Path;
use std::time::Instant;

use feros_bag::{
    BagReader, BagTopic, BagWriter, Compression, McapOptions, MessageFilter, Schema, TopicMetadata,
    WriterOptions,
};

/// The peak memory of the process so far, in MB, as the system reports it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map_or("unknown".to_owned(), |kilobytes| (kilobytes / 1024).to_string())
}

fn say(what: &str, began: Instant) {
    println!("{what}: {:.1} s, at most {} MB", began.elapsed().as_secs_f64(), peak_memory());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, count, rest @ ..] = &arguments[..] else {
        return Err("usage: many_messages FOLDER COUNT [none|zstd|lz4]".into());
    };
    let (folder, count): (&Path, i64) = (Path::new(folder), count.parse()?);
    let compression = match rest.first().map(String::as_str) {
        None | Some("none") => Compression::None,
        Some("zstd") => Compression::Zstd { level: 0 },
        Some("lz4") => Compression::Lz4,
        Some(other) => return Err(format!("{other} is not a compression").into()),
    };
    let storage = McapOptions { compression, ..McapOptions::default() };
    let options = WriterOptions { storage, ..WriterOptions::default() };
    let began = Instant::now();
    let mut writer = BagWriter::create(folder, options)?;
    let mut topics = Vec::new();
    for number in 0..10 {
        let metadata = TopicMetadata::new(format!("/number_{number}"), "std_msgs/msg/Int64");
        topics.push(writer.add_topic(BagTopic { metadata, schema: Schema::unknown() })?);
    }
    for number in 0..count {
        let data = feros::message::to_vec(&feros::msgs::std_msgs::msg::Int64 { data: number })?;
        let topic = topics[usize::try_from(number)? % topics.len()];
        writer.write(topic, 0, number * 1000, number * 1000, &data)?;
    }
    writer.finish()?;
    say("written", began);
    let began = Instant::now();
    let reader = BagReader::open(folder)?;
    say("opened", began);
    let (began, mut next) = (Instant::now(), 0);
    for message in reader.messages(&MessageFilter::default())? {
        let message = message?;
        assert_eq!(message.log_time, next * 1000, "messages come in order of time");
        next += 1;
    }
    assert_eq!(next, count, "all messages are read");
    say("read", began);
    println!("{count} messages, {} bytes", reader.size_bytes());
    Ok(())
}
