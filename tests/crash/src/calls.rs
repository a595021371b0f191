//! A server and a client of a service. The server responds with its process id and a count.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{
    CallCounts, CallError, Client, ClientOptions, Node, Responder, Service, ServiceOptions,
    TransportSet,
};
use feros_test_support::block_on;
use serde_json::{Value, json};

/// Responds to each request, or keeps all requests if `keeps` is set.
pub(crate) struct Server {
    service: Service<Trigger>,
    kept: Arc<Mutex<Vec<Responder<Trigger>>>>,
}

impl Server {
    /// Makes a server. With `keeps`, it never responds.
    pub(crate) fn new(node: &Node, name: &str, transports: TransportSet, keeps: bool) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (keep, mut count) = (kept.clone(), 0);
        let answer = move |_: Trigger_Request, responder: Responder<Trigger>| {
            if keeps {
                return keep.lock().unwrap().push(responder);
            }
            count += 1;
            let message = format!("{} {count}", std::process::id());
            // Sending fails if the client is killed before it has its response.
            let _ = responder.send(&Trigger_Response { success: true, message });
        };
        let options = ServiceOptions::default().transports(transports);
        let service = node.create_service_with::<Trigger, _>(name, options, answer).unwrap();
        Self { service, kept }
    }

    pub(crate) fn service(&self) -> &Service<Trigger> {
        &self.service
    }

    /// The number of requests that the server has kept.
    pub(crate) fn kept(&self) -> Value {
        json!({"kept": self.kept.lock().unwrap().len()})
    }
}

/// A client that calls the server and waits for responses.
pub(crate) struct Caller {
    client: Client<Trigger>,
}

impl Caller {
    pub(crate) fn new(node: &Node, name: &str, transports: TransportSet) -> Self {
        let options = ClientOptions::default().transports(transports);
        Self { client: node.create_client_with(name, options).unwrap() }
    }

    pub(crate) fn client(&self) -> &Client<Trigger> {
        &self.client
    }

    pub(crate) fn is_ready(&self) -> Value {
        json!({"ready": self.client.service_is_ready()})
    }

    /// Makes this many calls, one after the other, and waits for each response without a time
    /// limit.
    pub(crate) fn call(&self, times: u64, timeout: Duration, is_awaited: bool) -> Value {
        let (mut answers, mut errors) = (Vec::new(), Vec::new());
        let began = Instant::now();
        for _ in 0..times {
            let request = Trigger_Request::default();
            let outcome = if is_awaited {
                self.client.call(&request).map_err(CallError::from).and_then(block_on)
            } else {
                self.client.call_and_wait(&request, timeout)
            };
            match outcome {
                Ok(response) => answers.push(response.message),
                Err(error) => errors.push(error.to_string()),
            }
        }
        json!({
            "answered": answers.len(),
            "last": answers.last(),
            "errors": errors,
            "took_us": u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        })
    }
}

pub(crate) fn counts(counts: CallCounts) -> Value {
    json!({
        "process": counts.intra_process.messages,
        "host": counts.shared_memory.messages,
        "network": counts.network.messages,
        "shared_memory_failures": counts.shared_memory_failures,
        "refused": counts.refused_in_shared_memory,
        "lost": counts.lost,
    })
}
