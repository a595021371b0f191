//! Tests endpoints as those of ROS 2 Lyrical, which announce buffer backends and have further
//! topics beside an ordinary one, and that endpoints of Feros announce no backends.

use std::time::Duration;

use feros_conformance::{TestNode, TestType, number_in, numbered};
use feros_engine::name::is_hidden;
use feros_engine::{EndpointKind, Gid, QosProfile, TypeHash};
use feros_test_support::{eventually, until};

use crate::foreign_libraries::{shown_in, version_of_fast_dds};
use crate::gone_history::octets;
use crate::participant::{
    FAST_DDS, Listener, Parameters, Participant, destination, entity, id, sample, submessage,
    submessages_in,
};

const NUMBER: &str = "std_msgs::msg::dds_::UInt32_";
const BACKENDS: &[u8] = b"bufbe=cpu:,cuda:device=0;";

/// The pause after which no further datagram is expected for now.
const QUIET: Duration = Duration::from_millis(10);

fn lyrical() -> Participant {
    Participant { vendor: FAST_DDS, number: 0, version: version_of_fast_dds(&[3, 6, 1, 0]) }
}

/// The announcement of an endpoint with buffer backends.
fn with_backends(endpoint: Parameters) -> Parameters {
    endpoint.with_sequence(id::USER_DATA, BACKENDS)
}

#[test]
fn endpoints_of_lyrical_are_understood() {
    let listener = Listener::start();
    let participant = lyrical();
    let hash = TypeHash([0xab; 32]);
    let user_data = format!("typehash={hash};bufbe=cpu:,cuda:device=0;of_the_future=1;");
    let of_writer = participant
        .reliable(entity::OWN_WRITER, "rt/chatter", "std_msgs::msg::dds_::String_")
        .with_sequence(id::USER_DATA, user_data.as_bytes());
    let graph = eventually(|| {
        listener.announce(&participant);
        listener.announce_writer(&participant, &of_writer);
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
    let shown = shown_in(&participant, &graph).unwrap();
    assert!(shown.has_type_hashes && shown.has_buffer_backends, "{shown:?}");
}

/// What such a publisher sends to a reader without buffer backends is a plain message. What it
/// sends on its further topics reaches no subscription of the ordinary one.
#[test]
fn messages_of_a_publisher_of_lyrical_arrive() {
    let listener = Listener::start();
    let node = TestNode::new(listener.session.clone());
    let subscription = node.subscription("/numbers", QosProfile::default().best_effort());
    let participant = lyrical();
    let writer = |entity, topic| with_backends(participant.best_effort(entity, topic, NUMBER));
    let of_writers = [
        writer(entity::OWN_WRITER, "rt/numbers"),
        writer(entity::SECOND_WRITER, "rt/numbers/_buf_cpu"),
    ];
    until("the topics of the publisher are in the graph", || {
        listener.announce(&participant);
        listener.announce_writers(&participant, &of_writers);
        let graph = listener.session.graph();
        ["/numbers", "/numbers/_buf_cpu"]
            .iter()
            .all(|topic| graph.count(EndpointKind::Publisher, topic) == 1)
    });
    assert!(is_hidden("/numbers/_buf_cpu"));
    assert_eq!(subscription.subscription.matched_publishers(), 1);
    let mut number = 0;
    let came = eventually(|| {
        number += 1;
        let messages = [
            sample(entity::SECOND_WRITER, number, &numbered(0)),
            sample(entity::OWN_WRITER, number, &numbered(number)),
        ];
        listener.send(&participant, &messages);
        subscription.subscription.take().unwrap().ok_or("no message")
    });
    assert!((1..=number).contains(&number_in(&came.payload)), "{came:?}");
    assert_eq!(came.info.publisher_gid, participant.gid(entity::OWN_WRITER));
}

/// A subscription of Lyrical has its backends and a reader of its own, and takes the messages of
/// Feros from the ordinary topic.
#[test]
fn a_subscription_of_lyrical_gets_messages() {
    let listener = Listener::start();
    listener.socket.set_read_timeout(Some(QUIET)).unwrap();
    let node = TestNode::new(listener.session.clone());
    let publisher = node.publisher("/numbers", QosProfile::default());
    let participant = lyrical();
    let reader = |entity, topic| with_backends(participant.best_effort(entity, topic, NUMBER));
    let of_readers = [
        reader(entity::OWN_READER, "rt/numbers"),
        reader(entity::SECOND_READER, "rt/numbers/_buf_cpu"),
    ];
    let graph = eventually(|| {
        listener.announce(&participant);
        listener.announce_readers(&participant, &of_readers);
        let graph = listener.session.graph();
        let is_shown = graph.count(EndpointKind::Subscription, "/numbers") == 1
            && graph.count(EndpointKind::Subscription, "/numbers/_buf_cpu") == 1;
        if is_shown { Ok(graph) } else { Err("the topics of the subscription") }
    });
    let shown = graph.endpoints_of(EndpointKind::Subscription, "/numbers").next().unwrap();
    let backends = shown.buffer_backends.as_deref().unwrap().iter().map(ToString::to_string);
    assert_eq!(backends.collect::<Vec<_>>(), ["cpu", "cuda(device=0)"]);
    assert!(shown_in(&participant, &graph).unwrap().has_buffer_backends);
    publisher.wait_for_matches(1);
    publisher.publish(&numbered(7));
    let of_writer = publisher.publisher.gid().0;
    let mut payload = None;
    until("the message", || {
        let datagrams = received(&listener);
        let samples = datagrams.iter().flat_map(|all| samples_of(all, &of_writer[12..]));
        payload = payload.take().or(samples.last());
        payload.is_some()
    });
    assert!(payload.unwrap().ends_with(&numbered(7)));
}

/// The datagrams of the session that have come.
fn received(listener: &Listener) -> Vec<Vec<u8>> {
    let (mut all, mut datagram) = (Vec::new(), vec![0; 1 << 16]);
    let own = listener.session.gid().participant_prefix();
    while let Ok((size, _)) = listener.socket.recv_from(&mut datagram) {
        if datagram[..size].get(8..20) == Some(&own[..]) {
            all.push(datagram[..size].to_vec());
        }
    }
    all
}

/// The DATA submessages of this writer in a datagram.
fn samples_of<'a>(datagram: &'a [u8], writer: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
    let all = submessages_in(datagram).into_iter();
    let of_writer =
        all.filter(move |(kind, body)| *kind == 0x15 && body.get(8..12) == Some(writer));
    of_writer.map(|(_, body)| body.to_vec())
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// Reads what the session announces with this writer, until it has announced all these topics.
fn announcements(
    listener: &Listener,
    (reader, writer): ([u8; 4], [u8; 4]),
    topics: &[&str],
) -> Vec<Vec<u8>> {
    let participant = lyrical();
    let session = listener.session.gid();
    let (mut all, mut count) = (Vec::new(), 0);
    until("the announcements of the endpoints", || {
        // The participant reads announcements of participants, publications and subscriptions.
        listener.announce_with(&participant, 0x1 | 0x2 | 0x8 | 0x20);
        count += 1;
        // This ACKNACK (DDSI-RTPS 2.5, 9.4.5.2) acknowledges nothing, and wants an answer.
        let numbers = octets(&[0, 1, 0, count]);
        let greeting = submessage(0x06, 0x01, &[&reader[..], &writer, &numbers].concat());
        listener.send(&participant, &[destination(Gid(session.0)), greeting]);
        let datagrams = received(listener);
        all.extend(datagrams.iter().flat_map(|datagram| samples_of(datagram, &writer)));
        topics.iter().all(|topic| all.iter().any(|of: &Vec<u8>| contains(of, topic)))
    });
    all
}

#[test]
fn endpoints_of_feros_announce_no_buffer_backends() {
    const IMAGE: TestType<'_> = (
        "sensor_msgs/msg/Image",
        "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47",
    );
    let listener = Listener::start();
    listener.socket.set_read_timeout(Some(QUIET)).unwrap();
    let node = TestNode::new(listener.session.clone());
    let _publisher = node.publisher_of("/image", IMAGE, QosProfile::default());
    let _subscription = node.subscription_of("/image", IMAGE, QosProfile::default());
    let _server = node.service_of("/served", ("sensor_msgs/srv/SetCameraInfo", ""));
    let _client = node.client_of("/called", ("sensor_msgs/srv/SetCameraInfo", ""));
    let publications = (entity::PUBLICATIONS_READER, entity::PUBLICATIONS_WRITER);
    let subscriptions = (entity::SUBSCRIPTIONS_READER, entity::SUBSCRIPTIONS_WRITER);
    for (of, topics) in [
        (publications, ["rt/image\0", "rr/servedReply\0", "rq/calledRequest\0"]),
        (subscriptions, ["rt/image\0", "rq/servedRequest\0", "rr/calledReply\0"]),
    ] {
        let all = announcements(&listener, of, &topics);
        let of_image = all.iter().filter(|announcement| contains(announcement, "rt/image\0"));
        assert!({ of_image }.all(|of| contains(of, &format!("typehash={};", IMAGE.1))));
        assert!(all.iter().all(|announcement| !contains(announcement, "bufbe")));
    }
}
