//! Clients of services: of a server of the process, else of the one that the master names.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use feros_rmw::engine::Fill;
use feros_rmw::{
    Client, ClientOptions, CreateEndpointError, EndpointKind, Gid, Notify, PublishError,
    QosProfile, Sample, ServerMatch, Stamp, TakeError,
};
use feros_sync::{AtomicU64, Mutex, Ordering};

use crate::caller::Caller;
use crate::matches::{Matches, Reach};
use crate::message::{Body, Message};
use crate::node_topics::{no_type, parse};
use crate::participant::Member;
use crate::publisher::filled;
use crate::session::{Described, Place};
use feros_rmw_inbox::{Gate, Received as _};

/// Responses that wait for a client at most, in number and bytes. They are not displaced by others:
/// who asked for them waits for each.
const MOST_WAITING: usize = 1024;
const MOST_BYTES: usize = 64 << 20;

#[derive(Default)]
struct Waiting {
    queue: VecDeque<Message>,
    bytes: usize,
}

/// Responses that were not taken yet.
pub(crate) struct Responses {
    waiting: Mutex<Waiting>,
    on_response: Gate,
    lost: AtomicU64,
}

impl Responses {
    fn new(on_response: Notify) -> Arc<Self> {
        Arc::new(Self {
            waiting: Mutex::default(),
            on_response: Gate::new(Some(on_response)),
            lost: AtomicU64::new(0),
        })
    }

    pub(crate) fn put(&self, number: i64, body: Arc<Body>, server: Gid) {
        let stamp = Some(Stamp::now());
        let at = SystemTime::now();
        let message = Message { body, from: server, number: Some(number), stamp, at };
        {
            let mut waiting = self.waiting.lock();
            let size = message.size_bytes();
            let is_full = waiting.queue.len() >= MOST_WAITING
                || (waiting.bytes + size > MOST_BYTES && !waiting.queue.is_empty());
            if is_full {
                self.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            waiting.bytes += size;
            waiting.queue.push_back(message);
        }
        self.on_response.notify();
    }
}

pub(crate) struct Ros1Client {
    member: Member,
    responses: Arc<Responses>,
    matches: Arc<Matches>,
    caller: Arc<Caller>,
    /// Number of the last request; held while one is sent, so that they travel in order.
    last_number: Mutex<i64>,
    qos: QosProfile,
}

impl Ros1Client {
    pub(crate) fn new(
        place: Place,
        options: ClientOptions<'_>,
        qos: QosProfile,
    ) -> Result<Self, CreateEndpointError> {
        let name = options.service;
        let types = place.participant.types();
        let ros2 = parse(name, options.type_name)?;
        let ty = types.ros1_service(&ros2).map_err(|error| no_type(name, &error))?;
        let plans = types.service_plans(&ty, &ros2).map_err(|error| no_type(name, &error))?;
        let responses = Responses::new(options.on_response);
        let matches = Matches::new(Some(options.on_match));
        let ros1 = (feros_ros1::type_text(&ty.name), ty.md5sum);
        let caller = Caller::new(&place.ros1, name, ros1, plans, &responses);
        let described = Described {
            kind: EndpointKind::Client,
            name,
            type_name: options.type_name,
            type_hash: options.type_hash,
            announcement: options.announcement,
        };
        let entry = place.entry(&described, qos, &matches, Reach::Client(responses.clone()));
        let member = place.participant.add(entry);
        Ok(Self { member, responses, matches, caller, last_number: Mutex::new(0), qos })
    }
}

impl Drop for Ros1Client {
    fn drop(&mut self) {
        self.responses.on_response.close();
        self.matches.close();
        self.caller.close();
    }
}

impl Client for Ros1Client {
    fn gid(&self) -> Gid {
        self.member.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn service_is_available(&self) -> bool {
        self.matches.count() > 0
    }

    fn servers(&self) -> Vec<ServerMatch> {
        let found = self.matches.list().into_iter();
        found.map(|found| ServerMatch { found, is_available: true }).collect()
    }

    fn response_gid(&self) -> Gid {
        self.member.gid
    }

    /// Its connection has ended with its process.
    fn forget_ended(&self, _server: Gid) {}

    fn responders(&self) -> Vec<Gid> {
        self.matches.gids()
    }

    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError> {
        let body = filled(&self.member.name, size_bytes, fill)?;
        let mut last_number = self.last_number.lock();
        let number = *last_number + 1;
        match self.matches.nearest() {
            Some((_, Reach::Service(requests))) => requests.put(Message {
                body: Arc::new(body),
                from: self.member.gid,
                number: Some(number),
                stamp: Some(Stamp::now()),
                at: SystemTime::now(),
            }),
            found => {
                let server = found.map(|(server, _)| server).unwrap_or_default();
                self.caller.call(number, server, body.bytes()).map_err(|code| {
                    PublishError::Engine { topic: self.member.name.clone(), code }
                })?;
            }
        }
        *last_number = number;
        Ok(number)
    }

    fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError> {
        let message = {
            let mut waiting = self.responses.waiting.lock();
            let Some(message) = waiting.queue.pop_front() else { return Ok(None) };
            waiting.bytes -= message.size_bytes();
            message
        };
        let number = message.number.unwrap_or_default();
        Ok(Some((number, message.sample(self.member.gid))))
    }

    fn lost_responses(&self) -> u64 {
        self.responses.lost.load(Ordering::Relaxed)
    }

    fn refused_samples(&self) -> u64 {
        0
    }
}
