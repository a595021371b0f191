//! Sends the response to one request.

use std::marker::PhantomData;
use std::sync::Arc;

use feros_message::{Service as ServiceType, ServiceEventKind};

use crate::messages::serialize::serialize_into;
use crate::publish_error::PublishError;
use crate::services::introspection::ServiceEvents;
use crate::services::service::pending_request::PendingRequest;
use crate::services::service::troubles::Troubles;

/// Sends the response to one request, now or later, from any thread.
///
/// If the responder is dropped without a response, the client keeps waiting, and a warning is
/// logged.
#[must_use = "the client waits for a response"]
pub struct Responder<S: ServiceType> {
    end: feros_transport::Service,
    request: PendingRequest,
    troubles: Arc<Troubles>,
    events: Arc<ServiceEvents<S>>,
    answered: bool,
    service: PhantomData<fn(S)>,
}

impl<S: ServiceType> Responder<S> {
    pub(super) fn new(
        end: feros_transport::Service,
        request: PendingRequest,
        troubles: Arc<Troubles>,
        events: Arc<ServiceEvents<S>>,
    ) -> Self {
        Self { end, request, troubles, events, answered: false, service: PhantomData }
    }

    /// Sends the response.
    ///
    /// # Errors
    /// When the response cannot be serialized, for example because it exceeds a bound of its type;
    /// when it cannot be sent; or when the client is known to have left.
    pub fn send(mut self, response: &S::Response) -> Result<(), PublishError> {
        self.answered = true;
        serialize_into(response, self.troubles.service(), |size, fill| {
            self.end.send_response(&self.request.request, size, fill)
        })?;
        if let Some(events) = self.events.active() {
            events.response(ServiceEventKind::ResponseSent, self.request.call_id(), response);
        }
        Ok(())
    }
}

impl<S: ServiceType> Drop for Responder<S> {
    fn drop(&mut self) {
        if !self.answered {
            self.troubles.dropped();
        }
    }
}
