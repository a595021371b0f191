//! Tests what the graph shows of participants whose libraries and distributions are not installed
//! here.

use feros_engine::{EndpointKind, GraphSnapshot, ParticipantInfo, TypeHash};
use feros_test_support::eventually;

use crate::participant::{FAST_DDS, Listener, Parameters, Participant, entity, id, sequence};

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
