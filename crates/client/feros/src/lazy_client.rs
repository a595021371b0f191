//! A client that is made at its first call, for code that could call many services but usually
//! calls few of them.

use std::sync::OnceLock;
use std::time::Duration;

use feros_engine::QosProfile;
use feros_message::Service as ServiceType;

use crate::error::Error;
use crate::node::Node;
use crate::services::client::{CallError, Client};
use crate::wait_error::WaitError;

/// A client of one service, whose endpoints are made at the first call.
pub(crate) struct LazyClient<S: ServiceType> {
    name: String,
    qos: QosProfile,
    made: OnceLock<Client<S>>,
}

impl<S: ServiceType> LazyClient<S> {
    /// Prepares a client for the service of this fully qualified name.
    pub(crate) fn new(name: String, qos: QosProfile) -> Self {
        Self { name, qos, made: OnceLock::new() }
    }

    /// Waits for the service, calls it and waits for the response, for at most `timeout` in total.
    pub(crate) fn call(
        &self,
        node: &Node,
        request: &S::Request,
        timeout: Duration,
    ) -> Result<S::Response, Error> {
        let client = match self.made.get() {
            Some(client) => client,
            None => {
                let made = node.create_client_with::<S>(&self.name, self.qos)?;
                self.made.get_or_init(|| made)
            }
        };
        client.call_and_wait(request, timeout).map_err(|error| match error {
            CallError::Timeout { service, waited, available: false } => {
                WaitError::Timeout { what: format!("a server of {service}"), waited }.into()
            }
            other => other.into(),
        })
    }
}
