//! Service clients. A client calls the server in this process if there is one, and otherwise the
//! server that the master names.

use std::sync::Arc;
use std::time::SystemTime;

use feros_engine::engine::Fill;
use feros_engine::{
    Client, ClientOptions, Created, EndpointKind, Gid, PublishError, QosProfile, Sample,
    ServerMatch, Stamp, TakeError,
};
use feros_sync::Mutex;

use crate::caller::Caller;
use crate::matches::{Matches, Reach, nearest};
use crate::message::{Message, Responses, filled};
use crate::node_topics::{no_type, parse};
use crate::participant::Member;
use crate::place::{Described, Place};
use crate::requests::{Request, put};

pub(crate) struct Ros1Client {
    member: Member,
    responses: Arc<Responses>,
    matches: Arc<Matches>,
    caller: Arc<Caller>,
    /// The number of the last request. The lock is held while a request is sent, so that requests
    /// are sent in order.
    last_number: Mutex<i64>,
    qos: QosProfile,
}

impl Ros1Client {
    pub(crate) fn new(place: Place, options: ClientOptions<'_>) -> Created<Self> {
        let qos = options.qos;
        let name = options.service;
        let types = place.participant.types();
        let ros2 = parse(name, options.type_name)?;
        let ty = types.ros1_service(&ros2).map_err(|error| no_type(name, &error))?;
        let plans = types.service_plans(&ty, &ros2).map_err(|error| no_type(name, &error))?;
        let responses = Arc::new(Responses::new(options.on_response));
        let matches = Arc::new(Matches::new(Some(options.on_match)));
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
        self.responses.close();
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
        self.matches.servers()
    }

    fn responders(&self) -> Vec<Gid> {
        self.matches.gids()
    }

    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError> {
        let body = filled(&self.member.name, size_bytes, fill)?;
        let mut last_number = self.last_number.lock();
        let number = *last_number + 1;
        match nearest(&self.matches) {
            Some((_, Reach::Service(requests))) => {
                let message = Message {
                    body: Arc::new(body),
                    from: self.member.gid,
                    number: Some(number),
                    stamp: Some(Stamp::now()),
                    at: SystemTime::now(),
                };
                put(&requests, Request { message, slot: None });
            }
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
        let Some(message) = self.responses.pop() else { return Ok(None) };
        let number = message.number.unwrap_or_default();
        Ok(Some((number, message.sample(self.member.gid))))
    }

    fn lost_responses(&self) -> u64 {
        self.responses.lost()
    }

    fn refused_samples(&self) -> u64 {
        0
    }
}
