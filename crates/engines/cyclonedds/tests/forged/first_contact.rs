//! The data that a session sends to participants that it meets: an answer to a greeting has the
//! whole history, and a participant that does not answer causes no packets for others.

use std::time::Duration;

use feros_conformance::{TestNode, TestPublisher};
use feros_engine::{Gid, QosProfile};
use feros_test_support::until;

use crate::gone_history::{Told, octets, told_by};
use crate::participant::{
    FAST_DDS, Listener, Parameters, Participant, destination, entity, submessage, submessages_in,
};

/// A participant that announces itself and reads about others and their publications: it announces
/// no endpoints.
const ENDPOINTS: u32 = 0x1 | 0x2 | 0x8;

/// The pause after which no further datagram is expected for now.
const QUIET: Duration = Duration::from_millis(10);

/// A session with a few publishers, and participants that exist only in datagrams.
struct Meeting {
    listener: Listener,
    _publishers: Vec<TestPublisher>,
    _node: TestNode,
    /// The writer that announces the session's publishers.
    writer: [u8; 16],
    /// The number of greetings and acknowledgements so far: one with an old number is ignored.
    count: u32,
}

impl Meeting {
    fn start() -> Self {
        let listener = Listener::start();
        listener.socket.set_read_timeout(Some(QUIET)).unwrap();
        let node = TestNode::new(listener.session.clone());
        let publisher = |topic: &str| node.publisher(topic, QosProfile::keep_last(1));
        let publishers = ["/first", "/second", "/third"].map(publisher).into();
        let mut writer = listener.session.gid().0;
        writer[12..].copy_from_slice(&entity::PUBLICATIONS_WRITER);
        Self { listener, _publishers: publishers, _node: node, writer, count: 0 }
    }

    /// Sends an ACKNACK (DDSI-RTPS 2.5, 9.4.5.2) that requests nothing. `acknowledged` is the
    /// number of the last acknowledged sample. A greeting acknowledges nothing, and wants an
    /// answer.
    fn acknowledge(&mut self, of: &Participant, acknowledged: u32) {
        self.count += 1;
        let numbers = octets(&[0, acknowledged + 1, 0, self.count]);
        let body = [&entity::PUBLICATIONS_READER[..], &self.writer[12..], &numbers].concat();
        let flags = if acknowledged == 0 { 0x01 } else { 0x03 };
        let to = destination(Gid(self.writer));
        self.listener.send(of, &[to, submessage(0x06, flags, &body)]);
    }

    /// Returns the datagrams of the session that have come.
    fn received(&self) -> Vec<Vec<u8>> {
        let (mut all, mut datagram) = (Vec::new(), vec![0; 1 << 16]);
        while let Ok((size, _)) = self.listener.socket.recv_from(&mut datagram) {
            if datagram[..size].get(8..20) == Some(&self.writer[..12]) {
                all.push(datagram[..size].to_vec());
            }
        }
        all
    }
}

fn participant(number: u8) -> Participant {
    Participant { vendor: FAST_DDS, number, version: Parameters::default() }
}

/// The destinations of all submessages of this kind by this writer, of which the id is at `at`.
/// `None` means all participants.
fn destinations(
    datagrams: &[Vec<u8>],
    kind: u8,
    (at, writer): (usize, [u8; 4]),
) -> Vec<Option<[u8; 12]>> {
    let mut all = Vec::new();
    for datagram in datagrams {
        let mut to = None;
        for (found, body) in submessages_in(datagram) {
            if found == 0x0e {
                to = body.get(..12).and_then(|prefix| prefix.try_into().ok());
            } else if found == kind && body.get(at..at + 4) == Some(&writer[..]) {
                all.push(to.filter(|prefix| *prefix != [0; 12]));
            }
        }
    }
    all
}

fn count(destinations: &[Option<[u8; 12]>], of: &Participant) -> usize {
    let prefix = of.gid(entity::PARTICIPANT).participant_prefix();
    destinations.iter().filter(|to| **to == Some(prefix)).count()
}

/// Whether this is the whole history of three or more samples between two heartbeats. The first
/// one tells of no sample, because a reader requests at once what a heartbeat tells of. (A reader
/// of Cyclone DDS ignores samples before the first heartbeat.)
fn is_history(told: &[Told]) -> bool {
    let [Told::Heartbeat(1, 0), samples @ .., Told::Heartbeat(1, last)] = told else {
        return false;
    };
    *last >= 3 && (1..=*last).map(Told::Sample).eq(samples.iter().cloned())
}

#[test]
fn a_greeting_is_answered_with_the_whole_history() {
    let mut meeting = Meeting::start();
    let greeting = participant(1);
    until("the history comes in one datagram", || {
        meeting.listener.announce_with(&greeting, ENDPOINTS);
        meeting.acknowledge(&greeting, 0);
        let datagrams = meeting.received();
        datagrams.iter().any(|datagram| is_history(&told_by(&meeting.writer, datagram)))
    });
}

#[test]
fn readers_that_stay_silent_cause_heartbeats_to_themselves_only() {
    let mut meeting = Meeting::start();
    let (answering, silent) = (participant(1), [participant(2), participant(3)]);
    let mut heartbeats = Vec::new();
    until("the silent readers have been reminded often", || {
        for other in silent.iter().chain([&answering]) {
            meeting.listener.announce_with(other, ENDPOINTS);
        }
        meeting.acknowledge(&answering, 100); // more than there is
        let writer = (4, entity::PUBLICATIONS_WRITER);
        heartbeats.extend(destinations(&meeting.received(), 0x07, writer));
        silent.iter().all(|silent| count(&heartbeats, silent) >= 8)
    });
    assert!(!heartbeats.contains(&None), "a heartbeat went to all readers: {heartbeats:?}");
    let to_answering = count(&heartbeats, &answering);
    assert!(to_answering < 8, "{to_answering} heartbeats to a reader that is up to date");
}

#[test]
fn a_participant_that_has_answered_gets_no_repeated_announcement() {
    let mut meeting = Meeting::start();
    let (answering, silent) = (participant(1), participant(2));
    let mut announcements = Vec::new();
    until("the announcement to the silent participant is repeated", || {
        meeting.listener.announce_with(&answering, ENDPOINTS);
        meeting.listener.announce_with(&silent, ENDPOINTS);
        meeting.acknowledge(&answering, 100);
        let writer = (8, entity::PARTICIPANT_WRITER);
        announcements.extend(destinations(&meeting.received(), 0x15, writer));
        count(&announcements, &silent) >= 4
    });
    let to_answering = count(&announcements, &answering);
    assert!(to_answering < 3, "{to_answering} announcements to a participant that has answered");
}
