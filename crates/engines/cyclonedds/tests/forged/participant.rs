//! Participants that exist only in datagrams, and the session that receives these datagrams.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;

use feros_cyclonedds::CycloneEngine;
use feros_engine::{Engine, Gid, Session, SessionOptions};
use feros_test_support::ReservedDomain;

/// The vendor of Fast DDS.
pub(crate) const FAST_DDS: [u8; 2] = [0x01, 0x0f];

/// Ids of parameters (DDSI-RTPS 2.5, 9.6.3.2), and two of vendors.
pub(crate) mod id {
    pub(crate) const PARTICIPANT_LEASE_DURATION: u16 = 0x0002;
    pub(crate) const TOPIC_NAME: u16 = 0x0005;
    pub(crate) const TYPE_NAME: u16 = 0x0007;
    pub(crate) const PROTOCOL_VERSION: u16 = 0x0015;
    pub(crate) const VENDOR_ID: u16 = 0x0016;
    pub(crate) const RELIABILITY: u16 = 0x001a;
    pub(crate) const DURABILITY: u16 = 0x001d;
    pub(crate) const USER_DATA: u16 = 0x002c;
    pub(crate) const DEFAULT_UNICAST_LOCATOR: u16 = 0x0031;
    pub(crate) const METATRAFFIC_UNICAST_LOCATOR: u16 = 0x0032;
    pub(crate) const PARTICIPANT_GUID: u16 = 0x0050;
    pub(crate) const BUILTIN_ENDPOINT_SET: u16 = 0x0058;
    pub(crate) const ENDPOINT_GUID: u16 = 0x005a;
    /// The version of Fast DDS since version 3.
    pub(crate) const VERSION_OF_FAST_DDS: u16 = 0x8000;
    /// Host, version and system of Cyclone DDS.
    pub(crate) const VERSION_OF_CYCLONE_DDS: u16 = 0x8007;
}

/// The ids of entities (DDSI-RTPS 2.5, 9.3.1.2 and 9.3.2).
pub(crate) mod entity {
    pub(crate) const PARTICIPANT: [u8; 4] = [0, 0, 1, 0xc1];
    pub(crate) const PARTICIPANT_WRITER: [u8; 4] = [0, 1, 0, 0xc2];
    pub(crate) const PARTICIPANT_READER: [u8; 4] = [0, 1, 0, 0xc7];
    pub(crate) const PUBLICATIONS_WRITER: [u8; 4] = [0, 0, 3, 0xc2];
    pub(crate) const PUBLICATIONS_READER: [u8; 4] = [0, 0, 3, 0xc7];
    pub(crate) const SUBSCRIPTIONS_WRITER: [u8; 4] = [0, 0, 4, 0xc2];
    pub(crate) const SUBSCRIPTIONS_READER: [u8; 4] = [0, 0, 4, 0xc7];
    /// A writer of the user, without keys.
    pub(crate) const OWN_WRITER: [u8; 4] = [0, 0, 2, 0x03];
    /// A reader of the user, without keys.
    pub(crate) const OWN_READER: [u8; 4] = [0, 0, 2, 0x04];
    /// A further writer and a further reader of the user, without keys.
    pub(crate) const SECOND_WRITER: [u8; 4] = [0, 0, 3, 0x03];
    pub(crate) const SECOND_READER: [u8; 4] = [0, 0, 3, 0x04];
    pub(crate) const UNKNOWN: [u8; 4] = [0; 4];
}

/// A list of parameters, in the form PL_CDR_LE.
#[derive(Default, Clone)]
pub(crate) struct Parameters(Vec<u8>);

impl Parameters {
    pub(crate) fn with(mut self, id: u16, value: &[u8]) -> Self {
        let size = value.len().next_multiple_of(4);
        self.0.extend(id.to_le_bytes());
        self.0.extend(u16::try_from(size).unwrap().to_le_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len() + size - value.len(), 0);
        self
    }

    /// Adds octets after their number.
    pub(crate) fn with_sequence(self, id: u16, value: &[u8]) -> Self {
        self.with(id, &sequence(value))
    }

    pub(crate) fn with_string(self, id: u16, text: &str) -> Self {
        self.with_sequence(id, format!("{text}\0").as_bytes())
    }
}

pub(crate) fn sequence(octets: &[u8]) -> Vec<u8> {
    let size = u32::try_from(octets.len()).unwrap();
    [&size.to_le_bytes()[..], octets].concat()
}

pub(crate) fn submessage(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let [low, high] = u16::try_from(body.len()).unwrap().to_le_bytes();
    [&[kind, flags, low, high][..], body].concat()
}

/// The kinds and the contents of the submessages of a datagram (DDSI-RTPS 2.5, 9.4.5).
pub(crate) fn submessages_in(datagram: &[u8]) -> Vec<(u8, &[u8])> {
    let (mut rest, mut all) = (datagram.get(20..).unwrap_or_default(), Vec::new());
    while let [kind, _, low, high, after @ ..] = rest {
        let size = match u16::from_le_bytes([*low, *high]) {
            0 if *kind != 0x09 => after.len(), // the last submessage may have no size
            size => usize::from(size),
        };
        let (body, next) = after.split_at(size.min(after.len()));
        all.push((*kind, body));
        rest = next;
    }
    all
}

/// An INFO_DST submessage (DDSI-RTPS 2.5, 9.4.5.9): the next ones are for this participant.
pub(crate) fn destination(participant: Gid) -> Vec<u8> {
    submessage(0x0e, 0x01, &participant.participant_prefix())
}

/// The number of a sample: the upper half comes first (DDSI-RTPS 2.5, 9.3.2).
fn number_of_sample(number: u32) -> [u8; 8] {
    let mut octets = [0; 8];
    octets[4..].copy_from_slice(&number.to_le_bytes());
    octets
}

/// A DATA submessage (DDSI-RTPS 2.5, 9.4.5.4) with a list of parameters: the sample with this
/// number.
fn data(reader: [u8; 4], writer: [u8; 4], number: u32, list: &Parameters) -> Vec<u8> {
    let (before, form, end) = ([0, 0, 16, 0], [0, 3, 0, 0], [1, 0, 0, 0]);
    let number = number_of_sample(number);
    let parts: [&[u8]; 7] = [&before, &reader, &writer, &number, &form, &list.0, &end];
    submessage(0x15, 0x05, &parts.concat())
}

/// A DATA submessage of a writer of the user, for all readers: the sample with this number, with
/// the header of its encapsulation.
pub(crate) fn sample(writer: [u8; 4], number: u32, payload: &[u8]) -> Vec<u8> {
    let (before, number) = ([0, 0, 16, 0], number_of_sample(number));
    let parts: [&[u8]; 5] = [&before, &entity::UNKNOWN, &writer, &number, payload];
    submessage(0x15, 0x05, &parts.concat())
}

/// A HEARTBEAT submessage (DDSI-RTPS 2.5, 9.4.5.7) of a writer with one sample.
pub(crate) fn heartbeat(writer: [u8; 4]) -> Vec<u8> {
    heartbeat_until(writer, 1)
}

/// A HEARTBEAT submessage of a writer with the samples from 1 to `last`.
fn heartbeat_until(writer: [u8; 4], last: u32) -> Vec<u8> {
    let (first, last, count) = (number_of_sample(1), number_of_sample(last), 1_u32.to_le_bytes());
    let parts: [&[u8]; 5] = [&entity::UNKNOWN, &writer, &first, &last, &count];
    submessage(0x07, 0x01, &parts.concat())
}

/// A session, and a socket that sends the announcements of others to it.
pub(crate) struct Listener {
    pub(crate) session: Arc<dyn Session>,
    domain: ReservedDomain,
    pub(crate) socket: UdpSocket,
}

impl Listener {
    pub(crate) fn start() -> Self {
        let domain = ReservedDomain::new();
        let session = CycloneEngine.open(&SessionOptions::localhost(domain.id().into())).unwrap();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self { session, domain, socket }
    }

    /// Sends to the ports on which the first participants of a domain listen (DDSI-RTPS 2.5,
    /// 9.6.2).
    pub(crate) fn send(&self, of: &Participant, submessages: &[Vec<u8>]) {
        let datagram = of.datagram(submessages);
        for index in 0..4 {
            let port = 7410 + 250 * self.domain.id() + 2 * index;
            self.socket.send_to(&datagram, (Ipv4Addr::LOCALHOST, port)).unwrap();
        }
    }

    /// Announces a participant that announces publications and subscriptions, and reads nothing.
    pub(crate) fn announce(&self, of: &Participant) {
        self.announce_with(of, 0x15);
    }

    /// Announces a participant with this set of endpoints (DDSI-RTPS 2.5, 9.3.2).
    pub(crate) fn announce_with(&self, of: &Participant, endpoints: u32) {
        let port = u32::from(self.socket.local_addr().unwrap().port());
        let mut locator = [0; 24];
        locator[..4].copy_from_slice(&1_u32.to_le_bytes()); // UDP on IPv4
        locator[4..8].copy_from_slice(&port.to_le_bytes());
        locator[20..].copy_from_slice(&Ipv4Addr::LOCALHOST.octets());
        let mut lease = [0; 8];
        lease[..4].copy_from_slice(&10_000_u32.to_le_bytes());
        let of_participant = of
            .version
            .clone()
            .with(id::PROTOCOL_VERSION, &[2, 3])
            .with(id::VENDOR_ID, &of.vendor)
            .with(id::PARTICIPANT_GUID, &of.gid(entity::PARTICIPANT).0)
            .with(id::BUILTIN_ENDPOINT_SET, &endpoints.to_le_bytes())
            .with(id::METATRAFFIC_UNICAST_LOCATOR, &locator)
            .with(id::DEFAULT_UNICAST_LOCATOR, &locator)
            .with(id::PARTICIPANT_LEASE_DURATION, &lease)
            .with_sequence(id::USER_DATA, b"enclave=/;");
        let (reader, writer) = (entity::PARTICIPANT_READER, entity::PARTICIPANT_WRITER);
        self.send(of, &[data(reader, writer, 1, &of_participant)]);
    }

    /// Announces a writer of the participant, which is its only one.
    pub(crate) fn announce_writer(&self, of: &Participant, of_writer: &Parameters) {
        self.announce_writers(of, std::slice::from_ref(of_writer));
    }

    /// Announces the writers of the participant.
    pub(crate) fn announce_writers(&self, of: &Participant, of_writers: &[Parameters]) {
        let (reader, writer) = (entity::PUBLICATIONS_READER, entity::PUBLICATIONS_WRITER);
        self.announce_endpoints(of, (reader, writer), of_writers);
    }

    /// Announces a reader of the participant, which is its only one.
    pub(crate) fn announce_reader(&self, of: &Participant, of_reader: &Parameters) {
        self.announce_readers(of, std::slice::from_ref(of_reader));
    }

    /// Announces the readers of the participant.
    pub(crate) fn announce_readers(&self, of: &Participant, of_readers: &[Parameters]) {
        let (reader, writer) = (entity::SUBSCRIPTIONS_READER, entity::SUBSCRIPTIONS_WRITER);
        self.announce_endpoints(of, (reader, writer), of_readers);
    }

    fn announce_endpoints(
        &self,
        of: &Participant,
        (reader, writer): ([u8; 4], [u8; 4]),
        endpoints: &[Parameters],
    ) {
        let mut submessages =
            vec![heartbeat_until(writer, u32::try_from(endpoints.len()).unwrap())];
        let samples = (1..).zip(endpoints);
        submessages.extend(samples.map(|(number, of)| data(reader, writer, number, of)));
        self.send(of, &submessages);
    }
}

/// A participant that exists only in datagrams.
pub(crate) struct Participant {
    pub(crate) vendor: [u8; 2],
    pub(crate) number: u8,
    /// The announcement of the version of the participant's library.
    pub(crate) version: Parameters,
}

impl Participant {
    /// An RTPS message of the participant.
    pub(crate) fn datagram(&self, submessages: &[Vec<u8>]) -> Vec<u8> {
        let header: [&[u8]; 3] = [&b"RTPS\x02\x03"[..], &self.vendor, &self.prefix()];
        [header.concat(), submessages.concat()].concat()
    }

    /// The participant's announcement of a reliable endpoint.
    pub(crate) fn reliable(&self, entity: [u8; 4], topic: &str, type_name: &str) -> Parameters {
        self.endpoint(entity, topic, type_name, 2)
    }

    /// The participant's announcement of a best-effort endpoint.
    pub(crate) fn best_effort(&self, entity: [u8; 4], topic: &str, type_name: &str) -> Parameters {
        self.endpoint(entity, topic, type_name, 1)
    }

    fn endpoint(&self, entity: [u8; 4], topic: &str, type_name: &str, kind: u8) -> Parameters {
        Parameters::default()
            .with(id::ENDPOINT_GUID, &self.gid(entity).0)
            .with_string(id::TOPIC_NAME, topic)
            .with_string(id::TYPE_NAME, type_name)
            .with(id::RELIABILITY, &[kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    fn prefix(&self) -> [u8; 12] {
        let mut prefix = [0x55; 12];
        prefix[..2].copy_from_slice(&self.vendor);
        prefix[11] = self.number;
        prefix
    }

    pub(crate) fn gid(&self, entity: [u8; 4]) -> Gid {
        let mut gid = [0; 16];
        gid[..12].copy_from_slice(&self.prefix());
        gid[12..].copy_from_slice(&entity);
        Gid(gid)
    }
}
