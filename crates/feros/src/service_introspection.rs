//! Service introspection: what a client or a server of a service does with each request and each
//! response, published on `<service>/_service_event` as `rcl` publishes it.

use std::sync::Arc;

use feros_message::{Service as ServiceType, ServiceEventInfo, ServiceEventKind, from_bytes};
use feros_msgs::builtin_interfaces::msg::Time as Stamp;
use feros_rmw::{FailureCounter, Gid, QosProfile};
use feros_sync::RwLock;

use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::node::Node;
use crate::publisher::Publisher;

/// What is appended to a service's name for the topic of its events.
const TOPIC_SUFFIX: &str = "/_service_event";

/// How much of its calls a client or a server of a service publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServiceIntrospectionState {
    /// Nothing.
    #[default]
    Off,
    /// Who called, when, and the number of the request.
    Metadata,
    /// Requests and responses as well.
    Contents,
}

/// Where a client or a server publishes its events, while that is on. Costs a pointer while it is
/// off.
pub(crate) struct ServiceEvents<S: ServiceType>(RwLock<Option<Arc<EventPublisher<S>>>>);

impl<S: ServiceType> Default for ServiceEvents<S> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

/// Publishes the events of one end of a service.
pub(crate) struct EventPublisher<S: ServiceType> {
    publisher: Publisher<S::Event>,
    /// What the publisher was asked to be: the same is not made anew.
    qos: QosProfile,
    clock: Clock,
    has_contents: bool,
    failed: FailureCounter,
}

/// Which call an event of introspection is about: the same for the client and the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId {
    /// The endpoint by which the client receives responses: what `rmw_get_gid_for_client` says.
    pub client: Gid,
    /// The client's number of the call.
    pub sequence_number: i64,
}

/// The events of a service whose messages are at hand as bytes, whatever their types are.
pub(crate) trait SerializedEvents: Send + Sync {
    /// Publishes as the state says from now on. A publisher that has these policies already stays.
    fn configure(
        &self,
        node: &Node,
        service: &str,
        clock: &Clock,
        qos: QosProfile,
        state: ServiceIntrospectionState,
    ) -> Result<(), CreateError>;

    /// Whether somebody has turned them on.
    fn is_active(&self) -> bool;

    /// Tells of a request. One that is none of the service's is not told.
    fn request(&self, kind: ServiceEventKind, call: CallId, serialized: &[u8]);

    /// Tells of a response. One that is none of the service's is not told.
    fn response(&self, kind: ServiceEventKind, call: CallId, serialized: &[u8]);
}

impl<S: ServiceType> SerializedEvents for ServiceEvents<S> {
    fn configure(
        &self,
        node: &Node,
        service: &str,
        clock: &Clock,
        qos: QosProfile,
        state: ServiceIntrospectionState,
    ) -> Result<(), CreateError> {
        let new = match state {
            ServiceIntrospectionState::Off => None,
            ServiceIntrospectionState::Metadata | ServiceIntrospectionState::Contents => {
                let publisher = match self.active().filter(|former| former.qos == qos) {
                    Some(former) => former.publisher.clone(),
                    None => {
                        let topic = format!("{service}{TOPIC_SUFFIX}");
                        Publisher::new(node, &topic, qos.into())?
                    }
                };
                Some(Arc::new(EventPublisher {
                    publisher,
                    qos,
                    clock: clock.clone(),
                    has_contents: state == ServiceIntrospectionState::Contents,
                    failed: FailureCounter::new(),
                }))
            }
        };
        let former = std::mem::replace(&mut *self.0.write(), new);
        drop(former); // outside the lock
        Ok(())
    }

    fn is_active(&self) -> bool {
        self.0.read().is_some()
    }

    fn request(&self, kind: ServiceEventKind, call: CallId, serialized: &[u8]) {
        let Some(events) = self.active() else { return };
        let request = events.has_contents.then(|| from_bytes(serialized)).transpose();
        if let Ok(request) = request {
            events.publish(kind, call, request, None);
        }
    }

    fn response(&self, kind: ServiceEventKind, call: CallId, serialized: &[u8]) {
        let Some(events) = self.active() else { return };
        let response = events.has_contents.then(|| from_bytes(serialized)).transpose();
        if let Ok(response) = response {
            events.publish(kind, call, None, response);
        }
    }
}

impl<S: ServiceType> ServiceEvents<S> {
    /// Who publishes, if introspection is on.
    pub(crate) fn active(&self) -> Option<Arc<EventPublisher<S>>> {
        self.0.read().clone()
    }
}

impl<S: ServiceType> EventPublisher<S> {
    pub(crate) fn request(&self, kind: ServiceEventKind, call: CallId, request: &S::Request) {
        let request = self.has_contents.then(|| request.clone());
        self.publish(kind, call, request, None);
    }

    pub(crate) fn response(&self, kind: ServiceEventKind, call: CallId, response: &S::Response) {
        let response = self.has_contents.then(|| response.clone());
        self.publish(kind, call, None, response);
    }

    /// A call goes on whatever becomes of its events: failures are counted, and seldom told.
    fn publish(
        &self,
        kind: ServiceEventKind,
        call: CallId,
        request: Option<S::Request>,
        response: Option<S::Response>,
    ) {
        let Stamp { sec, nanosec } = self.clock.now().into();
        let CallId { client: Gid(client_gid), sequence_number } = call;
        let info = ServiceEventInfo { kind, sec, nanosec, client_gid, sequence_number };
        let published = self.publisher.publish(S::event(info, request, response));
        if let Err(error) = published
            && let Some(count) = self.failed.count()
        {
            tracing::warn!("{count} service events were not published so far; the last: {error}");
        }
    }
}
