//! The closures that a service accepts: they either return the response or send it later.

use feros_message::Service;

use crate::publish_error::PublishError;
use crate::services::service::responder::Responder;

/// A closure that answers the requests of a service.
///
/// The trait is implemented for `FnMut(S::Request) -> S::Response`, and for `FnMut(S::Request,
/// Responder<S>)`, for responses that come later or from another thread. `Form` distinguishes the
/// two implementations for the compiler and is always inferred.
pub trait ServiceCallback<S: Service, Form>: Send + 'static {
    /// Answers the request.
    ///
    /// # Errors
    /// When the response that the closure returned could not be sent.
    fn call(&mut self, request: S::Request, responder: Responder<S>) -> Result<(), PublishError>;
}

/// Marker types that distinguish the implementations of the trait.
#[doc(hidden)]
pub(crate) mod service_form {
    pub enum Returned {}
    pub enum Deferred {}
}

impl<S, F> ServiceCallback<S, service_form::Returned> for F
where
    S: Service,
    F: FnMut(S::Request) -> S::Response + Send + 'static,
{
    fn call(&mut self, request: S::Request, responder: Responder<S>) -> Result<(), PublishError> {
        responder.send(&self(request))
    }
}

impl<S, F> ServiceCallback<S, service_form::Deferred> for F
where
    S: Service,
    F: FnMut(S::Request, Responder<S>) + Send + 'static,
{
    fn call(&mut self, request: S::Request, responder: Responder<S>) -> Result<(), PublishError> {
        self(request, responder);
        Ok(())
    }
}
