//! A reliable reader asks for large messages that have left the writer's history. The writer must
//! answer with a GAP for these messages; otherwise the reader waits for them forever.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use feros_conformance::{TestNode, TestPublisher};
use feros_engine::{Gid, QosProfile};
use feros_test_support::until;

use crate::participant::{
    FAST_DDS, Listener, Parameters, Participant, destination, entity, submessage, submessages_in,
};

/// The size of a message, which needs several fragments.
const BYTES: usize = 300_000;

/// The number of messages; the history keeps only the last one.
const LAST: u64 = 6;

/// The pause after which no further datagram is expected for now.
const QUIET: Duration = Duration::from_millis(10);

/// An answer of the writer to the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// The sample with this number, or a fragment of it.
    Sample(u64),
    /// The numbers of the first and the last sample of the history.
    Heartbeat(u64, u64),
    /// A sample of which fragments are available.
    HeartbeatFrag(u64),
    /// The numbers of samples that will not come.
    Gap(Vec<u64>),
}

/// A reliable reader that exists only in datagrams, and the writer that matches it.
struct Reader {
    listener: Listener,
    participant: Participant,
    talker: TestPublisher,
    _node: TestNode,
    /// The address from which the writer sends, and at which it listens.
    address: Option<SocketAddr>,
    told: Vec<Told>,
    /// The number of requests so far: the writer ignores a request with an old number.
    requests: u32,
}

impl Reader {
    fn start() -> Self {
        let listener = Listener::start();
        listener.socket.set_read_timeout(Some(QUIET)).unwrap();
        let node = TestNode::new(listener.session.clone());
        let talker = node.publisher("/gone", QosProfile::keep_last(1));
        let participant =
            Participant { vendor: FAST_DDS, number: 1, version: Parameters::default() };
        let of_reader =
            participant.reliable(entity::OWN_READER, "rt/gone", "std_msgs::msg::dds_::UInt32_");
        until("the reader matches", || {
            listener.announce(&participant);
            listener.announce_reader(&participant, &of_reader);
            talker.publisher.matched_subscriptions() == 1
        });
        let (address, told, requests) = (None, Vec::new(), 0);
        Self { listener, participant, talker, _node: node, address, told, requests }
    }

    /// Reads the datagrams that have come.
    fn read(&mut self) {
        let writer = self.talker.publisher.gid().0;
        let mut datagram = vec![0; 1 << 16];
        while let Ok((size, from)) = self.listener.socket.recv_from(&mut datagram) {
            let told = told_by(&writer, &datagram[..size]);
            if !told.is_empty() {
                self.address = Some(from);
            }
            self.told.extend(told);
        }
    }

    /// Repeats a request until GAPs of the writer cover all these samples. Returns the answers
    /// since the first request.
    fn ask_until_gone(
        &mut self,
        gone: RangeInclusive<u64>,
        request: impl Fn(&[u8], u32) -> Vec<u8>,
    ) -> Vec<Told> {
        let writer = self.talker.publisher.gid().0;
        self.told.clear();
        until("the GAPs of the writer", || {
            self.requests += 1;
            let submessages = [destination(Gid(writer)), request(&writer[12..], self.requests)];
            let datagram = self.participant.datagram(&submessages);
            self.listener.socket.send_to(&datagram, self.address.unwrap()).unwrap();
            self.read();
            let is_told = |sample: u64| {
                let has =
                    |told: &Told| matches!(told, Told::Gap(numbers) if numbers.contains(&sample));
                self.told.iter().any(has)
            };
            gone.clone().all(is_told)
        });
        std::mem::take(&mut self.told)
    }
}

fn number(body: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(body[at..at + 4].try_into().unwrap())
}

/// A sequence number: the upper half comes first (DDSI-RTPS 2.5, 9.3.2).
fn sample(body: &[u8], at: usize) -> u64 {
    (u64::from(number(body, at)) << 32) | u64::from(number(body, at + 4))
}

/// The parts of a datagram of this writer (DDSI-RTPS 2.5, 9.4.5).
pub(crate) fn told_by(writer: &[u8; 16], datagram: &[u8]) -> Vec<Told> {
    let mut all = Vec::new();
    if !datagram.get(..20).is_some_and(|header| header.ends_with(&writer[..12])) {
        return all;
    }
    for (kind, body) in submessages_in(datagram) {
        let (of, told) = match kind {
            0x15 | 0x16 => (8, Told::Sample(sample(body, 12))),
            0x07 => (4, Told::Heartbeat(sample(body, 8), sample(body, 16))),
            0x13 => (4, Told::HeartbeatFrag(sample(body, 8))),
            0x08 => (4, Told::Gap(gone_by(body))),
            _ => continue,
        };
        if body[of..of + 4] == writer[12..] {
            all.push(told);
        }
    }
    all
}

/// The numbers in a GAP: those from the first one up to the base of the bitmap, and those in the
/// bitmap.
fn gone_by(body: &[u8]) -> Vec<u64> {
    let (first, base, bits) = (sample(body, 8), sample(body, 16), number(body, 24));
    assert!(base - first < 1000 && bits <= 256, "{body:?}");
    let is_set = |bit: &u32| {
        let word = number(body, 28 + 4 * (bit / 32) as usize);
        word & (1 << (31 - bit % 32)) != 0
    };
    (first..base).chain((0..bits).filter(is_set).map(|bit| base + u64::from(bit))).collect()
}

/// The octets of these numbers.
pub(crate) fn octets(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn a_reader_that_asks_for_what_is_gone_is_told_so() {
    let mut reader = Reader::start();
    for _ in 0..LAST {
        reader.talker.send(&[0; BYTES]);
        reader.read();
    }
    until("the history has only the last message", || {
        reader.read();
        reader.told.contains(&Told::Heartbeat(LAST, LAST))
    });

    // The fragments 3 to 7 of message 2, by NACK_FRAG (DDSI-RTPS 2.5, 9.4.5.14).
    let to_fragments = reader.ask_until_gone(2..=2, |writer, count| {
        let list = octets(&[0, 2, 3, 5, 0xf800_0000, count]);
        submessage(0x12, 0x01, &[&entity::OWN_READER[..], writer, &list].concat())
    });
    // All messages, by ACKNACK (DDSI-RTPS 2.5, 9.4.5.2).
    let to_messages = reader.ask_until_gone(1..=LAST - 1, |writer, count| {
        let list = octets(&[0, 1, 6, 0xfc00_0000, count]);
        submessage(0x06, 0x01, &[&entity::OWN_READER[..], writer, &list].concat())
    });
    for told in [&to_fragments, &to_messages] {
        let is_of_gone = |told: &Told| match told {
            Told::Sample(sample) | Told::HeartbeatFrag(sample) => *sample < LAST,
            Told::Heartbeat(first, _) => *first < LAST,
            Told::Gap(numbers) => numbers.contains(&LAST),
        };
        assert!(!told.iter().any(is_of_gone), "{told:?}");
        // The heartbeat comes first: a reader may then forget the fragments that it has.
        let gap = told.iter().position(|told| matches!(told, Told::Gap(_))).unwrap();
        assert!(told[..gap].contains(&Told::Heartbeat(LAST, LAST)), "{told:?}");
    }

    // The writer goes on.
    reader.talker.send(&[0; BYTES]);
    until("the next message comes", || {
        reader.read();
        reader.told.contains(&Told::Sample(LAST + 1))
    });
}
