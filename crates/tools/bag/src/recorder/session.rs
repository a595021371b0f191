//! The recording of one bag: its subscriptions, the queue, and two threads in addition to the
//! executor's: one looks for topics, and the other writes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use feros_sync::Mutex;

use super::definitions::Definitions;
use super::discovery::Discovery;
use super::reception::{Job, Receiver, Subscriptions};
use super::writing::Writing;
use super::{RecordError, Recording, Shared};
use crate::error::WriteError;
use crate::metadata::BagMetadata;
use crate::queue::{Queue, Ring};
use crate::writer::BagWriter;

pub(super) struct Session {
    output: PathBuf,
    receiver: Receiver,
    subscriptions: Subscriptions,
    is_stopping: Arc<AtomicBool>,
    discovery: JoinHandle<()>,
    writing: JoinHandle<Result<BagMetadata, WriteError>>,
}

impl Session {
    pub(super) fn start(shared: &Shared, output: &Path) -> Result<Self, RecordError> {
        let options = &shared.options;
        let writer = BagWriter::create(output, options.writer.clone())?;
        let queue = Arc::new(Queue::new(options.max_cache_bytes));
        let ring = options.snapshot_mode.then(|| Ring::new(options.max_cache_bytes));
        let receiver = Receiver {
            queue: queue.clone(),
            is_paused: shared.is_paused.clone(),
            received: Arc::default(),
            ring: ring.map(|ring| Arc::new(Mutex::new(ring))),
            clock: shared.node.clock().clone(),
        };
        let subscriptions = Subscriptions::default();
        let is_stopping = Arc::new(AtomicBool::new(false));
        let asked = options.asked.as_ref();
        let definitions = asked.map(|source| Definitions::new(source.clone(), queue.clone()));
        let discovery = Discovery {
            node: shared.node.clone(),
            options: options.clone(),
            receiver: receiver.clone(),
            subscriptions: subscriptions.clone(),
            discovers: shared.discovers.clone(),
            is_stopping: is_stopping.clone(),
            definitions: definitions.clone(),
            count: 0,
            told: Default::default(),
        };
        let writing = Writing {
            writer,
            definitions,
            events: shared.split_events.clone(),
            max_held_bytes: options.max_cache_bytes,
            topics: Vec::new(),
            held_bytes: 0,
        };
        let failed = |error: std::io::Error| RecordError::Thread { reason: error.to_string() };
        let thread = std::thread::Builder::new().name("feros-bag-write".into());
        let jobs = queue.clone();
        let writing = thread
            .spawn(move || {
                let written = writing.run(&jobs);
                // Subscriptions must not wait for a writing thread that has ended.
                jobs.abandon();
                written
            })
            .map_err(failed)?;
        let looking = std::thread::Builder::new().name("feros-bag-topics".into());
        let discovery = looking.spawn(move || discovery.run()).map_err(|error| {
            queue.close();
            failed(error)
        })?;
        let output = output.to_owned();
        Ok(Self { output, receiver, subscriptions, is_stopping, discovery, writing })
    }

    pub(super) fn output(&self) -> &Path {
        &self.output
    }

    pub(super) fn has_ended(&self) -> bool {
        self.writing.is_finished()
    }

    pub(super) fn topics(&self) -> Vec<String> {
        self.subscriptions.lock().keys().map(|(topic, _)| topic.clone()).collect()
    }

    pub(super) fn received(&self) -> u64 {
        self.receiver.received.load(Ordering::Relaxed)
    }

    pub(super) fn split(&self) {
        drop(self.receiver.queue.push(Job::Split, 0));
    }

    /// Passes the messages of the snapshot ring to the writing thread; returns their number.
    pub(super) fn snapshot(&self) -> Option<usize> {
        let messages = self.receiver.ring.as_ref()?.lock().take();
        let count = messages.len();
        for (message, bytes) in messages {
            if self.receiver.queue.push(Job::Message(message), bytes).is_err() {
                break;
            }
        }
        Some(count)
    }

    /// Ends the bag.
    pub(super) fn stop(self) -> Result<Recording, WriteError> {
        self.is_stopping.store(true, Ordering::Relaxed);
        // If the thread ended with a panic, the panic was logged.
        let _ = self.discovery.join();
        let recorded = std::mem::take(&mut *self.subscriptions.lock());
        let mut lost = BTreeMap::new();
        for ((topic, _), recorded) in recorded {
            let count = recorded.lost.load(Ordering::Relaxed);
            if count > 0 {
                drop(self.receiver.queue.push(Job::Lost(topic.clone(), count), 0));
                *lost.entry(topic).or_default() += count;
            }
        }
        self.receiver.queue.close();
        let written = self.writing.join().unwrap_or(Err(WriteError::Ended));
        Ok(Recording { output: self.output, metadata: written?, lost })
    }
}
