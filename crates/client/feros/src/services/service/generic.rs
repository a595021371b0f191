//! Servers of services whose type is known only at run time. Requests and responses are serialized
//! messages. Servers in other languages use this module.

use std::sync::Arc;

use feros_engine::{Gid, Payload, QosProfile, RequestId, Sample};
use feros_executor::{Entity, Executable, Kind, Progress, Ringer};
use feros_transport::{CallCounts, MatchTransport, Request};

use super::{PendingRequest, ServiceOptions, Troubles, open_end, registry};
use crate::callbacks::node_members::Member;
use crate::create_error::CreateError;
use crate::logging;
use crate::messages::forms::SerializedMessage;
use crate::messages::identity::ServiceIdentity;
use crate::messages::serialize::copy_into;
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::services::introspection::CallId;

/// Answers the requests of a service, which are serialized messages, until it is dropped. The
/// executor that spins its node calls the closure.
#[must_use = "a service ends when it is dropped"]
pub struct GenericService {
    name: Arc<str>,
    end: feros_transport::Service,
    /// Keeps the service on the node's executor.
    _member: Member,
    _entry: registry::Entry,
}

impl GenericService {
    pub(crate) fn new(
        node: &Node,
        name: &str,
        identity: &ServiceIdentity,
        options: &ServiceOptions,
        mut callback: impl FnMut(SerializedMessage, SerializedResponder) + Send + 'static,
    ) -> Result<Self, CreateError> {
        Self::with(node, name, identity, options, move |payload, asked| {
            let responder = SerializedResponder { asked, answered: false };
            callback(SerializedMessage::new(payload), responder);
        })
    }

    /// Makes a server that passes its requests to `answer`.
    pub(super) fn with(
        node: &Node,
        name: &str,
        identity: &ServiceIdentity,
        options: &ServiceOptions,
        answer: impl FnMut(Payload, Asked) + Send + 'static,
    ) -> Result<Self, CreateError> {
        let name: Arc<str> = node.resolve_service_name(name)?.into();
        let ringer = Ringer::new();
        let end = open_end(node, &name, identity, options, &ringer)?;
        let server = Server {
            troubles: Arc::new(Troubles::new(&name, node.logger())),
            end: end.clone(),
            answer,
            logger: node.logger().clone(),
            taken: None,
        };
        let entity = Entity::new(&ringer, server);
        let member = node.add_member_with(&name, entity, Kind::Service, &options.callback)?;
        let entry = registry::enter(end.gid(), &member);
        Ok(Self { name, end, _member: member, _entry: entry })
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

/// A taken request, and the parts that its response needs.
pub(super) struct Asked {
    pub(super) end: feros_transport::Service,
    pub(super) request: PendingRequest,
    pub(super) troubles: Arc<Troubles>,
}

/// The executor's side of a server: takes one request per call and passes it to the closure.
struct Server<C> {
    troubles: Arc<Troubles>,
    end: feros_transport::Service,
    answer: C,
    logger: Arc<str>,
    /// A request that was taken in advance, because some executor policies take the inputs of all
    /// entities before they run the first entity.
    taken: Option<(Request, Sample)>,
}

impl<C: FnMut(Payload, Asked) + Send> Executable for Server<C> {
    fn execute(&mut self) -> Progress {
        let Some((request, sample)) = self.taken.take().or_else(|| self.take_request()) else {
            return Progress::Done;
        };
        let request = PendingRequest::new(request, &sample);
        let asked = Asked { end: self.end.clone(), request, troubles: self.troubles.clone() };
        let logger = logging::enter_logger(&self.logger);
        (self.answer)(sample.payload, asked);
        drop(logger);
        if self.end.may_have_request() { Progress::More } else { Progress::Done }
    }

    fn take(&mut self) {
        if self.taken.is_none() {
            self.taken = self.take_request();
        }
    }
}

impl<C> Server<C> {
    fn take_request(&self) -> Option<(Request, Sample)> {
        self.end.take_request().map_err(|error| self.troubles.untaken(&error)).ok().flatten()
    }
}

/// Sends the serialized response to one request, now or later, from any thread.
///
/// If the responder is dropped without a response, the client keeps waiting, and a warning is
/// logged.
#[must_use = "the client waits for a response"]
pub struct SerializedResponder {
    asked: Asked,
    answered: bool,
}

impl SerializedResponder {
    /// Sends the response, which is already serialized, with its 4-byte header.
    ///
    /// # Errors
    /// When the bytes are not a serialized message; when they cannot be sent; or when the client is
    /// known to have left.
    pub fn send(mut self, response: &[u8]) -> Result<(), PublishError> {
        self.answered = true;
        let Asked { end, request, troubles } = &self.asked;
        copy_into(response, troubles.service(), |size, fill| {
            end.send_response(&request.request, size, fill)
        })
    }

    /// Sends the response as [`send`](Self::send) does, but counts and logs an error. This is for
    /// callers that cannot handle the error: a client may leave at any time.
    pub fn answer(self, response: &[u8]) {
        let troubles = self.asked.troubles.clone();
        if let Err(error) = self.send(response) {
            troubles.unsent(&error);
        }
    }

    /// Deliberately leaves the request without a response, and logs no warning. The client waits
    /// until its timeout.
    pub fn give_up(mut self) {
        self.answered = true;
    }

    /// The id of the call in introspection events.
    pub fn call_id(&self) -> CallId {
        self.asked.request.call_id()
    }

    /// The id of the request.
    pub fn request_id(&self) -> &RequestId {
        self.asked.request.id()
    }
}

impl Drop for SerializedResponder {
    fn drop(&mut self) {
        if !self.answered {
            self.asked.troubles.dropped();
        }
    }
}
