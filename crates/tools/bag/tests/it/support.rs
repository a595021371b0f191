//! Bags of strings.

use std::path::Path;

use feros_bag::{
    BagMessage, BagReader, BagTopic, BagWriter, MessageFilter, Schema, TopicMetadata, WriterOptions,
};
use feros_interface::{TypeName, shipped};

/// Nanoseconds since 1970 at which the bags of tests begin.
pub(crate) const START: i64 = 1_700_000_000_000_000_000;

/// A topic with a type that Feros ships.
pub(crate) fn topic(name: &str, type_name: &str) -> BagTopic {
    let parsed: TypeName = type_name.parse().unwrap();
    let mut metadata = TopicMetadata::new(name, type_name);
    metadata.type_description_hash = shipped().type_hash(&parsed).unwrap().to_string();
    BagTopic { metadata, schema: Schema::of_interface(shipped(), &parsed).unwrap() }
}

/// A topic of strings, for tests that do not look at the content.
pub(crate) fn text_topic(name: &str) -> BagTopic {
    topic(name, "std_msgs/msg/String")
}

/// A serialized string message.
pub(crate) fn text(content: &str) -> Vec<u8> {
    let message = feros_msgs::std_msgs::msg::String { data: content.to_owned() };
    feros_message::to_vec(&message).unwrap()
}

/// A bag with numbered strings: one per millisecond, alternating between `/a` and `/b`.
pub(crate) fn numbered_bag(folder: &Path, count: u32, options: WriterOptions) {
    let mut writer = BagWriter::create(folder, options).unwrap();
    let topics = [text_topic("/a"), text_topic("/b")].map(|topic| writer.add_topic(topic).unwrap());
    for number in 0..count {
        let time = START + i64::from(number) * 1_000_000;
        let topic = topics[number as usize % 2];
        let content = text(&format!("{number:08} {}", "x".repeat(1000)));
        writer.write(topic, number + 1, time, time - 1000, &content).unwrap();
    }
    writer.finish().unwrap();
}

/// All messages of a bag.
pub(crate) fn messages(path: &Path) -> Vec<BagMessage> {
    let reader = BagReader::open(path).unwrap();
    reader.messages(&MessageFilter::default()).unwrap().map(Result::unwrap).collect()
}
