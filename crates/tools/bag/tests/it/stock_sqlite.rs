//! SQLite files with the tables of stock rosbag2: in each layout, left by a killed recorder, cut
//! off, and with values that no recorder writes.

use std::fs;
use std::path::Path;

use feros_bag::{BagReader, MessageFilter, ReadError, ReaderOptions, Storage, reindex};
use rusqlite::{Connection, params};

use crate::support::{START, messages, text};

/// The statements that create the tables of a version. Since version 3, the table `schema` states
/// the version.
fn tables(version: u32) -> String {
    let columns = match version {
        1 => "",
        2 | 3 => ", offered_qos_profiles TEXT NOT NULL",
        _ => ", offered_qos_profiles TEXT NOT NULL, type_description_hash TEXT NOT NULL",
    };
    let mut tables = format!(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, \
         serialization_format TEXT NOT NULL{columns}); \
         CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, \
         timestamp INTEGER NOT NULL, data BLOB NOT NULL); \
         CREATE INDEX timestamp_idx ON messages (timestamp ASC);"
    );
    if version >= 3 {
        tables += "CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL); \
                   CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, \
                   metadata TEXT NOT NULL); INSERT INTO schema VALUES (3, 'humble');";
    }
    if version >= 4 {
        tables += "CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, \
                   encoding TEXT NOT NULL, encoded_message_definition TEXT NOT NULL, \
                   type_description_hash TEXT NOT NULL); \
                   INSERT INTO message_definitions VALUES (1, 'std_msgs/msg/String', 'ros2msg', \
                   'string data' || char(10), 'RIHS01_ab');";
    }
    tables
}

/// A file with one topic and this many strings, one per millisecond.
fn stock_file(path: &Path, version: u32, count: i64) -> Connection {
    let connection = Connection::open(path).unwrap();
    // The settings of the recorder's preset `resilient`.
    connection.execute_batch("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;").unwrap();
    connection.execute_batch(&tables(version)).unwrap();
    let values = match version {
        1 => "",
        2 | 3 => ", '- history: 1\n  depth: 4\n  reliability: 2'",
        _ => ", '- history: keep_last\n  depth: 4\n  reliability: best_effort', 'RIHS01_ab'",
    };
    let topic =
        format!("INSERT INTO topics VALUES (1, '/a', 'std_msgs/msg/String', 'cdr'{values})");
    connection.execute(&topic, []).unwrap();
    for number in 0..count {
        let row = params![START + number * 1_000_000, text(&number.to_string())];
        let insert = "INSERT INTO messages (topic_id, timestamp, data) VALUES (1, ?1, ?2)";
        connection.execute(insert, row).unwrap();
    }
    connection
}

/// rosbag2 opens a bag with the storage that its caller names, and fails if that is another.
#[test]
fn a_bag_is_opened_only_with_the_storage_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    drop(stock_file(&folder.path().join("stock_0.db3"), 4, 5));
    let with = |storage| ReaderOptions { storage: Some(storage), ..ReaderOptions::default() };
    assert!(BagReader::open_with(folder.path(), &with(Storage::Sqlite3)).is_ok());
    for error in [
        BagReader::open_with(folder.path(), &with(Storage::Mcap)).err().unwrap(),
        reindex(folder.path(), &with(Storage::Mcap)).unwrap_err(),
    ] {
        assert!(error.to_string().contains("has the storage sqlite3, not mcap"), "{error}");
    }
    assert!(!folder.path().join("metadata.yaml").exists());
}

#[test]
fn every_layout_of_the_tables_is_read() {
    for version in 1..=4 {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stock_0.db3");
        drop(stock_file(&file, version, 50));
        let reader = BagReader::open(&file).unwrap();
        assert!(version >= 3 || reader.metadata().ros_distro == "unknown", "{version}");
        let topic = &reader.topics()[0];
        assert_eq!(topic.metadata.type_name, "std_msgs/msg/String", "{version}");
        let depths: Vec<_> =
            topic.metadata.offered_qos_profiles.iter().map(|qos| qos.depth).collect();
        assert_eq!(depths, if version == 1 { vec![] } else { vec![4] }, "{version}");
        let (hash, definition) =
            if version >= 4 { ("RIHS01_ab", "string data\n") } else { ("", "") };
        assert_eq!(topic.metadata.type_description_hash, hash, "{version}");
        assert_eq!(topic.schema.text, definition, "{version}");
        let read = messages(&file);
        assert_eq!(read.len(), 50, "{version}");
        assert_eq!(read[49].data, text("49"), "{version}");
    }
}

#[test]
fn messages_in_a_killed_recorders_journal_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("live_0.db3");
    let recorder = stock_file(&file, 4, 50);
    let killed = folder.path().join("killed");
    fs::create_dir(&killed).unwrap();
    for end in ["", "-wal"] {
        let from = folder.path().join(format!("live_0.db3{end}"));
        fs::copy(from, killed.join(format!("live_0.db3{end}"))).unwrap();
    }
    drop(recorder);
    assert_eq!(messages(&killed).len(), 50);
}

#[test]
fn a_file_that_is_cut_off_is_an_error_or_what_is_intact() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cut_0.db3");
    drop(stock_file(&file, 4, 500));
    let bytes = fs::read(&file).unwrap();
    let mut errors = 0;
    for end in (0..bytes.len()).step_by(1000) {
        fs::write(&file, &bytes[..end]).unwrap();
        let read = BagReader::open(&file).and_then(|reader| {
            let read: Result<Vec<_>, _> = reader.messages(&MessageFilter::default())?.collect();
            read
        });
        match read {
            Ok(read) => assert!(read.len() <= 500, "cut at {end}"),
            Err(error) => {
                assert!(matches!(error, ReadError::Malformed { .. }), "cut at {end}: {error}");
                errors += 1;
            }
        }
    }
    assert!(errors > 5, "{errors}");
}

#[test]
fn values_that_no_recorder_writes_are_errors() {
    let insert = |values: &str| format!("INSERT INTO messages VALUES (99, {values})");
    for (name, change) in [
        ("a time that is a text", insert("1, 'noon', x'00'")),
        ("data that is a number", insert(&format!("1, {}, 5", START + 1))),
        (
            "data that is NULL",
            "DROP TABLE messages; CREATE TABLE messages(id, topic_id, timestamp, \
          data); INSERT INTO messages VALUES (1, 1, 5, NULL)"
                .to_owned(),
        ),
        ("no messages", "DROP TABLE messages".to_owned()),
        ("a name that is no text", "UPDATE topics SET name = x'ff00'".to_owned()),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("odd_0.db3");
        let connection = stock_file(&file, 4, 5);
        connection.execute_batch(&change).unwrap();
        drop(connection);
        let read = BagReader::open(&file).and_then(|reader| {
            reader.messages(&MessageFilter::default())?.collect::<Result<Vec<_>, _>>()
        });
        assert!(matches!(read, Err(ReadError::Malformed { .. })), "{name}: {read:?}");
    }
}

#[test]
fn messages_beyond_the_limit_are_refused_and_those_of_no_topic_are_nobodys() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large_0.db3");
    let connection = stock_file(&file, 4, 5);
    let orphan = format!("INSERT INTO messages VALUES (50, 7, {START}, x'00')");
    connection.execute_batch(&orphan).unwrap();
    assert_eq!(messages(&file).len(), 5);
    let large = format!("INSERT INTO messages VALUES (99, 1, {}, zeroblob(2000000))", i64::MAX);
    connection.execute_batch(&large).unwrap();
    drop(connection);
    let options = ReaderOptions { max_chunk_bytes: 1_000_000, ..ReaderOptions::default() };
    let reader = BagReader::open_with(&file, &options).unwrap();
    let read: Vec<_> = reader.messages(&MessageFilter::default()).unwrap().collect();
    let error = read.last().unwrap().as_ref().unwrap_err();
    assert!(matches!(error, ReadError::TooLarge { bytes: 2_000_000, .. }), "{error}");
}
