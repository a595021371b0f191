//! A writer regards all its samples from before a match as acknowledged by the new reader. But what
//! a transient-local writer has written before, such as announcements, may still be on its way. A
//! client must not call a server that does not know yet where the responses go.

use std::time::Duration;

use feros_conformance::{TestNode, numbered};
use feros_engine::{Gid, QosProfile};
use feros_test_support::{eventually, until};

use crate::gone_history::{Told, octets, told_by};
use crate::participant::{
    FAST_DDS, Listener, Parameters, Participant, destination, entity, id, submessage,
};

/// The endpoints of a participant that announces itself, publications and subscriptions, and reads
/// such announcements of others.
const ENDPOINTS: u32 = 0x3f;
/// The pause after which no further datagram is expected for now.
const QUIET: Duration = Duration::from_millis(10);
/// The most datagrams that are read at once.
const AT_ONCE: usize = 100;

/// A reader that exists only in datagrams, and a writer of the session that it has found.
struct LateReader<'a> {
    listener: &'a Listener,
    participant: &'a Participant,
    entity: [u8; 4],
    writer: Gid,
    /// The number of answers so far: the writer ignores an answer with an old number.
    answers: u32,
}

impl LateReader<'_> {
    /// Returns what the writer has told since the last call.
    fn told(&self) -> Vec<Told> {
        let (mut datagram, mut told) = (vec![0; 1 << 16], Vec::new());
        for _ in 0..AT_ONCE {
            let Ok((size, _)) = self.listener.socket.recv_from(&mut datagram) else { break };
            told.extend(told_by(&self.writer.0, &datagram[..size]));
        }
        told
    }

    /// Waits for a heartbeat of the writer. Returns the number of the writer's last sample.
    fn last(&self) -> u32 {
        let last = |told: Vec<Told>| {
            told.iter().find_map(|one| match one {
                Told::Heartbeat(_, last) if *last > 0 => u32::try_from(*last).ok(),
                _ => None,
            })
        };
        eventually(|| last(self.told()).ok_or("the writer has not sent a heartbeat"))
    }

    /// Answers by an ACKNACK (DDSI-RTPS 2.5, 9.4.5.2): the samples before `base` have come, and the
    /// next `missing` samples are missing.
    fn answer(&mut self, base: u32, missing: u32) {
        self.answers += 1;
        let bits = (missing > 0).then(|| u32::MAX << (32 - missing));
        let set = [0, base, missing].into_iter().chain(bits).chain([self.answers]);
        let list = octets(&set.collect::<Vec<_>>());
        let body = [&self.entity[..], &self.writer.0[12..], &list].concat();
        let submessages = [destination(self.writer), submessage(0x06, 0x01, &body)];
        self.listener.send(self.participant, &submessages);
    }

    /// Repeats an answer until the writer sends its last sample. The writer has read the answer
    /// then.
    fn answer_until_told(&mut self, base: u32, missing: u32, last: u32) {
        self.told();
        until("the last sample of the writer", || {
            self.answer(base, missing);
            self.told().contains(&Told::Sample(last.into()))
        });
    }
}

fn late_participant() -> Participant {
    Participant { vendor: FAST_DDS, number: 1, version: Parameters::default() }
}

/// The server may find the client's writer of requests long before its reader of responses. It
/// then gets the request, and drops the response after 100 ms.
#[test]
fn a_server_that_appears_after_the_client_counts_when_it_knows_where_responses_go() {
    let listener = Listener::start();
    listener.socket.set_read_timeout(Some(QUIET)).unwrap();
    let node = TestNode::new(listener.session.clone());
    let client = node.client_of("/switch", ("std_srvs/srv/SetBool", "")).client;
    let server = late_participant();
    let (request, response) =
        ("std_srvs::srv::dds_::SetBool_Request_", "std_srvs::srv::dds_::SetBool_Response_");
    let of_reader = server.reliable(entity::OWN_READER, "rq/switchRequest", request);
    let of_writer = server.reliable(entity::OWN_WRITER, "rr/switchReply", response);
    until("the server matches", || {
        listener.announce_with(&server, ENDPOINTS);
        listener.announce_reader(&server, &of_reader);
        listener.announce_writer(&server, &of_writer);
        client.servers().len() == 1 && client.responders().len() == 1
    });
    assert!(!client.service_is_available(), "the server has not answered");

    let mut writer = client.response_gid();
    writer.0[12..].copy_from_slice(&entity::SUBSCRIPTIONS_WRITER);
    let (listener, participant) = (&listener, &server);
    let entity = entity::SUBSCRIPTIONS_READER;
    let mut reader = LateReader { listener, participant, entity, writer, answers: 0 };
    let last = reader.last();
    reader.answer_until_told(0, 0, last); // the greeting of Fast DDS
    assert!(!client.service_is_available(), "the server has only greeted");
    reader.answer_until_told(1, last, last);
    assert!(!client.service_is_available(), "the server has acknowledged nothing");
    until("the server is available", || {
        reader.answer(last + 1, 0);
        client.service_is_available()
    });
}

/// A publisher may send the next message over another transport only after the history has
/// arrived, since the message would overtake the history otherwise.
#[test]
fn a_history_is_acknowledged_when_a_late_reader_has_it() {
    let listener = Listener::start();
    listener.socket.set_read_timeout(Some(QUIET)).unwrap();
    let node = TestNode::new(listener.session.clone());
    let talker = node.publisher("/kept", QosProfile::keep_last(1).transient_local());
    talker.send(&numbered(1));
    let participant = late_participant();
    let of_reader = participant
        .reliable(entity::OWN_READER, "rt/kept", "std_msgs::msg::dds_::UInt32_")
        .with(id::DURABILITY, &1_u32.to_le_bytes()); // transient local
    until("the reader matches", || {
        listener.announce(&participant);
        listener.announce_reader(&participant, &of_reader);
        talker.publisher.matched_subscriptions() == 1
    });
    let gid = participant.gid(entity::OWN_READER);
    let is_acknowledged = || talker.publisher.is_acknowledged_by(gid, Duration::ZERO);
    assert!(!is_acknowledged(), "the reader has not answered");

    let (listener, participant) = (&listener, &participant);
    let (entity, writer) = (entity::OWN_READER, talker.publisher.gid());
    let mut reader = LateReader { listener, participant, entity, writer, answers: 0 };
    let last = reader.last();
    reader.answer_until_told(1, last, last);
    assert!(!is_acknowledged(), "the reader has acknowledged nothing");
    until("the acknowledgement arrives", || {
        reader.answer(last + 1, 0);
        is_acknowledged()
    });
}
