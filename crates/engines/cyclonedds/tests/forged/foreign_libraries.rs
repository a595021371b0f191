//! Tests what the graph shows of participants whose libraries and distributions are not installed
//! here.

use std::sync::{Mutex, PoisonError};

use feros_engine::dds::discovery_info::{NodeEntities, ParticipantEntities};
use feros_engine::dds::names::{DISCOVERY_TOPIC, DISCOVERY_TYPE};
use feros_engine::{DiscoveryForm, GraphSnapshot, NodeName, ParticipantInfo};
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

pub(crate) fn version_of_fast_dds(version: &[u8]) -> Parameters {
    Parameters::default().with(id::VERSION_OF_FAST_DDS, version)
}

pub(crate) fn shown_in<'a>(
    of: &Participant,
    graph: &'a GraphSnapshot,
) -> Option<&'a ParticipantInfo> {
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
