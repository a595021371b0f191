//! The thread that sends for an asynchronous publisher.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use feros_sync::DropOldestQueue;

use crate::engine::{CreateEndpointError, Created, PublishError};
use crate::failure_counter::FailureCounters;

/// The limit on the time that dropping a publisher waits until its published messages have been
/// sent.
pub const LINGER: Duration = Duration::from_secs(1);

/// A bounded queue of messages, and the thread that sends them. When the queue is full, a new
/// message replaces the oldest message.
///
/// Dropping this value waits for at most [`LINGER`] until the queued messages have been sent, and
/// then ends the thread.
pub struct SendingThread<M> {
    queue: Arc<DropOldestQueue<M>>,
    accepted: AtomicU64,
    /// Counts the queued messages that the engine refused.
    failed: Arc<AtomicU64>,
    topic: String,
    unblock: Option<Box<dyn FnOnce() + Send + Sync>>,
    thread: Option<JoinHandle<()>>,
}

impl<M: Send + 'static> SendingThread<M> {
    /// Starts the thread, which calls `send` for each message. Messages that `send` refuses are
    /// logged and counted.
    ///
    /// # Errors
    /// Returns [`CreateEndpointError::Engine`] if the operating system cannot start the thread.
    pub fn start(
        topic: &str,
        queue_depth: usize,
        mut send: impl FnMut(M) -> Result<(), PublishError> + Send + 'static,
    ) -> Created<Self> {
        let queue = Arc::new(DropOldestQueue::<M>::new(queue_depth));
        let failed = Arc::new(AtomicU64::new(0));
        let (from, failures, name) = (queue.clone(), failed.clone(), topic.to_owned());
        let run = move || {
            // All publishers of the process to the topic count together in the log.
            static FAILED: FailureCounters = FailureCounters::new();
            while let Some(message) = from.pop() {
                let Err(error) = send(message) else { continue };
                failures.fetch_add(1, Ordering::Relaxed);
                if let Some(so_far) = FAILED.so_far(&name) {
                    tracing::warn!("a queued message was not sent: {error}{so_far}");
                }
            }
        };
        let topic = topic.to_owned();
        let thread = std::thread::Builder::new().name("feros-publish".into()).spawn(run).map_err(
            |error| CreateEndpointError::Engine {
                name: topic.clone(),
                operation: "starting the sending thread",
                code: format!("{error}; end other threads, or raise `ulimit -u`"),
            },
        )?;
        let (accepted, unblock) = (AtomicU64::new(0), None);
        Ok(Self { queue, accepted, failed, topic, unblock, thread: Some(thread) })
    }

    /// Sets the function that unblocks `send`. It is called when this value is dropped, if `send`
    /// still waits for a full link after [`LINGER`].
    #[must_use]
    pub fn unblocked_by(mut self, unblock: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.unblock = Some(Box::new(unblock));
        self
    }
}

impl<M> SendingThread<M> {
    /// Queues a message and returns its number, counted from 1.
    pub fn push(&self, message: M) -> u64 {
        self.queue.push(message);
        self.accepted.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Waits until no message is queued or being sent. Returns false if that takes longer than
    /// `longest`.
    pub fn wait_until_done(&self, longest: Duration) -> bool {
        self.queue.wait_until_done(longest)
    }

    /// The number of messages that were queued but not sent, because newer messages replaced them
    /// or the engine refused them.
    pub fn lost(&self) -> u64 {
        self.queue.dropped() + self.failed.load(Ordering::Relaxed)
    }
}

impl<M> fmt::Debug for SendingThread<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SendingThread").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl<M> Drop for SendingThread<M> {
    fn drop(&mut self) {
        self.queue.close();
        if !self.queue.wait_until_done(LINGER) {
            self.queue.discard();
            if let Some(unblock) = self.unblock.take() {
                unblock();
            }
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the sending thread of {} panicked", self.topic);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn queued_messages_are_sent_and_refusals_are_counted() {
        let (sent, received) = sync_channel(10);
        let send = move |number: u32| {
            sent.send(number).unwrap();
            if number == 2 { Err(PublishError::FillAborted) } else { Ok(()) }
        };
        let sender = SendingThread::start("/numbers", 10, send).unwrap();
        assert_eq!([1, 2, 3].map(|number| sender.push(number)), [1, 2, 3]);
        assert!(sender.wait_until_done(Duration::from_secs(60)));
        assert_eq!(sender.lost(), 1);
        sender.push(4);
        drop(sender);
        assert_eq!(received.iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    #[test]
    fn one_that_waits_for_a_full_link_is_unblocked() {
        let (open, opened) = sync_channel::<()>(1);
        let send = move |()| {
            assert!(opened.recv().is_err(), "the other end goes");
            Ok(())
        };
        let sender = SendingThread::start("/full", 10, send).unwrap();
        let open = feros_sync::Mutex::new(Some(open));
        let sender = sender.unblocked_by(move || drop(open.lock().take()));
        (0..3).for_each(|_| {
            sender.push(());
        });
        drop(sender);
    }
}
