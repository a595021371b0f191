//! Service servers. They receive the requests of clients in this process and the calls of ROS 1
//! nodes. The connection of a ROS 1 node waits for the response.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use feros_engine::engine::Fill;
use feros_engine::gaps::Gaps;
use feros_engine::{
    Created, EndpointKind, Gid, Match, PublishError, QosProfile, RequestId, Sample, Service,
    ServiceMapping, ServiceOptions, TakeError,
};
use feros_ros1::{Answer, ServicePlans};
use feros_sync::{AtomicU64, Mutex, Ordering};
use tokio::sync::oneshot::Receiver;

use crate::matches::{Matches, Reach, reach};
use crate::message::{Body, Message, filled};
use crate::node_topics::{no_type, parse, refused};
use crate::participant::Member;
use crate::place::{Described, Place};
use crate::requests::{self, Request, Requests, Slot, Taken, put};

/// The state that the connections of ROS 1 nodes share with the server.
struct Calls {
    requests: Arc<Requests>,
    plans: Arc<ServicePlans>,
    /// The gid that represents all callers over TCPROS, because TCPROS does not identify callers.
    caller: Gid,
    last: AtomicU64,
    /// Calls that the server has taken but has not responded to yet, or `None` after the server has
    /// ended.
    taken: Mutex<Option<Taken>>,
}

impl Calls {
    fn serve(&self, ros1: &[u8]) -> Answer {
        let asked = self.ask(ros1);
        Box::pin(async move { asked?.await.unwrap_or_else(|_| Err(GONE.to_owned())) })
    }

    /// Queues a call for the server and returns the receiver of its response.
    fn ask(&self, ros1: &[u8]) -> Result<Receiver<requests::Answer>, String> {
        let body = Body::converted(&self.plans.request.to_ros2, ros1);
        let body = Arc::new(body.map_err(|error| error.to_string())?);
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let number = Some(i64::try_from(number).unwrap_or(i64::MAX));
        let at = SystemTime::now();
        let message = Message { body, from: self.caller, number, stamp: None, at };
        let (slot, answer) = Slot::new();
        // The lock is held while the request is queued, so that `end` finds the request.
        let taken = self.taken.lock();
        if taken.is_none() {
            return Err(GONE.to_owned());
        }
        put(&self.requests, Request { message, slot: Some(slot) });
        Ok(answer)
    }

    fn end(&self) {
        let taken = self.taken.lock().take().unwrap_or_default();
        let waiting = self.requests.take_all().into_iter().filter_map(|request| request.slot);
        taken.into_requests().chain(waiting).for_each(|slot| slot.answer(Err(GONE.to_owned())));
    }
}

const GONE: &str = "the server has ended";

pub(crate) struct Ros1Service {
    member: Member,
    requests: Arc<Requests>,
    calls: Arc<Calls>,
    matches: Arc<Matches>,
    gaps: Mutex<Gaps>,
    lost: AtomicU64,
    place: Place,
    qos: QosProfile,
}

impl Ros1Service {
    pub(crate) fn new(place: Place, options: ServiceOptions<'_>) -> Created<Self> {
        let qos = options.qos;
        let name = options.service;
        let types = place.participant.types();
        let ros2 = parse(name, options.type_name)?;
        let ty = types.ros1_service(&ros2).map_err(|error| no_type(name, &error))?;
        let plans = types.service_plans(&ty, &ros2).map_err(|error| no_type(name, &error))?;
        let requests = Arc::new(Requests::new(&qos, options.on_request));
        let matches = Arc::new(Matches::new(Some(options.on_match)));
        let described = Described {
            kind: EndpointKind::Service,
            name,
            type_name: options.type_name,
            type_hash: options.type_hash,
            announcement: options.announcement,
        };
        let entry = place.entry(&described, qos, &matches, Reach::Service(requests.clone()));
        let Gid(mut caller) = entry.info.gid;
        caller[12] |= 0x80; // no endpoint has such a gid
        let calls = Arc::new(Calls {
            requests: requests.clone(),
            plans,
            caller: Gid(caller),
            last: AtomicU64::new(0),
            taken: Mutex::new(Some(Taken::default())),
        });
        let serving = calls.clone();
        let served = place.ros1.serve(feros_ros1::ServiceOptions {
            service: name.to_owned(),
            type_name: feros_ros1::type_text(&ty.name),
            md5sum: ty.md5sum,
            handler: Arc::new(move |request| serving.serve(request)),
        });
        served.map_err(|error| refused(name, "serving", &error))?;
        let member = place.participant.add(entry);
        let (gaps, lost) = (Mutex::default(), AtomicU64::new(0));
        Ok(Self { member, requests, calls, matches, gaps, lost, place, qos })
    }

    /// Responds to the call of a ROS 1 node.
    fn answer(&self, number: i64, response: &[u8]) -> Result<(), PublishError> {
        let caller = self.calls.caller;
        let slot = self.calls.taken.lock().as_mut().and_then(|taken| taken.remove(caller, number));
        let Some(slot) = slot else { return Err(self.client_gone()) };
        let mut body = Vec::with_capacity(response.len());
        match self.calls.plans.response.to_ros1.convert(response, &mut body) {
            Ok(()) => {
                slot.answer(Ok(body));
                Ok(())
            }
            Err(error) => {
                slot.answer(Err(error.to_string()));
                let topic = self.member.name.clone();
                Err(PublishError::Engine { topic, code: error.to_string() })
            }
        }
    }

    fn client_gone(&self) -> PublishError {
        PublishError::ClientGone { service: self.member.name.clone(), waited: Duration::ZERO }
    }
}

impl Drop for Ros1Service {
    fn drop(&mut self) {
        self.requests.close();
        self.matches.close();
        self.member.leave();
        self.place.ros1.stop_serving(&self.member.name);
        self.calls.end();
    }
}

impl Service for Ros1Service {
    fn gid(&self) -> Gid {
        self.member.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError> {
        let Some(Request { message, slot }) = self.requests.take() else {
            return Ok(None);
        };
        let (client, number) = (message.from, message.number.unwrap_or_default());
        let lost = self.gaps.lock().next(client, number, || {
            let mut known = self.matches.gids();
            known.push(self.calls.caller);
            known
        });
        self.lost.fetch_add(lost, Ordering::Relaxed);
        if let Some(slot) = slot {
            let given_up = match self.calls.taken.lock().as_mut() {
                Some(taken) => {
                    let most = feros_inbox::MOST_PENDING;
                    let oldest = taken.insert(client, number, slot);
                    oldest.map(|slot| {
                        (slot, format!("more than {most} calls already wait for a response"))
                    })
                }
                None => Some((slot, GONE.to_owned())),
            };
            if let Some((slot, reason)) = given_up {
                slot.answer(Err(reason));
            }
        }
        let id = RequestId {
            client: client.0,
            sequence_number: number,
            mapping: ServiceMapping::RelatedSampleIdentity,
        };
        Ok(Some((id, message.sample(self.member.gid))))
    }

    fn send_response(
        &self,
        request: &RequestId,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError> {
        let body = filled(&self.member.name, size_bytes, fill)?;
        let client = Gid(request.client);
        if client == self.calls.caller {
            return self.answer(request.sequence_number, body.bytes());
        }
        let Some(Reach::Client(responses)) = reach(&self.matches, client) else {
            return Err(self.client_gone());
        };
        responses.push(Message::response(request.sequence_number, body, self.member.gid));
        Ok(())
    }

    fn lost_requests(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn clients(&self) -> Vec<Match> {
        self.matches.list()
    }

    fn refused_samples(&self) -> u64 {
        0
    }
}
