//! A publisher that sends numbered messages, on request or on a separate thread.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use feros::msgs::sensor_msgs::msg::Image;
use feros::{Node, PublishError, Publisher, PublisherOptions};
use serde_json::{Value, json};

use crate::content;

pub(crate) struct Talker {
    id: u32,
    publisher: Publisher<Image>,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    is_stopped: AtomicBool,
    number: AtomicU32,
    errors: AtomicU64,
    last_error: Mutex<Option<String>>,
    slowest_us: AtomicU64,
}

impl State {
    /// Publishes the next message; the number is used up only if publishing succeeds.
    fn publish(&self, publisher: &Publisher<Image>, id: u32, size_bytes: usize) {
        let number = self.number.load(Ordering::Relaxed) + 1;
        let message = content::message(id, number, size_bytes);
        let begin = Instant::now();
        let mut published = publisher.publish(message.clone());
        // A listener that keeps all messages was held up for longer than `publish` waits, so
        // nothing was sent.
        while matches!(
            published,
            Err(PublishError::Engine(feros::engine::PublishError::Timeout { .. }))
        ) && !self.is_stopped.load(Ordering::Relaxed)
        {
            published = publisher.publish(message.clone());
        }
        self.slowest_us.fetch_max(begin.elapsed().as_micros() as u64, Ordering::Relaxed);
        match published {
            Ok(()) => self.number.store(number, Ordering::Relaxed),
            Err(error) => {
                self.errors.fetch_add(1, Ordering::Relaxed);
                *self.last_error.lock().unwrap() = Some(error.to_string());
            }
        }
    }

    fn progress(&self) -> Value {
        json!({
            "last": self.number.load(Ordering::Relaxed),
            "errors": self.errors.load(Ordering::Relaxed),
            "last_error": *self.last_error.lock().unwrap(),
            // The slowest publication since the last call of this function.
            "slowest_us": self.slowest_us.swap(0, Ordering::Relaxed),
        })
    }
}

impl Talker {
    pub(crate) fn new(
        node: &Node,
        topic: &str,
        options: impl Into<PublisherOptions>,
        id: u32,
    ) -> Self {
        let publisher = node.create_publisher(topic, options).unwrap();
        Self { id, publisher, state: Arc::default(), thread: None }
    }

    pub(crate) fn publisher(&self) -> &Publisher<Image> {
        &self.publisher
    }

    /// Publishes this many messages without a pause.
    pub(crate) fn publish(&self, count: u64, size_bytes: usize) -> Value {
        (0..count).for_each(|_| self.state.publish(&self.publisher, self.id, size_bytes));
        self.state.progress()
    }

    /// Publishes messages until it is stopped.
    pub(crate) fn start(&mut self, period: Duration, size_bytes: usize) {
        let _former = self.stop();
        self.state.is_stopped.store(false, Ordering::Relaxed);
        let (state, publisher, id) = (self.state.clone(), self.publisher.clone(), self.id);
        let publishing = move || {
            let mut next = Instant::now();
            while !state.is_stopped.load(Ordering::Relaxed) {
                state.publish(&publisher, id, size_bytes);
                next += period;
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
            }
        };
        self.thread =
            Some(std::thread::Builder::new().name("publish".into()).spawn(publishing).unwrap());
    }

    pub(crate) fn progress(&self) -> Value {
        self.state.progress()
    }

    pub(crate) fn stop(&mut self) -> Value {
        self.state.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        self.progress()
    }

    pub(crate) fn counts(&self) -> Value {
        let counts = self.publisher.counts();
        let pool = self.publisher.pool();
        json!({
            "process": counts.intra_process.messages,
            "host": counts.shared_memory.messages,
            "network": counts.network.messages,
            "skipped": counts.skipped_engine_writes,
            "shared_memory_failures": counts.shared_memory_failures,
            "subscriptions": self.publisher.subscription_count(),
            "pool_peak": pool.map(|pool| pool.peak_messages),
            "pool_max": pool.map(|pool| pool.max_messages),
            "pool_bytes": pool.map(|pool| pool.used_bytes),
        })
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        self.stop();
    }
}
