//! The summary of a bag, in the words of `ros2 bag info`.

use feros_bag::{BagReader, TopicInformation, TopicKind, topic_kind};

use super::time_text::{duration_text, size_text, time_text};

/// One service or action, with the number of its messages.
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    pub(super) type_name: String,
    pub(super) events: u64,
}

/// Topics that belong to no service or action.
pub(super) fn plain_topics(topics: &[TopicInformation]) -> impl Iterator<Item = &TopicInformation> {
    topics.iter().filter(|information| {
        let topic = &information.topic;
        topic_kind(&topic.name, &topic.type_name) == TopicKind::Topic
    })
}

/// The services or the actions, with the numbers of their messages.
pub(super) fn groups(topics: &[TopicInformation], of_actions: bool) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for TopicInformation { topic, message_count } in topics {
        let name = match topic_kind(&topic.name, &topic.type_name) {
            TopicKind::Service(name) if !of_actions => name,
            TopicKind::Action(name) if of_actions => name,
            _ => continue,
        };
        let position = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
            groups.push(Group { name, type_name: String::new(), events: 0 });
            groups.len() - 1
        });
        let group = &mut groups[position];
        group.events += message_count;
        // The type of the service or action is part of the type name of one of its topics.
        let suffixes = ["_SendGoal_Event", "_GetResult_Event", "_FeedbackMessage", "_Event"];
        let suffix = suffixes.iter().find_map(|suffix| topic.type_name.strip_suffix(suffix));
        if let Some(found) = suffix.filter(|found| !of_actions || found.contains("/action/")) {
            group.type_name = found.to_owned();
        }
    }
    groups
}

/// All lines of the summary.
pub(super) fn lines(bag: &BagReader) -> Vec<String> {
    let metadata = bag.metadata();
    let files: Vec<&str> = metadata.files.iter().map(|file| file.path.as_str()).collect();
    let time = |pick: fn(&feros_bag::TimeRange) -> i64| metadata.time.as_ref().map_or(0, pick);
    let duration = metadata.time.map_or(0, |time| time.duration());
    let mut label = "Files:             ";
    let mut lines = Vec::new();
    for file in if files.is_empty() { &[""] } else { files.as_slice() } {
        lines.push(format!("{label}{file}"));
        label = "                   ";
    }
    lines.extend([
        format!("Bag size:          {}", size_text(bag.size_bytes())),
        format!("Storage id:        {}", metadata.storage_identifier),
        format!("ROS Distro:        {}", metadata.ros_distro),
        format!("Duration:          {}", duration_text(duration)),
        format!("Start:             {}", time_text(time(|time| time.start))),
        format!("End:               {}", time_text(time(|time| time.end))),
        format!("Messages:          {}", metadata.message_count),
    ]);
    let mut label = "Topic information: ";
    for TopicInformation { topic, message_count } in plain_topics(&metadata.topics) {
        lines.push(format!(
            "{label}Topic: {} | Type: {} | Count: {message_count} | Serialization Format: {}",
            topic.name, topic.type_name, topic.serialization_format
        ));
        label = "                   ";
    }
    for (word, of_actions) in [("Service", false), ("Action", true)] {
        let groups = groups(&metadata.topics, of_actions);
        lines.push(format!("{:<19}{}", format!("{word}s:"), groups.len()));
        let mut label = format!("{word} information: ");
        for group in &groups {
            lines.push(format!(
                "{label}{word}: {} | Type: {} | Event Count: {}",
                group.name, group.type_name, group.events
            ));
            label = " ".repeat(label.len());
        }
    }
    for (key, value) in &metadata.custom_data {
        lines.push(format!("Custom data:       {key}: {value}"));
    }
    lines
}
