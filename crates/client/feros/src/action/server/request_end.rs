//! The server of one of the three services of an action. It takes requests, refuses malformed ones,
//! and sends responses. If introspection is on, it publishes events for requests and responses.

use std::sync::Arc;

use feros_engine::{FailureCounter, Gid, Payload, QosProfile, Sample};
use feros_executor::Ringer;
use feros_message::{DecodeError, Message, ServiceEventKind, to_vec};

use crate::action::events::Events;
use crate::create_error::CreateError;
use crate::messages::identity::ServiceIdentity;
use crate::messages::serialize::copy_into;
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::services::service::{PendingRequest, Troubles, open_end};

/// The untyped server of one service of an action.
pub(super) struct RequestEnd {
    end: feros_transport::Service,
    type_name: String,
    logger: Arc<str>,
    troubles: Troubles,
    malformed: FailureCounter,
    events: Events,
}

impl RequestEnd {
    /// Makes the service, which rings `ringer` when there is a request.
    pub(super) fn new(
        node: &Node,
        name: &str,
        identity: &ServiceIdentity,
        qos: QosProfile,
        ringer: &Ringer,
        events: Events,
    ) -> Result<Self, CreateError> {
        let name = node.resolve_service_name(name)?;
        let end = open_end(node, &name, identity, &qos.into(), ringer)?;
        let (logger, malformed) = (node.logger().clone(), FailureCounter::new());
        let troubles = Troubles::new(&name, &logger);
        let type_name = identity.name.clone();
        Ok(Self { end, type_name, logger, troubles, malformed, events })
    }

    /// The identity of the endpoint that receives requests.
    pub(super) fn gid(&self) -> Gid {
        self.end.gid()
    }

    /// Whether there may be a request to take.
    pub(super) fn may_have_request(&self) -> bool {
        self.end.may_have_request()
    }

    /// Takes the next request, which is still serialized.
    pub(super) fn take(&self) -> Option<(PendingRequest, Sample)> {
        let taken = self.end.take_request().map_err(|error| self.troubles.untaken(&error));
        let (id, sample) = taken.ok().flatten()?;
        Some((PendingRequest::new(id, &sample), sample))
    }

    /// Decodes a request. A malformed request is counted, and logged each time the count doubles.
    pub(super) fn open<T>(
        &self,
        request: &PendingRequest,
        sample: Sample,
        open: impl FnOnce(Payload) -> Result<T, DecodeError>,
    ) -> Option<T> {
        let size = sample.payload.len();
        // The event is published only after the request has been decoded, which consumes the bytes,
        // so they are copied first.
        let told = self.events.as_ref().filter(|events| events.is_active());
        let bytes = told.map(|_| sample.payload.to_vec());
        let refused = match open(sample.payload) {
            Ok(opened) => {
                if let (Some(events), Some(bytes)) = (told, bytes) {
                    events.request(ServiceEventKind::RequestReceived, request.call_id(), &bytes);
                }
                return Some(opened);
            }
            Err(error) => error,
        };
        if let Some(count) = self.malformed.count() {
            tracing::error!(
                ros_logger = &*self.logger,
                "{}: {count} requests have been refused so far; the last, of {size} bytes from \
                 client {}, is not a {} request: {refused}",
                self.troubles.service(),
                request.client,
                self.type_name,
            );
        }
        None
    }

    /// Sends a response that is given as a message.
    pub(super) fn respond<M: Message>(
        &self,
        request: &PendingRequest,
        response: &M,
    ) -> Result<(), PublishError> {
        let unreadable = |source| {
            let topic = self.troubles.service().to_owned();
            PublishError::Encode { topic, source }
        };
        let response = to_vec(response).map_err(unreadable)?;
        self.respond_serialized(request, &response)
    }

    /// Sends a response that is given as serialized bytes.
    pub(super) fn respond_serialized(
        &self,
        request: &PendingRequest,
        response: &[u8],
    ) -> Result<(), PublishError> {
        copy_into(response, self.troubles.service(), |size, fill| {
            self.end.send_response(&request.request, size, fill)
        })?;
        if let Some(events) = &self.events {
            events.response(ServiceEventKind::ResponseSent, request.call_id(), response);
        }
        Ok(())
    }

    /// Logs the error of a response that could not be sent.
    pub(super) fn say(&self, sent: Result<(), PublishError>) {
        if let Err(error) = sent {
            self.troubles.unsent(&error);
        }
    }

    /// The number of requests that were refused as malformed.
    pub(super) fn refused(&self) -> u64 {
        self.malformed.total()
    }
}
