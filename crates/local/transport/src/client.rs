//! The untyped handle of a service client. The `Caller` in it sends requests and takes responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use feros_doorbell::Ringer;
use feros_engine::engine::Fill;
use feros_engine::{
    Created, Gid, NodeId, Notify, PublishError, QosProfile, Sample, ServiceMapping, Session,
    TakeError, TypeHash,
};
use feros_shm::{Announcement, CallMemory, Obstacle, TransportSet};

use crate::calls::caller::{Caller, CallerOptions};
use crate::calls::counters::CallCounts;
use crate::calls::recipients::Recipients;
use crate::calls::waiting::ResponseWait;
use crate::graph::MatchTransport;
use crate::shared_memory::availability;
use crate::shared_memory::upkeep::Upkeep;

/// The options of a client.
pub struct ClientOptions<'a> {
    /// The node of the client.
    pub node: NodeId,
    /// The fully qualified name of the service.
    pub service: &'a str,
    /// The name of the service type, in the form `package/srv/Name`.
    pub type_name: &'a str,
    /// The hash of the service type.
    pub type_hash: Option<TypeHash>,
    /// The hash of the request message.
    pub request_hash: Option<TypeHash>,
    /// The hash of the response message.
    pub response_hash: Option<TypeHash>,
    /// The QoS policies for both directions.
    pub qos: QosProfile,
    /// The mapping to use, no matter what the server announces. With `None`, the client uses the
    /// mapping that the server announces.
    pub force_mapping: Option<ServiceMapping>,
    /// The transports that requests and responses may take.
    pub transports: TransportSet,
    /// The ringer that is rung when there may be a response to take, or when the servers may have
    /// changed.
    pub ringer: &'a Ringer,
    /// The function that is called when there may be a response to take. It may be called on any
    /// thread, and must neither block nor own the client. For responses in shared memory, it is
    /// called only after a call of [`Client::listen`].
    pub on_response: Notify,
    /// The function that is called when the servers may have changed. It may be called on any
    /// thread, and must neither block nor own the client.
    pub on_match: Notify,
}

/// A client without message types.
///
/// All methods may be called from any thread.
#[derive(Clone)]
pub struct Client {
    // This is dropped first, because the upkeep must not use the fields below while they are being
    // dropped.
    _looked_after: Arc<LookedAfter>,
    caller: Arc<Caller>,
}

/// Ends the upkeep when the last handle is dropped.
struct LookedAfter(Upkeep);

impl Drop for LookedAfter {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Client {
    /// Makes the endpoints of the client.
    ///
    /// # Errors
    /// The engine refuses.
    pub fn new(session: &dyn Session, options: ClientOptions<'_>) -> Created<Self> {
        let ClientOptions { service, transports, ringer, .. } = options;
        let (memory, obstacle) = match make_memory(transports) {
            Ok(memory) => (memory, None),
            Err(obstacle) => (None, Some(obstacle)),
        };
        let endpoint = memory.as_ref().map_or(0, CallMemory::endpoint);
        let announcement = Announcement::of_this_process(endpoint, transports, obstacle);
        let engine_pending = Arc::new(AtomicBool::new(false));
        let matches = Arc::new(AtomicU64::new(0));
        let on_response: Notify = {
            let (pending, ringer) = (engine_pending.clone(), ringer.clone());
            let tell = options.on_response.clone();
            Arc::new(move || {
                pending.store(true, Ordering::Release);
                ringer.ring();
                tell();
            })
        };
        let upkeep = Upkeep::new(session.ending());
        let on_match: Notify = {
            let (matches, ringer, tell) =
                (matches.clone(), ringer.clone(), options.on_match.clone());
            let upkeep = upkeep.clone();
            Arc::new(move || {
                matches.fetch_add(1, Ordering::AcqRel);
                ringer.ring();
                upkeep.ask();
                tell();
            })
        };
        let on_server_end = on_match.clone();
        let engine = session.create_client(feros_engine::ClientOptions {
            node: options.node,
            service,
            type_name: options.type_name,
            type_hash: options.type_hash,
            request_hash: options.request_hash,
            response_hash: options.response_hash,
            qos: options.qos,
            force_mapping: options.force_mapping,
            announcement: &announcement.encode(),
            on_response,
            on_match,
        })?;
        let caller = Arc::new(Caller::new(CallerOptions {
            service,
            engine,
            announced: announcement.into(),
            allowed: transports,
            memory,
            ringer,
            on_response: options.on_response,
            on_match: options.on_match,
            on_server_end,
            engine_pending,
            matches,
        }));
        caller.begin(&upkeep);
        Ok(Self { _looked_after: Arc::new(LookedAfter(upkeep)), caller })
    }

    /// Whether there is a server that would answer a request sent now. Servers of this host whose
    /// processes have ended do not count, even if the engine still regards them as alive.
    pub fn service_is_available(&self) -> bool {
        self.caller.routes().is_available()
    }

    /// The servers that would get a request sent now.
    pub fn servers(&self) -> Vec<Gid> {
        self.caller.routes().servers.iter().map(|route| route.server).collect()
    }

    /// The transport of requests to each server, and the reason why a more direct transport is not
    /// used.
    pub fn transports(&self) -> Vec<MatchTransport> {
        self.caller.routes().transports.clone()
    }

    /// The endpoints that the servers send their responses from. If the endpoint of a server is not
    /// in this list, that server will not send any further responses.
    pub fn responders(&self) -> Vec<Gid> {
        self.caller.engine.responders()
    }

    /// Sends a request. Returns its number and its recipients.
    ///
    /// Waits up to one second for servers of this host that have not taken earlier requests yet.
    ///
    /// # Errors
    /// The request cannot be serialized or sent.
    pub fn send_request(
        &self,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(i64, Recipients), PublishError> {
        self.caller.send_request(size_bytes, fill)
    }

    /// Like [`send_request`](Self::send_request), but returns `None` if no [service is
    /// available](Self::service_is_available). This call looks for the servers only once, whereas
    /// two separate calls would look for them twice.
    ///
    /// # Errors
    /// The request cannot be serialized or sent.
    pub fn send_request_if_served(
        &self,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<Option<(i64, Recipients)>, PublishError> {
        self.caller.send_request_if_served(size_bytes, fill)
    }

    /// Whether these servers have left or were killed. If so, no response will arrive except those
    /// that can be taken now. For servers of this host, the end is noticed at once, and is reported
    /// through [`ClientOptions::on_match`] and the ringer.
    pub fn have_left(&self, recipients: &Recipients) -> bool {
        self.caller.have_left(recipients)
    }

    /// Takes the next response, and returns it with the number of its request. Never blocks.
    ///
    /// # Errors
    /// The engine fails.
    pub fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError> {
        self.caller.take_response()
    }

    /// From now on, [`ClientOptions::on_response`] is also called for responses in shared memory.
    /// Without this call, only a waiting thread would notice such responses. Before you await a
    /// response, call this, and then check once more for the response.
    pub fn listen(&self) {
        self.caller.listen();
    }

    /// Starts to wait for responses on this thread. It is best to call this before the request is
    /// sent, so that this work does not delay the response.
    pub fn begin_wait(&self) -> ResponseWait {
        ResponseWait::begin(&self.caller.ringer, self.caller.may_be_rung_by_others())
    }

    /// Sleeps until a ring arrives, for at most `timeout`. A ring since the last
    /// [`ResponseWait::begin_look`] also counts. This call may also return early without a ring.
    pub fn sleep(&self, waiting: &ResponseWait, timeout: Duration) {
        waiting.sleep(self.caller.is_rung_by_others(), timeout);
    }

    /// The counts of the requests sent so far, for each transport.
    pub fn counts(&self) -> CallCounts {
        self.caller.counters.read(self.caller.engine.lost_responses())
    }

    /// The QoS policies, in which system-default values have been replaced by the actual values.
    pub fn qos(&self) -> QosProfile {
        self.caller.engine.qos()
    }

    /// The identity of the endpoint that sends requests.
    pub fn gid(&self) -> Gid {
        self.caller.engine.gid()
    }

    /// The identity of the endpoint that receives responses. Servers identify the client by it.
    pub fn response_gid(&self) -> Gid {
        self.caller.engine.response_gid()
    }
}

/// Makes the memory for calls. Returns `Ok(None)` if the shared-memory transport is not allowed.
fn make_memory(transports: TransportSet) -> Result<Option<CallMemory>, Obstacle> {
    if !availability::of(transports)? {
        return Ok(None);
    }
    CallMemory::create().map(Some).map_err(|unavailable| unavailable.obstacle())
}
