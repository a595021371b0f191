//! Discovery between sessions, and the names that sessions accept.

use std::sync::Arc;

use feros_engine::engine::known;
use feros_engine::graph::EndpointNode;
use feros_engine::{CreateEndpointError, EndpointKind, QosProfile, ServiceMapping};

use crate::Fixture;
use crate::endpoints::test_nodes;
use crate::harness::{HASH, NUMBER, unique};

/// Endpoints of the other session appear with their name, type, hash, gid, node and policies.
/// Later, they disappear again.
pub fn names_and_types_are_shown(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let (topic, service) = (unique("/shown/topic"), unique("/shown/service"));
    let qos = QosProfile::keep_last(7).best_effort();
    let publisher = near.publisher(&topic, qos);
    let server = near.service(&service, ServiceMapping::default());
    let shown = far.wait_for_graph("the publisher with its node", |graph| {
        let found = graph.endpoints_of(EndpointKind::Publisher, &topic).next().cloned();
        found.filter(|endpoint| endpoint.node == EndpointNode::Named(near.name.clone()))
    });
    assert_eq!(shown.type_name, NUMBER);
    assert_eq!(shown.type_hash, Some(HASH));
    assert_eq!(shown.gid, publisher.publisher.gid());
    assert!(shown.gid.is_of_session_of(&near.session.gid()));
    let is_one = Arc::ptr_eq(&near.session, &far.session);
    assert_eq!(shown.gid.is_of_session_of(&far.session.gid()), is_one);
    assert_eq!((shown.qos.reliability, shown.qos.depth), (qos.reliability, 7));
    assert!(shown.is_ros);
    let shown = far.wait_for_graph("the service with its node", |graph| {
        let found = graph.endpoints_of(EndpointKind::Service, &service).next().cloned();
        found.filter(|endpoint| endpoint.node == EndpointNode::Named(near.name.clone()))
    });
    assert_eq!(shown.type_name, "std_srvs/srv/SetBool");
    assert_eq!(shown.gid, server.service.gid());
    let graph = far.session.graph();
    assert_eq!(graph.count(EndpointKind::Client, &service), 0);
    assert!(
        graph
            .topics()
            .keys()
            .all(|name| !name.contains("Reply") && !name.contains("ros_discovery"))
    );
    drop((publisher, server));
    far.wait_for_graph("their end", |graph| {
        let left = graph.count(EndpointKind::Publisher, &topic)
            + graph.count(EndpointKind::Service, &service);
        (left == 0).then_some(())
    });
}

/// Nodes appear with their participant and enclave, and disappear when their session withdraws
/// them.
pub fn nodes_are_shown_and_withdrawn(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let shown = far.wait_for_graph("the node", |graph| {
        graph.nodes.iter().find(|node| node.name == near.name && !node.enclave.is_empty()).cloned()
    });
    assert_eq!(shown.enclave, "/");
    assert_eq!(shown.participant, near.session.gid());
    near.session.remove_node(near.node);
    near.session.remove_node(near.node);
    far.wait_for_graph("the node's end", |graph| {
        (!graph.nodes.iter().any(|node| node.name == near.name)).then_some(())
    });
    let options = near.publisher_options("/orphan", QosProfile::default());
    let error = near.session.create_publisher(options).map(|_| ()).unwrap_err();
    assert!(matches!(error, CreateEndpointError::NoNode { .. }), "{error}");
}

/// While nothing changes, the graph returns the same snapshot object. After a change, the snapshot
/// has a newer generation.
pub fn graph_changes_are_notified(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("/changes");
    let before = far.session.graph().generation;
    let subscription = near.subscription(&topic, QosProfile::default());
    let seen = far.wait_for_graph("the subscription", |graph| {
        (graph.count(EndpointKind::Subscription, &topic) == 1).then_some(graph.generation)
    });
    assert!(seen > before);
    drop(subscription);
    far.wait_for_graph("its end", |graph| {
        (graph.count(EndpointKind::Subscription, &topic) == 0 && graph.generation > seen)
            .then_some(())
    });
}

/// Names and types that cannot be sent are refused with the reason, and nothing is announced.
pub fn refused_names(fixture: &dyn Fixture) {
    let (near, _far) = test_nodes(fixture);
    for bad in
        ["", "relative", "/", "/a//b", "/a b", "/é", "/0digit", &format!("/{}", "x".repeat(300))]
    {
        let options = near.publisher_options(bad, QosProfile::default());
        let error = near.session.create_publisher(options).map(|_| ()).unwrap_err();
        assert!(matches!(error, CreateEndpointError::Name { .. }), "{bad:?}: {error}");
    }
    let two_underscores = near.publisher_options("/a__b", QosProfile::default());
    near.session.create_publisher(two_underscores).map(drop).unwrap(); // allowed, as in rmw
    for bad in ["", "String", "a/b", "a/b/c/d", "a/msg/", "a/msg/x-y"] {
        let mut options = near.subscription_options("/fine", QosProfile::default());
        options.type_name = bad;
        let error = near.session.create_subscription(options).map(|_| ()).unwrap_err();
        assert!(matches!(error, CreateEndpointError::TypeName { .. }), "{bad:?}: {error}");
    }
    let options = near.publisher_options("/fine", QosProfile::keep_last(usize::MAX));
    let error = near.session.create_publisher(options).map(|_| ()).unwrap_err();
    assert!(matches!(error, CreateEndpointError::Qos { .. }), "{error}");
    assert_eq!(near.session.graph().count(EndpointKind::Publisher, "/fine"), 0);
}

/// A topic that does not follow the ROS conventions works under its exact name, and is not listed
/// as a ROS topic.
pub fn names_outside_ros_conventions(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    let topic = unique("plain/Name");
    let qos = QosProfile::default().avoid_ros_namespace_conventions();
    let publisher = near.publisher(&topic, qos);
    let subscription = far.subscription(&topic, qos);
    crate::endpoints::matched(&publisher, &subscription);
    publisher.publish(&crate::harness::numbered(1));
    assert_eq!(subscription.next_number(), 1);
    let is_ros = far.wait_for_graph("the publisher", |graph| {
        graph.endpoints_of(EndpointKind::Publisher, &topic).next().map(|endpoint| endpoint.is_ros)
    });
    assert!(!is_ros);
    assert!(!far.session.graph().topics().contains_key(&topic));
}

/// A session reports its own identity.
pub fn session_facts(fixture: &dyn Fixture) {
    let (near, far) = test_nodes(fixture);
    assert!(!near.session.engine_name().is_empty() && !near.session.engine_version().is_empty());
    assert!(!near.session.configuration().is_empty());
    if let Some(known) = known::by_name(near.session.engine_name()) {
        assert_eq!(near.session.kept(), known.kept);
    }
    let same = Arc::ptr_eq(&near.session, &far.session);
    assert_eq!(near.session.gid() == far.session.gid(), same);
}
