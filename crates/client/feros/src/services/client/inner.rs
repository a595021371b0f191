//! The endpoint of a client, and its calls.
//!
//! An arriving response wakes the client's waiters through a doorbell. A waiter (a blocked thread
//! or a future that is polled) takes all responses that have arrived, and hands those of other
//! calls to their waiters. So a blocking call inside a callback cannot deadlock, unless the calling
//! thread is the only thread that could run the server: then the call fails immediately.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

use feros_engine::{FailureCounters, Payload, TakeError};
use feros_executor::{Execution, Ringer};
use feros_sync::Mutex;
use feros_transport::Recipients;

use super::{CallError, ClientOptions};
use crate::context::ShutdownGuard;
use crate::create_error::CreateError;
use crate::graph::changes::GraphChanges;
use crate::messages::forms::SerializedMessage;
use crate::messages::identity::ServiceIdentity;
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::services::service::registry;

/// The endpoint and the open calls of a client, which its clones and its futures share.
pub(super) struct Inner {
    pub(super) name: String,
    pub(super) end: feros_transport::Client,
    pub(super) node: Node,
    pub(super) calls: Arc<Calls>,
    /// This lock is held from the sending of a request until its number is in `calls`.
    sending: Mutex<()>,
    _shutdown_guard: ShutdownGuard,
}

/// The calls whose responses have not been taken yet.
///
/// The engine's notification refers only to this struct. The notification may run while the client
/// is being dropped, so it must own neither the engine's client nor the node, or it might drop them
/// inside the engine.
pub(super) struct Calls {
    /// The calls, by the number of the request.
    pub(super) pending: Mutex<HashMap<i64, Call>>,
    /// Wakes blocked threads when a response may have arrived.
    ringer: Ringer,
    graph_changes: Arc<GraphChanges>,
    /// The number of calls that were given up before their responses were taken.
    given_up: AtomicUsize,
}

#[derive(Default)]
pub(super) struct Call {
    pub(super) waker: Option<Waker>,
    response: Option<Payload>,
}

impl Calls {
    /// Hands a response to its call, and returns the waker of the task that awaits the response.
    /// `None` if the call was given up.
    fn answer(&self, number: i64, response: Payload) -> Option<Option<Waker>> {
        let mut pending = self.pending.lock();
        let Some(call) = pending.get_mut(&number) else {
            let fewer = |calls: usize| calls.checked_sub(1);
            let _ = self.given_up.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
            return None;
        };
        call.response = Some(response);
        Some(call.waker.take())
    }

    /// Forgets a call whose response is no longer wanted.
    pub(super) fn give_up(&self, number: i64) {
        let call = self.pending.lock().remove(&number);
        if call.is_some_and(|call| call.response.is_none()) {
            self.given_up.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wakes all tasks that await responses, so that each checks for its own.
    fn wake_futures(&self) {
        let wakers: Vec<Waker> = {
            let mut pending = self.pending.lock();
            pending.values_mut().filter_map(|call| call.waker.take()).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Inner {
    /// Makes the endpoint of a client on this node.
    pub(super) fn open(
        node: &Node,
        name: &str,
        identity: &ServiceIdentity,
        options: ClientOptions,
    ) -> Result<Self, CreateError> {
        let name = node.resolve_service_name(name)?;
        let calls = Arc::new(Calls {
            pending: Mutex::default(),
            ringer: Ringer::new(),
            graph_changes: node.context().changes().clone(),
            given_up: AtomicUsize::new(0),
        });
        let [notified, matched, shut_down] = [(); 3].map(|()| calls.clone());
        let end = feros_transport::Client::new(
            &**node.session(),
            feros_transport::ClientOptions {
                node: node.id(),
                service: &name,
                type_name: &identity.name,
                type_hash: identity.type_hash,
                request_hash: identity.request_hash,
                response_hash: identity.response_hash,
                qos: options.qos,
                force_mapping: options.force_mapping,
                transports: options.transports.intersection(node.transports()),
                ringer: &calls.ringer,
                on_response: Arc::new(move || notified.wake_futures()),
                on_match: Arc::new(move || {
                    matched.wake_futures();
                    matched.graph_changes.announce();
                }),
            },
        )
        .map_err(|source| CreateError::Engine { node: node.name().clone(), source })?;
        let shutdown_guard = node.context().on_shutdown(move || {
            shut_down.ringer.ring();
            shut_down.wake_futures();
            shut_down.graph_changes.announce();
        });
        Ok(Self {
            name,
            end,
            node: node.clone(),
            calls,
            sending: Mutex::default(),
            _shutdown_guard: shutdown_guard,
        })
    }

    /// Sends a request without a check for servers. Returns its number and its recipients.
    pub(super) fn send(
        &self,
        send: impl FnOnce(SendRequest<'_>) -> Result<Sent, PublishError>,
    ) -> Result<(i64, Recipients), PublishError> {
        self.send_by(|size, fill| self.end.send_request(size, fill).map(Some), send)
    }

    /// Sends a request as [`send`](Self::send) does, or fails if no server could answer it.
    pub(super) fn send_if_served(
        &self,
        send: impl FnOnce(SendRequest<'_>) -> Result<Sent, PublishError>,
    ) -> Result<(i64, Recipients), PublishError> {
        self.send_by(|size, fill| self.end.send_request_if_served(size, fill), send)
    }

    fn send_by(
        &self,
        mut by: impl FnMut(
            usize,
            feros_engine::engine::Fill<'_>,
        ) -> Result<Sent, feros_engine::PublishError>,
        send: impl FnOnce(SendRequest<'_>) -> Result<Sent, PublishError>,
    ) -> Result<(i64, Recipients), PublishError> {
        static KEPT: FailureCounters = FailureCounters::new();
        // No other code takes the responses of calls that the application gave up. If they stayed
        // in the queue, they would take the space of later responses.
        if self.calls.given_up.load(Ordering::Relaxed) > 0
            && let Err(error) = self.take_responses(NO_CALL)
            && let Some(so_far) = KEPT.so_far(&self.name)
        {
            tracing::warn!(
                "responses of {} that no call awaits could not be removed: {error}{so_far}",
                self.name
            );
        }
        let _sending = self.sending.lock();
        let nobody = || PublishError::NoServer { service: self.name.clone() };
        let (number, recipients) = send(&mut by)?.ok_or_else(nobody)?;
        self.calls.pending.lock().insert(number, Call::default());
        Ok((number, recipients))
    }

    /// Takes all responses that have arrived and hands them to their calls; responses of calls that
    /// were given up are dropped. `own` is the number of the call that this thread waits for.
    pub(super) fn take_responses(&self, own: i64) -> Result<(), TakeError> {
        while let Some((number, sample)) = self.end.take_response()? {
            if !self.calls.pending.lock().contains_key(&number) {
                // Another thread may be about to enter this call in `pending`, which it does before
                // it releases the lock.
                drop(self.sending.lock());
            }
            match self.calls.answer(number, sample.payload) {
                Some(Some(waker)) if number != own => waker.wake(),
                // The poll that called this function checks for its own response next.
                Some(Some(_)) => {}
                // Another thread may be waiting for this response, after checking for it in vain.
                Some(None) if number != own => self.calls.ringer.ring(),
                Some(None) | None => {}
            }
        }
        Ok(())
    }

    /// Names the server that a wait waits for, in error messages.
    pub(super) fn server(&self) -> String {
        format!("a server of {}", self.name)
    }

    /// Fails if the response could come only after the callback that runs on this thread has ended.
    pub(super) fn check_servers(&self) -> Result<(), CallError> {
        if Execution::current().is_none() {
            return Ok(());
        }
        let Some(obstacle) = registry::obstacle(&self.end.servers()) else { return Ok(()) };
        let (service, node) = (self.name.clone(), self.node.name().fully_qualified());
        Err(CallError::ServerBlocked { service, node, obstacle })
    }

    /// Takes the response of a call if it has arrived, and ends the call.
    pub(super) fn finish(&self, number: i64) -> Option<SerializedMessage> {
        let mut pending = self.calls.pending.lock();
        let response = pending.get_mut(&number)?.response.take()?;
        pending.remove(&number);
        Some(SerializedMessage::new(response))
    }

    pub(super) fn closed(&self) -> CallError {
        let service = self.name.clone();
        if self.node.context().is_ok() {
            CallError::Closed { service }
        } else {
            CallError::Shutdown { service }
        }
    }
}

/// No call has this number: requests are numbered from 1.
const NO_CALL: i64 = 0;

/// The number of a request and its recipients; `None` if no server could get the request.
pub(super) type Sent = Option<(i64, Recipients)>;

/// A function that sends a request of the given size; the given closure writes the request.
pub(super) type SendRequest<'a> = &'a mut dyn FnMut(
    usize,
    feros_engine::engine::Fill<'_>,
) -> Result<Sent, feros_engine::PublishError>;
