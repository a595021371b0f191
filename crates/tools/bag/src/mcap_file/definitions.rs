//! Schemas and channels of a file, collected record by record.

use std::collections::HashMap;
use std::sync::Arc;

use mcap::records::{self, Record};
use mcap::{Channel, Schema, Summary};

/// The schemas and channels so far. Repetitions are dropped; the first of several contradicting
/// records counts.
#[derive(Default)]
pub(super) struct Definitions {
    schemas: HashMap<u16, Arc<Schema<'static>>>,
    channels: HashMap<u16, Arc<Channel<'static>>>,
}

impl Definitions {
    /// Adds a record if it is a schema or a channel; returns any other.
    pub(super) fn add(&mut self, record: Record<'static>) -> Option<Record<'static>> {
        match record {
            Record::Schema { header, data } => {
                let (id, name, encoding) = (header.id, header.name, header.encoding);
                let schema = Schema { id, name, encoding, data };
                self.schemas.entry(id).or_insert_with(|| Arc::new(schema));
            }
            Record::Channel(channel) => self.add_channel(channel),
            other => return Some(other),
        }
        None
    }

    fn add_channel(&mut self, channel: records::Channel) {
        let id = channel.id;
        let schema = self.schemas.get(&channel.schema_id).cloned();
        let channel = Channel {
            id,
            topic: channel.topic,
            schema,
            message_encoding: channel.message_encoding,
            metadata: channel.metadata,
        };
        self.channels.entry(id).or_insert_with(|| Arc::new(channel));
    }

    /// Whether a channel has this id.
    pub(super) fn has_channel(&self, id: u16) -> bool {
        self.channels.contains_key(&id)
    }

    /// Puts all definitions into a summary.
    pub(super) fn finish(self, summary: &mut Summary) {
        summary.schemas = self.schemas;
        summary.channels = self.channels;
    }
}
