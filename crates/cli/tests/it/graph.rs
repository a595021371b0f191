//! The graph as the command lists it.

use std::time::Instant;

use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{Context, Node, NodeOptions};

use crate::process::{context, feros};

#[test]
fn topics_nodes_and_services_are_listed() {
    let context = context();
    let node = context.create_node_with(NodeOptions::new("g_node").namespace("/g")).unwrap();
    let _publisher = node.create_publisher::<Text>("/g_topic", 7).unwrap();
    let _subscription = node.create_subscription("/g_topic", 10, |_: Text| {}).unwrap();
    let _service = node
        .create_service::<SetBool, _>("enable", |_: SetBool_Request| SetBool_Response::default())
        .unwrap();

    let names = feros(&["topic", "list"]).success();
    assert!(names.lines().any(|line| line == "/g_topic"), "{names}");
    let typed = feros(&["topic", "list", "-t"]).success();
    assert!(typed.lines().any(|line| line == "/g_topic [std_msgs/msg/String]"), "{typed}");
    let verbose = feros(&["topic", "list", "-v"]).success();
    assert!(verbose.contains(" * /g_topic [std_msgs/msg/String] 1 publisher\n"), "{verbose}");
    let listed = feros(&["topic", "list", "--json"]).json();
    let topic = listed.as_array().unwrap().iter().find(|topic| topic["name"] == "/g_topic").unwrap();
    assert_eq!((topic["publishers"].as_u64(), topic["subscriptions"].as_u64()), (Some(1), Some(1)));

    let info = feros(&["topic", "info", "-v", "/g_topic"]).success();
    assert!(info.starts_with(
        "Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: g_node\nNode namespace: /g\n"
    ));
    assert!(info.contains("History (Depth): KEEP_LAST (7)"), "{info}");
    assert!(info.contains("Topic type hash: RIHS01_df668c740482bbd48"), "{info}");
    assert_eq!(feros(&["topic", "type", "/g_topic"]).success(), "std_msgs/msg/String\n");
    assert!(feros(&["topic", "find", "std_msgs/msg/String"]).success().contains("/g_topic\n"));
    let error = feros(&["topic", "info", "/g_topc"]).failure(1);
    assert!(error.contains("did you mean") && error.contains("/g_topic"), "{error}");

    assert!(feros(&["node", "list"]).success().lines().any(|line| line == "/g/g_node"));
    let info = feros(&["node", "info", "/g/g_node"]).success();
    assert!(info.contains("  Subscribers:\n    /g_topic: std_msgs/msg/String\n"), "{info}");
    assert!(info.contains("  Service Servers:\n    /g/enable: std_srvs/srv/SetBool\n"), "{info}");
    let error = feros(&["node", "info", "/g/g_nod"]).failure(1);
    assert!(error.contains("/g/g_node"), "{error}");

    let services = feros(&["service", "list", "-t"]).success();
    assert!(services.lines().any(|line| line == "/g/enable [std_srvs/srv/SetBool]"), "{services}");
    assert_eq!(feros(&["service", "type", "/g/enable"]).success(), "std_srvs/srv/SetBool\n");
    assert_eq!(feros(&["service", "find", "std_srvs/srv/SetBool", "--json"]).json()[0], "/g/enable");
}

#[test]
fn twenty_nodes_are_listed() {
    // A participant each, as twenty processes have.
    let nodes: Vec<(Context, Node)> = (0..20)
        .map(|index| {
            let context = context();
            let node = context.create_node(&format!("g_many_{index}")).unwrap();
            (context, node)
        })
        .collect();
    let publishers: Vec<_> = nodes
        .iter()
        .enumerate()
        .map(|(index, (_, node))| node.create_publisher::<Text>(&format!("/g_many/t{index}"), 10).unwrap())
        .collect();
    let started = Instant::now();
    let topics = feros(&["topic", "list"]).success();
    println!("topic list beside {} participants: {:?}", nodes.len(), started.elapsed());
    let found = topics.lines().filter(|line| line.starts_with("/g_many/")).count();
    assert_eq!(found, publishers.len(), "{topics}");
    let found =
        feros(&["node", "list"]).success().lines().filter(|line| line.starts_with("/g_many_")).count();
    assert_eq!(found, nodes.len());
}
