//! Clients of services. A call returns a future, which also has a blocking `wait`. Calls need no
//! executor.

mod call_error;
mod generic;
mod inner;
mod response_future;

pub use call_error::CallError;
pub use generic::GenericClient;
pub use response_future::{ResponseFuture, SerializedResponseFuture};

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::{QosProfile, ServiceMapping};
use feros_message::{Service as ServiceType, ServiceEventKind};
use feros_shm::TransportSet;

use super::introspection::{SerializedEvents, ServiceEvents, ServiceIntrospectionState};
use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::messages::identity::ServiceIdentity;
use crate::messages::serialize::serialize_into;
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::wait_error::WaitError;

/// The options of a service client.
#[derive(Debug, Clone, Copy)]
pub struct ClientOptions {
    /// The QoS policies of requests and responses.
    pub qos: QosProfile,
    /// The mapping to use regardless of the server's announcement, for tests. `None` means the
    /// mapping that the server announces.
    pub force_mapping: Option<ServiceMapping>,
    /// The transports allowed for requests and responses; the context must allow a transport too.
    pub transports: TransportSet,
}

impl ClientOptions {
    /// Limits requests and responses to these transports.
    pub fn transports(self, transports: impl Into<TransportSet>) -> Self {
        Self { transports: transports.into(), ..self }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        let (qos, transports) = (QosProfile::services_default(), TransportSet::ALL);
        Self { qos, force_mapping: None, transports }
    }
}

impl From<QosProfile> for ClientOptions {
    fn from(qos: QosProfile) -> Self {
        Self { qos, ..Self::default() }
    }
}

/// Calls a service. Clones share the endpoint, which is removed from the graph when the last clone
/// is dropped.
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

    /// Sends a request. Await the response, or block with [`ResponseFuture::wait`].
    ///
    /// A request reaches only the servers that match now, so wait for the service first, with
    /// [`wait_for_service`](GenericClient::wait_for_service) or
    /// [`wait_for_service_async`](GenericClient::wait_for_service_async).
    ///
    /// # Errors
    /// When there is no server; when the request cannot be serialized, for example because it
    /// exceeds a bound of its type; or when it cannot be sent.
    pub fn call(&self, request: &S::Request) -> Result<ResponseFuture<S>, PublishError> {
        let inner = &self.untyped.0;
        let sent = inner.send_if_served(|send| serialize_into(request, &inner.name, send))?;
        let serialized = SerializedResponseFuture::new(inner.clone(), sent);
        if let Some(events) = self.events.active() {
            events.request(ServiceEventKind::RequestSent, serialized.call_id(), request);
        }
        Ok(ResponseFuture { serialized, events: self.events.clone() })
    }

    /// Blocks until there is a server, calls it and blocks until the response arrives, for at most
    /// `timeout` in total.
    ///
    /// # Errors
    /// See [`CallError`]. With [`CallError::ServerBlocked`], the request was not sent.
    pub fn call_and_wait(
        &self,
        request: &S::Request,
        timeout: Duration,
    ) -> Result<S::Response, CallError> {
        let started = Instant::now();
        // The wait begins before the request is sent, so that its setup does not delay the
        // response.
        let call = || {
            self.untyped.0.check_servers()?;
            let waiting = self.untyped.0.end.begin_wait();
            Ok::<_, CallError>((waiting, self.call(request)))
        };
        let (mut waiting, mut sent) = call()?;
        if let Err(PublishError::NoServer { .. }) = sent {
            drop(waiting);
            self.wait_for_service(timeout).map_err(|error| match error {
                WaitError::Timeout { waited, .. } => {
                    let service = self.service_name().to_owned();
                    CallError::Timeout { service, waited, available: false }
                }
                WaitError::Shutdown { .. } => self.untyped.0.closed(),
            })?;
            (waiting, sent) = call()?;
        }
        sent?.wait_with(waiting, timeout.saturating_sub(started.elapsed()))
    }

    /// Turns introspection on: publishes events of each request on `<service>/_service_event`, with
    /// the times of `clock` and the policies `qos`. [`ServiceIntrospectionState::Off`], the initial
    /// state, turns it off.
    ///
    /// One event is published when the request is sent, and one when the caller takes the response;
    /// a call that was given up has no second event. `feros service echo` shows the events.
    ///
    /// # Errors
    /// When the policies are not allowed, or the engine refuses the publisher.
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
