//! A client on both engines. It sends requests to the first engine that has a server.

use std::sync::Arc;

use feros_engine::engine::Fill;
use feros_engine::{
    Client, ClientOptions, Created, Gid, Match, PublishError, QosProfile, Sample, ServerMatch,
    TakeError, twin,
};
use feros_sync::{AtomicBool, Mutex, Ordering};

use crate::joining::{Joined, Joiner};
use crate::later::Watch;
use crate::service::to_pair;
use crate::shared::Shared;

pub(crate) struct PairClient {
    sides: [Arc<dyn Client>; 2],
    watch: Arc<Watch>,
    joiner: Mutex<Joiner>,
    /// Whether a request has ever been sent on the second engine, so that a response may still
    /// arrive there.
    has_asked_second: AtomicBool,
}

/// The servers on both engines, and the engine on which requests are sent.
struct Servers {
    joined: Vec<Joined>,
    of: [Vec<ServerMatch>; 2],
    asked: usize,
}

impl PairClient {
    pub(crate) fn new(shared: &Arc<Shared>, options: &ClientOptions<'_>) -> Created<Self> {
        let nodes = shared.node(options.node, options.service)?;
        let watch = Watch::new(Some(options.on_match.clone()));
        let of_side = |side: usize, announcement: &str| {
            shared.sides[side].create_client(ClientOptions {
                node: nodes[side],
                announcement,
                on_match: watch.notifier(),
                ..options.clone()
            })
        };
        let first = of_side(0, &twin::first_announcement(options.announcement))?;
        let second = of_side(1, &twin::announcement(first.gid(), options.announcement))?;
        Ok(Self {
            sides: [first, second],
            joiner: Mutex::new(Joiner::new(shared, watch.clone())),
            watch,
            has_asked_second: AtomicBool::new(false),
        })
    }

    fn look(&self) -> Servers {
        let of = self.sides.each_ref().map(|side| side.servers());
        let matches = of.each_ref().map(|servers| {
            let servers = servers.iter().map(|server| server.found.clone());
            servers.collect::<Vec<Match>>()
        });
        let joined = self.joiner.lock().join_offers(matches);
        let has = |side: usize| joined.iter().any(|one| one.on[side].is_some());
        let can_answer = |side: &usize| has(*side) && self.sides[*side].service_is_available();
        let asked = [0, 1].into_iter().find(can_answer);
        let asked = asked.unwrap_or(usize::from(!has(0) && has(1)));
        Servers { joined, of, asked }
    }
}

impl Client for PairClient {
    fn gid(&self) -> Gid {
        self.sides[0].gid()
    }

    fn qos(&self) -> QosProfile {
        self.sides[0].qos()
    }

    fn service_is_available(&self) -> bool {
        let servers = self.look();
        let is_there = servers.joined.iter().any(|one| one.on[servers.asked].is_some());
        is_there && self.sides[servers.asked].service_is_available()
    }

    fn servers(&self) -> Vec<ServerMatch> {
        let Servers { joined, of, asked } = self.look();
        let of_asked = joined.iter().filter_map(|one| {
            let gid = one.on[asked]?;
            let server = of[asked].iter().find(|server| server.found.gid == gid)?;
            Some(ServerMatch { found: one.to_match(), is_available: server.is_available })
        });
        of_asked.collect()
    }

    fn response_gid(&self) -> Gid {
        self.sides[0].response_gid()
    }

    fn forget_ended(&self, server: Gid) {
        let servers = self.look();
        let Some(found) = servers.joined.iter().find(|one| one.identity == server) else { return };
        let on = self.sides.iter().zip(found.on);
        on.for_each(|(side, gid)| gid.into_iter().for_each(|gid| side.forget_ended(gid)));
    }

    fn responders(&self) -> Vec<Gid> {
        let asked = self.look().asked;
        let mut responders = self.sides[asked].responders();
        if asked == 0 && self.has_asked_second.load(Ordering::Acquire) {
            responders.extend(self.sides[1].responders());
        }
        responders
    }

    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError> {
        let asked = self.look().asked;
        if asked == 1 {
            self.has_asked_second.store(true, Ordering::Release);
        }
        let number = self.sides[asked].send_request(size_bytes, fill)?;
        Ok(to_pair(asked, number))
    }

    fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError> {
        for (side, end) in self.sides.iter().enumerate() {
            if let Some((number, response)) = end.take_response()? {
                return Ok(Some((to_pair(side, number), response)));
            }
        }
        Ok(None)
    }

    fn lost_responses(&self) -> u64 {
        self.sides.iter().map(|side| side.lost_responses()).sum()
    }

    fn refused_samples(&self) -> u64 {
        self.sides.iter().map(|side| side.refused_samples()).sum()
    }
}

impl Drop for PairClient {
    fn drop(&mut self) {
        self.watch.close();
    }
}
