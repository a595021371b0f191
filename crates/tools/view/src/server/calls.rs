//! Calls services for clients, with serialized requests and responses.

use std::collections::BTreeSet;
use std::time::Duration;

use feros::{ClientOptions, GenericClient, Node, ServiceIdentity};

use crate::protocol::Service;
use crate::server::kept::{Kept, Used};

/// The time to wait for a server of the service.
const DISCOVERY: Duration = Duration::from_secs(3);
/// The time to wait for the response.
const ANSWER: Duration = Duration::from_secs(60);
/// The time between two checks for a server.
const LOOK: Duration = Duration::from_millis(10);
/// The limit on idle clients of services that are kept, since each has endpoints that the system
/// has to discover.
const MOST_IDLE: usize = 64;

/// The clients of services that the server has made.
pub(crate) struct Calls {
    node: Node,
    by_service: Kept<u32, GenericClient>,
}

impl Calls {
    pub(crate) fn new(node: Node) -> Self {
        Self { node, by_service: Kept::new(MOST_IDLE) }
    }

    /// Calls a service; the error is a message for users.
    pub(crate) async fn call(&self, service: &Service, request: &[u8]) -> Result<Vec<u8>, String> {
        let client = self.client(service)?;
        wait_until_ready(|| client.service_is_ready(), &service.name).await?;
        let response = client.call_serialized(request).map_err(|error| error.to_string())?;
        match tokio::time::timeout(ANSWER, response).await {
            Ok(Ok(response)) => Ok(response.to_vec()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("{} did not respond within {ANSWER:?}", service.name)),
        }
    }

    fn client(&self, service: &Service) -> Result<Used<'_, u32, GenericClient>, String> {
        self.by_service.get(service.id, || {
            let identity = ServiceIdentity {
                name: service.service_type.clone(),
                type_hash: None,
                request_hash: None,
                response_hash: None,
            };
            let options = ClientOptions::default();
            let client = self.node.create_generic_client(&service.name, &identity, options);
            client.map_err(|error| error.to_string())
        })
    }

    /// Drops the clients of services that no longer exist.
    pub(crate) fn forget(&self, gone: &BTreeSet<u32>) {
        self.by_service.retain(|service| !gone.contains(service));
    }

    /// Drops the idle clients.
    pub(crate) fn forget_all(&self) {
        self.by_service.retain(|_| false);
    }
}

/// Waits for a server of the service.
pub(crate) async fn wait_until_ready(
    is_ready: impl Fn() -> bool,
    service: &str,
) -> Result<(), String> {
    let looking = async {
        while !is_ready() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let found = tokio::time::timeout(DISCOVERY, looking).await;
    found.map_err(|_| format!("no server of {service} was found within {DISCOVERY:?}"))
}
