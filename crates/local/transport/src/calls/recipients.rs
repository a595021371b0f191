//! The servers that could respond to a request. From these, a client learns when it can no longer
//! expect a response.

use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Weak};

use feros_engine::Gid;
use feros_shm::ClientChannel;

use crate::calls::inbox::RequestQueue;
use crate::calls::routes::{ServerRoute, Way};

/// The servers that could respond to a request at the time when it was sent.
///
/// If the request did not go through the engine, each of these servers is known. If it did, the
/// servers are only assumed, because the engine does not report which servers get a request.
#[derive(Debug, Default)]
pub struct Recipients(Kind);

#[derive(Debug, Default)]
enum Kind {
    #[default]
    Unknown,
    /// The request went through the engine. These are the endpoints that its responses are sent
    /// from.
    Responders(Vec<Gid>),
    One(Recipient),
    Several(Vec<Recipient>),
}

/// A server that received a request. The references are weak, so that a wait for the response does
/// not keep the server alive.
enum Recipient {
    IntraProcess(Weak<RequestQueue>),
    SharedMemory(Weak<ClientChannel>),
}

impl Recipients {
    /// The recipients of a request that goes over these routes, none of which needs the engine.
    pub(crate) fn on(routes: &[ServerRoute]) -> Self {
        let mut recipients = routes.iter().filter_map(Recipient::on);
        Self(match (recipients.next(), routes.len()) {
            (None, _) => Kind::Unknown,
            (Some(only), 1) => Kind::One(only),
            (Some(first), _) => Kind::Several(std::iter::once(first).chain(recipients).collect()),
        })
    }

    /// Records the servers that could respond to a request that was sent through the engine.
    /// `responders` are the endpoints that these servers send their responses from.
    pub fn assume(&mut self, responders: Vec<Gid>) {
        if matches!(self.0, Kind::Unknown) && !responders.is_empty() {
            self.0 = Kind::Responders(responders);
        }
    }

    /// Whether it is certain that none of the recipients will respond any more. If so, the caller
    /// then finds all responses that they have sent. `responders` returns the present responders
    /// according to the engine.
    pub(crate) fn have_left(&self, responders: impl FnOnce() -> Vec<Gid>) -> bool {
        let have_left = match &self.0 {
            Kind::Unknown => false,
            Kind::Responders(then) => {
                let now = responders();
                !then.iter().any(|one| now.contains(one))
            }
            Kind::One(recipient) => recipient.has_left(),
            Kind::Several(recipients) => recipients.iter().all(Recipient::has_left),
        };
        // A `Weak` whose value has been dropped does not make visible what the owner wrote before.
        fence(Ordering::Acquire);
        have_left
    }
}

impl Recipient {
    fn on(route: &ServerRoute) -> Option<Self> {
        match &route.way {
            Way::IntraProcess(queue) => Some(Self::IntraProcess(Arc::downgrade(queue))),
            Way::SharedMemory(channel) => Some(Self::SharedMemory(Arc::downgrade(channel))),
            Way::Network | Way::None => None,
        }
    }

    fn has_left(&self) -> bool {
        match self {
            Self::IntraProcess(queue) => queue.upgrade().is_none_or(|queue| queue.is_closed()),
            Self::SharedMemory(channel) => {
                channel.upgrade().is_none_or(|channel| channel.has_left())
            }
        }
    }
}

impl std::fmt::Debug for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::IntraProcess(_) => "IntraProcess",
            Self::SharedMemory(_) => "SharedMemory",
        })
    }
}
