//! Merges the messages of several bags, in order of time.

use crate::error::ReadError;
use crate::message::{BagMessage, MessageFilter};
use crate::reader::{BagMessages, BagReader};

/// The messages of bags that pass a filter, in the order of their times of receipt. The iterator
/// ends after an error.
pub(crate) struct MergedMessages<'a> {
    /// For each bag, its remaining messages, and the next message, which has been read already.
    sources: Vec<(BagMessages<'a>, BagMessage)>,
    failure: Option<ReadError>,
}

impl<'a> MergedMessages<'a> {
    pub(crate) fn of(bags: &'a [BagReader], filter: &MessageFilter) -> Result<Self, ReadError> {
        let mut sources = Vec::new();
        for bag in bags {
            let mut messages = bag.messages(filter)?;
            if let Some(first) = messages.next().transpose()? {
                sources.push((messages, first));
            }
        }
        Ok(Self { sources, failure: None })
    }
}

impl Iterator for MergedMessages<'_> {
    type Item = Result<BagMessage, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failure) = self.failure.take() {
            self.sources.clear();
            return Some(Err(failure));
        }
        let earliest = self.sources.iter().enumerate();
        let (index, _) = earliest.min_by_key(|(_, (_, message))| message.log_time)?;
        let (messages, next) = &mut self.sources[index];
        let message = match messages.next() {
            Some(Ok(following)) => std::mem::replace(next, following),
            Some(Err(error)) => {
                // The messages read before the error are intact.
                self.failure = Some(error);
                self.sources.swap_remove(index).1
            }
            None => self.sources.remove(index).1,
        };
        Some(Ok(message))
    }
}
