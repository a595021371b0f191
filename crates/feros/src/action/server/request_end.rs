//! One of a server's three services: takes requests, refuses those that are none of its type, and
//! responds.
//!
//! All three of an action are made here; introspection of services would be configured here too.

use std::sync::Arc;

use feros_executor::Ringer;
use feros_message::Message;
use feros_rmw::{FailureCounter, Gid, QosProfile, RequestId, Sample};

use crate::create_error::CreateError;
use crate::identity::ServiceIdentity;
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::serialize::{copy_into, serialize_into};
use crate::service::ServiceOptions;

/// The untyped end of one service of an action.
pub(super) struct RequestEnd {
    end: feros_transport::Service,
    name: String,
    type_name: String,
    logger: Arc<str>,
    malformed: FailureCounter,
}

impl RequestEnd {
    /// Makes the service; it rings when there is a request.
    pub(super) fn new(
        node: &Node,
        name: &str,
        identity: &ServiceIdentity,
        qos: QosProfile,
        ringer: &Ringer,
    ) -> Result<Self, CreateError> {
        let name = node.resolve_service_name(name)?;
        let ringer = ringer.clone();
        let ServiceOptions { mapping, replies_on_demand, local_requests_only, .. } =
            ServiceOptions::default();
        let end = feros_transport::Service::new(
            &**node.session(),
            feros_rmw::ServiceOptions {
                node: node.id(),
                service: &name,
                type_name: &identity.name,
                request_hash: identity.request_hash,
                response_hash: identity.response_hash,
                qos,
                mapping,
                replies_on_demand,
                local_requests_only,
                on_request: Arc::new(move || ringer.ring()),
            },
        )
        .map_err(|source| CreateError::Engine { node: node.name().clone(), source })?;
        let (logger, malformed) = (node.logger().clone(), FailureCounter::new());
        Ok(Self { end, name, type_name: identity.name.clone(), logger, malformed })
    }

    /// Identity of the endpoint that receives requests.
    pub(super) fn gid(&self) -> Gid {
        self.end.gid()
    }

    /// The next request, as it came.
    pub(super) fn take(&self) -> Option<(RequestId, Sample)> {
        let failed = |error| tracing::error!(ros_logger = &*self.logger, "{error}");
        self.end.take_request().map_err(failed).ok().flatten()
    }

    /// Reads a request; one that is none is counted and said, as often as the number doubles.
    pub(super) fn decode<M: Message>(&self, sample: &Sample) -> Option<M> {
        let refused = match feros_message::from_bytes(&sample.payload) {
            Ok(message) => return Some(message),
            Err(error) => error,
        };
        if let Some(count) = self.malformed.count() {
            tracing::error!(
                ros_logger = &*self.logger,
                "{}: refused {count} so far: a request of {} bytes from client {} is no {} request: {refused}",
                self.name,
                sample.payload.len(),
                sample.info.publisher_gid,
                self.type_name,
            );
        }
        None
    }

    /// Responds with a message.
    pub(super) fn respond<M: Message>(
        &self,
        request: &RequestId,
        response: &M,
    ) -> Result<(), PublishError> {
        serialize_into(response, &self.name, |size, fill| {
            self.end.send_response(request, size, fill)
        })
    }

    /// Responds with bytes.
    pub(super) fn respond_serialized(
        &self,
        request: &RequestId,
        response: &[u8],
    ) -> Result<(), PublishError> {
        copy_into(response, &self.name, |size, fill| self.end.send_response(request, size, fill))
    }

    /// Requests that were refused.
    pub(super) fn refused(&self) -> u64 {
        self.malformed.total()
    }
}
