//! Clients of services: a call is a future, and can be waited for in place. Neither needs an
//! executor.
//!
//! The engine tells the client when a response came; whoever waits for one (a blocked thread, a
//! future being polled) takes what is there and hands the others their own. So a blocking call
//! inside a callback cannot deadlock, unless nobody but the calling thread could run the server:
//! that is told at once.

mod call_error;

pub use call_error::CallError;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{Duration, Instant};

use feros_executor::Execution;
use feros_message::{Message, Service as ServiceType, ServiceEventKind};
use feros_rmw::{Gid, Payload, QosProfile, ServiceMapping, TakeError};
use feros_sync::{Condvar, Mutex};

use crate::clock::Clock;
use crate::context::ShutdownGuard;
use crate::create_error::CreateError;
use crate::graph_changes::GraphChanges;
use crate::identity::ServiceIdentity;
use crate::message_forms::SerializedMessage;
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::serialize::{copy_into, serialize_into};
use crate::service::registry;
use crate::service_introspection::{CallId, ServiceEvents, ServiceIntrospectionState};
use crate::wait_error::WaitError;

/// How a client of a service is made.
#[derive(Debug, Clone, Copy)]
pub struct ClientOptions {
    /// Policies of both directions.
    pub qos: QosProfile,
    /// Speak this mapping whatever the server announces; for tests. `None` follows the server.
    pub force_mapping: Option<ServiceMapping>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { qos: QosProfile::services_default(), force_mapping: None }
    }
}

impl From<QosProfile> for ClientOptions {
    fn from(qos: QosProfile) -> Self {
        Self { qos, ..Self::default() }
    }
}

/// Calls a service. Clones share the endpoint; the last one withdraws it.
pub struct Client<S: ServiceType> {
    untyped: GenericClient,
    events: Arc<ServiceEvents<S>>,
}

impl<S: ServiceType> Clone for Client<S> {
    fn clone(&self) -> Self {
        Self { untyped: self.untyped.clone(), events: self.events.clone() }
    }
}

impl<S: ServiceType> Client<S> {
    pub(crate) fn new(
        node: &Node,
        name: &str,
        options: ClientOptions,
    ) -> Result<Self, CreateError> {
        let untyped = GenericClient::new(node, name, &ServiceIdentity::of::<S>(), options)?;
        node.note_type(S::TYPE_DESCRIPTION);
        Ok(Self { untyped, events: Arc::default() })
    }

    /// Sends a request. The response is awaited, or waited for with [`ResponseFuture::wait`].
    ///
    /// A request is sent to the servers that match at this moment: wait for the service first.
    ///
    /// # Errors
    /// When the request violates its type, or cannot be sent.
    pub fn call(&self, request: &S::Request) -> Result<ResponseFuture<S>, PublishError> {
        let inner = &self.untyped.0;
        let serialized = inner.send(|send| serialize_into(request, &inner.name, send))?;
        if let Some(events) = self.events.active() {
            events.request(ServiceEventKind::RequestSent, serialized.call_id(), request);
        }
        Ok(ResponseFuture { serialized, events: self.events.clone() })
    }

    /// Calls and waits in place for the response, at most for `timeout`.
    ///
    /// # Errors
    /// See [`CallError`]; nothing is sent with [`CallError::ServerBlocked`].
    pub fn call_and_wait(
        &self,
        request: &S::Request,
        timeout: Duration,
    ) -> Result<S::Response, CallError> {
        self.untyped.0.check_servers()?;
        self.call(request)?.wait(timeout)
    }

    /// Publishes what becomes of each request on `<service>/_service_event`, with the times of this
    /// clock and these policies; with [`ServiceIntrospectionState::Off`], as at first, no more.
    ///
    /// An event comes when the request was sent, and when the response was taken by whoever waits
    /// for it: a call that was given up has no second one. `feros service echo` shows them.
    ///
    /// # Errors
    /// When the policies are not allowed, or the engine refuses.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::{QosProfile, ServiceIntrospectionState, msgs::std_srvs::srv::SetBool};
    /// let client = node.create_client::<SetBool>("enable")?;
    /// let contents = ServiceIntrospectionState::Contents;
    /// client.configure_introspection(node.clock(), QosProfile::system_default(), contents)?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn configure_introspection(
        &self,
        clock: &Clock,
        qos: impl Into<QosProfile>,
        state: ServiceIntrospectionState,
    ) -> Result<(), CreateError> {
        let inner = &self.untyped.0;
        self.events.configure(&inner.node, &inner.name, clock, qos.into(), state)
    }
}

impl<S: ServiceType> std::ops::Deref for Client<S> {
    type Target = GenericClient;

    fn deref(&self) -> &GenericClient {
        &self.untyped
    }
}

/// The response of one call, to be awaited on any async runtime or waited for in place.
///
/// # Cancel safety
/// Dropping it forgets the call; a response that comes later is ignored.
#[must_use = "the response is lost when this is dropped"]
pub struct ResponseFuture<S: ServiceType> {
    serialized: SerializedResponseFuture,
    events: Arc<ServiceEvents<S>>,
}

impl<S: ServiceType> ResponseFuture<S> {
    /// Waits in place, at most for `timeout`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn wait(self, timeout: Duration) -> Result<S::Response, CallError> {
        let (service, call) = (self.serialized.inner.name.clone(), self.serialized.call_id());
        decode(&service, call, &self.events, self.serialized.wait(timeout))
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

/// Calls a service with serialized messages, for types that are known only at run time.
#[derive(Clone)]
pub struct GenericClient(Arc<Inner>);

struct Inner {
    name: String,
    end: feros_transport::Client,
    node: Node,
    calls: Arc<Calls>,
    /// Held from sending a request until its number is known to `calls`.
    sending: Mutex<()>,
    _shutdown_guard: ShutdownGuard,
}

/// The calls that wait for their responses.
///
/// This is all that the engine's notification reaches: it may run while the client is dropped, and
/// must neither own the engine's client nor the node, or it might be the one to drop them, inside
/// the engine.
struct Calls {
    pending: Mutex<Pending>,
    /// Signalled when a response may have come.
    changed: Condvar,
    graph_changes: Arc<GraphChanges>,
}

#[derive(Default)]
struct Pending {
    /// Requests without a response yet, by number.
    calls: HashMap<i64, Call>,
    /// Counts notifications, so that a waiter sees those that came while it looked.
    notifications: u64,
}

#[derive(Default)]
struct Call {
    waker: Option<Waker>,
    response: Option<Payload>,
}

impl GenericClient {
    pub(crate) fn new(
        node: &Node,
        name: &str,
        identity: &ServiceIdentity,
        options: ClientOptions,
    ) -> Result<Self, CreateError> {
        let name = node.resolve_service_name(name)?;
        let calls = Arc::new(Calls {
            pending: Mutex::default(),
            changed: Condvar::new(),
            graph_changes: node.context().changes().clone(),
        });
        let (notified, shut_down) = (calls.clone(), calls.clone());
        let end = feros_transport::Client::new(
            &**node.session(),
            feros_rmw::ClientOptions {
                node: node.id(),
                service: &name,
                type_name: &identity.name,
                request_hash: identity.request_hash,
                response_hash: identity.response_hash,
                qos: options.qos,
                force_mapping: options.force_mapping,
                on_response: Arc::new(move || notified.look_again()),
            },
        )
        .map_err(|source| CreateError::Engine { node: node.name().clone(), source })?;
        let shutdown_guard = node.context().on_shutdown(move || shut_down.look_again());
        Ok(Self(Arc::new(Inner {
            name,
            end,
            node: node.clone(),
            calls,
            sending: Mutex::default(),
            _shutdown_guard: shutdown_guard,
        })))
    }

    /// Sends a request that is serialized already, with its 4-byte header.
    ///
    /// # Errors
    /// When the bytes cannot be a message, or cannot be sent.
    pub fn call_serialized(
        &self,
        request: &[u8],
    ) -> Result<SerializedResponseFuture, PublishError> {
        self.0.send(|send| copy_into(request, &self.0.name, send))
    }

    /// Sends a request; the call ends with [`CallError::ServerLeft`] when nobody is left who could
    /// respond to it. That is for responses which may take as long as the server likes.
    pub(crate) fn call_until_servers_leave<M: Message>(
        &self,
        request: &M,
    ) -> Result<SerializedResponseFuture, CallError> {
        self.send_until_servers_leave(|send| serialize_into(request, &self.0.name, send))
    }

    /// As [`call_until_servers_leave`](Self::call_until_servers_leave), with a request that is
    /// serialized already.
    pub(crate) fn call_serialized_until_servers_leave(
        &self,
        request: &[u8],
    ) -> Result<SerializedResponseFuture, CallError> {
        self.send_until_servers_leave(|send| copy_into(request, &self.0.name, send))
    }

    fn send_until_servers_leave(
        &self,
        send: impl FnOnce(SendRequest<'_>) -> Result<i64, PublishError>,
    ) -> Result<SerializedResponseFuture, CallError> {
        // Before the request: who leaves after it was seen here.
        let responders = self.0.end.responders();
        if responders.is_empty() || !self.service_is_ready() {
            return Err(CallError::ServerLeft { service: self.0.name.clone() });
        }
        let mut call = self.0.send(send)?;
        call.responders = responders;
        Ok(call)
    }

    /// Refuses to wait for what cannot come before the callback ends that this thread is in.
    pub(crate) fn check_servers(&self) -> Result<(), CallError> {
        self.0.check_servers()
    }

    /// The fully qualified name, after remapping.
    pub fn service_name(&self) -> &str {
        &self.0.name
    }

    /// Its policies after system-default was resolved.
    pub fn qos(&self) -> QosProfile {
        self.0.end.qos()
    }

    /// Identity of the endpoint that sends requests.
    pub fn gid(&self) -> Gid {
        self.0.end.gid()
    }

    /// Whether a server is there, so that a request sent now is answered.
    pub fn service_is_ready(&self) -> bool {
        self.0.end.service_is_available()
    }

    /// Waits until a server is there.
    ///
    /// # Errors
    /// When time runs out or the context is shut down before.
    pub fn wait_for_service(&self, timeout: Duration) -> Result<(), WaitError> {
        let what = || format!("a server of {}", self.0.name);
        self.0.node.context().wait_for_graph(timeout, what, || self.service_is_ready())
    }
}

impl Calls {
    /// Wakes everybody who waits, and lets them look for themselves.
    fn look_again(&self) {
        let wakers: Vec<Waker> = {
            let mut pending = self.pending.lock();
            pending.notifications += 1;
            pending.calls.values_mut().filter_map(|call| call.waker.take()).collect()
        };
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
        self.graph_changes.announce();
    }
}

impl Inner {
    fn send(
        self: &Arc<Self>,
        send: impl FnOnce(SendRequest<'_>) -> Result<i64, PublishError>,
    ) -> Result<SerializedResponseFuture, PublishError> {
        let sending = self.sending.lock();
        let number = send(&mut |size, fill| self.end.send_request(size, fill))?;
        self.calls.pending.lock().calls.insert(number, Call::default());
        drop(sending);
        let (started, sent_in) = (Instant::now(), Execution::current());
        let responders = Vec::new();
        Ok(SerializedResponseFuture { inner: self.clone(), number, started, sent_in, responders })
    }

    /// Takes all responses that are there and hands them to their calls; those of calls that were
    /// given up are dropped.
    fn take_responses(&self) -> Result<(), TakeError> {
        while let Some((number, sample)) = self.end.take_response()? {
            if !self.calls.pending.lock().calls.contains_key(&number) {
                // The call may be on its way out on another thread: it is entered before that lock
                // is free again.
                drop(self.sending.lock());
            }
            let waker = self.calls.pending.lock().calls.get_mut(&number).and_then(|call| {
                call.response = Some(sample.payload);
                call.waker.take()
            });
            self.calls.changed.notify_all();
            waker.into_iter().for_each(Waker::wake);
        }
        Ok(())
    }

    /// Refuses to wait for what cannot come before the callback ends that this thread is in.
    fn check_servers(&self) -> Result<(), CallError> {
        if Execution::current().is_none() {
            return Ok(());
        }
        let Some(obstacle) = registry::obstacle(&self.end.servers()) else { return Ok(()) };
        let (service, node) = (self.name.clone(), self.node.name().fully_qualified());
        Err(CallError::ServerBlocked { service, node, obstacle })
    }

    /// The response of a call, if it is there; the call is over then.
    fn finish(&self, number: i64) -> Option<SerializedMessage> {
        let mut pending = self.calls.pending.lock();
        let response = pending.calls.get_mut(&number)?.response.take()?;
        pending.calls.remove(&number);
        Some(SerializedMessage::new(response))
    }

    fn closed(&self) -> CallError {
        let service = self.name.clone();
        if self.node.context().is_ok() {
            CallError::Closed { service }
        } else {
            CallError::Shutdown { service }
        }
    }
}

/// Hands a request of a size to the engine, written by the closure that is passed.
type SendRequest<'a> =
    &'a mut dyn FnMut(usize, feros_rmw::engine::Fill<'_>) -> Result<i64, feros_rmw::PublishError>;

/// The serialized response of one call; see [`ResponseFuture`].
#[must_use = "the response is lost when this is dropped"]
pub struct SerializedResponseFuture {
    inner: Arc<Inner>,
    number: i64,
    started: Instant,
    /// The callback that sent the request: as long as it runs, a server that it keeps from running
    /// has not seen the request.
    sent_in: Option<Execution>,
    /// Who could respond when the request was sent; empty where the call does not end with them.
    responders: Vec<Gid>,
}

impl SerializedResponseFuture {
    /// How the call ended, if it has.
    fn look(&self) -> Option<Result<SerializedMessage, CallError>> {
        // Before the responses: the last act of a server may have been to respond.
        let is_left = self.is_left();
        if let Err(error) = self.inner.take_responses() {
            return Some(Err(error.into()));
        }
        if let Some(response) = self.inner.finish(self.number) {
            return Some(Ok(response));
        }
        if !self.inner.node.context().is_ok() {
            return Some(Err(self.inner.closed()));
        }
        is_left.then(|| Err(CallError::ServerLeft { service: self.inner.name.clone() }))
    }

    /// Whether nobody is there any more who could respond.
    fn is_left(&self) -> bool {
        if self.responders.is_empty() {
            return false;
        }
        let now = self.inner.end.responders();
        !self.responders.iter().any(|responder| now.contains(responder))
    }

    fn call_id(&self) -> CallId {
        CallId { client_gid: self.inner.end.gid().0, sequence_number: self.number }
    }

    /// Waits in place, at most for `timeout`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn wait(self, timeout: Duration) -> Result<SerializedMessage, CallError> {
        let deadline = Instant::now() + timeout;
        loop {
            let seen = self.inner.calls.pending.lock().notifications;
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
            let pending = self.inner.calls.pending.lock();
            let arrived = |pending: &Pending| {
                pending.calls.get(&self.number).is_some_and(|call| call.response.is_some())
            };
            if pending.notifications == seen && !arrived(&pending) {
                // Whatever wakes this is only a reason to look again.
                drop(self.inner.calls.changed.wait_timeout(pending, left));
            }
        }
    }
}

impl Future for SerializedResponseFuture {
    type Output = Result<SerializedMessage, CallError>;

    fn poll(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        // The waker is left first: a response that comes during the look below wakes it.
        if let Some(call) = self.inner.calls.pending.lock().calls.get_mut(&self.number) {
            call.waker = Some(task.waker().clone());
        }
        self.look().map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for SerializedResponseFuture {
    fn drop(&mut self) {
        self.inner.calls.pending.lock().calls.remove(&self.number);
    }
}
