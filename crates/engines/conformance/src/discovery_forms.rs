//! The two forms in which participants on DDS announce their nodes: the form of ROS 2 Humble, and
//! the form since Iron. These tests are for engines on DDS, so the suite of all engines does not
//! have them.

use std::sync::Arc;

use feros_engine::dds::discovery_info::{NodeEntities, ParticipantEntities};
use feros_engine::dds::names::DISCOVERY_TOPIC;
use feros_engine::graph::EndpointNode;
use feros_engine::{
    DiscoveryForm, EndpointKind, Gid, GraphSnapshot, NodeName, QosProfile, ServiceMapping, Session,
};

use crate::endpoints::{TestNode, TestType, matched};
use crate::harness::{HASH, assert_same, number_in, numbered, unique};

/// Opens a session that announces itself in this form. All these sessions reach each other.
pub type Open<'a> = &'a dyn Fn(DiscoveryForm) -> Arc<dyn Session>;

const FORMS: [DiscoveryForm; 2] = [DiscoveryForm::Humble, DiscoveryForm::SinceIron];

/// The type of the announcements.
const ANNOUNCEMENT: TestType<'static> = ("rmw_dds_common/msg/ParticipantEntitiesInfo", "");

/// The policies with which tests read and write announcements.
fn of_announcements(history: QosProfile) -> QosProfile {
    history.transient_local().avoid_ros_namespace_conventions()
}

fn form_of(graph: &GraphSnapshot, participant: Gid) -> Option<DiscoveryForm> {
    graph.participants.iter().find(|found| found.gid == participant)?.form
}

/// Sessions of both forms see each other's nodes and endpoints, and messages and calls pass.
pub fn sessions_of_both_forms_reach_each_other(open: Open<'_>) {
    let [humble, usual] = FORMS.map(|form| (form, TestNode::new(open(form))));
    for ((form, near), (_, far)) in [(&humble, &usual), (&usual, &humble)] {
        let (topic, service) = (unique("/forms/topic"), unique("/forms/service"));
        let publisher = near.publisher(&topic, QosProfile::default());
        let server = near.service(&service, ServiceMapping::default());
        let node = EndpointNode::Named(near.name.clone());
        let shown = far.wait_for_graph("the publisher with its node", |graph| {
            let mut found = graph.endpoints_of(EndpointKind::Publisher, &topic);
            found.find(|endpoint| endpoint.node == node).cloned()
        });
        assert_eq!((shown.type_hash, shown.gid), (Some(HASH), publisher.publisher.gid()));
        far.wait_for_graph("the server with its node", |graph| {
            let mut found = graph.endpoints_of(EndpointKind::Service, &service);
            found.any(|endpoint| endpoint.node == node).then_some(())
        });
        assert_eq!(form_of(&far.session.graph(), near.session.gid()), Some(*form));
        assert_eq!(form_of(&near.session.graph(), near.session.gid()), Some(*form));

        let subscription = far.subscription(&topic, QosProfile::default());
        matched(&publisher, &subscription);
        publisher.publish(&numbered(7));
        assert_eq!(subscription.next_number(), 7);
        let client = far.client(&service, None);
        client.wait_for_server();
        let asked = client.ask(1);
        let (id, request) = server.next();
        server.respond(&id, &numbered(number_in(&request.payload) + 1)).unwrap();
        let (answered, response) = client.next();
        assert_eq!((answered, number_in(&response.payload)), (asked, 2));
    }
}

/// A session writes no announcement in the form that it does not use.
pub fn announcements_have_one_form_on_the_wire(open: Open<'_>) {
    for form in FORMS {
        let watcher = TestNode::new(open(DiscoveryForm::default()));
        let qos = of_announcements(QosProfile::keep_all());
        let announcements = watcher.subscription_of(DISCOVERY_TOPIC, ANNOUNCEMENT, qos);
        let node = TestNode::new(open(form));
        let publisher = node.publisher(&unique("/on_the_wire"), QosProfile::default());
        let own = node.session.gid();
        let mut is_complete = false;
        while !is_complete {
            let sample = announcements.next();
            if sample.info.publisher_gid.participant_prefix() != own.participant_prefix() {
                continue;
            }
            let read = ParticipantEntities::parse(&sample.payload).unwrap();
            assert_eq!((read.form, read.participant), (form, own));
            assert_same(&sample.payload, &read.encode().unwrap());
            let gid = publisher.publisher.gid();
            is_complete = read
                .nodes
                .iter()
                .any(|found| found.name == node.name && found.writers.contains(&gid));
        }
    }
}

/// Announcements that other programs write are read in both forms, whatever the form of the
/// session. Malformed announcements before them are of no consequence.
pub fn announcements_made_by_hand_are_read(open: Open<'_>) {
    for (own, form) in FORMS.iter().flat_map(|own| FORMS.map(|form| (*own, form))) {
        let (reader, hand) = (TestNode::new(open(own)), TestNode::new(open(own)));
        let qos = of_announcements(QosProfile::keep_last(1));
        let writer = hand.publisher_of(DISCOVERY_TOPIC, ANNOUNCEMENT, qos);
        let topic = unique("/by_hand");
        let publisher = hand.publisher(&topic, QosProfile::default());
        let wait_for_node = |name: &NodeName| {
            let node = EndpointNode::Named(name.clone());
            reader.wait_for_graph(&format!("the publisher of {name}"), |graph| {
                let mut found = graph.endpoints_of(EndpointKind::Publisher, &topic);
                found.any(|endpoint| endpoint.node == node).then_some(())
            });
        };
        // The session announces nothing after its last endpoint.
        wait_for_node(&hand.name);

        let participant = hand.session.gid();
        let name = NodeName::new("/made/by", &unique("hand")).unwrap();
        let writers = vec![publisher.publisher.gid()];
        let node = NodeEntities { name: name.clone(), readers: Vec::new(), writers };
        let announcement = ParticipantEntities { form, participant, nodes: vec![node] };
        let of_another =
            ParticipantEntities { participant: reader.session.gid(), ..announcement.clone() };
        writer.send(&[0, 1, 0, 0, 9, 9, 9, 9]);
        writer.send(&of_another.encode().unwrap());
        writer.send(&announcement.encode().unwrap());
        wait_for_node(&name);
        let graph = reader.session.graph();
        assert_eq!(form_of(&graph, participant), Some(form));
        assert!(graph.nodes.iter().any(|shown| shown.name == reader.name), "{form} in {own}");
    }
}
