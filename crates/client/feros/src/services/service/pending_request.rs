//! A request that has arrived and has no response yet.

use feros_engine::{Gid, RequestId, Sample, ServiceMapping};
use feros_transport::Request;

use crate::services::introspection::CallId;

/// A request that has no response yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingRequest {
    /// The address and the transport for the response.
    pub(crate) request: Request,
    /// The client's identity: the endpoint that receives the responses. The mapping `PayloadHeader`
    /// does not name that endpoint; with this mapping, the field holds the endpoint that sent the
    /// request.
    pub(crate) client: Gid,
}

impl PendingRequest {
    pub(crate) fn new(request: Request, sample: &Sample) -> Self {
        let client = match request.id().mapping {
            ServiceMapping::RelatedSampleIdentity => Gid(request.id().client),
            ServiceMapping::PayloadHeader => sample.info.publisher_gid,
        };
        Self { request, client }
    }

    /// The id of the request: the client's address, and the number that the client gave to the
    /// call.
    pub(crate) fn id(&self) -> &RequestId {
        self.request.id()
    }

    /// The id of the call in introspection events.
    pub(crate) fn call_id(&self) -> CallId {
        CallId { client: self.client, sequence_number: self.id().sequence_number }
    }
}
