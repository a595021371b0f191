//! Servers of services.

mod callback;
mod generic;
mod pending_request;
pub(crate) mod registry;
mod responder;
mod troubles;

pub use callback::ServiceCallback;
use generic::Asked;
pub use generic::{GenericService, SerializedResponder};
pub(crate) use pending_request::PendingRequest;
pub use responder::Responder;
pub(crate) use troubles::Troubles;

use std::sync::Arc;

use feros_engine::{FailureCounter, Payload, QosProfile, ServiceMapping};
use feros_executor::Ringer;
use feros_message::{Service as ServiceType, ServiceEventKind};
use feros_shm::TransportSet;

use super::introspection::{SerializedEvents, ServiceEvents, ServiceIntrospectionState};
use crate::callbacks::group::{CallbackOptions, callback_setters};
use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::messages::identity::ServiceIdentity;
use crate::node::{Node, WeakNode};

/// The options of a service server.
#[derive(Clone)]
pub struct ServiceOptions {
    /// The QoS policies of requests and responses.
    pub qos: QosProfile,
    /// The mapping that the server announces. With any mapping, the server understands the clients
    /// of all stock engines.
    pub mapping: ServiceMapping,
    /// Whether the endpoint that sends responses is made only when there is a client. This saves
    /// memory for services that rarely have clients, such as the parameter services. Other nodes
    /// can discover the service in either case.
    pub replies_on_demand: bool,
    /// Whether to ignore requests from other hosts, determined by their source address. A warning
    /// is logged, and the client gets no response. A container with its own network counts as
    /// another host. Requests through shared memory always come from this host and the same user.
    pub local_requests_only: bool,
    /// The transports allowed for requests and responses; the context must allow a transport too.
    pub transports: TransportSet,
    /// The scheduling options of the callback.
    pub callback: CallbackOptions,
}

callback_setters!(ServiceOptions);

impl Default for ServiceOptions {
    fn default() -> Self {
        let (mapping, callback) = (ServiceMapping::default(), CallbackOptions::default());
        Self {
            qos: QosProfile::services_default(),
            mapping,
            replies_on_demand: false,
            local_requests_only: false,
            transports: TransportSet::ALL,
            callback,
        }
    }
}

impl ServiceOptions {
    /// Limits requests and responses to these transports.
    pub fn transports(self, transports: impl Into<TransportSet>) -> Self {
        Self { transports: transports.into(), ..self }
    }
}

impl From<QosProfile> for ServiceOptions {
    fn from(qos: QosProfile) -> Self {
        Self { qos, ..Self::default() }
    }
}

/// Answers the requests of a service until it is dropped. The executor that spins its node calls
/// the closure.
#[must_use = "a service ends when it is dropped"]
pub struct Service<S: ServiceType> {
    untyped: GenericService,
    node: WeakNode,
    events: Arc<ServiceEvents<S>>,
}

impl<S: ServiceType> Service<S> {
    pub(crate) fn new<Form: 'static>(
        node: &Node,
        name: &str,
        options: ServiceOptions,
        mut callback: impl ServiceCallback<S, Form>,
    ) -> Result<Self, CreateError> {
        let (events, logger) = (Arc::<ServiceEvents<S>>::default(), node.logger().clone());
        let (malformed, published) = (FailureCounter::new(), events.clone());
        let answer = move |payload: Payload, Asked { end, request, troubles }: Asked| {
            let message: S::Request = match feros_message::from_bytes(&payload) {
                Ok(message) => message,
                Err(error) => {
                    if let Some(count) = malformed.count() {
                        tracing::error!(
                            ros_logger = &*logger,
                            "{}: {} requests have been refused so far; the last, of {} bytes from \
                             client {}, is not a {} request: {error}",
                            troubles.service(),
                            count,
                            payload.len(),
                            request.client,
                            S::TYPE_NAME,
                        );
                    }
                    return;
                }
            };
            if let Some(events) = published.active() {
                events.request(ServiceEventKind::RequestReceived, request.call_id(), &message);
            }
            let responder = Responder::new(end, request, troubles.clone(), published.clone());
            if let Err(error) = callback.call(message, responder) {
                troubles.unsent(&error);
            }
        };
        let identity = ServiceIdentity::of::<S>();
        let untyped = GenericService::with(node, name, &identity, &options, answer)?;
        node.note_type(S::TYPE_DESCRIPTION);
        Ok(Self { untyped, node: node.downgrade(), events })
    }

    /// Turns introspection on: publishes events of each request on `<service>/_service_event`, with
    /// the times of `clock` and the policies `qos`. [`ServiceIntrospectionState::Off`], the initial
    /// state, turns it off.
    ///
    /// One event is published when the request is taken, before the closure is called, and one when
    /// the response is sent. `feros service echo` shows the events.
    ///
    /// # Errors
    /// When the node no longer exists, the policies are not allowed, or the engine refuses the
    /// publisher.
    pub fn configure_introspection(
        &self,
        clock: &Clock,
        qos: impl Into<QosProfile>,
        state: ServiceIntrospectionState,
    ) -> Result<(), CreateError> {
        let name = self.service_name();
        let gone = || CreateError::NodeGone { name: name.to_owned() };
        let node = self.node.upgrade().ok_or_else(gone)?;
        self.events.configure(&node, name, clock, qos.into(), state)
    }
}

impl<S: ServiceType> std::ops::Deref for Service<S> {
    type Target = GenericService;

    fn deref(&self) -> &GenericService {
        &self.untyped
    }
}

/// Makes the untyped endpoint of a server. Each request rings `ringer`.
pub(crate) fn open_end(
    node: &Node,
    name: &str,
    identity: &ServiceIdentity,
    options: &ServiceOptions,
    ringer: &Ringer,
) -> Result<feros_transport::Service, CreateError> {
    let options = feros_transport::ServiceOptions {
        node: node.id(),
        service: name,
        type_name: &identity.name,
        type_hash: identity.type_hash,
        request_hash: identity.request_hash,
        response_hash: identity.response_hash,
        qos: options.qos,
        mapping: options.mapping,
        replies_on_demand: options.replies_on_demand,
        local_requests_only: options.local_requests_only,
        transports: options.transports.intersection(node.transports()),
        ringer,
    };
    feros_transport::Service::new(&**node.session(), options)
        .map_err(|source| CreateError::Engine { node: node.name().clone(), source })
}
