//! Tests what the graph shows of participants whose libraries and distributions are not installed
//! here.

use std::sync::{Mutex, PoisonError};

use feros_conformance::{TestNode, number_in, numbered};
use feros_engine::dds::discovery_info::{NodeEntities, ParticipantEntities};
use feros_engine::dds::names::{DISCOVERY_TOPIC, DISCOVERY_TYPE};
use feros_engine::{
    DiscoveryForm, EndpointKind, GraphSnapshot, NodeName, ParticipantInfo, QosProfile, TypeHash,
};
use feros_test_support::{eventually, listen_to_log};

use crate::participant::{
    FAST_DDS, Listener, Parameters, Participant, entity, heartbeat, id, sample, sequence,
};

const CYCLONE_DDS: [u8; 2] = [0x01, 0x10];
const CONNEXT_DDS: [u8; 2] = [0x01, 0x01];

/// What Cyclone DDS announces about its version: five numbers, and a text.
fn version_of_cyclone(text: &str) -> Parameters {
    let text = sequence(format!("{text}\0").as_bytes());
    Parameters::default().with(id::VERSION_OF_CYCLONE_DDS, &[&[0_u8; 20][..], &text[..]].concat())
}

fn version_of_fast_dds(version: &[u8]) -> Parameters {
    Parameters::default().with(id::VERSION_OF_FAST_DDS, version)
}

/// Announces a reliable writer of `/chatter` with this USER_DATA.
fn announce_writer(listener: &Listener, of: &Participant, user_data: &str) {
    let of_writer = of
        .reliable(entity::OWN_WRITER, "rt/chatter", "std_msgs::msg::dds_::String_")
        .with_sequence(id::USER_DATA, user_data.as_bytes());
    listener.announce_writer(of, &of_writer);
}

fn shown_in<'a>(of: &Participant, graph: &'a GraphSnapshot) -> Option<&'a ParticipantInfo> {
    let gid = of.gid(entity::PARTICIPANT);
    graph.participants.iter().find(|shown| shown.gid == gid)
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
            let shown = shown_in(&participant, &graph).cloned();
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
        announce_writer(&listener, &participant, &user_data);
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

/// What such a publisher sends to a reader without buffer backends is a plain message.
#[test]
fn messages_of_a_publisher_of_lyrical_arrive() {
    let listener = Listener::start();
    let node = TestNode::new(listener.session.clone());
    let subscription = node.subscription("/numbers", QosProfile::default().best_effort());
    let participant =
        Participant { vendor: FAST_DDS, number: 0, version: version_of_fast_dds(&[3, 6, 1, 0]) };
    let type_name = "std_msgs::msg::dds_::UInt32_";
    let of_writer = participant
        .best_effort(entity::OWN_WRITER, "rt/numbers", type_name)
        .with_sequence(id::USER_DATA, b"bufbe=cpu:,cuda:device=0;");
    let mut number = 0;
    let came = eventually(|| {
        listener.announce(&participant);
        listener.announce_writer(&participant, &of_writer);
        number += 1;
        listener.send(&participant, &[sample(entity::OWN_WRITER, number, &numbered(number))]);
        subscription.subscription.take().unwrap().ok_or("no message")
    });
    assert!((1..=number).contains(&number_in(&came.payload)), "{came:?}");
    assert_eq!(came.info.publisher_gid, participant.gid(entity::OWN_WRITER));
}

/// Announces a node in the form of Humble, which this session does not use.
fn announce_node_of_humble(listener: &Listener, of: &Participant, name: &str) {
    let of_writer = of
        .reliable(entity::OWN_WRITER, DISCOVERY_TOPIC, DISCOVERY_TYPE)
        .with(id::DURABILITY, &1_u32.to_le_bytes());
    listener.announce(of);
    listener.announce_writer(of, &of_writer);
    let node = NodeEntities {
        name: NodeName::new("/", name).unwrap(),
        readers: Vec::new(),
        writers: Vec::new(),
    };
    let announcement = ParticipantEntities {
        form: DiscoveryForm::Humble,
        participant: of.gid(entity::PARTICIPANT),
        nodes: vec![node],
    };
    let bytes = announcement.encode().unwrap();
    let announced = [heartbeat(entity::OWN_WRITER), sample(entity::OWN_WRITER, 1, &bytes)];
    listener.send(of, &announced);
}

#[test]
fn a_node_of_humble_is_named_once_with_the_cure() {
    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    listen_to_log(|_, line| LINES.lock().unwrap_or_else(PoisonError::into_inner).push(line));
    let about = |of: &Participant| {
        let named = format!(
            "participant {} announces itself in the form of ROS 2 Humble",
            of.gid(entity::PARTICIPANT)
        );
        let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|line| line.contains(&named)).cloned().collect::<Vec<_>>()
    };
    let listener = Listener::start();
    let [first, second] = [0, 1].map(|number| Participant {
        vendor: FAST_DDS,
        number,
        version: Parameters::default(),
    });
    // After the warning about the second participant, the first was seen several times.
    for (participant, name) in [(&first, "first"), (&second, "second")] {
        eventually(|| {
            announce_node_of_humble(&listener, participant, name);
            if about(participant).is_empty() { Err("the warning") } else { Ok(()) }
        });
        assert_eq!(
            shown_in(participant, &listener.session.graph()).unwrap().form,
            Some(DiscoveryForm::Humble)
        );
    }
    for participant in [&first, &second] {
        let told = about(participant);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with("set FEROS_ROS_DISTRO=humble for this process"), "{told:?}");
    }
}
