//! The untyped end of a server of a service. Requests and responses take the network transport.

use std::sync::Arc;

use feros_rmw::{
    CreateEndpointError, Gid, PublishError, QosProfile, RequestId, Sample,
    Service as EngineService, ServiceOptions, Session, TakeError,
};

/// A server without message types.
///
/// Everything may be called from any thread.
#[derive(Clone)]
pub struct Service {
    engine: Arc<dyn EngineService>,
}

impl Service {
    /// Makes the endpoint.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn new(
        session: &dyn Session,
        options: ServiceOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        Ok(Self { engine: session.create_service(options)? })
    }

    /// The next request and what its response needs. Never blocks.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError> {
        self.engine.take_request()
    }

    /// Sends the response to a request.
    ///
    /// # Errors
    /// When the response cannot be serialized or sent, or the client left.
    pub fn send_response(
        &self,
        request: &RequestId,
        size_bytes: usize,
        fill: feros_rmw::engine::Fill<'_>,
    ) -> Result<(), PublishError> {
        self.engine.send_response(request, size_bytes, fill)
    }

    /// Its policies after system-default was resolved.
    pub fn qos(&self) -> QosProfile {
        self.engine.qos()
    }

    /// Identity of the endpoint that receives requests.
    pub fn gid(&self) -> Gid {
        self.engine.gid()
    }
}
