//! The writing thread: takes messages out of the queue, and holds back those of topics whose type
//! has no definition yet.

use std::path::Path;
use std::time::{Duration, Instant};

use feros::Publisher;
use feros::msgs::rosbag2_interfaces::msg::WriteSplitEvent;
use feros_message::Schema;

use super::definitions::Definitions;
use super::reception::{Job, Message};
use crate::error::WriteError;
use crate::message::BagTopic;
use crate::metadata::BagMetadata;
use crate::queue::{Popped, Queue};
use crate::writer::{BagWriter, Split, TopicId};

/// After this time, a message is in the file even if the process dies.
const FLUSH_PERIOD: Duration = Duration::from_secs(1);

pub(super) struct Writing {
    pub(super) writer: BagWriter,
    pub(super) definitions: Option<Definitions>,
    pub(super) events: Publisher<WriteSplitEvent>,
    /// The limit on bytes of messages that are held back.
    pub(super) max_held_bytes: usize,
    pub(super) topics: Vec<Topic>,
    pub(super) held_bytes: usize,
}

/// A topic, either in the file or without a definition so far.
pub(super) enum Topic {
    Written(TopicId),
    /// Other nodes are being asked for the definition of its type; the messages are held back.
    Undefined(Box<BagTopic>, Vec<Message>),
}

impl Writing {
    /// Handles jobs until the queue is closed.
    pub(super) fn run(mut self, queue: &Queue<Job>) -> Result<BagMetadata, WriteError> {
        let (mut flushed, mut is_flushed) = (Instant::now(), true);
        loop {
            match queue.pop(FLUSH_PERIOD) {
                Popped::Item(job) => {
                    self.handle(job)?;
                    is_flushed = false;
                }
                Popped::TimedOut => {}
                Popped::Closed => break,
            }
            if !is_flushed && flushed.elapsed() >= FLUSH_PERIOD {
                self.writer.flush()?;
                (flushed, is_flushed) = (Instant::now(), true);
            }
        }
        self.define_all()?;
        self.writer.finish()
    }

    fn handle(&mut self, job: Job) -> Result<(), WriteError> {
        match job {
            Job::Topic { topic, is_asked_for: true } => {
                self.topics.push(Topic::Undefined(topic, Vec::new()));
            }
            Job::Topic { topic, is_asked_for: false } => {
                let topic = self.add(*topic)?;
                self.topics.push(topic);
            }
            Job::Defined(number) => {
                let answer = self.definitions.as_ref().and_then(|asked| asked.answer(number));
                if let Some(schema) = answer {
                    self.define(number, schema)?;
                }
            }
            Job::Message(message) => self.take(message)?,
            Job::Split => {
                let split = self.writer.split()?;
                self.tell(&split);
            }
            Job::Lost(topic, count) => self.writer.note_lost(&topic, count),
        }
        Ok(())
    }

    fn take(&mut self, message: Message) -> Result<(), WriteError> {
        match self.topics.get_mut(message.topic) {
            Some(Topic::Undefined(_, held)) => {
                self.held_bytes += message.data.len();
                held.push(message);
                // During the wait, messages stay in the queue, whose limit bounds the memory.
                if self.held_bytes > self.max_held_bytes { self.define_all() } else { Ok(()) }
            }
            Some(Topic::Written(id)) => {
                let id = *id;
                self.write(id, message)
            }
            None => Ok(()),
        }
    }

    fn write(&mut self, id: TopicId, message: Message) -> Result<(), WriteError> {
        let Message { sequence, log_time, publish_time, data, .. } = message;
        if let Some(split) = self.writer.write(id, sequence, log_time, publish_time, &data)? {
            self.tell(&split);
        }
        Ok(())
    }

    fn add(&mut self, topic: BagTopic) -> Result<Topic, WriteError> {
        if topic.schema.encoding.is_empty() {
            tracing::warn!(
                "{} is recorded without the definition of its type {}, which is unknown here: name \
                 its folder with --interfaces or FEROS_INTERFACES",
                topic.metadata.name,
                topic.metadata.type_name
            );
        }
        self.writer.add_topic(topic).map(Topic::Written)
    }

    /// Writes a topic with its definition, and the messages of the topic that were held back.
    fn define(&mut self, number: usize, schema: Schema) -> Result<(), WriteError> {
        let Some(Topic::Undefined(topic, held)) = self.topics.get_mut(number) else {
            return Ok(());
        };
        let (mut topic, held) = (topic.as_ref().clone(), std::mem::take(held));
        topic.schema = schema;
        self.topics[number] = self.add(topic)?;
        for message in held {
            self.held_bytes -= message.data.len();
            self.take(message)?;
        }
        Ok(())
    }

    /// Waits for the definitions that are missing.
    fn define_all(&mut self) -> Result<(), WriteError> {
        for number in 0..self.topics.len() {
            if matches!(self.topics[number], Topic::Undefined(..)) {
                let asked = self.definitions.as_ref();
                let schema = asked.map(|asked| asked.wait(number)).unwrap_or_default();
                self.define(number, schema)?;
            }
        }
        Ok(())
    }

    fn tell(&self, split: &Split) {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let event =
            WriteSplitEvent { closed_file: text(&split.closed), opened_file: text(&split.opened) };
        // The recording continues if this publication fails.
        let _ = self.events.publish(event);
    }
}
