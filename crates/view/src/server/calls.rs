//! Calls of services for clients, with serialized requests and responses.

use std::collections::HashMap;
use std::time::Duration;

use feros::{ClientOptions, GenericClient, Node, ServiceIdentity};
use feros_sync::Mutex;

use crate::protocol::Service;

/// How long a server may take to be found.
const DISCOVERY: Duration = Duration::from_secs(3);
/// How long it may take to answer.
const ANSWER: Duration = Duration::from_secs(60);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(10);

/// Clients of services, made when they are first needed.
pub(crate) struct Calls {
    node: Node,
    by_service: Mutex<HashMap<u32, GenericClient>>,
}

impl Calls {
    pub(crate) fn new(node: Node) -> Self {
        Self { node, by_service: Mutex::default() }
    }

    /// Calls a service; the error is for people.
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

    fn client(&self, service: &Service) -> Result<GenericClient, String> {
        let mut clients = self.by_service.lock();
        if let Some(client) = clients.get(&service.id) {
            return Ok(client.clone());
        }
        let identity = ServiceIdentity {
            name: service.service_type.clone(),
            type_hash: None,
            request_hash: None,
            response_hash: None,
        };
        let client =
            self.node.create_generic_client(&service.name, &identity, ClientOptions::default());
        let client = client.map_err(|error| error.to_string())?;
        clients.insert(service.id, client.clone());
        Ok(client)
    }

    /// Withdraws the client of a service that is no more.
    pub(crate) fn forget(&self, service: u32) {
        let client = self.by_service.lock().remove(&service);
        drop(client);
    }

    /// Withdraws all clients.
    pub(crate) fn forget_all(&self) {
        let clients = std::mem::take(&mut *self.by_service.lock());
        drop(clients);
    }
}

/// Waits until a server of a service is there.
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
