//! Servers of services.

mod callback;
mod generic;
mod pending_request;
pub(crate) mod registry;
mod responder;
mod troubles;

pub use callback::ServiceCallback;
pub use generic::{GenericService, SerializedResponder};
pub(crate) use pending_request::PendingRequest;
pub use responder::Responder;
pub(crate) use troubles::Troubles;

use std::marker::PhantomData;
use std::sync::Arc;

use feros_engine::{FailureCounter, Gid, QosProfile, Sample, ServiceMapping};
use feros_executor::{Entity, Executable, Kind, Progress, Ringer};
use feros_message::{Service as ServiceType, ServiceEventKind};
use feros_shm::TransportSet;
use feros_transport::{CallCounts, MatchTransport, Request};

use crate::callback_group::{CallbackOptions, callback_setters};
use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::identity::ServiceIdentity;
use crate::logging;
use crate::node::{Node, WeakNode};
use crate::node_members::Member;
use crate::service_introspection::{SerializedEvents, ServiceEvents, ServiceIntrospectionState};

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
    name: String,
    end: feros_transport::Service,
    node: WeakNode,
    events: Arc<ServiceEvents<S>>,
    /// Keeps the service on the node's executor.
    _member: Member,
    _entry: registry::Entry,
}

impl<S: ServiceType> Service<S> {
    pub(crate) fn new<Form: 'static>(
        node: &Node,
        name: &str,
        options: ServiceOptions,
        callback: impl ServiceCallback<S, Form>,
    ) -> Result<Self, CreateError> {
        let name = node.resolve_service_name(name)?;
        let identity = ServiceIdentity::of::<S>();
        let ringer = Ringer::new();
        let end = open_end(node, &name, &identity, &options, &ringer)?;
        let events: Arc<ServiceEvents<S>> = Arc::default();
        let server = Server {
            troubles: Arc::new(Troubles::new(&name, node.logger())),
            end: end.clone(),
            callback,
            logger: node.logger().clone(),
            events: events.clone(),
            malformed: FailureCounter::new(),
            taken: None,
            service: PhantomData::<fn() -> (S, Form)>,
        };
        let entity = Entity::new(&ringer, server);
        let member = node.add_member_with(&name, entity, Kind::Service, &options.callback)?;
        let entry = registry::enter(end.gid(), &member);
        node.note_type(S::TYPE_DESCRIPTION);
        Ok(Self { name, end, node: node.downgrade(), events, _member: member, _entry: entry })
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
        let gone = || CreateError::NodeGone { name: self.name.clone() };
        let node = self.node.upgrade().ok_or_else(gone)?;
        self.events.configure(&node, &self.name, clock, qos.into(), state)
    }

    /// The fully qualified name of the service, after remapping.
    pub fn service_name(&self) -> &str {
        &self.name
    }

    /// The server's policies, with `SystemDefault` resolved.
    pub fn qos(&self) -> QosProfile {
        self.end.qos()
    }

    /// The identity of the endpoint that receives requests.
    pub fn gid(&self) -> Gid {
        self.end.gid()
    }

    /// The transport of each client's requests, with the reason why no shorter transport is used.
    pub fn transports(&self) -> Vec<MatchTransport> {
        self.end.transports()
    }

    /// The numbers of requests and responses so far, by transport.
    pub fn counts(&self) -> CallCounts {
        self.end.counts()
    }
}

/// The executor's side of a server: takes one request per call and answers it with the closure.
struct Server<S: ServiceType, Form, C> {
    troubles: Arc<Troubles>,
    end: feros_transport::Service,
    callback: C,
    logger: Arc<str>,
    events: Arc<ServiceEvents<S>>,
    malformed: FailureCounter,
    /// A request that was taken in advance, because some executor policies take the inputs of all
    /// entities before they run the first entity.
    taken: Option<(Request, Sample)>,
    service: PhantomData<fn() -> (S, Form)>,
}

impl<S: ServiceType, Form: 'static, C: ServiceCallback<S, Form>> Executable for Server<S, Form, C> {
    fn execute(&mut self) -> Progress {
        self.answer_one()
    }

    fn take(&mut self) {
        if self.taken.is_none() {
            self.taken = self.take_request();
        }
    }
}

impl<S: ServiceType, Form, C: ServiceCallback<S, Form>> Server<S, Form, C> {
    fn answer_one(&mut self) -> Progress {
        let Some((request, sample)) = self.taken.take().or_else(|| self.take_request()) else {
            return Progress::Done;
        };
        let logger = logging::enter_logger(&self.logger);
        self.answer(PendingRequest::new(request, &sample), &sample.payload);
        drop(logger);
        if self.end.may_have_request() { Progress::More } else { Progress::Done }
    }

    fn take_request(&self) -> Option<(Request, Sample)> {
        self.end.take_request().map_err(|error| self.troubles.untaken(&error)).ok().flatten()
    }

    fn answer(&mut self, request: PendingRequest, payload: &[u8]) {
        let message: S::Request = match feros_message::from_bytes(payload) {
            Ok(message) => message,
            Err(error) => {
                if let Some(count) = self.malformed.count() {
                    tracing::error!(
                        ros_logger = &*self.logger,
                        "{}: refused {} so far: a request of {} bytes from client {} is not a {} request: {error}",
                        self.troubles.service(),
                        count,
                        payload.len(),
                        request.client,
                        S::TYPE_NAME,
                    );
                }
                return;
            }
        };
        if let Some(events) = self.events.active() {
            events.request(ServiceEventKind::RequestReceived, request.call_id(), &message);
        }
        let responder =
            Responder::new(self.end.clone(), request, self.troubles.clone(), self.events.clone());
        if let Err(error) = self.callback.call(message, responder) {
            self.troubles.unsent(&error);
        }
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
