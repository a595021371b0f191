//! Bags between Feros and `rosbags` and `mcap-ros2-support` of PyPI, in both directions.

use std::path::Path;
use std::process::{Command, Stdio};

use feros_bag::{
    BagReader, BagWriter, Compression, McapOptions, ReaderOptions, WriterOptions, reindex,
};
use feros_engine::{Durability, Reliability};
use feros_interface::standard;
use feros_message::dynamic::DynamicType;
use feros_msgs::sensor_msgs::msg::Image;
use feros_msgs::std_msgs::msg::String as Text;
use serde_json::Value;

use crate::filled::filled;
use crate::support::{START, messages, topic};

/// Runs the script `bags.py`; `None` if the environment skips interoperability tests.
fn others(arguments: &[&str]) -> Option<Value> {
    if feros_interop::interop_is_skipped() {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bags.py");
    let output = Command::new(feros_interop::python_with_ros2())
        .arg(script)
        .args(arguments)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .expect("scripts/setup.sh installs Python with rosbags and mcap-ros2-support");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Whether the problem is a known limit of the reader: a type that it cannot read from any writer.
fn is_beyond(reader: &str, problem: &str) -> bool {
    // ROS 1, from which both readers come, has no strings in UTF-16.
    let has_wide_text = problem.contains("WString");
    // ROS 2 adds message types to services and actions, such as `Trigger_Event`. No interface file
    // may have such a name, and this reader applies that rule to schemas, too.
    let is_part = || problem.contains("InvalidResourceName") && problem.contains('_');
    has_wide_text || reader == "mcap_ros2" && is_part()
}

/// The unexpected problems of a reader.
fn problems<'a>(answer: &'a Value, reader: &str) -> Vec<&'a str> {
    let all =
        answer["problems"].as_array().unwrap().iter().map(|problem| problem.as_str().unwrap());
    all.filter(|problem| !is_beyond(reader, problem)).collect()
}

#[test]
fn others_read_every_standard_type() {
    for compression in [Compression::None, Compression::Zstd { level: 0 }, Compression::Lz4] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all");
        let storage = McapOptions { compression, ..McapOptions::default() };
        let options = WriterOptions { storage, ..WriterOptions::default() };
        let mut writer = BagWriter::create(&path, options).unwrap();
        let mut count = 0;
        for definition in standard().messages() {
            let name = definition.name.to_string();
            let ty = DynamicType::resolve(standard(), &definition.name).unwrap();
            let id = writer.add_topic(topic(&format!("/{name}"), &name)).unwrap();
            for message in [ty.default_message(), filled(&ty, 7)] {
                let time = START + count;
                writer.write(id, 1, time, time, &message.to_cdr().unwrap()).unwrap();
                count += 1;
            }
        }
        writer.finish().unwrap();
        let Some(read) = others(&["read", path.to_str().unwrap()]) else { return };
        assert_eq!(read["count"], count);
        assert_eq!((&read["start"], &read["end"]), (&START.into(), &(START + count).into()));
        assert_eq!(problems(&read, "rosbags"), Vec::<&str>::new());
        let string = &read["topics"]["/std_msgs/msg/String"];
        assert_eq!((&string["type"], &string["count"]), (&"std_msgs/msg/String".into(), &2.into()));
        let hash = standard().type_hash(&"std_msgs/msg/String".parse().unwrap()).unwrap();
        assert_eq!(string["hash"], hash.to_string());
        let file = path.join("all_0.mcap");
        let decoded = others(&["decode", file.to_str().unwrap()]).unwrap();
        assert_eq!(problems(&decoded, "mcap_ros2"), Vec::<&str>::new());
        assert_eq!((&decoded["profile"], &decoded["statistics"]), (&"ros2".into(), &count.into()));
    }
}

#[test]
fn others_read_an_index_that_was_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    let storage = McapOptions { chunk_bytes: 10_000, ..McapOptions::default() };
    let options = WriterOptions { storage, ..WriterOptions::default() };
    crate::support::numbered_bag(&path, 100, options);
    let file = path.join("bag_0.mcap");
    let bytes = std::fs::read(&file).unwrap();
    // The file is cut twice: before the footer, and within the index of the last remaining chunk.
    let index = bytes.windows(3).rposition(|window| window == [7, 2 + 4 + 16 * 5, 0]);
    for end in [bytes.len() - 20, index.map_or(bytes.len() / 2, |index| index + 12)] {
        std::fs::write(&file, &bytes[..end]).unwrap();
        let reindexed = reindex(&path, &ReaderOptions::default()).unwrap();
        let Some(read) = others(&["read", path.to_str().unwrap()]) else { return };
        assert_eq!(read["count"], reindexed.metadata.message_count);
        assert!(problems(&read, "rosbags").is_empty() && reindexed.metadata.message_count > 40);
        let decoded = others(&["decode", file.to_str().unwrap()]).unwrap();
        assert_eq!(decoded["count"], reindexed.metadata.message_count);
    }
}

#[test]
fn bags_of_others_are_read() {
    for (storage, version, mode) in [
        ("mcap", "8", ""),
        ("mcap", "9", ""),
        ("sqlite3", "8", ""),
        ("sqlite3", "9", ""),
        ("sqlite3", "9", "file"),
        ("sqlite3", "9", "message"),
        ("mcap", "9", "storage"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bag");
        let what = format!("{storage} {version} {mode}");
        let line = ["write", path.to_str().unwrap(), storage, version, mode];
        let line = if mode.is_empty() { &line[..4] } else { &line[..] };
        if others(line).is_none() {
            return;
        }
        let reader = BagReader::open(&path).unwrap();
        assert_eq!(reader.metadata().message_count, 200, "{what}");
        assert_eq!(reader.metadata().storage_identifier, storage, "{what}");
        let of = |name: &str| {
            let mut topics = reader.topics().iter();
            topics.find(|topic| topic.metadata.name == name).unwrap().clone()
        };
        let qos = of("/text").metadata.offered_qos_profiles.clone();
        assert_eq!(qos.len(), 1, "{what}");
        assert_eq!((qos[0].depth, qos[0].reliability), (3, Reliability::BestEffort), "{what}");
        assert_eq!(qos[0].durability, Durability::TransientLocal, "{what}");
        assert!(of("/image").schema.text.contains("std_msgs/Header header"), "{what}");
        let read = messages(&path);
        for (number, pair) in read.chunks(2).enumerate() {
            let text: Text = feros_message::from_bytes(&pair[0].data).unwrap();
            assert_eq!(text.data, format!("text {number}"), "{what}");
            let image: Image = feros_message::from_bytes(&pair[1].data).unwrap();
            assert_eq!((image.data, image.step), (vec![number as u8; 48], 12), "{what}");
            assert_eq!(pair[1].log_time, START + number as i64 * 1_000_000 + 1, "{what}");
        }
    }
}
