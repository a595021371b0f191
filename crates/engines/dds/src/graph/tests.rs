//! Tests of the graph with announcements made by hand.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};

use feros_engine::NodeName;

use super::*;

fn gid(participant: u8, entity: u8) -> Gid {
    let mut bytes = [participant; 16];
    bytes[15] = entity;
    Gid(bytes)
}

fn announced(data: &str) -> ParticipantData {
    ParticipantData::parse(data.as_bytes())
}

fn endpoint(gid: Gid, is_writer: bool, topic: &str, type_name: &str) -> WireEndpoint {
    WireEndpoint {
        gid,
        is_writer,
        topic: topic.into(),
        type_name: type_name.into(),
        qos: QosProfile::default(),
        data: EndpointData::default(),
    }
}

fn writer_of(participant: u8) -> WireEndpoint {
    endpoint(gid(participant, 3), true, "rt/a", "p::msg::dds_::A_")
}

#[test]
fn nodes_and_endpoints_are_put_together() {
    let graph = Graph::default();
    graph.participant_appeared(gid(1, 0), announced("enclave=/;"), None);
    graph.endpoint_appeared(endpoint(gid(1, 3), true, "rt/a", "p::msg::dds_::A_"));
    graph.endpoint_appeared(endpoint(gid(1, 4), false, "rq/sRequest", "p::srv::dds_::S_Request_"));
    graph.endpoint_appeared(endpoint(gid(1, 5), true, "rr/sReply", "p::srv::dds_::S_Response_"));
    graph.endpoint_appeared(endpoint(gid(1, 6), true, "ros_discovery_info", names::DISCOVERY_TYPE));
    assert_eq!(graph.snapshot().endpoints[0].node, EndpointNode::NotRos);

    let name = NodeName::new("/", "n").unwrap();
    let node = NodeEntities { name: name.clone(), readers: vec![gid(1, 4)], writers: vec![] };
    graph.announced(ParticipantEntities {
        form: DiscoveryForm::SinceIron,
        participant: gid(1, 0),
        nodes: vec![node],
    });
    let snapshot = graph.snapshot();
    let found: Vec<_> =
        snapshot.endpoints.iter().map(|e| (e.kind, e.name.as_str(), &e.node)).collect();
    let expected = [
        (EndpointKind::Publisher, "/a", &EndpointNode::Unknown),
        (EndpointKind::Service, "/s", &EndpointNode::Named(name)),
    ];
    assert_eq!(found, expected);
    assert_eq!(snapshot.endpoints[1].type_name, "p/srv/S");
    assert_eq!(snapshot.nodes[0].enclave, "/");
    assert!(Arc::ptr_eq(&snapshot, &graph.snapshot()), "nothing changed");

    graph.participant_left(gid(1, 0));
    graph.endpoint_left(gid(1, 3));
    let later = graph.snapshot();
    assert!(
        later.nodes.is_empty()
            && later.endpoints.len() == 1
            && later.generation > snapshot.generation
    );
}

/// Participants made by hand, from what the distributions announce.
#[test]
fn participants_are_shown_with_what_they_and_their_endpoints_announce() {
    const HASH: &str =
        "typehash=RIHS01_c62fbb99d94e1b25e8ef9e109f9581956bb1b3361a45a4e5810c36a90d29932e;";
    let graph = Graph::default();
    let writer = |participant, topic: &str, data: &str| WireEndpoint {
        data: EndpointData::parse(data.as_bytes()),
        ..endpoint(gid(participant, 3), true, topic, "p::msg::dds_::A_")
    };
    let nodes = |participant| of_form(DiscoveryForm::SinceIron, participant);
    let fast_dds = Library::parse("01.0f 3.2.2.0");
    graph.participant_appeared(gid(3, 0), announced("enclave=/;"), fast_dds);
    graph.announced(nodes(3));
    graph.endpoint_appeared(writer(3, "rt/a", HASH));
    let lyrical = format!("{HASH}bufbe=cpu:,gpu:device=0;");
    graph.participant_appeared(gid(2, 0), announced("enclave=/;"), None);
    graph.endpoint_appeared(writer(2, "rt/image", &lyrical));
    graph.participant_appeared(gid(4, 0), announced("enclave=/;feros=0.1.0;"), None);
    graph.endpoint_appeared(writer(5, "rt/of_a_participant_that_is_not_known", HASH));

    let snapshot = graph.snapshot();
    let [second, third, fourth] = &snapshot.participants[..] else {
        panic!("three participants: {:?}", snapshot.participants)
    };
    assert_eq!([second.gid, third.gid, fourth.gid], [2, 3, 4].map(|number| gid(number, 0)));
    assert!(second.has_buffer_backends && second.has_type_hashes && second.form.is_none());
    assert_eq!(second.library, Some(Library::of_guid_prefix([2; 12])));
    assert!(third.has_type_hashes && !third.has_buffer_backends && !third.is_feros);
    assert_eq!((third.form, third.library), (Some(DiscoveryForm::SinceIron), fast_dds));
    assert!(fourth.is_feros && !fourth.has_type_hashes);
    let image = snapshot.endpoints.iter().find(|endpoint| endpoint.name == "/image").unwrap();
    assert!(image.type_hash.is_some());
    let backends = image.buffer_backends.iter().flat_map(|all| all.iter());
    let backends: Vec<_> = backends.map(ToString::to_string).collect();
    assert_eq!(backends, ["cpu", "gpu(device=0)"]);

    // A later announcement does not name the library again, and is no reason to forget it.
    graph.participant_appeared(gid(3, 0), announced("enclave=/;"), None);
    assert_eq!(graph.snapshot().participants[1].library, fast_dds);
    graph.participant_left(gid(3, 0));
    assert_eq!(graph.snapshot().participants.len(), 2);
}

#[test]
fn guards_end_notifications() {
    let graph = Arc::new(Graph::default());
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let guard = graph.on_change(Arc::new(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    }));
    graph.participant_appeared(gid(1, 0), ParticipantData::default(), None);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    drop(guard);
    graph.participant_left(gid(1, 0));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn types_clash_once_per_endpoint_whoever_comes_first() {
    #[derive(Default)]
    struct Count(AtomicUsize);
    impl IncompatibleType for Count {
        fn incompatible_type(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let graph = Graph::default();
    let count = Arc::new(Count::default());
    let weak: Weak<dyn IncompatibleType> = Arc::<Count>::downgrade(&count);
    graph.endpoint_appeared(endpoint(gid(1, 3), true, "rt/a", "A"));
    graph.watch_type(gid(2, 4), false, "rt/a", "B", weak);
    graph.endpoint_appeared(endpoint(gid(1, 3), true, "rt/a", "A"));
    graph.endpoint_appeared(endpoint(gid(1, 5), true, "rt/a", "A"));
    graph.endpoint_appeared(endpoint(gid(1, 6), false, "rt/a", "A"));
    graph.endpoint_appeared(endpoint(gid(1, 7), true, "rt/a", "B"));
    assert_eq!(count.0.load(Ordering::Relaxed), 2);
    graph.unwatch_type(gid(2, 4));
    graph.endpoint_appeared(endpoint(gid(1, 8), true, "rt/a", "A"));
    assert_eq!(count.0.load(Ordering::Relaxed), 2);
}

/// An announcement without nodes.
fn of_form(form: DiscoveryForm, participant: u8) -> ParticipantEntities {
    ParticipantEntities { form, participant: gid(participant, 0), nodes: Vec::new() }
}

fn came(graph: &Graph, announcement: &ParticipantEntities) {
    graph.announcement_came(announcement.participant, &announcement.encode().unwrap());
}

#[test]
fn announcements_that_cannot_be_read_fill_no_log() {
    let graph = Graph::default();
    let of_another = of_form(DiscoveryForm::SinceIron, 2).encode().unwrap();
    let lines = feros_test_support::log_lines(|| {
        for _ in 0..50 {
            graph.announcement_came(gid(1, 3), b"\0\x01\0\0 no announcement");
            graph.announcement_came(gid(1, 3), &of_another);
        }
    });
    assert_eq!(lines.len(), 7, "{lines:?}");
    assert!(lines[6].contains("(64 so far): it is about another participant"), "{lines:?}");
    assert!(lines[0].contains("the sample ends early"), "{lines:?}");
    assert!(graph.snapshot().participants.is_empty());
}

#[test]
fn announcements_of_both_forms_are_read_and_shown() {
    for own in [DiscoveryForm::SinceIron, DiscoveryForm::Humble] {
        let graph = Graph::new(own);
        let name = NodeName::new("/", "n").unwrap();
        for (participant, form) in [(1, DiscoveryForm::Humble), (2, DiscoveryForm::SinceIron)] {
            let readers = vec![gid(participant, 4)];
            let node = NodeEntities { name: name.clone(), readers, writers: Vec::new() };
            let nodes = vec![node];
            came(&graph, &ParticipantEntities { nodes, ..of_form(form, participant) });
            let data = WireEndpoint { is_writer: false, ..writer_of(participant) };
            graph.endpoint_appeared(WireEndpoint { gid: gid(participant, 4), ..data });
        }
        let snapshot = graph.snapshot();
        let forms: Vec<_> = snapshot.participants.iter().map(|one| one.form).collect();
        assert_eq!(forms, [Some(DiscoveryForm::Humble), Some(DiscoveryForm::SinceIron)]);
        assert_eq!(snapshot.nodes.len(), 2);
        let nodes: Vec<_> = snapshot.endpoints.iter().map(|one| one.node.name()).collect();
        assert_eq!(nodes, [Some(&name), Some(&name)], "in {own}");
    }
}

#[test]
fn a_participant_with_another_form_is_named_once_with_the_cure() {
    for (own, other, cure) in [
        (DiscoveryForm::SinceIron, DiscoveryForm::Humble, "FEROS_ROS_DISTRO=humble"),
        (DiscoveryForm::Humble, DiscoveryForm::SinceIron, "unset FEROS_ROS_DISTRO"),
    ] {
        let graph = Graph::new(own);
        let stock =
            |participant| graph.participant_appeared(participant, announced("enclave=/;"), None);
        stock(gid(1, 0));
        let lines = feros_test_support::log_lines(|| {
            for _ in 0..3 {
                came(&graph, &of_form(own, 1));
                came(&graph, &of_form(other, 2));
            }
        });
        assert!(lines.is_empty(), "it may be a participant of Feros: {lines:?}");
        let lines = feros_test_support::log_lines(|| {
            for _ in 0..3 {
                stock(gid(2, 0));
                came(&graph, &of_form(other, 2));
            }
        });
        assert_eq!(lines.len(), 1, "{lines:?}");
        let (participant, form) = (gid(2, 0).to_string(), other.to_string());
        let expected = [participant.as_str(), form.as_str(), "out of memory", cure];
        assert!(expected.iter().all(|part| lines[0].contains(*part)), "{lines:?}");

        let lines = feros_test_support::log_lines(|| {
            for participant in 3..=100 {
                stock(gid(participant, 0));
                came(&graph, &of_form(other, participant));
            }
        });
        assert_eq!(lines.len(), 6, "2, 4, 8, 16, 32 and 64 of 99: {lines:?}");
        assert!(lines[5].contains("(64 so far)"), "{lines:?}");
    }
}

/// Feros reads both forms, so nothing follows from the form of another process of Feros.
#[test]
fn a_participant_of_feros_with_another_form_is_not_named() {
    for (own, other) in [
        (DiscoveryForm::SinceIron, DiscoveryForm::Humble),
        (DiscoveryForm::Humble, DiscoveryForm::SinceIron),
    ] {
        let graph = Graph::new(own);
        let feros = |participant| {
            graph.participant_appeared(participant, announced("enclave=/;feros=0.1.0;"), None);
        };
        let lines = feros_test_support::log_lines(|| {
            feros(gid(1, 0));
            came(&graph, &of_form(other, 1));
            came(&graph, &of_form(other, 2));
            feros(gid(2, 0));
        });
        assert!(lines.is_empty(), "{lines:?}");
        let forms: Vec<_> = graph.snapshot().participants.iter().map(|one| one.form).collect();
        assert_eq!(forms, [Some(other), Some(other)]);
    }
}

#[test]
fn a_neighbour_is_shown_as_one_while_it_is_one() {
    let graph = Graph::default();
    let are_neighbours = || {
        let snapshot = graph.snapshot();
        snapshot.participants.iter().map(|one| one.is_neighbour).collect::<Vec<_>>()
    };
    let appears = |participant| {
        graph.participant_appeared(gid(participant, 0), announced("enclave=/;feros=0.1.0;"), None);
    };
    let table = of_form(DiscoveryForm::SinceIron, 1).encode().unwrap();
    graph.neighbour_announced(gid(1, 0), &table);
    assert!(are_neighbours().is_empty(), "the participant is not known yet");
    appears(1);
    appears(2);
    assert_eq!(are_neighbours(), [true, false]);
    graph.neighbour_ended(gid(1, 0));
    graph.participant_left(gid(1, 0));
    appears(1);
    assert_eq!(are_neighbours(), [false, false], "the network has found it");
}
