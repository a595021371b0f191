//! Files that try to exhaust a reader's memory, time, or the space for temporary files.

#[path = "../hostile/inputs.rs"]
mod inputs;

use std::io::Read as _;

use feros_bag::{
    BagReader, BagWriter, Compression, Interrupt, McapOptions, MessageFilter, ReadError,
    ReaderOptions, WriterOptions, reindex,
};
use feros_test_support::Watchdog;

use crate::support::{START, text_topic};

#[test]
fn hostile_files_are_refused() {
    let _watchdog = Watchdog::start();
    let folder = tempfile::tempdir().unwrap();
    for inputs::Input { path, said } in inputs::all(folder.path()) {
        let error = BagReader::open(&path).err().unwrap().to_string();
        assert!(error.contains(said), "{}: {error}", path.display());
        let error = reindex(&path, &ReaderOptions::default()).unwrap_err().to_string();
        assert!(error.contains(said), "{}: {error}", path.display());
    }
}

#[test]
fn zeros_are_packed_as_zstd_reads_them() {
    for zeros in [0, 1, 131_071, 131_072, 131_073, 1_000_000] {
        let packed = inputs::packed_zeros(b"begin", zeros);
        let mut unpacked = Vec::new();
        zstd::Decoder::new(&packed[..]).unwrap().read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked.len(), 5 + zeros);
        assert!(unpacked.starts_with(b"begin") && unpacked[5..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn a_chunk_of_few_bytes_does_not_unpack_to_very_many() {
    let folder = tempfile::tempdir().unwrap();
    // Without an index, the chunk is skipped.
    let bag = BagReader::open(inputs::endless_chunk(folder.path())).unwrap();
    assert_eq!(bag.metadata().message_count, 0);
    let said = &bag.warnings()[0];
    assert!(
        said.contains(
            "the limit is 256 times the packed size or 67108864 bytes, whichever is larger"
        ),
        "{said}"
    );
    // With an index, the chunk is an error.
    let path = folder.path().join("indexed");
    let storage =
        McapOptions { compression: Compression::Zstd { level: 1 }, ..McapOptions::default() };
    let options = WriterOptions { storage, ..WriterOptions::default() };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let topic = writer.add_topic(text_topic("/zeros")).unwrap();
    writer.write(topic, 1, START, START, &vec![0; 80 << 20]).unwrap();
    writer.finish().unwrap();
    let bag = BagReader::open(&path).unwrap();
    let error = bag.messages(&MessageFilter::default()).err().unwrap();
    assert!(matches!(error, ReadError::TooLarge { limit: 67_108_864, .. }), "{error}");
    assert!(error.to_string().contains("256 times its size"), "{error}");
}

#[test]
fn many_chunks_of_few_bytes_are_counted_without_unpacking_them_all() {
    let folder = tempfile::tempdir().unwrap();
    let bag = BagReader::open(inputs::many_chunks(folder.path())).unwrap();
    assert_eq!(bag.metadata().message_count, inputs::MANY_CHUNKS as u64);
    let said = bag.warnings().join("; ");
    assert!(said.contains("its chunks unpack to more than 1073741824 bytes"), "{said}");
    // 17 chunks of 60 MiB are 1 GiB; the last one is unpacked as well.
    assert!(said.contains(" 22 chunks ") && said.contains("`feros bag reindex`"), "{said}");
    let first = bag.messages(&MessageFilter::default()).unwrap().next().unwrap().unwrap();
    assert_eq!(first.data.len(), (60 << 20) - 9 - 22);
}

#[test]
fn a_file_of_few_bytes_does_not_unpack_to_very_many() {
    let folder = tempfile::tempdir().unwrap();
    let error = BagReader::open(inputs::endless_file(folder.path())).err().unwrap().to_string();
    assert!(error.contains("more than 1073741824 bytes"), "{error}");
    assert!(error.contains("256 times") && error.contains("zstd -d"), "{error}");
}

#[test]
fn as_many_topics_as_there_are_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let bag = BagReader::open(inputs::many_topics(folder.path())).unwrap();
    assert_eq!(bag.topics().len(), inputs::MANY_TOPICS);
    let count = |filter| bag.messages(&filter).unwrap().map(Result::unwrap).count();
    assert_eq!(count(MessageFilter::default()), inputs::MANY_TOPICS - 1);
    let topics = Some(["/t7".to_owned(), "/t39999".to_owned(), "/none".to_owned()].into());
    assert_eq!(count(MessageFilter { topics, ..MessageFilter::default() }), 2);
}

#[test]
fn an_interrupt_ends_opening_and_reading() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    let options = ReaderOptions { interrupt: interrupt.clone(), ..ReaderOptions::default() };
    let sqlite = inputs::many_topics(folder.path());
    let mcap = folder.path().join("bag");
    crate::support::numbered_bag(&mcap, 5000, WriterOptions::default());
    for path in [&sqlite, &mcap] {
        let bag = BagReader::open_with(path, &ReaderOptions::default()).unwrap();
        let mut messages = bag.messages(&MessageFilter::default()).unwrap();
        assert!(messages.next().unwrap().is_ok());
        bag.interrupt().set();
        let ended = messages.find_map(Result::err);
        assert!(matches!(ended, Some(ReadError::Interrupted { .. })), "{ended:?}");
    }
    interrupt.set();
    let packed = inputs::long_file(folder.path());
    for path in [&sqlite, &mcap, &packed] {
        let ended = BagReader::open_with(path, &options).err();
        assert!(matches!(ended, Some(ReadError::Interrupted { .. })), "{ended:?}");
    }
}

#[test]
fn messages_without_an_index_come_in_the_order_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = inputs::many_topics(folder.path());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE messages SET timestamp = 50000 - id % 20000").unwrap();
    drop(connection);
    let bag = BagReader::open(&path).unwrap();
    for _ in 0..2 {
        let messages = bag.messages(&MessageFilter::default()).unwrap();
        let times: Vec<_> = messages.map(|message| message.unwrap().log_time).collect();
        assert_eq!(times.len(), inputs::MANY_TOPICS - 1);
        assert!(times.is_sorted());
    }
    let (start, end) = (Some(49_000), Some(49_009));
    let stretch = MessageFilter { start, end, ..MessageFilter::default() };
    assert_eq!(bag.messages(&stretch).unwrap().count(), 20);
}

/// A file that rosbag2 wrote with a write-ahead log is read from an unpacked copy, and leaves
/// nothing in the folder of temporary files.
#[test]
fn a_compressed_sqlite_file_is_read_whatever_its_journal_was() {
    let folder = tempfile::tempdir().unwrap();
    let plain = inputs::many_topics(folder.path());
    for journal in ["delete", "wal"] {
        let connection = rusqlite::Connection::open(&plain).unwrap();
        connection.pragma_update(None, "journal_mode", journal).unwrap();
        drop(connection);
        let packed = folder.path().join(format!("{journal}.db3.zstd"));
        let content = std::fs::read(&plain).unwrap();
        assert_eq!(content[18], if journal == "wal" { 2 } else { 1 });
        std::fs::write(&packed, zstd::encode_all(&content[..], 1).unwrap()).unwrap();
        let bag = BagReader::open(&packed).unwrap();
        let messages = bag.messages(&MessageFilter::default()).unwrap();
        assert_eq!(messages.map(Result::unwrap).count(), inputs::MANY_TOPICS - 1);
    }
}
