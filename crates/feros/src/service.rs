//! Servers of services.

mod callback;

pub use callback::ServiceCallback;

use std::marker::PhantomData;
use std::sync::Arc;

use feros_executor::{Entity, Progress, Ringer};
use feros_message::Service as ServiceType;
use feros_rmw::{Gid, MessageInfo, QosProfile, RequestId, Service as EngineService, ServiceMapping};

use crate::endpoint::Member;
use crate::error::{CreateError, ServiceIdentity};
use crate::logging;
use crate::node::Node;
use crate::publisher::{PublishError, serialize_into};

/// How a server of a service is made.
#[derive(Debug, Clone, Copy)]
pub struct ServiceOptions {
    /// Policies of both directions.
    pub qos: QosProfile,
    /// How the server announces itself; it understands the clients of every stock middleware in any case.
    pub mapping: ServiceMapping,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self { qos: QosProfile::services_default(), mapping: ServiceMapping::default() }
    }
}

impl From<QosProfile> for ServiceOptions {
    fn from(qos: QosProfile) -> Self {
        Self { qos, ..Self::default() }
    }
}

/// Answers the requests of a service for as long as it lives; the executor that spins its node calls its closure.
#[must_use = "a service ends when it is dropped"]
pub struct Service<S> {
    name: String,
    engine: Arc<dyn EngineService>,
    service: PhantomData<fn() -> S>,
    /// Keeps the service on the node's executor.
    _member: Member,
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
        let on_request = {
            let ringer = ringer.clone();
            Arc::new(move || ringer.ring())
        };
        let engine = node
            .session()
            .create_service(feros_rmw::ServiceOptions {
                node: node.id(),
                service: &name,
                type_name: &identity.name,
                request_hash: identity.request_hash,
                response_hash: identity.response_hash,
                qos: options.qos,
                mapping: options.mapping,
                on_request,
            })
            .map_err(|source| CreateError::Engine { node: node.name().clone(), source })?;
        let mut server = Server {
            name: name.as_str().into(),
            engine: engine.clone(),
            callback,
            logger: node.logger().clone(),
            malformed: 0,
            service: PhantomData::<fn() -> (S, Form)>,
        };
        let member = node.add_member(&name, Entity::new(&ringer, move || server.answer_one()))?;
        Ok(Self { name, engine, service: PhantomData, _member: member })
    }

    /// The fully qualified name, after remapping.
    pub fn service_name(&self) -> &str {
        &self.name
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

/// Sends the response to one request, now or later, from any thread.
///
/// Dropping it without a response leaves the client waiting; that is logged.
#[must_use = "the client waits for a response"]
pub struct Responder<S> {
    engine: Arc<dyn EngineService>,
    request: RequestId,
    name: Arc<str>,
    logger: Arc<str>,
    answered: bool,
    service: PhantomData<fn(S)>,
}

impl<S: ServiceType> Responder<S> {
    /// Sends the response.
    ///
    /// # Errors
    /// When it violates its type, or the client left.
    pub fn send(mut self, response: &S::Response) -> Result<(), PublishError> {
        self.answered = true;
        serialize_into(response, &self.name, |size, fill| {
            self.engine.send_response(&self.request, size, fill)
        })
    }
}

impl<S> Drop for Responder<S> {
    fn drop(&mut self) {
        if !self.answered {
            tracing::warn!(
                ros_logger = &*self.logger,
                "a request of {} was dropped without a response: its client waits until it gives up",
                self.name
            );
        }
    }
}

/// Takes one request per turn and has the closure answer it.
struct Server<S, Form, C> {
    name: Arc<str>,
    engine: Arc<dyn EngineService>,
    callback: C,
    logger: Arc<str>,
    malformed: u64,
    service: PhantomData<fn() -> (S, Form)>,
}

impl<S: ServiceType, Form, C: ServiceCallback<S, Form>> Server<S, Form, C> {
    fn answer_one(&mut self) -> Progress {
        match self.engine.take_request() {
            Ok(Some((request, sample))) => {
                let logger = logging::enter_logger(&self.logger);
                self.answer(request, &sample.payload, sample.info);
                drop(logger);
                Progress::More
            }
            Ok(None) => Progress::Done,
            Err(error) => {
                tracing::error!(ros_logger = &*self.logger, "{error}");
                Progress::Done
            }
        }
    }

    fn answer(&mut self, request: RequestId, payload: &[u8], info: MessageInfo) {
        let message: S::Request = match feros_message::from_bytes(payload) {
            Ok(message) => message,
            Err(error) => {
                self.malformed += 1;
                if self.malformed.is_power_of_two() {
                    tracing::error!(
                        ros_logger = &*self.logger,
                        "{}: refused {} so far: a request of {} bytes from client {} is no {} request: {error}",
                        self.name,
                        self.malformed,
                        payload.len(),
                        info.publisher_gid,
                        S::TYPE_NAME,
                    );
                }
                return;
            }
        };
        let responder = Responder {
            engine: self.engine.clone(),
            request,
            name: self.name.clone(),
            logger: self.logger.clone(),
            answered: false,
            service: PhantomData,
        };
        if let Err(error) = self.callback.call(message, responder) {
            tracing::warn!(ros_logger = &*self.logger, "{error}");
        }
    }
}
