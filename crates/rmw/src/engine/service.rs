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

/// What a server of a service is made of.
#[derive(Clone)]
pub struct ServiceOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid service name.
    pub service: &'a str,
    /// Type as `package/srv/Name`.
    pub type_name: &'a str,
    /// Hash of the service type; on wires that announce that of its messages it is not needed.
    pub type_hash: Option<TypeHash>,
    /// Hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// Hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// Policies of both directions.
    pub qos: QosProfile,
    /// How the server announces itself; it understands clients of either mapping in any case.
    pub mapping: ServiceMapping,
    /// Whether what sends the responses may wait to come into being until there is a client: for
    /// services that every node has and that few are asked for. Others see the service in any case;
    /// a client finds it available a little later.
    pub replies_on_demand: bool,
    /// Whether requests that other hosts send are ignored, counted and warned of. Where a request
    /// comes from is told by the address that its datagrams come from, not by what they say; the
    /// kernel refuses datagrams from outside with an address of this host. Their client waits in
    /// vain.
    pub local_requests_only: bool,
    /// What the server announces of itself beyond DDS, see [`crate::announcement`].
    pub announcement: &'a str,
    /// Called when [`Service::take_request`] may have something.
    pub on_request: Notify,
    /// Called when [`Service::clients`] may have changed.
    pub on_match: Notify,
}

/// What a client of a service is made of.
#[derive(Clone)]
pub struct ClientOptions<'a> {
    /// The node that it belongs to.
    pub node: NodeId,
    /// Fully qualified and valid service name.
    pub service: &'a str,
    /// Type as `package/srv/Name`.
    pub type_name: &'a str,
    /// Hash of the service type; on wires that announce that of its messages it is not needed.
    pub type_hash: Option<TypeHash>,
    /// Hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// Hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// Policies of both directions.
    pub qos: QosProfile,
    /// Use this mapping whatever the server announces; `None` follows the server, which is what
    /// users want.
    pub force_mapping: Option<ServiceMapping>,
    /// What the client announces of itself beyond DDS, see [`crate::announcement`].
    pub announcement: &'a str,
    /// Called when [`Client::take_response`] may have something.
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

/// Answers requests of one service. Dropping it withdraws it; afterwards it notifies no more.
pub trait Service: Send + Sync {
    /// Identity of the endpoint that receives requests.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Takes the oldest request that was not taken yet: the plain request message, whichever
    /// mapping it came by. Never blocks.
    ///
    /// # Errors
    /// See [`TakeError`].
    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError>;

    /// Sends the response to the request with this id, as
    /// [`Publisher::publish`](super::Publisher::publish) does; in the mapping of the request.
    ///
    /// Waits up to 100 ms for a client that asked but is not matched yet, as stock ROS 2 does.
    ///
    /// # Errors
    /// See [`PublishError`].
    fn send_response(
        &self,
        request: &RequestId,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError>;

    /// Requests that were lost before they were taken, as far as the numbers of those that were
    /// taken tell: on the way, or because more came than the history keeps.
    fn lost_requests(&self) -> u64;

    /// The clients that send requests here, by the endpoints that send them.
    fn clients(&self) -> Vec<Match>;

    /// Requests that the engine refused: malformed ones, and those of other hosts where
    /// [`ServiceOptions::local_requests_only`] is set.
    fn refused_samples(&self) -> u64;
}

/// Calls one service. Dropping it withdraws it; afterwards it notifies no more.
pub trait Client: Send + Sync {
    /// Identity of the endpoint that sends requests.
    fn gid(&self) -> Gid;

    /// The policies after resolution.
    fn qos(&self) -> QosProfile;

    /// Whether a server matches in both directions and was told of the client, so that a request
    /// sent now is answered.
    fn service_is_available(&self) -> bool;

    /// The servers to which a request sent now goes.
    fn servers(&self) -> Vec<ServerMatch>;

    /// Identity of the endpoint that receives responses: a [`RequestId`] that names it, with the
    /// mapping [`ServiceMapping::RelatedSampleIdentity`] and any positive number, is answered to
    /// this client even if its server had the request by another way.
    fn response_gid(&self) -> Gid;

    /// Drops what the engine holds for a server whose process has ended, as
    /// [`Publisher::forget_ended`](super::Publisher::forget_ended) does.
    fn forget_ended(&self, server: Gid);

    /// What the responses of the servers come from, as [`MessageInfo::publisher_gid`] says it of a
    /// response. One that is missing here sends no response any more. Changes are told by
    /// [`ClientOptions::on_match`].
    ///
    /// [`MessageInfo::publisher_gid`]: crate::MessageInfo::publisher_gid
    fn responders(&self) -> Vec<Gid>;

    /// Sends a request, as [`Publisher::publish`](super::Publisher::publish) does, in the mapping
    /// of the server; returns the number under which its response will come.
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

    /// Responses to this client that were not taken in time, and are lost.
    fn lost_responses(&self) -> u64;

    /// Responses that the engine refused as malformed.
    fn refused_samples(&self) -> u64;
}
