//! A request between its arrival and its response.

use feros_rmw::{Gid, RequestId, Sample, ServiceMapping};
use feros_transport::Request;

use crate::service_introspection::CallId;

/// A request that waits for its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingRequest {
    /// The address of the response, and its transport.
    pub(crate) request: Request,
    /// The client: the endpoint that receives its responses or, in the mapping that does not name
    /// that endpoint, the endpoint that sent the request.
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

    /// The client's number of the call, and the client's address.
    pub(crate) fn id(&self) -> &RequestId {
        self.request.id()
    }

    /// The id of the call in introspection events.
    pub(crate) fn call_id(&self) -> CallId {
        CallId { client: self.client, sequence_number: self.id().sequence_number }
    }
}
