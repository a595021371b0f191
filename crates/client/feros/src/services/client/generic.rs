//! Clients of services whose type is known only at run time. Requests and responses are serialized
//! messages. Clients in other languages, and the typed client, use this module.

use std::sync::Arc;
use std::time::Duration;

use feros_engine::{Gid, QosProfile};
use feros_message::Message;
use feros_transport::{CallCounts, MatchTransport, Recipients};

use super::inner::{Inner, SendRequest, Sent};
use super::{CallError, ClientOptions, SerializedResponseFuture};
use crate::create_error::CreateError;
use crate::messages::identity::ServiceIdentity;
use crate::messages::serialize::{copy_into, serialize_into};
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::wait_error::WaitError;

/// Calls a service with serialized messages, for a type that is known only at run time.
#[derive(Clone)]
pub struct GenericClient(pub(super) Arc<Inner>);

impl GenericClient {
    pub(crate) fn new(
        node: &Node,
        name: &str,
        identity: &ServiceIdentity,
        options: ClientOptions,
    ) -> Result<Self, CreateError> {
        Ok(Self(Arc::new(Inner::open(node, name, identity, options)?)))
    }

    /// Sends a request that is already serialized, with its 4-byte header.
    ///
    /// # Errors
    /// When there is no server, or the bytes are not a message or cannot be sent.
    pub fn call_serialized(
        &self,
        request: &[u8],
    ) -> Result<SerializedResponseFuture, PublishError> {
        self.sent(self.0.send_if_served(|send| copy_into(request, &self.0.name, send)))
    }

    /// Sends a request, as [`call_serialized`](Self::call_serialized) does, but without a check for
    /// servers, as in stock ROS 2: if there is no server, the request is lost and no response ever
    /// comes.
    ///
    /// # Errors
    /// When the bytes are not a message or cannot be sent.
    pub fn call_whoever_serves(
        &self,
        request: &[u8],
    ) -> Result<SerializedResponseFuture, PublishError> {
        self.sent(self.0.send(|send| copy_into(request, &self.0.name, send)))
    }

    /// Sends a request; the call ends with [`CallError::ServerLeft`] when none of the servers that
    /// could respond is left. This is for responses that may take any length of time.
    pub(crate) fn call_until_servers_leave<M: Message>(
        &self,
        request: &M,
    ) -> Result<SerializedResponseFuture, CallError> {
        self.send_until_servers_leave(|send| serialize_into(request, &self.0.name, send))
    }

    /// The form of [`call_until_servers_leave`](Self::call_until_servers_leave) for a request that
    /// is already serialized.
    pub(crate) fn call_serialized_until_servers_leave(
        &self,
        request: &[u8],
    ) -> Result<SerializedResponseFuture, CallError> {
        self.send_until_servers_leave(|send| copy_into(request, &self.0.name, send))
    }

    fn send_until_servers_leave(
        &self,
        send: impl FnOnce(SendRequest<'_>) -> Result<Sent, PublishError>,
    ) -> Result<SerializedResponseFuture, CallError> {
        // The servers are noted before the request is sent, so that a server that leaves afterwards
        // is among them.
        let responders = self.0.end.responders();
        let mut call = self.sent(self.0.send_if_served(send)).map_err(|error| match error {
            PublishError::NoServer { service } => CallError::ServerLeft { service },
            other => other.into(),
        })?;
        call.recipients.assume(responders);
        Ok(call)
    }

    /// The future for the response to a request that was sent.
    fn sent(
        &self,
        request: Result<(i64, Recipients), PublishError>,
    ) -> Result<SerializedResponseFuture, PublishError> {
        request.map(|sent| SerializedResponseFuture::new(self.0.clone(), sent))
    }

    /// Fails if the response could come only after the callback that runs on this thread has ended.
    pub(crate) fn check_servers(&self) -> Result<(), CallError> {
        self.0.check_servers()
    }

    /// The fully qualified name of the service, after remapping.
    pub fn service_name(&self) -> &str {
        &self.0.name
    }

    /// The client's policies, with `SystemDefault` resolved.
    pub fn qos(&self) -> QosProfile {
        self.0.end.qos()
    }

    /// The identity of the endpoint that sends requests.
    pub fn gid(&self) -> Gid {
        self.0.end.gid()
    }

    /// The transport of requests to each server, with the reason why no shorter transport is used.
    ///
    /// While at least one server needs the network transport, requests to all servers take the
    /// network transport.
    pub fn transports(&self) -> Vec<MatchTransport> {
        self.0.end.transports()
    }

    /// The numbers of requests and responses so far, by transport.
    pub fn counts(&self) -> CallCounts {
        self.0.end.counts()
    }

    /// Whether there is a server that would answer a request sent now. A server of this host no
    /// longer counts as soon as its process has ended.
    pub fn service_is_ready(&self) -> bool {
        self.0.end.service_is_available()
    }

    /// Waits until there is a server.
    ///
    /// # Errors
    /// When `timeout` passes or the context is shut down before there is a server.
    pub fn wait_for_service(&self, timeout: Duration) -> Result<(), WaitError> {
        let what = || self.0.server();
        self.0.node.context().wait_for_graph(timeout, what, || self.service_is_ready())
    }

    /// The asynchronous form of [`wait_for_service`](Self::wait_for_service), for any runtime. This
    /// wait has no timeout: use the timer of the runtime.
    ///
    /// # Errors
    /// When the context is shut down before there is a server.
    pub async fn wait_for_service_async(&self) -> Result<(), WaitError> {
        let what = || self.0.server();
        self.0.node.context().wait_for_graph_async(what, || self.service_is_ready()).await
    }
}
