//! Copies messages of bags into a new bag, in order of time, for `convert` and `slice`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{ReadError, WriteError};
use crate::merge::MergedMessages;
use crate::message::{BagTopic, MessageFilter};
use crate::reader::BagReader;
use crate::writer::{BagWriter, TopicId};

/// Why copying ended early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// A bag cannot be read further. The messages copied so far are in the new bag.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The new bag cannot be written further.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Copies the messages that pass the filter and returns their number. Topics without messages are
/// copied as well. Bags that overlap in time are merged. `completed` returns the topic that is
/// added to the new bag, for example with the definition of its type, which an old bag lacks. The
/// [interrupt](BagReader::interrupt) of any of the bags ends the copying.
///
/// # Errors
/// When one of the bags cannot be read or written, or reading was interrupted.
pub fn copy(
    bags: &[BagReader],
    filter: &MessageFilter,
    writer: &mut BagWriter,
    completed: impl Fn(&BagTopic) -> BagTopic,
) -> Result<u64, CopyError> {
    let check = || bags.iter().try_for_each(|bag| bag.interrupt().check(bag.path()));
    check()?;
    let mut known: HashMap<*const BagTopic, TopicId> = HashMap::new();
    for topic in bags.iter().flat_map(BagReader::topics) {
        if filter.has_topic(&topic.metadata.name) {
            check()?;
            let id = writer.add_topic(completed(topic))?;
            known.insert(Arc::as_ptr(topic), id);
        }
    }
    let mut copied = 0;
    for message in MergedMessages::of(bags, filter)? {
        let message = message?;
        check()?;
        let id = match known.get(&Arc::as_ptr(&message.topic)) {
            Some(id) => *id,
            None => {
                let id = writer.add_topic(completed(&message.topic))?;
                known.insert(Arc::as_ptr(&message.topic), id);
                id
            }
        };
        writer.write(
            id,
            message.sequence,
            message.log_time,
            message.publish_time,
            &message.data,
        )?;
        copied += 1;
    }
    Ok(copied)
}
