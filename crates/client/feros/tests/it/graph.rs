//! The graph from the point of view of nodes in another context.

use feros::engine::{EndpointKind, NodeName};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::Trigger;
use feros::{NodeOptions, QosProfile, TypeIdentity};

use crate::support::{WATCHDOG, context, context_with};

#[test]
fn nodes_and_endpoints_appear_with_names_types_hashes_and_qos_and_disappear() {
    let (here, there) = (context_with(""), context_with(""));
    let node = here.create_node_with(NodeOptions::new("camera").namespace("/robot")).unwrap();
    let publisher =
        node.create_publisher::<Text>("state", QosProfile::keep_last(3).transient_local()).unwrap();
    let client = node.create_client::<Trigger>("reset").unwrap();
    let name = NodeName::new("/robot", "camera").unwrap();

    let complete = || {
        let graph = there.graph();
        !graph.of_node(&name, EndpointKind::Publisher).is_empty()
            && !graph.of_node(&name, EndpointKind::Client).is_empty()
            && graph.of_node(&name, EndpointKind::Publisher).contains_key("/robot/state")
    };
    there.wait_for_graph(WATCHDOG, || "the node", complete).unwrap();
    let graph = there.graph();
    let info = graph.endpoints_of(EndpointKind::Publisher, "/robot/state").next().unwrap();
    assert_eq!(info.type_name, "std_msgs/msg/String");
    assert_eq!(info.type_hash, TypeIdentity::of::<Text>().hash);
    assert_eq!(info.gid, publisher.gid());
    assert_eq!(info.node.name(), Some(&name));
    assert_eq!(info.qos.durability, feros::Durability::TransientLocal);
    assert!(graph.services()["/robot/reset"].contains("std_srvs/srv/Trigger"));
    assert!(graph.topics().contains_key("/rosout"));

    drop((publisher, client, node));
    // Nodes and endpoints are announced separately, so either may disappear first.
    let gone = || {
        let graph = there.graph();
        !graph.nodes.iter().any(|node| node.name == name)
            && graph.count(EndpointKind::Publisher, "/robot/state") == 0
    };
    there.wait_for_graph(WATCHDOG, || "the end of the node", gone).unwrap();
}

#[test]
fn shutting_down_ends_waiting_for_the_graph() {
    let context = context();
    let other = context.clone();
    let waiting = std::thread::Builder::new()
        .spawn(move || other.wait_for_graph(WATCHDOG, || "what never comes", || false))
        .unwrap();
    context.shutdown();
    assert!(matches!(waiting.join().unwrap(), Err(feros::WaitError::Shutdown { .. })));
}
