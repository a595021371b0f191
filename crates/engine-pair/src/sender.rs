//! The thread that sends for an asynchronous publisher: one queue for both engines, so that what it
//! drops is dropped on both and they count alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use feros_rmw::engine::Fill;
use feros_rmw::{CreateEndpointError, PublishError, Stamp};
use feros_sync::DropOldestQueue;

use crate::publisher::Writer;

/// How long the end of an asynchronous publisher waits for what is still queued.
const LINGER: Duration = Duration::from_secs(1);

/// The largest message that is queued; what an engine takes at most may be less.
const LARGEST_BYTES: usize = i32::MAX as usize;

pub(crate) struct Sender {
    queue: Arc<DropOldestQueue<(Vec<u8>, Stamp)>>,
    accepted: AtomicU64,
    /// Messages that both engines refused after they were accepted.
    failed: Arc<AtomicU64>,
    topic: String,
    thread: Option<JoinHandle<()>>,
}

impl Sender {
    pub(crate) fn start(writer: &Arc<Writer>, depth: usize) -> Result<Self, CreateEndpointError> {
        let queue = Arc::new(DropOldestQueue::<(Vec<u8>, Stamp)>::new(depth));
        let failed = Arc::new(AtomicU64::new(0));
        let (from, to, failures) = (queue.clone(), writer.clone(), failed.clone());
        let run = move || {
            while let Some((bytes, stamp)) = from.pop() {
                let mut fill = |memory: &mut [u8]| {
                    memory.copy_from_slice(&bytes);
                    Ok(())
                };
                if let Err(error) = to.write(stamp, bytes.len(), &mut fill) {
                    failures.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!("a queued message was not sent: {error}");
                }
            }
        };
        let topic = writer.topic.clone();
        let thread = std::thread::Builder::new().name("feros-publish".into()).spawn(run).map_err(
            |error| CreateEndpointError::Engine {
                name: topic.clone(),
                operation: "starting the sending thread",
                code: format!("{error}; end other threads, or raise `ulimit -u`"),
            },
        )?;
        Ok(Self { queue, accepted: AtomicU64::new(0), failed, topic, thread: Some(thread) })
    }

    pub(crate) fn push(
        &self,
        topic: &str,
        stamp: Stamp,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<u64, PublishError> {
        let topic = || topic.to_owned();
        if !stamp.is_publishable() {
            return Err(PublishError::Stamp { topic: topic(), stamp });
        }
        if !(4..=LARGEST_BYTES).contains(&size_bytes) {
            let largest_bytes = LARGEST_BYTES;
            return Err(PublishError::Size { topic: topic(), size_bytes, largest_bytes });
        }
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(size_bytes)
            .map_err(|_| PublishError::OutOfMemory { topic: topic(), size_bytes })?;
        bytes.resize(size_bytes, 0);
        fill(&mut bytes).map_err(|_| PublishError::FillAborted)?;
        self.queue.push((bytes, stamp));
        Ok(self.accepted.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// False when time ran out first.
    pub(crate) fn wait_until_done(&self, timeout: Duration) -> bool {
        self.queue.wait_until_done(timeout)
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.queue.dropped() + self.failed.load(Ordering::Relaxed)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.queue.close();
        if !self.queue.wait_until_done(LINGER) {
            self.queue.discard();
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the sending thread of {} panicked", self.topic);
        }
    }
}
