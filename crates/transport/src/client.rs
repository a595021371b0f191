//! The untyped end of a client of a service. Requests and responses take the network transport.

use std::sync::Arc;

use feros_rmw::{
    Client as EngineClient, ClientOptions, CreateEndpointError, Gid, PublishError, QosProfile,
    Sample, Session, TakeError,
};

/// A client without message types.
///
/// Everything may be called from any thread.
#[derive(Clone)]
pub struct Client {
    engine: Arc<dyn EngineClient>,
}

impl Client {
    /// Makes the endpoint.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn new(
        session: &dyn Session,
        options: ClientOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        Ok(Self { engine: session.create_client(options)? })
    }

    /// Whether a server is there, so that a request sent now is answered.
    pub fn service_is_available(&self) -> bool {
        self.engine.service_is_available()
    }

    /// The servers to which a request sent now goes.
    pub fn servers(&self) -> Vec<Gid> {
        self.engine.servers()
    }

    /// What the responses of the servers come from; one that is missing here sends none any more.
    pub fn responders(&self) -> Vec<Gid> {
        self.engine.responders()
    }

    /// Sends a request; says its number.
    ///
    /// # Errors
    /// When the request cannot be serialized or sent.
    pub fn send_request(
        &self,
        size_bytes: usize,
        fill: feros_rmw::engine::Fill<'_>,
    ) -> Result<i64, PublishError> {
        self.engine.send_request(size_bytes, fill)
    }

    /// The next response and the number of its request. Never blocks.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError> {
        self.engine.take_response()
    }

    /// Its policies after system-default was resolved.
    pub fn qos(&self) -> QosProfile {
        self.engine.qos()
    }

    /// Identity of the endpoint that sends requests.
    pub fn gid(&self) -> Gid {
        self.engine.gid()
    }
}
