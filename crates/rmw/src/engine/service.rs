//! The service server and the client of an engine.

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

/// The options for making a server of a service.
#[derive(Clone)]
pub struct ServiceOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid service name.
    pub service: &'a str,
    /// Type as `package/srv/Name`.
    pub type_name: &'a str,
    /// Hash of the service type; not needed if the wire carries the hashes of its messages.
    pub type_hash: Option<TypeHash>,
    /// Hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// Hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// Policies of both directions.
    pub qos: QosProfile,
    /// The mapping that the server announces; it understands clients of both mappings in any case.
    pub mapping: ServiceMapping,
    /// Whether the writer of responses may be made only when there is a client: for services that
    /// every node has and that few clients call. Others see the service in any case; a client finds
    /// it available a little later.
    pub replies_on_demand: bool,
    /// Whether requests from other hosts are ignored and counted, with a warning. The host of a
    /// request is the one that the source address of its datagrams names, not the one that their
    /// content names; the kernel refuses datagrams from outside with an address of this host. The
    /// client of an ignored request waits in vain.
    pub local_requests_only: bool,
    /// The server's announcement beyond DDS, see [`crate::announcement`].
    pub announcement: &'a str,
    /// Called when [`Service::take_request`] may return a request.
    pub on_request: Notify,
    /// Called when [`Service::clients`] may have changed.
    pub on_match: Notify,
}

/// The options for making a client of a service.
#[derive(Clone)]
pub struct ClientOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid service name.
    pub service: &'a str,
    /// Type as `package/srv/Name`.
    pub type_name: &'a str,
    /// Hash of the service type; not needed if the wire carries the hashes of its messages.
    pub type_hash: Option<TypeHash>,
    /// Hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// Hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// Policies of both directions.
    pub qos: QosProfile,
    /// Forces this mapping whatever the server announces; `None` follows the server, as users want.
    pub force_mapping: Option<ServiceMapping>,
    /// The client's announcement beyond DDS, see [`crate::announcement`].
    pub announcement: &'a str,
    /// Called when [`Client::take_response`] may return a response.
    pub on_response: Notify,
    /// Called when [`Client::servers`] may have changed.
    pub on_match: Notify,
}

/// A server that a client sends requests to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerMatch {
    /// The server's endpoint that receives requests.
    pub found: Match,
    /// Whether the server's responses reach the client through the engine.
    pub is_available: bool,
}

/// Answers requests of one service. Dropping it withdraws the server and ends its notifications.
pub trait Service: Send + Sync {
    /// Identity of the endpoint that receives requests.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Takes the oldest request that was not taken yet: the plain request message, whatever its
    /// mapping. Never blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError>;

    /// Sends the response to the request with this id, in the mapping of the request, as
    /// [`Publisher::publish`](super::Publisher::publish) does.
    ///
    /// Waits up to 100 ms for a client that called but does not match yet, as stock ROS 2 does.
    ///
    /// # Errors
    /// See [`PublishError`].
    fn send_response(
        &self,
        request: &RequestId,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError>;

    /// The number of requests that were lost before they were taken, as far as the numbers of the
    /// taken requests show: on the way, or because more came than the history keeps.
    fn lost_requests(&self) -> u64;

    /// The endpoints of the clients that send requests to this server.
    fn clients(&self) -> Vec<Match>;

    /// The number of requests that the engine refused: malformed requests, and requests of other
    /// hosts where [`ServiceOptions::local_requests_only`] is set.
    fn refused_samples(&self) -> u64;
}

/// Calls one service. Dropping it withdraws the client and ends its notifications.
pub trait Client: Send + Sync {
    /// Identity of the endpoint that sends requests.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Whether a server matches in both directions and knows the client, so that a request sent now
    /// is answered.
    fn service_is_available(&self) -> bool;

    /// The servers to which a request sent now goes.
    fn servers(&self) -> Vec<ServerMatch>;

    /// Identity of the endpoint that receives responses: a [`RequestId`] that names it, with the
    /// mapping [`ServiceMapping::RelatedSampleIdentity`] and any positive number, is answered to
    /// this client even if its server got the request by another transport.
    fn response_gid(&self) -> Gid;

    /// Makes the engine forget a server whose process has ended, as
    /// [`Publisher::forget_ended`](super::Publisher::forget_ended) does.
    fn forget_ended(&self, server: Gid);

    /// The endpoints that send the servers' responses, as in [`MessageInfo::publisher_gid`] of a
    /// response. An endpoint that is not in the list sends no more responses.
    /// [`ClientOptions::on_match`] notifies of changes.
    ///
    /// [`MessageInfo::publisher_gid`]: crate::MessageInfo::publisher_gid
    fn responders(&self) -> Vec<Gid>;

    /// Sends a request, as [`Publisher::publish`](super::Publisher::publish) does, in the mapping
    /// of the server; returns the number that its response will carry.
    ///
    /// # Errors
    /// See [`PublishError`].
    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError>;

    /// Takes the oldest response to this client that was not taken yet, with its request's number;
    /// responses to other clients are skipped. Never blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError>;

    /// The number of responses to this client that were lost because they were not taken in time.
    fn lost_responses(&self) -> u64;

    /// The number of responses that the engine refused as malformed.
    fn refused_samples(&self) -> u64;
}
