//! The future for the response of one call, which also has a blocking `wait`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use feros_executor::Execution;
use feros_message::{Service as ServiceType, ServiceEventKind};
use feros_transport::{Recipients, ResponseWait};

use super::CallError;
use super::inner::Inner;
use crate::messages::forms::SerializedMessage;
use crate::services::introspection::{CallId, ServiceEvents};

/// A future for the response of one call. Await it on any async runtime, or block with
/// [`wait`](Self::wait).
///
/// # Cancel safety
/// Dropping the future gives the call up. If the response arrives later, it stays in the client's
/// queue, which has space for 1,024 responses, until the client sends its next request or a caller
/// waits for another response; then it is dropped. Spinning an executor does not take it. While the
/// queue is full, a server on the same host gets an error when it responds to this client; other
/// clients are not affected.
#[must_use = "the response is lost when this is dropped"]
pub struct ResponseFuture<S: ServiceType> {
    pub(super) serialized: SerializedResponseFuture,
    pub(super) events: Arc<ServiceEvents<S>>,
}

impl<S: ServiceType> ResponseFuture<S> {
    /// Blocks until the response arrives, for at most `timeout`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn wait(self, timeout: Duration) -> Result<S::Response, CallError> {
        let waiting = self.serialized.inner.end.begin_wait();
        self.wait_with(waiting, timeout)
    }

    pub(super) fn wait_with(
        self,
        waiting: ResponseWait,
        timeout: Duration,
    ) -> Result<S::Response, CallError> {
        let (inner, call) = (self.serialized.inner.clone(), self.serialized.call_id());
        decode(&inner.name, call, &self.events, self.serialized.wait_with(&waiting, timeout))
    }
}

impl<S: ServiceType> Future for ResponseFuture<S> {
    type Output = Result<S::Response, CallError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let result = Pin::new(&mut self.serialized).poll(task);
        let serialized = &self.serialized;
        result.map(|result| {
            decode(&serialized.inner.name, serialized.call_id(), &self.events, result)
        })
    }
}

fn decode<S: ServiceType>(
    service: &str,
    call: CallId,
    events: &ServiceEvents<S>,
    response: Result<SerializedMessage, CallError>,
) -> Result<S::Response, CallError> {
    let response = response?.decode().map_err(|source| CallError::Response {
        service: service.to_owned(),
        type_name: S::TYPE_NAME.to_owned(),
        source,
    })?;
    if let Some(events) = events.active() {
        events.response(ServiceEventKind::ResponseReceived, call, &response);
    }
    Ok(response)
}

/// A future for the serialized response of one call; see [`ResponseFuture`].
#[must_use = "the response is lost when this is dropped"]
pub struct SerializedResponseFuture {
    pub(super) inner: Arc<Inner>,
    number: i64,
    started: Instant,
    /// The callback that sent the request, if a callback did. Until this callback ends, a server
    /// that the callback keeps from running cannot take the request.
    sent_in: Option<Execution>,
    /// The servers that got the request. The call fails when all of them have left, if that can be
    /// detected.
    pub(super) recipients: Recipients,
}

impl SerializedResponseFuture {
    /// Begins to wait for the response to a request that was sent just now.
    pub(super) fn new(inner: Arc<Inner>, (number, recipients): (i64, Recipients)) -> Self {
        let (started, sent_in) = (Instant::now(), Execution::current());
        Self { inner, number, started, sent_in, recipients }
    }

    /// Returns the result of the call if the call has ended.
    fn look(&self) -> Option<Result<SerializedMessage, CallError>> {
        // This is checked before responses are taken, because a server may have responded just
        // before it left.
        let have_left = self.inner.end.have_left(&self.recipients);
        if let Err(error) = self.inner.take_responses(self.number) {
            return Some(Err(error.into()));
        }
        if let Some(response) = self.inner.finish(self.number) {
            return Some(Ok(response));
        }
        if !self.inner.node.context().is_ok() {
            return Some(Err(self.inner.closed()));
        }
        have_left.then(|| Err(CallError::ServerLeft { service: self.inner.name.clone() }))
    }

    /// The id of the call in introspection events.
    pub fn call_id(&self) -> CallId {
        CallId { client: self.inner.end.response_gid(), sequence_number: self.number }
    }

    /// Blocks until the response arrives, for at most `timeout`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn wait(self, timeout: Duration) -> Result<SerializedMessage, CallError> {
        self.wait_for(timeout)
    }

    /// Waits for the response, as [`wait`](Self::wait) does, but does not consume the future: the
    /// caller may wait again after [`CallError::Timeout`].
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn wait_for(&self, timeout: Duration) -> Result<SerializedMessage, CallError> {
        let waiting = self.inner.end.begin_wait();
        self.wait_with(&waiting, timeout)
    }

    /// Continues a wait that has already begun.
    fn wait_with(
        &self,
        waiting: &ResponseWait,
        timeout: Duration,
    ) -> Result<SerializedMessage, CallError> {
        let deadline = Instant::now() + timeout;
        loop {
            waiting.begin_look();
            if let Some(result) = self.look() {
                return result;
            }
            let Some(left) =
                deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
            else {
                return Err(CallError::Timeout {
                    service: self.inner.name.clone(),
                    waited: self.started.elapsed(),
                    available: self.inner.end.service_is_available(),
                });
            };
            if self.sent_in.is_some() && self.sent_in == Execution::current() {
                self.inner.check_servers()?;
            }
            // The thread may be woken for any reason; the loop checks again.
            self.inner.end.sleep(waiting, left);
        }
    }
}

impl Future for SerializedResponseFuture {
    type Output = Result<SerializedMessage, CallError>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        // The waker is stored first, so that a response that arrives during the check below wakes
        // the task.
        if let Some(call) = self.inner.calls.pending.lock().get_mut(&self.number) {
            call.waker = Some(task.waker().clone());
        }
        self.inner.end.listen();
        self.look().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for SerializedResponseFuture {
    fn drop(&mut self) {
        self.inner.calls.give_up(self.number);
    }
}
