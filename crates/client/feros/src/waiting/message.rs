//! Waits for one message of a topic, either by blocking without an executor or as a future.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use feros_message::Message;
use feros_sync::Mutex;

use crate::callbacks::group::CallbackGroupKind;
use crate::context::{Context, ShutdownGuard};
use crate::create_error::CreateError;
use crate::error::Error;
use crate::executor::Executor;
use crate::node::Node;
use crate::topics::subscription::{Subscription, SubscriptionOptions};
use crate::wait_error::WaitError;

/// Stores the first message that arrives, and the waker of the task that waits for it.
struct Inbox<M> {
    message: Option<M>,
    is_full: bool,
    waker: Option<Waker>,
}

impl<M> Default for Inbox<M> {
    fn default() -> Self {
        Self { message: None, is_full: false, waker: None }
    }
}

fn put<M>(inbox: &Mutex<Inbox<M>>, message: M) {
    let mut inbox = inbox.lock();
    if inbox.is_full {
        return;
    }
    (inbox.message, inbox.is_full) = (Some(message), true);
    let waker = inbox.waker.take();
    drop(inbox);
    waker.into_iter().for_each(Waker::wake);
}

/// # One message
impl Node {
    /// Subscribes to a topic and blocks until a message arrives, like `rclcpp::wait_for_message`.
    /// The node need not be spun.
    ///
    /// # Errors
    /// When the subscription cannot be made, or `timeout` passes or the context is shut down before
    /// a message arrives.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::{QosProfile, msgs::nav_msgs::msg::OccupancyGrid};
    /// use std::time::Duration;
    /// let latched = QosProfile::keep_last(1).transient_local();
    /// let map = node.wait_for_message::<OccupancyGrid>("/map", latched, Duration::from_secs(5))?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn wait_for_message<M: Message>(
        &self,
        topic: &str,
        options: impl Into<SubscriptionOptions>,
        timeout: Duration,
    ) -> Result<M, Error> {
        let group = self.create_separate_callback_group(CallbackGroupKind::MutuallyExclusive);
        let inbox: Arc<Mutex<Inbox<M>>> = Arc::default();
        let filled = inbox.clone();
        let options = options.into().callback_group(&group);
        let subscription =
            self.create_subscription::<M, _>(topic, options, move |message: M| {
                put(&filled, message)
            })?;
        let executor = Executor::new();
        executor.add_callback_group(&group)?;
        let came = || inbox.lock().is_full || !self.context().is_ok();
        executor.spin_until(Some(timeout), came)?;
        let what = || format!("a message of {}", subscription.topic_name());
        inbox.lock().message.take().ok_or_else(|| {
            let error = match self.context().is_ok() {
                true => WaitError::Timeout { what: what(), waited: timeout },
                false => WaitError::Shutdown { what: what() },
            };
            error.into()
        })
    }

    /// Subscribes to a topic and returns a future for the next message. Await the future on any
    /// async runtime, while an executor spins the node.
    ///
    /// # Errors
    /// When the subscription cannot be made.
    pub fn next_message<M: Message>(
        &self,
        topic: &str,
        options: impl Into<SubscriptionOptions>,
    ) -> Result<MessageFuture<M>, CreateError> {
        let inbox: Arc<Mutex<Inbox<M>>> = Arc::default();
        let filled = inbox.clone();
        let subscription =
            self.create_subscription::<M, _>(topic, options, move |message: M| {
                put(&filled, message)
            })?;
        let waiting = Arc::downgrade(&inbox);
        let shutdown_guard = self.context().on_shutdown(move || {
            let Some(inbox) = waiting.upgrade() else { return };
            let waker = inbox.lock().waker.take();
            waker.into_iter().for_each(Waker::wake);
        });
        let context = self.context().clone();
        Ok(MessageFuture { inbox, subscription, context, _shutdown_guard: shutdown_guard })
    }
}

/// A future for the next message of a topic; see [`Node::next_message`].
///
/// # Cancel safety
/// Dropping the future ends the subscription; a message that has arrived meanwhile is lost.
#[must_use = "the message is lost when this is dropped"]
pub struct MessageFuture<M> {
    inbox: Arc<Mutex<Inbox<M>>>,
    subscription: Subscription<M>,
    context: Context,
    _shutdown_guard: ShutdownGuard,
}

impl<M: Message> Future for MessageFuture<M> {
    type Output = Result<M, WaitError>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        // The waker is stored before the context is checked, so that a shutdown after the check
        // wakes the task.
        let message = {
            let mut inbox = self.inbox.lock();
            inbox.waker = Some(task.waker().clone());
            inbox.message.take()
        };
        match message {
            Some(message) => Poll::Ready(Ok(message)),
            None if self.context.is_ok() => Poll::Pending,
            None => {
                let what = format!("a message of {}", self.subscription.topic_name());
                Poll::Ready(Err(WaitError::Shutdown { what }))
            }
        }
    }
}
