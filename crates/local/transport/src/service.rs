//! The untyped handle of a service server. It takes requests from all transports, and sends each
//! response over the transport of its request.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_doorbell::Ringer;
use feros_engine::engine::Fill;
use feros_engine::{
    Created, FailureCounters, Gid, NodeId, Payload, PublishError, QosProfile, RequestId, Sample,
    Service as EngineService, ServiceMapping, Session, Stamp, TakeError, TypeHash,
};
use feros_shm::{Announced, Announcement, SendToChannelError, Transport, TransportSet};
use feros_sync::Mutex;

use crate::bytes::{BufferPool, lend};
use crate::calls::channels::{OpenChannel, ServerChannels};
use crate::calls::counters::{CallCounters, CallCounts};
use crate::calls::inbox::{
    LocalMessage, MOST_RESPONSES, NotTaken, RequestQueue, ResponseInbox, SERVERS,
};
use crate::calls::local::local_sample;
use crate::graph::MatchTransport;
use crate::registry::Registration;
use crate::shared_memory::availability;
use crate::subscription::notification;

/// The options of a server.
pub struct ServiceOptions<'a> {
    /// The node of the server.
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
    /// How the server announces itself to stock ROS 2.
    pub mapping: ServiceMapping,
    /// Whether the endpoint that sends responses through the engine may be created only when the
    /// first client appears.
    pub replies_on_demand: bool,
    /// Whether requests from other hosts are ignored. Requests over the intra-process and
    /// shared-memory transports are always from this host.
    pub local_requests_only: bool,
    /// The transports that requests and responses may take.
    pub transports: TransportSet,
    /// The ringer that is rung when there may be a request to take.
    pub ringer: &'a Ringer,
}

/// A server without message types.
///
/// All methods may be called from any thread.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    // This is dropped first, because clients of this process can find the queue while this value
    // exists.
    _registration: Registration<RequestQueue>,
    service: String,
    engine: Arc<dyn EngineService>,
    queue: Arc<RequestQueue>,
    channels: Arc<ServerChannels>,
    /// Set by the engine when there may be a request to take.
    engine_pending: Arc<AtomicBool>,
    receives_network: bool,
    /// The source to check first for the next request.
    turn: AtomicUsize,
    buffers: Mutex<BufferPool>,
    counters: CallCounters,
}

/// The information about a request that is needed to send its response.
#[derive(Debug, Clone)]
pub struct Request {
    id: RequestId,
    way: ReplyWay,
}

#[derive(Clone)]
enum ReplyWay {
    Engine,
    SharedMemory(Arc<OpenChannel>),
    IntraProcess(Weak<ResponseInbox>),
}

impl std::fmt::Debug for ReplyWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Engine => "Engine",
            Self::SharedMemory(_) => "SharedMemory",
            Self::IntraProcess(_) => "IntraProcess",
        })
    }
}

/// Two requests are equal if the same response answers both of them.
impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.transport() == other.transport()
    }
}

impl Eq for Request {}

impl From<RequestId> for Request {
    /// Makes a request that arrived through the engine.
    fn from(id: RequestId) -> Self {
        Self { id, way: ReplyWay::Engine }
    }
}

impl Request {
    /// The sender of the request, and the number that the sender has given to the request.
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// The transport of the request, which its response also takes.
    pub fn transport(&self) -> Transport {
        match self.way {
            ReplyWay::Engine => Transport::Network,
            ReplyWay::SharedMemory(_) => Transport::SharedMemory,
            ReplyWay::IntraProcess(_) => Transport::IntraProcess,
        }
    }
}

impl Service {
    /// Makes the endpoints of the server.
    ///
    /// # Errors
    /// The engine refuses.
    pub fn new(session: &dyn Session, options: ServiceOptions<'_>) -> Created<Self> {
        let ServiceOptions { service, transports, ringer, .. } = options;
        let obstacle = availability::of(transports).err();
        let announcement = Announcement::of_this_process(0, transports, obstacle);
        let channels = Arc::new(ServerChannels::new(
            Announced::from(announcement.clone()),
            ringer,
            session.ending(),
        ));
        let engine_pending = Arc::new(AtomicBool::new(false));
        let on_request = notification(&engine_pending, ringer);
        let upkeep = channels.upkeep().clone();
        let registering = SERVERS.begin_registration();
        let engine = session.create_service(feros_engine::ServiceOptions {
            node: options.node,
            service,
            type_name: options.type_name,
            type_hash: options.type_hash,
            request_hash: options.request_hash,
            response_hash: options.response_hash,
            qos: options.qos,
            mapping: options.mapping,
            replies_on_demand: options.replies_on_demand,
            local_requests_only: options.local_requests_only,
            announcement: &announcement.encode(),
            on_request,
            on_match: Arc::new(move || upkeep.ask()),
        })?;
        let queue = Arc::new(RequestQueue::new(ringer.clone()));
        let registration = SERVERS.register(engine.gid(), &queue);
        drop(registering);
        if announcement.shared_memory.is_ok() && transports.contains(Transport::SharedMemory) {
            channels.begin(&engine);
        }
        Ok(Self(Arc::new(Inner {
            _registration: registration,
            service: service.to_owned(),
            engine,
            queue,
            channels,
            engine_pending,
            receives_network: transports.contains(Transport::Network),
            turn: AtomicUsize::new(0),
            buffers: Mutex::default(),
            counters: CallCounters::default(),
        })))
    }

    /// Takes the next request. Returns it together with the information that is needed to send its
    /// response. Never blocks.
    ///
    /// # Errors
    /// The engine fails.
    pub fn take_request(&self) -> Result<Option<(Request, Sample)>, TakeError> {
        self.0.take_request()
    }

    /// Whether there may be a request to take. After this has returned false, there is no need to
    /// check again until [`ServiceOptions::ringer`] is rung.
    pub fn may_have_request(&self) -> bool {
        self.0.may_have_request()
    }

    /// Sends the response to a request over the transport of the request. If shared memory has no
    /// room, the response goes through the engine.
    ///
    /// # Errors
    /// When the response cannot be serialized or sent, or when the client is known to have left.
    pub fn send_response(
        &self,
        request: &Request,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError> {
        self.0.send_response(request, size_bytes, fill)
    }

    /// Whether the client of a request may still take a response. This is `false` when the client
    /// is known to have left, which can be known only for clients of this host.
    pub fn is_awaited(&self, request: &Request) -> bool {
        match &request.way {
            ReplyWay::Engine => true,
            ReplyWay::IntraProcess(client) => client.strong_count() > 0,
            ReplyWay::SharedMemory(to) => {
                self.0.channels.open().iter().any(|known| Arc::ptr_eq(known, to))
            }
        }
    }

    /// The transport of the requests from each client, and the reason why a more direct transport
    /// is not used. If a client can reach at least one of its servers only over the network
    /// transport, it takes the network transport to all of its servers.
    pub fn transports(&self) -> Vec<MatchTransport> {
        self.0.channels.transports(&self.0.engine.clients())
    }

    /// The counts of the requests received so far, for each transport.
    pub fn counts(&self) -> CallCounts {
        self.0.counters.read(self.0.engine.lost_requests())
    }

    /// The QoS policies, in which system-default values have been replaced by the actual values.
    pub fn qos(&self) -> QosProfile {
        self.0.engine.qos()
    }

    /// The identity of the endpoint that receives requests.
    pub fn gid(&self) -> Gid {
        self.0.engine.gid()
    }
}

impl Inner {
    fn take_request(&self) -> Result<Option<(Request, Sample)>, TakeError> {
        let channels = self.channels.open();
        channels.iter().for_each(|known| known.catch_up());
        // The sources take turns, so that no client or transport makes the others wait.
        let sources = channels.len() + 2;
        let first = self.turn.load(Ordering::Relaxed);
        for offset in 0..sources {
            let source = first.wrapping_add(offset) % sources;
            let taken = match source {
                0 => self.take_in_process(),
                1 => self.take_from_engine()?,
                other => self.take_from_channel(&channels[other - 2]),
            };
            if taken.is_some() {
                self.turn.store(source + 1, Ordering::Relaxed);
                return Ok(taken);
            }
        }
        Ok(None)
    }

    fn may_have_request(&self) -> bool {
        !self.queue.is_empty()
            || self.engine_pending.load(Ordering::Acquire)
            || self.channels.open().iter().any(|known| known.channel.may_have_request())
    }

    fn take_in_process(&self) -> Option<(Request, Sample)> {
        let (request, client) = self.queue.take()?;
        let LocalMessage { number, sender, stamp, payload } = request;
        self.counters.intra_process.count(1, payload.len());
        let way = ReplyWay::IntraProcess(client);
        Some(self.local_request(way, sender, number, stamp, payload))
    }

    fn take_from_engine(&self) -> Result<Option<(Request, Sample)>, TakeError> {
        let is_pending = self.engine_pending.load(Ordering::Relaxed)
            && self.engine_pending.swap(false, Ordering::AcqRel);
        if !is_pending {
            return Ok(None);
        }
        while let Some((id, sample)) = self.engine.take_request()? {
            // Requests over a transport that is not allowed are skipped.
            if self.receives_network {
                self.engine_pending.store(true, Ordering::Release);
                self.counters.network.count(1, sample.payload.len());
                return Ok(Some((id.into(), sample)));
            }
        }
        Ok(None)
    }

    fn take_from_channel(&self, from: &Arc<OpenChannel>) -> Option<(Request, Sample)> {
        let taken = from.channel.take(|head, read| {
            let mut buffer = self.buffers.lock().get(head.size_bytes);
            read(Arc::get_mut(&mut buffer).expect("a buffer that nobody else uses").bytes_mut());
            (head, buffer)
        });
        match taken {
            Ok(taken) => {
                let (head, buffer) = taken?;
                self.counters.shared_memory.count(1, head.size_bytes);
                let payload = lend(&buffer);
                self.buffers.lock().put_back(&buffer);
                let (way, stamp) = (ReplyWay::SharedMemory(Arc::clone(from)), Stamp(head.stamp));
                let client = Gid(from.channel.replies());
                Some(self.local_request(way, client, head.number, stamp, payload))
            }
            Err(error) => {
                self.channels.upkeep().ask();
                static REFUSED: FailureCounters = FailureCounters::new();
                self.counters.refused_in_shared_memory.fetch_add(1, Ordering::Relaxed);
                if let Some(so_far) = REFUSED.so_far(&self.service) {
                    tracing::error!(target: "feros::shm", "{}: {error}{so_far}", self.service);
                }
                None
            }
        }
    }

    /// Makes a request that arrived over a local transport. As in stock ROS 2, the client is
    /// identified by the endpoint that receives its responses.
    fn local_request(
        &self,
        way: ReplyWay,
        client: Gid,
        number: i64,
        stamp: Stamp,
        payload: Payload,
    ) -> (Request, Sample) {
        let sample = local_sample(self.engine.gid(), client, stamp, payload);
        let mapping = ServiceMapping::RelatedSampleIdentity;
        let id = RequestId { client: client.0, sequence_number: number, mapping };
        (Request { id, way }, sample)
    }

    fn send_response(
        &self,
        request: &Request,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError> {
        let number = request.id.sequence_number;
        match &request.way {
            ReplyWay::Engine => self.engine.send_response(&request.id, size_bytes, fill),
            ReplyWay::IntraProcess(client) => {
                self.send_in_process(client, number, size_bytes, fill)
            }
            ReplyWay::SharedMemory(to) => match to.send(number, size_bytes, &mut *fill) {
                Ok(()) => Ok(()),
                // Only the memory of the client says that the client has left. Other processes can
                // write to this memory, so the engine decides.
                Err(SendToChannelError::Gone) if to.channel.peer().is_alive() => {
                    self.send_by_engine(request, to, size_bytes, fill)
                }
                Err(SendToChannelError::Gone) => Err(self.client_gone()),
                Err(SendToChannelError::Aborted) => Err(PublishError::FillAborted),
                Err(SendToChannelError::Busy { waiting, .. }) => Err(self.client_busy(waiting)),
                Err(why) => self.send_instead(request, to, size_bytes, fill, &why),
            },
        }
    }

    fn send_in_process(
        &self,
        client: &Weak<ResponseInbox>,
        number: i64,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError> {
        let client = client.upgrade().ok_or_else(|| self.client_gone())?;
        let mut buffer = self.buffers.lock().get(size_bytes);
        let memory = Arc::get_mut(&mut buffer).expect("a buffer that nobody else uses");
        fill(memory.bytes_mut()).map_err(|_| PublishError::FillAborted)?;
        let (sender, stamp, payload) = (self.engine.gid(), Stamp::now(), lend(&buffer));
        let sent = client.put(LocalMessage { number, sender, stamp, payload });
        self.buffers.lock().put_back(&buffer);
        sent.map_err(|why| match why {
            NotTaken::Gone => self.client_gone(),
            NotTaken::Busy => self.client_busy(MOST_RESPONSES),
        })
    }

    /// Sends a response through the engine because shared memory has no room for it.
    #[cold]
    fn send_instead(
        &self,
        request: &Request,
        to: &OpenChannel,
        size_bytes: usize,
        fill: Fill<'_>,
        why: &SendToChannelError,
    ) -> Result<(), PublishError> {
        static FAILED: FailureCounters = FailureCounters::new();
        self.counters.shared_memory_failures.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = FAILED.count(&self.service) {
            tracing::warn!(
                target: "feros::shm",
                "{}: {count} responses so far took the network transport instead of shared memory: \
                 {why}",
                self.service
            );
        }
        if !to.network_is_allowed {
            return Err(PublishError::OutOfMemory { topic: self.service.clone(), size_bytes });
        }
        self.send_by_engine(request, to, size_bytes, fill)
    }

    /// Sends the response to a request through the engine, although the engine has never seen the
    /// request.
    fn send_by_engine(
        &self,
        request: &Request,
        to: &OpenChannel,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError> {
        if !to.network_is_allowed {
            return Err(self.client_gone());
        }
        let id = RequestId { client: to.channel.replies(), ..request.id };
        self.engine.send_response(&id, size_bytes, fill)
    }

    fn client_busy(&self, waiting: usize) -> PublishError {
        PublishError::ClientBusy { service: self.service.clone(), waiting }
    }

    fn client_gone(&self) -> PublishError {
        PublishError::ClientGone { service: self.service.clone(), waited: Duration::ZERO }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
        self.channels.end();
    }
}
