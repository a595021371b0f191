//! The service server and the client of an engine.

use std::sync::Arc;

use super::node_id::NodeId;
use super::notify::Notify;
use super::publisher::{Fill, PublishError};
use super::subscription::TakeError;
use crate::announcement::Match;
use crate::gid::Gid;
use crate::qos::QosProfile;
use crate::sample::{RequestId, Sample};
use crate::service_mapping::ServiceMapping;
use crate::type_hash::TypeHash;

/// The options for creating a service server.
#[derive(Clone)]
pub struct ServiceOptions<'a> {
    /// The node that owns the server.
    pub node: NodeId,
    /// The fully qualified, valid service name.
    pub service: &'a str,
    /// The type, in the form `package/srv/Name`.
    pub type_name: &'a str,
    /// The hash of the service type. It is not needed if the hashes of the request and the response
    /// are sent on the wire.
    pub type_hash: Option<TypeHash>,
    /// The hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// The hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// The policies for both requests and responses.
    pub qos: QosProfile,
    /// The mapping that the server announces. The server understands clients of both mappings.
    pub mapping: ServiceMapping,
    /// Whether the writer of responses may be created only when there is a client. This is meant
    /// for services that every node has and few clients call. Other nodes see the service in both
    /// cases, but for the first client, the service becomes available slightly later.
    pub replies_on_demand: bool,
    /// Whether requests from other hosts are ignored and counted, with a warning. The host is
    /// decided by the source address of a request's datagrams and not by their content: the kernel
    /// drops datagrams from other hosts that have an address of this host as their source. The
    /// client of an ignored request gets no response.
    pub local_requests_only: bool,
    /// The announcement of the server (see [`crate::announcement`]).
    pub announcement: &'a str,
    /// This function is called when [`Service::take_request`] may return a request.
    pub on_request: Notify,
    /// This function is called when [`Service::clients`] may have changed.
    pub on_match: Notify,
}

impl<'a> ServiceOptions<'a> {
    /// A server with the default policies and nothing optional, which notifies nobody.
    pub fn new(node: NodeId, service: &'a str, type_name: &'a str) -> Self {
        Self {
            node,
            service,
            type_name,
            type_hash: None,
            request_hash: None,
            response_hash: None,
            qos: QosProfile::services_default(),
            mapping: ServiceMapping::default(),
            replies_on_demand: false,
            local_requests_only: false,
            announcement: "",
            on_request: Arc::new(|| ()),
            on_match: Arc::new(|| ()),
        }
    }
}

/// The options for creating a service client.
#[derive(Clone)]
pub struct ClientOptions<'a> {
    /// The node that owns the client.
    pub node: NodeId,
    /// The fully qualified, valid service name.
    pub service: &'a str,
    /// The type, in the form `package/srv/Name`.
    pub type_name: &'a str,
    /// The hash of the service type. It is not needed if the hashes of the request and the response
    /// are sent on the wire.
    pub type_hash: Option<TypeHash>,
    /// The hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// The hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// The policies for both requests and responses.
    pub qos: QosProfile,
    /// The mapping to use, even if the server uses the other mapping. With `None`, which users
    /// should choose, the client uses the server's mapping.
    pub force_mapping: Option<ServiceMapping>,
    /// The announcement of the client (see [`crate::announcement`]).
    pub announcement: &'a str,
    /// This function is called when [`Client::take_response`] may return a response.
    pub on_response: Notify,
    /// This function is called when [`Client::servers`] may have changed.
    pub on_match: Notify,
}

impl<'a> ClientOptions<'a> {
    /// A client with the default policies and nothing optional, which notifies nobody.
    pub fn new(node: NodeId, service: &'a str, type_name: &'a str) -> Self {
        Self {
            node,
            service,
            type_name,
            type_hash: None,
            request_hash: None,
            response_hash: None,
            qos: QosProfile::services_default(),
            force_mapping: None,
            announcement: "",
            on_response: Arc::new(|| ()),
            on_match: Arc::new(|| ()),
        }
    }
}

/// A server that a client sends requests to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerMatch {
    /// The server's endpoint that receives requests.
    pub found: Match,
    /// Whether the server's responses reach the client through the engine.
    pub is_available: bool,
}

/// Answers requests of one service. Dropping this value withdraws the server and ends its
/// notifications.
pub trait Service: Send + Sync {
    /// The identity of the endpoint that receives requests.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Takes the oldest request that has not been taken. In both mappings, the sample contains only
    /// the request message. Never blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError>;

    /// Sends the response to the request with this id, in the mapping of the request. The call
    /// works like [`Publisher::publish`](super::Publisher::publish).
    ///
    /// Like stock ROS 2 (`rmw_cyclonedds_cpp/src/rmw_node.cpp`, `rmw_send_response`), waits up to
    /// 100 ms for a client that sent a request but does not match yet.
    ///
    /// # Errors
    /// See [`PublishError`].
    fn send_response(
        &self,
        request: &RequestId,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError>;

    /// The number of requests that were lost before they were taken, either on the network or
    /// because the history was full. They are counted by the gaps in the numbers of the requests
    /// that were taken.
    fn lost_requests(&self) -> u64;

    /// The endpoints of the clients that send requests to this server.
    fn clients(&self) -> Vec<Match>;

    /// The number of requests that the engine refused: malformed requests and, with
    /// [`ServiceOptions::local_requests_only`], requests from other hosts.
    fn refused_samples(&self) -> u64;
}

/// Calls one service. Dropping this value withdraws the client and ends its notifications.
pub trait Client: Send + Sync {
    /// The identity of the endpoint that sends requests.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Whether a server matches in both directions and knows the client, so that it will answer a
    /// request sent now.
    fn service_is_available(&self) -> bool;

    /// The servers that would receive a request sent now.
    fn servers(&self) -> Vec<ServerMatch>;

    /// The gid of the endpoint that receives responses. A server can send a response to this client
    /// even if the request arrived over another transport. The [`RequestId`] then consists of this
    /// gid, the mapping [`ServiceMapping::RelatedSampleIdentity`] and any positive number.
    fn response_gid(&self) -> Gid {
        self.gid()
    }

    /// Tells the engine that the process of a server has ended; see
    /// [`Publisher::forget_ended`](super::Publisher::forget_ended).
    fn forget_ended(&self, server: Gid) {
        let _ = server;
    }

    /// The endpoints that send the servers' responses. Each gid is the
    /// [`MessageInfo::publisher_gid`] of the responses from that endpoint. If an endpoint is not in
    /// the list any longer, it does not send any further responses. [`ClientOptions::on_match`] is
    /// called when the list may have changed.
    ///
    /// [`MessageInfo::publisher_gid`]: crate::MessageInfo::publisher_gid
    fn responders(&self) -> Vec<Gid>;

    /// Sends a request in the mapping of the server, and returns the number that the response will
    /// have. The call works like [`Publisher::publish`](super::Publisher::publish).
    ///
    /// # Errors
    /// See [`PublishError`].
    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError>;

    /// Takes the oldest response to this client that has not been taken. Returns it with the number
    /// of its request. Responses to other clients are skipped. Never blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError>;

    /// The number of responses to this client that were lost because they were not taken in time.
    fn lost_responses(&self) -> u64;

    /// The number of responses that the engine refused because they were malformed.
    fn refused_samples(&self) -> u64;
}
