//! Warnings of names and types that the user gave and that no bag has.

use std::collections::BTreeSet;

use feros_bag::{BagReader, TopicKind, TopicMetadata, TopicSelection, topic_kind};
use feros_interface::Namespace;

use crate::nearest::did_you_mean;
use crate::notices;
use crate::types::full_name;

/// Warns of topics, types, services and actions of a selection, and of other topics that the user
/// named, if no bag has them.
pub(super) fn warn_of_missing<'a>(
    bags: &[BagReader],
    selection: &'a TopicSelection,
    others: impl IntoIterator<Item = &'a String>,
) {
    let topics = bags.iter().flat_map(BagReader::topics);
    let topics: Vec<_> = topics.map(|topic| &topic.metadata).collect();
    let known = || topics.iter().map(|topic| topic.name.as_str());
    for name in selection.topics.iter().chain(others) {
        if known().all(|known| known != name) {
            notices::warn(format!("the bag has no topic {name}{}", did_you_mean(name, known())));
        }
    }
    let types: BTreeSet<&str> = topics.iter().map(|topic| topic.type_name.as_str()).collect();
    for given in selection.topic_types.iter().chain(&selection.exclude_topic_types) {
        let name = full_name(given, Namespace::Msg);
        if !types.contains(name.as_str()) {
            let likely = did_you_mean(&name, types.iter().copied());
            notices::warn(format!("the bag has no topic of the type {given}{likely}"));
        }
    }
    for (noun, names) in [("service", &selection.services), ("action", &selection.actions)] {
        for name in names {
            let is_of = |topic: &TopicMetadata| match topic_kind(&topic.name, &topic.type_name) {
                TopicKind::Service(service) => noun == "service" && service == name,
                TopicKind::Action(action) => noun == "action" && action == name,
                TopicKind::Topic => false,
            };
            if !topics.iter().copied().any(is_of) {
                notices::warn(format!("the bag has no events of the {noun} {name}"));
            }
        }
    }
}
