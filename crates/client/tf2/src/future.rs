//! Waiting until a transform is known, in an async task or a thread.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use feros_executor::Time;
use feros_msgs::geometry_msgs::msg::TransformStamped;
use feros_wording::within;

use crate::buffer::{Buffer, Seen};
use crate::lookup_error::LookupError;

/// Why waiting for a transform ended without a result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The time ran out.
    #[error("no transform came {}: {source}. {}", within(*waited), meanwhile(*changes))]
    Timeout {
        /// The time that the caller waited.
        waited: Duration,
        /// The number of changes of the buffer in the meantime.
        changes: u64,
        /// Why the transform was unknown when the timeout passed.
        source: Box<LookupError>,
    },
    /// No later transform can make the wanted one known.
    #[error("no later transform can help: {0}")]
    Hopeless(#[source] Box<LookupError>),
    /// No new transforms arrive in the buffer: the context of its listener was shut down.
    #[error("the buffer was closed while waiting: {0}")]
    Closed(#[source] Box<LookupError>),
}

fn meanwhile(changes: u64) -> String {
    match changes {
        0 => "Nothing at all came into the buffer meanwhile: nobody publishes transforms, or the \
              waiting thread is the one that should receive them"
            .to_owned(),
        n => format!("Other transforms came into the buffer meanwhile ({n} times)"),
    }
}

/// The lookup that a future waits for.
#[derive(Debug, Clone)]
struct Question {
    target: String,
    source: String,
    time: Time,
}

/// A future for a transform that may not be known yet. Await it on any async runtime, or block a
/// thread with [`wait`](Self::wait).
///
/// # Cancel safety
/// Dropping the future ends the waiting; nothing is lost.
#[must_use = "nobody waits when this is dropped"]
pub struct TransformFuture {
    buffer: Buffer,
    question: Question,
    /// The number of this future among the waiting tasks.
    task: Option<u64>,
}

impl Buffer {
    /// Waits until `source` can be brought into `target` at a time. Await the result, or call
    /// [`TransformFuture::wait`].
    ///
    /// ```
    /// # let (buffer, stamp) = (feros_tf2::Buffer::new(), feros_tf2::Time::from_nanos(1));
    /// # let mount = feros_tf2::Transform::IDENTITY.to_stamped("base_link", "camera", stamp);
    /// # buffer.set_transform(&mount, "robot", true)?;
    /// use std::time::Duration;
    /// let future = buffer.wait_for_transform("base_link", "camera", stamp);
    /// let transform = future.wait(Duration::from_secs(1))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_for_transform(
        &self,
        target: impl Into<String>,
        source: impl Into<String>,
        time: Time,
    ) -> TransformFuture {
        let question = Question { target: target.into(), source: source.into(), time };
        TransformFuture { buffer: self.clone(), question, task: None }
    }
}

impl TransformFuture {
    /// Blocks the thread until the transform is known, for at most `timeout`. Do not call this on
    /// the thread that fills the buffer. By default, `TransformListener` fills it on a separate
    /// thread.
    ///
    /// # Errors
    /// See [`WaitError`].
    pub fn wait(self, timeout: Duration) -> Result<TransformStamped, WaitError> {
        let began = Instant::now();
        let waiting = self.buffer.waiting();
        let first = waiting.seen();
        loop {
            let seen = waiting.seen();
            let error = match self.look() {
                Ok(found) => return Ok(found),
                Err(error) => self.ended(error, seen)?,
            };
            let left = timeout.saturating_sub(began.elapsed());
            if left.is_zero() {
                let changes = seen.changes - first.changes;
                return Err(WaitError::Timeout {
                    waited: began.elapsed(),
                    changes,
                    source: error.into(),
                });
            }
            waiting.sleep(seen, left);
        }
    }

    /// Returns `error` if further waiting may help, and the reason to end the wait otherwise.
    fn ended(&self, error: LookupError, seen: Seen) -> Result<LookupError, WaitError> {
        if error.is_final(self.question.time, self.buffer.cache_length()) {
            return Err(WaitError::Hopeless(error.into()));
        }
        if seen.is_closed { Err(WaitError::Closed(error.into())) } else { Ok(error) }
    }

    fn look(&self) -> Result<TransformStamped, LookupError> {
        let Question { target, source, time } = &self.question;
        self.buffer.lookup_transform(target, source, *time)
    }
}

impl Future for TransformFuture {
    type Output = Result<TransformStamped, WaitError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The waker is registered first, so that a transform that comes during the lookup below
        // wakes the task.
        let buffer = self.buffer.clone();
        let seen = buffer.waiting().leave(&mut self.task, context.waker().clone());
        match self.look() {
            Ok(found) => Poll::Ready(Ok(found)),
            Err(error) => match self.ended(error, seen) {
                Ok(_) => Poll::Pending,
                Err(error) => Poll::Ready(Err(error)),
            },
        }
    }
}

impl Drop for TransformFuture {
    fn drop(&mut self) {
        if let Some(task) = self.task {
            self.buffer.waiting().forget(task);
        }
    }
}
