//! Service introspection: a client or a server publishes an event for each request and each
//! response on `<service>/_service_event`, as `rcl` does.

use std::sync::Arc;

use feros_message::{Service as ServiceType, ServiceEventInfo, ServiceEventKind, from_bytes};
use feros_msgs::builtin_interfaces::msg::Time as Stamp;
use feros_rmw::{FailureCounter, Gid, QosProfile};
use feros_sync::RwLock;

use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::node::Node;
use crate::publisher::Publisher;

/// The suffix of a service's name for the topic of its events.
const TOPIC_SUFFIX: &str = "/_service_event";

/// The amount of detail that a client or a server publishes about its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServiceIntrospectionState {
    /// No events.
    #[default]
    Off,
    /// The client, the time, and the number of the request.
    Metadata,
    /// Requests and responses as well.
    Contents,
}

/// The publisher of the events of a client or a server, while introspection is on. It costs a
/// pointer while introspection is off.
pub(crate) struct ServiceEvents<S: ServiceType>(RwLock<Option<Arc<EventPublisher<S>>>>);

impl<S: ServiceType> Default for ServiceEvents<S> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

/// Publishes the events of one end of a service.
pub(crate) struct EventPublisher<S: ServiceType> {
    publisher: Publisher<S::Event>,
    /// The policies that were requested: a publisher with the same policies is reused.
    qos: QosProfile,
    clock: Clock,
    has_contents: bool,
    failed: FailureCounter,
}

/// The id of a call in introspection events: the same for the client and the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId {
    /// The endpoint that receives the client's responses: the gid that `rmw_get_gid_for_client`
    /// returns.
    pub client: Gid,
    /// The client's number of the call.
    pub sequence_number: i64,
}

/// The events of a service whose messages are available as bytes, whatever their types are.
pub(crate) trait SerializedEvents: Send + Sync {
    /// Sets the state of introspection. A publisher that already has these policies is kept.
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

    /// Publishes an event of a request. A request that does not have the service's type is ignored.
    fn request(&self, kind: ServiceEventKind, call: CallId, serialized: &[u8]);

    /// Publishes an event of a response. A response that does not have the service's type is
    /// ignored.
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

    /// A call goes on whether or not its events are published: failures are counted, and seldom
    /// logged.
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
