//! Tests what the graph shows of participants whose libraries and distributions are not installed
//! here. The test makes the datagrams of their announcements itself.
#![allow(clippy::unwrap_used)]

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;

use feros_cyclonedds::CycloneEngine;
use feros_engine::{
    EndpointKind, Engine, Gid, GraphSnapshot, ParticipantInfo, Session, SessionOptions, TypeHash,
};
use feros_test_support::{ReservedDomain, eventually};

const FAST_DDS: [u8; 2] = [0x01, 0x0f];
const CYCLONE_DDS: [u8; 2] = [0x01, 0x10];
const CONNEXT_DDS: [u8; 2] = [0x01, 0x01];

/// Ids of parameters (DDSI-RTPS 2.5, 9.6.3.2), and two of vendors.
mod id {
    pub(super) const PARTICIPANT_LEASE_DURATION: u16 = 0x0002;
    pub(super) const TOPIC_NAME: u16 = 0x0005;
    pub(super) const TYPE_NAME: u16 = 0x0007;
    pub(super) const PROTOCOL_VERSION: u16 = 0x0015;
    pub(super) const VENDOR_ID: u16 = 0x0016;
    pub(super) const RELIABILITY: u16 = 0x001a;
    pub(super) const USER_DATA: u16 = 0x002c;
    pub(super) const DEFAULT_UNICAST_LOCATOR: u16 = 0x0031;
    pub(super) const METATRAFFIC_UNICAST_LOCATOR: u16 = 0x0032;
    pub(super) const PARTICIPANT_GUID: u16 = 0x0050;
    pub(super) const BUILTIN_ENDPOINT_SET: u16 = 0x0058;
    pub(super) const ENDPOINT_GUID: u16 = 0x005a;
    /// The version of Fast DDS since version 3.
    pub(super) const VERSION_OF_FAST_DDS: u16 = 0x8000;
    /// Host, version and system of Cyclone DDS.
    pub(super) const VERSION_OF_CYCLONE_DDS: u16 = 0x8007;
}

/// The ids of entities (DDSI-RTPS 2.5, 9.3.1.2 and 9.3.2).
mod entity {
    pub(super) const PARTICIPANT: [u8; 4] = [0, 0, 1, 0xc1];
    pub(super) const PARTICIPANT_WRITER: [u8; 4] = [0, 1, 0, 0xc2];
    pub(super) const PARTICIPANT_READER: [u8; 4] = [0, 1, 0, 0xc7];
    pub(super) const PUBLICATIONS_WRITER: [u8; 4] = [0, 0, 3, 0xc2];
    pub(super) const PUBLICATIONS_READER: [u8; 4] = [0, 0, 3, 0xc7];
    /// A writer of the user, without keys.
    pub(super) const OWN_WRITER: [u8; 4] = [0, 0, 2, 0x03];
    pub(super) const UNKNOWN: [u8; 4] = [0; 4];
}

/// A list of parameters, in the form PL_CDR_LE.
#[derive(Default, Clone)]
struct Parameters(Vec<u8>);

impl Parameters {
    fn with(mut self, id: u16, value: &[u8]) -> Self {
        let size = value.len().next_multiple_of(4);
        self.0.extend(id.to_le_bytes());
        self.0.extend(u16::try_from(size).unwrap().to_le_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len() + size - value.len(), 0);
        self
    }

    /// Adds octets after their number.
    fn with_sequence(self, id: u16, value: &[u8]) -> Self {
        self.with(id, &sequence(value))
    }

    fn with_string(self, id: u16, text: &str) -> Self {
        self.with_sequence(id, format!("{text}\0").as_bytes())
    }
}

fn sequence(octets: &[u8]) -> Vec<u8> {
    let size = u32::try_from(octets.len()).unwrap();
    [&size.to_le_bytes()[..], octets].concat()
}

/// What Cyclone DDS announces about its version: five numbers, and a text.
fn version_of_cyclone(text: &str) -> Parameters {
    let text = sequence(format!("{text}\0").as_bytes());
    Parameters::default().with(id::VERSION_OF_CYCLONE_DDS, &[&[0_u8; 20][..], &text[..]].concat())
}

fn version_of_fast_dds(version: &[u8]) -> Parameters {
    Parameters::default().with(id::VERSION_OF_FAST_DDS, version)
}

fn submessage(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let [low, high] = u16::try_from(body.len()).unwrap().to_le_bytes();
    [&[kind, flags, low, high][..], body].concat()
}

/// The number of the only sample of each writer.
const FIRST: [u8; 8] = [0, 0, 0, 0, 1, 0, 0, 0];

/// A DATA submessage (DDSI-RTPS 2.5, 9.4.5.4) with a list of parameters.
fn data(reader: [u8; 4], writer: [u8; 4], list: &Parameters) -> Vec<u8> {
    let (before, form, end) = ([0, 0, 16, 0], [0, 3, 0, 0], [1, 0, 0, 0]);
    let parts: [&[u8]; 7] = [&before, &reader, &writer, &FIRST, &form, &list.0, &end];
    submessage(0x15, 0x05, &parts.concat())
}

/// A HEARTBEAT submessage (DDSI-RTPS 2.5, 9.4.5.7) of a writer with one sample.
fn heartbeat(writer: [u8; 4]) -> Vec<u8> {
    let count = 1_u32.to_le_bytes();
    let parts: [&[u8]; 5] = [&entity::UNKNOWN, &writer, &FIRST, &FIRST, &count];
    submessage(0x07, 0x01, &parts.concat())
}

/// A session, and a socket that sends the announcements of others to it.
struct Listener {
    session: Arc<dyn Session>,
    domain: ReservedDomain,
    socket: UdpSocket,
}

impl Listener {
    fn start() -> Self {
        let domain = ReservedDomain::new();
        let session = CycloneEngine.open(&SessionOptions::localhost(domain.id().into())).unwrap();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self { session, domain, socket }
    }

    /// Sends to the ports on which the first participants of a domain listen (DDSI-RTPS 2.5,
    /// 9.6.2).
    fn send(&self, of: &Participant, submessages: &[Vec<u8>]) {
        let header: [&[u8]; 3] = [&b"RTPS\x02\x03"[..], &of.vendor, &of.prefix()];
        let datagram = [header.concat(), submessages.concat()].concat();
        for index in 0..4 {
            let port = 7410 + 250 * self.domain.id() + 2 * index;
            self.socket.send_to(&datagram, (Ipv4Addr::LOCALHOST, port)).unwrap();
        }
    }

    fn announce(&self, of: &Participant) {
        let port = u32::from(self.socket.local_addr().unwrap().port());
        let mut locator = [0; 24];
        locator[..4].copy_from_slice(&1_u32.to_le_bytes()); // UDP on IPv4
        locator[4..8].copy_from_slice(&port.to_le_bytes());
        locator[20..].copy_from_slice(&Ipv4Addr::LOCALHOST.octets());
        let mut lease = [0; 8];
        lease[..4].copy_from_slice(&10_000_u32.to_le_bytes());
        // The participant announces itself and publications, and reads nothing.
        let endpoints = 0x05_u32.to_le_bytes();
        let of_participant = of
            .version
            .clone()
            .with(id::PROTOCOL_VERSION, &[2, 3])
            .with(id::VENDOR_ID, &of.vendor)
            .with(id::PARTICIPANT_GUID, &of.gid(entity::PARTICIPANT).0)
            .with(id::BUILTIN_ENDPOINT_SET, &endpoints)
            .with(id::METATRAFFIC_UNICAST_LOCATOR, &locator)
            .with(id::DEFAULT_UNICAST_LOCATOR, &locator)
            .with(id::PARTICIPANT_LEASE_DURATION, &lease)
            .with_sequence(id::USER_DATA, b"enclave=/;");
        let (reader, writer) = (entity::PARTICIPANT_READER, entity::PARTICIPANT_WRITER);
        self.send(of, &[data(reader, writer, &of_participant)]);
    }

    /// Announces a reliable writer of `/chatter` with this USER_DATA.
    fn announce_writer(&self, of: &Participant, user_data: &str) {
        let of_writer = Parameters::default()
            .with(id::ENDPOINT_GUID, &of.gid(entity::OWN_WRITER).0)
            .with_string(id::TOPIC_NAME, "rt/chatter")
            .with_string(id::TYPE_NAME, "std_msgs::msg::dds_::String_")
            .with(id::RELIABILITY, &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
            .with_sequence(id::USER_DATA, user_data.as_bytes());
        let (reader, writer) = (entity::PUBLICATIONS_READER, entity::PUBLICATIONS_WRITER);
        self.send(of, &[heartbeat(writer), data(reader, writer, &of_writer)]);
    }
}

/// A participant that exists only in datagrams.
struct Participant {
    vendor: [u8; 2],
    number: u8,
    /// What the participant announces about the version of its library.
    version: Parameters,
}

impl Participant {
    fn prefix(&self) -> [u8; 12] {
        let mut prefix = [0x55; 12];
        prefix[..2].copy_from_slice(&self.vendor);
        prefix[11] = self.number;
        prefix
    }

    fn gid(&self, entity: [u8; 4]) -> Gid {
        let mut gid = [0; 16];
        gid[..12].copy_from_slice(&self.prefix());
        gid[12..].copy_from_slice(&entity);
        Gid(gid)
    }

    fn shown_in<'a>(&self, graph: &'a GraphSnapshot) -> Option<&'a ParticipantInfo> {
        let gid = self.gid(entity::PARTICIPANT);
        graph.participants.iter().find(|shown| shown.gid == gid)
    }
}

#[test]
fn the_library_of_a_participant_is_read_from_its_announcement() {
    let listener = Listener::start();
    let silent = Parameters::default;
    let long = format!("{}/9.9.9/", "x".repeat(300));
    // A parameter of a vendor means something else in the announcement of another vendor.
    let cases = [
        (FAST_DDS, silent(), "Fast DDS before 3.0"),
        (FAST_DDS, version_of_fast_dds(&[3, 2, 2, 0]), "Fast DDS 3.2.2"),
        (FAST_DDS, version_of_fast_dds(&[3, 6, 1, 0]), "Fast DDS 3.6.1"),
        (FAST_DDS, version_of_fast_dds(&[3, 6, 1, 0, 9, 9, 9, 9]), "Fast DDS 3.6.1"),
        (FAST_DDS, version_of_fast_dds(&[]), "Fast DDS before 3.0"),
        (FAST_DDS, version_of_cyclone("lab/11.0.1/Linux/Linux"), "Fast DDS before 3.0"),
        (FAST_DDS, version_of_fast_dds(&[3, 6, 1, 0]).with(0x8f00, &[9; 400]), "Fast DDS 3.6.1"),
        (CYCLONE_DDS, silent(), "Cyclone DDS"),
        (CYCLONE_DDS, version_of_cyclone("lab/0.10.5/Linux/Linux"), "Cyclone DDS 0.10.5"),
        (CYCLONE_DDS, version_of_cyclone("lab/11.0.1/Linux/Linux"), "Cyclone DDS 11.0.1"),
        (CYCLONE_DDS, version_of_cyclone(&long), "Cyclone DDS"),
        (CYCLONE_DDS, version_of_cyclone("\u{1b}[31m%s%n"), "Cyclone DDS"),
        (CYCLONE_DDS, version_of_fast_dds(&[3, 6, 1, 0]), "Cyclone DDS"),
        (CONNEXT_DDS, version_of_fast_dds(&[3, 6, 1, 0]), "Connext DDS"),
    ];
    for (number, (vendor, version, library)) in (0..).zip(cases) {
        let participant = Participant { vendor, number, version };
        let shown = eventually(|| {
            listener.announce(&participant);
            let graph = listener.session.graph();
            let shown = participant.shown_in(&graph).cloned();
            shown.ok_or_else(|| format!("participant {number} of {library} is not in the graph"))
        });
        assert_eq!(shown.library.unwrap().to_string(), library, "participant {number}");
        assert_eq!((shown.form, shown.is_feros, shown.has_buffer_backends), (None, false, false));
    }
}

#[test]
fn endpoints_of_lyrical_are_understood() {
    let listener = Listener::start();
    let participant =
        Participant { vendor: FAST_DDS, number: 0, version: version_of_fast_dds(&[3, 6, 1, 0]) };
    let hash = TypeHash([0xab; 32]);
    let user_data = format!("typehash={hash};bufbe=cpu:,cuda:device=0;of_the_future=1;");
    let graph = eventually(|| {
        listener.announce(&participant);
        listener.announce_writer(&participant, &user_data);
        let graph = listener.session.graph();
        let is_shown = graph.count(EndpointKind::Publisher, "/chatter") == 1;
        if is_shown { Ok(graph) } else { Err("the publisher of /chatter is not in the graph") }
    });
    let publisher = graph.endpoints_of(EndpointKind::Publisher, "/chatter").next().unwrap();
    assert_eq!(publisher.gid, participant.gid(entity::OWN_WRITER));
    assert_eq!(publisher.type_name, "std_msgs/msg/String");
    assert_eq!(publisher.type_hash, Some(hash));
    let backends = publisher.buffer_backends.as_deref().unwrap().iter().map(ToString::to_string);
    assert_eq!(backends.collect::<Vec<_>>(), ["cpu", "cuda(device=0)"]);
    let shown = participant.shown_in(&graph).unwrap();
    assert!(shown.has_type_hashes && shown.has_buffer_backends, "{shown:?}");
}
