//! Damaged and hostile bags: the intact part is read, and everything else gives a clear error.

use std::fs;
use std::path::Path;

use feros_bag::{
    BagMetadata, BagReader, BagWriter, McapOptions, MessageFilter, ReadError, ReaderOptions,
    WriterOptions, reindex,
};

use crate::support::{START, messages, numbered_bag, text, text_topic};

/// Chunks of about ten messages.
fn small_chunks() -> WriterOptions {
    let storage = McapOptions { chunk_bytes: 10_000, ..McapOptions::default() };
    WriterOptions { storage, ..WriterOptions::default() }
}

/// The numbers of the messages of a bag.
fn numbers(path: &Path) -> Vec<u32> {
    messages(path).iter().map(|message| message.sequence - 1).collect()
}

#[test]
fn a_file_that_ends_anywhere_lacks_at_most_its_last_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    numbered_bag(&whole, 200, small_chunks());
    let bytes = fs::read(whole.join("whole_0.mcap")).unwrap();
    let file = folder.path().join("cut_0.mcap");
    let per_chunk = 12; // at most, in messages
    let mut last = 0;
    for end in (100..bytes.len()).step_by(997).chain([bytes.len() - 1]) {
        fs::write(&file, &bytes[..end]).unwrap();
        let reader = BagReader::open(&file).unwrap();
        assert!(!reader.is_indexed(), "cut at {end}");
        let read = numbers(&file);
        let expected: Vec<u32> = (0..read.len() as u32).collect();
        assert_eq!(read, expected, "cut at {end}");
        assert!(read.len() >= last, "cut at {end}");
        last = read.len();
        // A message takes 1050 bytes in the file, and more with its index entry.
        let there = end / 1100;
        assert!(
            read.len() + per_chunk >= there.min(200),
            "cut at {end}: {} of {there}",
            read.len()
        );

        // The index that is added to the file describes the same messages.
        let reindexed = reindex(&file, &ReaderOptions::default()).unwrap();
        assert_eq!(reindexed.mended_files, ["cut_0.mcap"], "cut at {end}");
        let reader = BagReader::open(&file).unwrap();
        assert!(reader.is_indexed() && reader.warnings().is_empty(), "cut at {end}");
        assert_eq!(numbers(&file), expected, "cut at {end}");
        let again = reindex(&file, &ReaderOptions::default()).unwrap();
        assert!(again.mended_files.is_empty(), "cut at {end}");
    }
    assert_eq!(last, 200);
}

#[test]
fn an_index_that_was_written_anew_is_that_of_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    numbered_bag(&path, 100, small_chunks());
    let before = BagReader::open(&path).unwrap().metadata().clone();
    let file = path.join("bag_0.mcap");
    let bytes = fs::read(&file).unwrap();
    // Without the footer there is no index.
    fs::write(&file, &bytes[..bytes.len() - 20]).unwrap();
    fs::remove_file(path.join("metadata.yaml")).unwrap();
    let reindexed = reindex(&path, &ReaderOptions::default()).unwrap();
    assert_eq!(reindexed.metadata, before);
    assert!(path.join("metadata.yaml").exists() && reindexed.damages.is_empty());
    assert_eq!(numbers(&path).len(), 100);
}

/// Other programs may add entries to `metadata.yaml`, and some entries are in no other file.
#[test]
fn an_index_that_is_written_anew_keeps_what_only_the_metadata_had() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    numbered_bag(&path, 10, WriterOptions::default());
    let file = path.join("metadata.yaml");
    let text = fs::read_to_string(&file).unwrap();
    let text = text
        .replace("compression_format: \"\"", "compression_format: zstd")
        .replace("compression_mode: \"\"", "compression_mode: MESSAGE")
        .replace("  message_count: 10\n", "  message_count: 7\n")
        .replace("  custom_data: ~\n", "  custom_data:\n    robot: r2\n");
    let inner = "  operator:\n    name: Ada\n    badges:\n      - 7\n      - \"7\"\n";
    let outer = "other_tool: {version: 2}\n";
    fs::write(&file, format!("{text}{inner}{outer}")).unwrap();
    let reindexed = reindex(&path, &ReaderOptions::default()).unwrap();
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.contains(inner), "{written}");
    assert!(written.ends_with("\nother_tool:\n  version: 2\n"), "{written}");
    assert_eq!(BagMetadata::from_yaml(&written).unwrap(), reindexed.metadata);
    assert_eq!(reindexed.metadata.message_count, 10);
    assert_eq!(reindexed.metadata.custom_data["robot"], "r2");
    assert_eq!(reindexed.metadata.compression_mode, "MESSAGE");
    // A second time, nothing changes.
    reindex(&path, &ReaderOptions::default()).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    // What cannot be read is written anew.
    for unreadable in ["[", "other: 1\nrosbag2_bagfile_information: {version: x, operator: Ada}\n"]
    {
        fs::write(&file, unreadable).unwrap();
        reindex(&path, &ReaderOptions::default()).unwrap();
        let written = fs::read_to_string(&file).unwrap();
        assert_eq!(BagMetadata::from_yaml(&written).unwrap().message_count, 10);
        assert_eq!(written.contains("  operator: Ada\nother: 1\n"), unreadable.len() > 1);
    }
}

#[test]
fn a_chunk_with_a_wrong_checksum_is_left_out_where_there_is_no_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    numbered_bag(&path, 100, small_chunks());
    let file = path.join("bag_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(8).position(|window| window == b"00000050").unwrap();
    bytes[at + 20] ^= 1;
    bytes.truncate(bytes.len() - 20);
    fs::write(&file, bytes).unwrap();
    let reader = BagReader::open(&path).unwrap();
    assert!(reader.warnings()[0].contains("left out"), "{:?}", reader.warnings());
    let read = numbers(&path);
    assert!(!read.contains(&50) && read.contains(&0) && read.contains(&99), "{read:?}");
    assert!(read.len() >= 85, "{}", read.len());
    // In the index that is written anew, the chunk before it has only its own message index.
    reindex(&path, &ReaderOptions::default()).unwrap();
    let bytes = fs::read(&file).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    assert_eq!(summary.stats.as_ref().unwrap().message_count, read.len() as u64);
    for chunk in &summary.chunk_indexes {
        let times = chunk.message_start_time..=chunk.message_end_time;
        let indexes = summary.read_message_indexes(&bytes, chunk).unwrap();
        let entries: Vec<_> = indexes.values().flatten().collect();
        assert!(!entries.is_empty());
        assert!(entries.iter().all(|entry| times.contains(&entry.log_time)), "{chunk:?}");
    }
}

#[test]
fn files_that_are_no_bag_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| BagReader::open(path).err().unwrap();
    assert!(matches!(open(&folder.path().join("missing")), ReadError::NotABag { .. }));
    assert!(matches!(open(folder.path()), ReadError::NotABag { .. }));
    for (name, content) in [
        ("empty.mcap", &b""[..]),
        ("text.mcap", b"this is no MCAP file, but a text that is long enough"),
        ("text.db3", b"this is no SQLite file"),
        ("empty.db3", b""),
    ] {
        let file = folder.path().join(name);
        fs::write(&file, content).unwrap();
        let error = open(&file);
        assert!(matches!(error, ReadError::Malformed { .. }), "{name}: {error}");
        assert!(error.to_string().contains("is damaged"), "{error}");
    }
    for (content, said) in [
        ("#ROSBAG V2.0\nE\0\0\0", "it is a bag of ROS 1; `rosbags-convert`"),
        ("#ROSBA", "its name ends neither with .mcap nor with .db3"),
    ] {
        let file = folder.path().join("drive.bag");
        fs::write(&file, content).unwrap();
        let error = open(&file);
        assert!(matches!(error, ReadError::NotABag { .. }), "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
    let of_ros1 = folder.path().join("of_ros1");
    fs::create_dir(&of_ros1).unwrap();
    fs::write(of_ros1.join("drive.bag"), "#ROSBAG V2.0\nE\0\0\0").unwrap();
    let error = open(&of_ros1).to_string();
    assert!(error.contains("drive.bag") && error.contains("`rosbags-convert`"), "{error}");
    let bag = folder.path().join("bag");
    fs::create_dir(&bag).unwrap();
    fs::write(bag.join("metadata.yaml"), "rosbag2_bagfile_information: [").unwrap();
    assert!(open(&bag).to_string().contains("feros bag reindex"));
    // A file in another folder is not part of the bag, whatever the bag's metadata names.
    let metadata = "rosbag2_bagfile_information:\n  relative_file_paths: [../empty.mcap]\n";
    fs::write(bag.join("metadata.yaml"), metadata).unwrap();
    assert!(open(&bag).to_string().contains("bag/empty.mcap is missing"));
}

#[test]
fn another_profile_is_refused_and_a_missing_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    for (profile, is_read) in [("ros1", false), ("", true), ("ros2", true)] {
        let file = folder.path().join(format!("a{profile}.mcap"));
        let out = fs::File::create(&file).unwrap();
        let mut writer = mcap::WriteOptions::new().profile(profile).create(out).unwrap();
        writer.finish().unwrap();
        drop(writer);
        match BagReader::open(&file) {
            Ok(reader) => assert!(is_read && reader.topics().is_empty()),
            Err(error) => {
                assert!(!is_read && error.to_string().contains("profile \"ros1\""), "{error}");
            }
        }
    }
}

#[test]
fn files_without_chunks_and_without_schemas_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loose.mcap");
    let out = fs::File::create(&file).unwrap();
    let options = mcap::WriteOptions::new().profile("ros2").use_chunks(false);
    let mut writer = options.create(out).unwrap();
    let channel = writer.add_channel(0, "/unknown", "cdr", &Default::default()).unwrap();
    for number in 0..10 {
        let header = mcap::records::MessageHeader {
            channel_id: channel,
            sequence: number + 1,
            log_time: START as u64 + u64::from(number),
            publish_time: 0,
        };
        writer.write_to_known_channel(&header, &text("x")).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    assert_eq!(numbers(&file), (0..10).collect::<Vec<u32>>());
    let reader = BagReader::open(&file).unwrap();
    assert_eq!(reader.topics()[0].metadata.type_name, "");
    let filter = MessageFilter { start: Some(START + 5), ..MessageFilter::default() };
    assert_eq!(reader.messages(&filter).unwrap().count(), 5);
    // The file is cut in the middle of a message.
    let bytes = fs::read(&file).unwrap();
    let last =
        bytes.windows(9).rposition(|window| window[0] == 5 && window[1] == 32 && window[2] == 0);
    fs::write(&file, &bytes[..last.unwrap() + 30]).unwrap();
    assert_eq!(numbers(&file), (0..9).collect::<Vec<u32>>());
}

#[test]
fn a_chunk_beyond_the_limit_is_refused_with_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let id = writer.add_topic(text_topic("/a")).unwrap();
    writer.write(id, 1, START, START, &vec![0; 1 << 20]).unwrap();
    writer.finish().unwrap();
    let options = ReaderOptions { max_chunk_bytes: 100_000, ..ReaderOptions::default() };
    let reader = BagReader::open_with(&path, &options);
    let error = match reader {
        Err(error) => error,
        Ok(reader) => match reader.messages(&MessageFilter::default()) {
            Err(error) => error,
            Ok(mut messages) => messages.next().unwrap().unwrap_err(),
        },
    };
    assert!(matches!(error, ReadError::TooLarge { limit: 100_000, .. }), "{error}");
}

#[test]
fn hostile_lengths_are_errors_and_allocate_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    numbered_bag(&path, 20, small_chunks());
    let file = path.join("bag_0.mcap");
    let bytes = fs::read(&file).unwrap();
    // A huge number replaces 8 bytes at many positions in turn. The reader returns an error or the
    // intact part, and does not crash.
    for at in (8..bytes.len() - 8).step_by(13) {
        let mut hostile = bytes.clone();
        hostile[at..at + 8].copy_from_slice(&(u64::MAX >> (at % 40)).to_le_bytes());
        fs::write(&file, &hostile).unwrap();
        let options = ReaderOptions { max_chunk_bytes: 1 << 20, ..ReaderOptions::default() };
        if let Ok(reader) = BagReader::open_with(&path, &options)
            && let Ok(messages) = reader.messages(&MessageFilter::default())
        {
            assert!(messages.count() <= 40, "byte {at}");
        }
    }
}

/// An MCAP file without an index, with one chunk of this many empty messages, packed by zstd.
fn packed_messages(path: &Path, messages: u32) -> u64 {
    let out = fs::File::create(path).unwrap();
    let options = mcap::WriteOptions::new()
        .profile("ros2")
        .compression(Some(mcap::Compression::Zstd))
        .chunk_size(None);
    let mut writer = options.create(out).unwrap();
    let channel_id = writer.add_channel(0, "/a", "cdr", &Default::default()).unwrap();
    let header =
        mcap::records::MessageHeader { channel_id, sequence: 0, log_time: 5, publish_time: 5 };
    for _ in 0..messages {
        writer.write_to_known_channel(&header, b"").unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() - 20]).unwrap();
    bytes.len() as u64
}

#[test]
fn a_chunk_that_unpacks_to_more_than_the_limit_is_left_out_where_there_is_no_index() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bomb_0.mcap");
    let packed = packed_messages(&file, 100_000);
    let limit = 1 << 20;
    assert!(packed < limit as u64 * 2, "it is large only when unpacked: {packed}");
    let options = ReaderOptions { max_chunk_bytes: limit, ..ReaderOptions::default() };
    let reader = BagReader::open_with(&file, &options).unwrap();
    assert_eq!(reader.metadata().message_count, 0);
    assert!(reader.warnings()[0].contains("left out"), "{:?}", reader.warnings());
    // A reader with a sufficient limit reads the file.
    let reader = BagReader::open(&file).unwrap();
    assert_eq!(reader.metadata().message_count, 100_000);
    assert_eq!(reader.messages(&MessageFilter::default()).unwrap().count(), 100_000);
}

/// A bag whose chunks each have one message from the start of the recording and one from its end.
fn overlapping_bag(path: &Path) {
    let mut writer = BagWriter::create(path, small_chunks()).unwrap();
    let id = writer.add_topic(text_topic("/a")).unwrap();
    for number in 0..400 {
        let time = START + i64::from(number % 2) * 1_000_000 + i64::from(number);
        writer.write(id, number + 1, time, time, &vec![0; 6000]).unwrap();
    }
    writer.finish().unwrap();
}

/// Chunks that overlap in time are held together to order their messages. If all chunks of a bag
/// overlap, for example after the clock was set back, the whole bag would be held.
#[test]
fn chunks_that_overlap_beyond_the_limit_are_read_in_the_order_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    overlapping_bag(&path);
    let sequences = |limit: usize| {
        let options = ReaderOptions { max_chunk_bytes: limit, ..ReaderOptions::default() };
        let reader = BagReader::open_with(&path, &options).unwrap();
        let messages = reader.messages(&MessageFilter::default()).unwrap();
        let numbers: Vec<u32> = messages.map(|message| message.unwrap().sequence - 1).collect();
        (numbers, reader.warnings().to_vec())
    };
    let in_time: Vec<u32> = (0..400).step_by(2).chain((1..400).step_by(2)).collect();
    assert_eq!(sequences(64 << 20), (in_time, vec![]));
    let (numbers, warnings) = sequences(100_000);
    assert_eq!(numbers, (0..400).collect::<Vec<u32>>());
    assert!(warnings[0].contains("in the order of the file"), "{warnings:?}");
}

#[test]
fn an_attachment_that_ends_in_its_head_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("attached_0.mcap");
    let record = |opcode: u8, body: &[u8]| {
        [&[opcode][..], &(body.len() as u64).to_le_bytes(), body].concat()
    };
    let header =
        record(mcap::records::op::HEADER, &[&4u32.to_le_bytes()[..], b"ros2", &[0; 4]].concat());
    // Two time stamps, two empty strings and a length take 32 bytes; a checksum follows.
    for length in 0..36 {
        let attachment = record(mcap::records::op::ATTACHMENT, &vec![0; length]);
        fs::write(&file, [mcap::MAGIC, &header, &attachment].concat()).unwrap();
        let reader = BagReader::open(&file).unwrap();
        assert_eq!((reader.warnings().len(), reader.topics().len()), (1, 0), "{length} bytes");
    }
}

/// The positions of the contents of all records of one kind.
fn contents_of(opcode: u8, bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut found, mut at) = (Vec::new(), mcap::MAGIC.len());
    while let Some(length) = bytes.get(at + 1..at + 9) {
        let start = at + 9;
        let end = start + u64::from_le_bytes(length.try_into().unwrap()) as usize;
        if bytes[at] == opcode {
            found.push(start..end);
        }
        at = end;
    }
    found
}

#[test]
fn a_chunk_that_is_not_packed_has_the_size_that_it_has_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    numbered_bag(&path, 100, small_chunks());
    let file = path.join("bag_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    bytes.truncate(bytes.len() - mcap::MAGIC.len());
    let head = contents_of(mcap::records::op::CHUNK, &bytes)[0].start;
    let index = contents_of(mcap::records::op::CHUNK_INDEX, &bytes)[0].end;
    for wrong in [0, 1_u64, 50_000] {
        // The size follows two time stamps in the chunk's head, and ends the chunk's index.
        bytes[head + 16..head + 24].copy_from_slice(&wrong.to_le_bytes());
        bytes[index - 8..index].copy_from_slice(&wrong.to_le_bytes());
        fs::write(&file, [&bytes, mcap::MAGIC].concat()).unwrap();
        assert_eq!(numbers(&path), (0..100).collect::<Vec<u32>>(), "{wrong} with an index");
        fs::write(&file, &bytes).unwrap();
        assert_eq!(numbers(&path), (0..100).collect::<Vec<u32>>(), "{wrong} without an index");
    }
}

/// According to the times in this index, the reader holds one chunk at a time; according to the
/// times of the messages, it must hold all chunks.
#[test]
fn an_index_that_tells_too_early_ends_has_no_more_chunks_held_than_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    overlapping_bag(&path);
    let file = path.join("bag_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    let end = bytes.len() - mcap::MAGIC.len();
    let indexes = contents_of(mcap::records::op::CHUNK_INDEX, &bytes[..end]);
    assert!(indexes.len() > 100);
    for index in indexes {
        bytes.copy_within(index.start..index.start + 8, index.start + 8);
    }
    fs::write(&file, bytes).unwrap();
    let read = |limit: usize| {
        let options = ReaderOptions { max_chunk_bytes: limit, ..ReaderOptions::default() };
        let reader = BagReader::open_with(&path, &options).unwrap();
        assert!(reader.is_indexed() && reader.warnings().is_empty());
        let messages = reader.messages(&MessageFilter::default()).unwrap();
        messages.collect::<Result<Vec<_>, _>>()
    };
    assert_eq!(read(64 << 20).unwrap().len(), 400);
    let error = read(100_000).unwrap_err();
    assert!(matches!(error, ReadError::TooLarge { bytes: 100_001..=120_000, .. }), "{error}");
}
