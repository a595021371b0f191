//! The client of one of an action's three services: sends requests, returns their responses, and
//! publishes introspection events of both if introspection is on.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use feros_engine::QosProfile;
use feros_message::{Message, ServiceEventKind, to_vec};

use crate::action::events::Events;
use crate::create_error::CreateError;
use crate::messages::forms::SerializedMessage;
use crate::messages::identity::ServiceIdentity;
use crate::node::Node;
use crate::services::client::{CallError, ClientOptions, GenericClient, SerializedResponseFuture};

/// The untyped client of one service of an action. A call fails when none of the servers that could
/// respond is left.
pub struct CallEnd {
    client: GenericClient,
    events: Events,
}

impl CallEnd {
    pub(super) fn new(
        node: &Node,
        service: &str,
        identity: &ServiceIdentity,
        qos: QosProfile,
        events: &Events,
    ) -> Result<Self, CreateError> {
        let client = GenericClient::new(node, service, identity, ClientOptions::from(qos))?;
        Ok(Self { client, events: events.clone() })
    }

    /// Sends a request that is given as a message.
    pub(super) fn call<M: Message>(&self, request: &M) -> Result<Call, CallError> {
        let response = self.client.call_until_servers_leave(request)?;
        if let Some(events) = self.events.as_ref().filter(|events| events.is_active())
            && let Ok(bytes) = to_vec(request)
        {
            events.request(ServiceEventKind::RequestSent, response.call_id(), &bytes);
        }
        Ok(Call { response, events: self.events.clone() })
    }

    /// Sends a request that is given as serialized bytes.
    pub(super) fn call_serialized(&self, request: &[u8]) -> Result<Call, CallError> {
        let response = self.client.call_serialized_until_servers_leave(request)?;
        if let Some(events) = &self.events {
            events.request(ServiceEventKind::RequestSent, response.call_id(), request);
        }
        Ok(Call { response, events: self.events.clone() })
    }

    pub(super) fn service_name(&self) -> &str {
        self.client.service_name()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.client.service_is_ready()
    }

    /// Fails if the response could come only after the callback that runs on this thread has ended.
    pub(super) fn check_servers(&self) -> Result<(), CallError> {
        self.client.check_servers()
    }
}

/// A future for the response to one request, which also has a blocking `wait`.
pub struct Call {
    response: SerializedResponseFuture,
    events: Events,
}

impl Call {
    pub(super) fn wait(self, timeout: Duration) -> Result<SerializedMessage, CallError> {
        let (id, events) = (self.response.call_id(), self.events);
        let response = self.response.wait(timeout)?;
        if let Some(events) = events {
            events.response(ServiceEventKind::ResponseReceived, id, &response);
        }
        Ok(response)
    }
}

impl Future for Call {
    type Output = Result<SerializedMessage, CallError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let result = Pin::new(&mut self.response).poll(task);
        if let (Poll::Ready(Ok(response)), Some(events)) = (&result, &self.events) {
            let id = self.response.call_id();
            events.response(ServiceEventKind::ResponseReceived, id, response);
        }
        result
    }
}
