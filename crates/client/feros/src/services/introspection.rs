//! Service introspection: a client or a server publishes an event for each request and each
//! response on `<service>/_service_event`, as in `rcl/src/rcl/service_event_publisher.c`.

use std::sync::Arc;

use feros_engine::{FailureCounter, Gid, QosProfile};
use feros_message::{Service as ServiceType, ServiceEventInfo, ServiceEventKind, from_bytes};
use feros_msgs::builtin_interfaces::msg::Time as Stamp;
use feros_sync::RwLock;

use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::node::Node;
use crate::topics::publisher::Publisher;

/// The suffix that turns the name of a service into the topic of its events.
const TOPIC_SUFFIX: &str = "/_service_event";

/// The contents of the events that a client or a server publishes about its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServiceIntrospectionState {
    /// No events.
    #[default]
    Off,
    /// Events with the client, the time, and the number of the request.
    Metadata,
    /// Events that also contain the requests and responses.
    Contents,
}

/// The events of a client or a server: a publisher while introspection is on, and only an empty
/// pointer while it is off.
pub(crate) struct ServiceEvents<S: ServiceType>(RwLock<Option<Arc<EventPublisher<S>>>>);

impl<S: ServiceType> Default for ServiceEvents<S> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

/// Publishes the events of one client or server.
pub(crate) struct EventPublisher<S: ServiceType> {
    publisher: Publisher<S::Event>,
    /// The policies that were requested; a publisher with the same policies is reused.
    qos: QosProfile,
    clock: Clock,
    has_contents: bool,
}

/// The id of a call in introspection events: the same for the client and the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId {
    /// The gid of the endpoint that receives the client's responses, which `rmw_get_gid_for_client`
    /// returns.
    pub client: Gid,
    /// The number that the client gave to the call.
    pub sequence_number: i64,
}

/// The events of a service for code that has requests and responses only as bytes.
pub(crate) trait SerializedEvents: Send + Sync {
    /// Turns introspection on or off. A publisher that already has these policies is reused.
    fn configure(
        &self,
        node: &Node,
        service: &str,
        clock: &Clock,
        qos: QosProfile,
        state: ServiceIntrospectionState,
    ) -> Result<(), CreateError>;

    /// Whether introspection is on.
    fn is_active(&self) -> bool;

    /// Publishes an event of a request, unless the bytes do not have the service's type.
    fn request(&self, kind: ServiceEventKind, call: CallId, serialized: &[u8]);

    /// Publishes an event of a response, unless the bytes do not have the service's type.
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
    /// The publisher of events, if introspection is on.
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

    /// Publishes an event. A failure does not make the call fail. It is counted, and logged each
    /// time the count doubles.
    fn publish(
        &self,
        kind: ServiceEventKind,
        call: CallId,
        request: Option<S::Request>,
        response: Option<S::Response>,
    ) {
        // One counter for all services, because each node has several.
        static FAILED: FailureCounter = FailureCounter::new();
        let Stamp { sec, nanosec } = self.clock.now().into();
        let CallId { client: Gid(client_gid), sequence_number } = call;
        let info = ServiceEventInfo { kind, sec, nanosec, client_gid, sequence_number };
        let published = self.publisher.publish(S::event(info, request, response));
        if let Err(error) = published
            && let Some(count) = FAILED.count()
        {
            tracing::warn!(
                "{count} service events have not been published so far; the last error: {error}"
            );
        }
    }
}
