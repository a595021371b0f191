//! Written bags are read back: all types, splits, compressions, filters, order.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use feros_bag::{
    BagReader, BagWriter, Compression, McapOptions, MessageFilter, ReadError, WriteError,
    WriterOptions, copy,
};
use feros_interface::shipped;
use feros_message::dynamic::DynamicType;

use crate::filled::filled;
use crate::support::{START, messages, numbered_bag, text, text_topic, topic};

fn compressed(compression: Compression) -> WriterOptions {
    let storage = McapOptions { compression, ..McapOptions::default() };
    WriterOptions { storage, ..WriterOptions::default() }
}

#[test]
fn messages_of_every_shipped_type_are_read_as_they_were_written() {
    for compression in [Compression::None, Compression::Zstd { level: 1 }, Compression::Lz4] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all");
        let mut writer = BagWriter::create(&path, compressed(compression)).unwrap();
        let mut written = Vec::new();
        for definition in shipped().messages() {
            let ty = DynamicType::resolve(shipped(), &definition.name).unwrap();
            let name = definition.name.to_string();
            let id = writer.add_topic(topic(&format!("/{name}"), &name)).unwrap();
            for seed in 0..2 {
                let bytes = filled(&ty, seed).to_cdr().unwrap();
                let time = START + written.len() as i64;
                writer.write(id, 1, time, time, &bytes).unwrap();
                written.push((name.clone(), bytes));
            }
        }
        let metadata = writer.finish().unwrap();
        assert_eq!(metadata.message_count, written.len() as u64);
        let read = messages(&path);
        assert_eq!(read.len(), written.len());
        for (message, (name, bytes)) in read.iter().zip(&written) {
            assert_eq!(message.topic.metadata.type_name, *name);
            assert_eq!(message.data, *bytes, "{name}");
            assert_eq!(message.topic.schema.encoding, "ros2msg");
        }
        let reader = BagReader::open(&path).unwrap();
        assert!(reader.is_indexed() && reader.warnings().is_empty());
        assert_eq!(reader.metadata().topics, {
            let mut topics = metadata.topics;
            topics.sort_by(|a, b| a.topic.name.cmp(&b.topic.name));
            topics
        });
    }
}

#[test]
fn bags_are_split_by_size_and_by_time_and_read_as_one() {
    let by_size = WriterOptions { max_file_bytes: 300_000, ..WriterOptions::default() };
    let duration = Duration::from_millis(250);
    let by_time = WriterOptions { max_file_duration: duration, ..WriterOptions::default() };
    for (options, files) in [(by_size, 3..=4), (by_time, 4..=4)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("split");
        numbered_bag(&path, 1000, options);
        let reader = BagReader::open(&path).unwrap();
        let count = reader.metadata().files.len();
        assert!(files.contains(&count), "{count} files");
        assert_eq!(reader.metadata().files[1].path, "split_1.mcap");
        let read = messages(&path);
        assert_eq!(read.len(), 1000);
        assert!(read.windows(2).all(|pair| pair[0].log_time < pair[1].log_time));
        assert_eq!(read[999].data, text(&format!("00000999 {}", "x".repeat(1000))));
        // Each file alone is also a bag.
        let file = path.join("split_1.mcap");
        let part = BagReader::open(&file).unwrap();
        assert_eq!(part.metadata().message_count, reader.metadata().files[1].message_count);
    }
}

#[test]
fn filters_pick_topics_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    numbered_bag(&path, 100, WriterOptions::default());
    let reader = BagReader::open(&path).unwrap();
    let count = |filter: &MessageFilter| reader.messages(filter).unwrap().count();
    let only_a = Some(BTreeSet::from(["/a".to_owned()]));
    let times = MessageFilter {
        start: Some(START + 10_000_000),
        end: Some(START + 20_000_000),
        topics: None,
    };
    assert_eq!(count(&times), 11);
    assert_eq!(count(&MessageFilter { topics: only_a.clone(), ..times.clone() }), 6);
    assert_eq!(count(&MessageFilter { topics: Some(BTreeSet::new()), ..times }), 0);
    let nobody = Some(BTreeSet::from(["/c".to_owned()]));
    assert_eq!(count(&MessageFilter { topics: nobody, ..MessageFilter::default() }), 0);
    assert_eq!(count(&MessageFilter { topics: only_a, ..MessageFilter::default() }), 50);
}

#[test]
fn messages_come_in_the_order_of_time_also_where_they_were_not_written_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    // The chunks are small and overlap.
    let storage = McapOptions { chunk_bytes: 100, ..McapOptions::default() };
    let options = WriterOptions { storage, ..WriterOptions::default() };
    let mut writer = BagWriter::create(&path, options).unwrap();
    let id = writer.add_topic(text_topic("/a")).unwrap();
    let times: Vec<i64> = (0..200).map(|number| START + (number * 73 % 200)).collect();
    for time in &times {
        writer.write(id, 0, *time, *time, &text(&time.to_string())).unwrap();
    }
    writer.finish().unwrap();
    let read = messages(&path);
    let mut sorted = times;
    sorted.sort_unstable();
    assert_eq!(read.iter().map(|message| message.log_time).collect::<Vec<_>>(), sorted);
    assert!(read.iter().all(|message| message.data == text(&message.log_time.to_string())));
}

#[test]
fn one_name_may_have_two_types() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let as_text = writer.add_topic(text_topic("/a")).unwrap();
    let as_number = writer.add_topic(topic("/a", "std_msgs/msg/Int32")).unwrap();
    assert_ne!(as_text, as_number);
    assert_eq!(writer.add_topic(text_topic("/a")).unwrap(), as_text);
    writer.write(as_text, 1, START, START, &text("x")).unwrap();
    writer.write(as_number, 1, START + 1, START, &[0, 1, 0, 0, 7, 0, 0, 0]).unwrap();
    writer.finish().unwrap();
    let types: Vec<_> =
        messages(&path).iter().map(|m| m.topic.metadata.type_name.clone()).collect();
    assert_eq!(types, ["std_msgs/msg/String", "std_msgs/msg/Int32"]);
    assert_eq!(BagReader::open(&path).unwrap().topics().len(), 2);
}

#[test]
fn bags_are_merged_in_the_order_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    numbered_bag(&one, 10, WriterOptions::default());
    numbered_bag(&two, 10, WriterOptions::default());
    let bags = [&one, &two].map(|path| BagReader::open(path).unwrap());
    let path = folder.path().join("both");
    let mut writer = BagWriter::create(&path, compressed(Compression::Lz4)).unwrap();
    let copied = copy(&bags, &MessageFilter::default(), &mut writer, Clone::clone).unwrap();
    writer.finish().unwrap();
    assert_eq!(copied, 20);
    let read = messages(&path);
    assert!(read.windows(2).all(|pair| pair[0].log_time <= pair[1].log_time));
    assert_eq!(BagReader::open(&path).unwrap().topics().len(), 2);
}

#[test]
fn a_bag_replaces_nothing_and_notes_what_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    writer.note_lost("/camera", 3);
    writer.note_lost("/scan", 0);
    writer.finish().unwrap();
    let refused = BagWriter::create(&path, WriterOptions::default()).map(drop);
    assert_eq!(refused, Err(WriteError::Exists { path: path.clone() }));
    let metadata = BagReader::open(&path).unwrap().metadata().clone();
    let lost = [("lost_messages", "3"), ("lost_messages /camera", "3")];
    assert_eq!(metadata.custom_data, lost.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    assert_eq!(metadata.time, None);
    // The files also contain the metadata, in case metadata.yaml is lost.
    std::fs::remove_file(path.join("metadata.yaml")).unwrap();
    assert_eq!(BagReader::open(&path).unwrap().metadata().custom_data, metadata.custom_data);
}

/// The names in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_discarded_bag_leaves_only_what_others_made() {
    let folder = tempfile::tempdir().unwrap();
    let begun = |path: &str, options: WriterOptions| {
        let mut writer = BagWriter::create(&folder.path().join(path), options).unwrap();
        let id = writer.add_topic(text_topic("/a")).unwrap();
        for number in 0..20 {
            writer.write(id, number, START, START, &text(&"x".repeat(1000))).unwrap();
        }
        writer
    };
    let split = || WriterOptions { max_file_bytes: 3000, ..WriterOptions::default() };
    begun("new/parents/bag", split()).discard().unwrap();
    let mut whole = begun("whole", split());
    assert!(whole.complete().unwrap().files.len() > 1);
    whole.discard().unwrap();
    assert!(names(folder.path()).is_empty());

    let (one, other) = (begun("shared/one", split()), begun("shared/other", split()));
    one.discard().unwrap();
    assert_eq!(names(&folder.path().join("shared")), ["other".to_owned()].into());
    let shared = folder.path().join("shared/other");
    std::fs::write(shared.join("notes.txt"), "of a user").unwrap();
    assert!(other.discard().is_err());
    assert_eq!(names(&shared), ["notes.txt".to_owned()].into());
}

#[test]
fn an_interrupt_ends_copying() {
    let folder = tempfile::tempdir().unwrap();
    let [path, new] = ["old", "new"].map(|name| folder.path().join(name));
    numbered_bag(&path, 10, WriterOptions::default());
    let bag = BagReader::open(&path).unwrap();
    bag.interrupt().set();
    let mut writer = BagWriter::create(&new, WriterOptions::default()).unwrap();
    let copied = copy(&[bag], &MessageFilter::default(), &mut writer, Clone::clone).unwrap_err();
    assert_eq!(copied, ReadError::Interrupted { path }.into());
}
