//! The graph as the command lists it.

use std::path::Path;
use std::time::Instant;

use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{Context, Node, NodeOptions};
use feros_interop::Domain;
use serde_json::{Value, json};

use crate::bag::bag_of;
use crate::process::{Finished, Running, context, context_in, eventually, feros, has_line};

#[test]
fn topics_nodes_and_services_are_listed() {
    let context = context();
    let node = context.create_node_with(NodeOptions::new("g_node").namespace("/g")).unwrap();
    let _publisher = node.create_publisher::<Text>("/g_topic", 7).unwrap();
    let _subscription = node.create_subscription("/g_topic", 10, |_: Text| {}).unwrap();
    let _service = node
        .create_service::<SetBool, _>("enable", |_: SetBool_Request| SetBool_Response::default())
        .unwrap();

    shows(&["topic", "list"], |names| has_line(names, "/g_topic"));
    shows(&["topic", "list", "-t"], |typed| has_line(typed, "/g_topic [std_msgs/msg/String]"));
    shows(&["topic", "list", "-v"], |all| {
        all.contains(" * /g_topic [std_msgs/msg/String] 1 publisher\n")
    });
    shows(&["topic", "list", "--json"], |listed| {
        let listed: Value = serde_json::from_str(listed).unwrap();
        let topic = listed.as_array().unwrap().iter().find(|topic| topic["name"] == "/g_topic");
        topic.is_some_and(|topic| {
            (&topic["publishers"], &topic["subscriptions"]) == (&json!(1), &json!(1))
        })
    });

    shows(&["topic", "info", "-v", "/g_topic"], |info| {
        info.starts_with(
            "Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: g_node\nNode namespace: /g\n",
        ) && info.contains("History (Depth): KEEP_LAST (7)")
            && info.contains("Topic type hash: RIHS01_df668c740482bbd48")
    });
    shows(&["topic", "type", "/g_topic"], |found| found == "std_msgs/msg/String\n");
    for name in ["std_msgs/msg/String", "std_msgs/String"] {
        shows(&["topic", "find", name], |found| found.contains("/g_topic\n"));
    }
    shows(&["service", "find", "std_srvs/SetBool"], |found| found.contains("/g/enable\n"));
    says(&["topic", "info", "/g_topc"], |error| {
        error.contains("did you mean") && error.contains("/g_topic")
    });

    shows(&["node", "list"], |names| has_line(names, "/g/g_node"));
    shows(&["node", "info", "/g/g_node"], |info| {
        info.contains("  Subscribers:\n    /g_topic: std_msgs/msg/String\n")
            && info.contains("  Service Servers:\n    /g/enable: std_srvs/srv/SetBool\n")
    });
    says(&["node", "info", "/g/g_nod"], |error| error.contains("/g/g_node"));

    shows(&["service", "list", "-t"], |services| {
        has_line(services, "/g/enable [std_srvs/srv/SetBool]")
    });
    shows(&["service", "type", "/g/enable"], |found| found == "std_srvs/srv/SetBool\n");
    shows(&["service", "find", "std_srvs/srv/SetBool", "--json"], |found| {
        found.contains("\"/g/enable\"")
    });
    shows(&["service", "info", "/g/enable"], |info| {
        info == "Type: std_srvs/srv/SetBool\nClients count: 0\nServices count: 1\n"
    });
    shows(&["service", "info", "-v", "/g/enable"], |info| {
        info.contains("Services count: 1\n\nNode name: g_node\nNode namespace: /g\n")
    });
    says(&["service", "info", "/g/enabel"], |error| {
        error.contains("there is no service /g/enabel") && error.contains("/g/enable")
    });
    let _client = node.create_client::<SetBool>("/g/enable").unwrap();
    shows(&["service", "info", "-v", "/g/enable"], |info| {
        info.contains("Clients count: 1\n")
            && info.ends_with("Transports:\n  /g/g_node -> /g/g_node: intra_process\n")
    });
}

/// Repeats the command until it shows this.
fn shows(arguments: &[&str], accepted: impl Fn(&str) -> bool) {
    eventually(|| feros(arguments), |finished| finished.code == Some(0) && accepted(&finished.out));
}

/// Repeats the command until it fails with this error.
fn says(arguments: &[&str], accepted: impl Fn(&str) -> bool) {
    eventually(|| feros(arguments), |finished| finished.code == Some(1) && accepted(&finished.err))
        .failure(1);
}

#[test]
fn twenty_nodes_are_listed() {
    // Each has its own participant, like twenty processes; they are in a domain of their own, where
    // they disturb no other test.
    let domain = Domain::reserve_without_ros2();
    let nodes: Vec<(Context, Node)> = (0..20)
        .map(|index| {
            let context = context_in(&domain);
            let node = context.create_node(&format!("g_many_{index}")).unwrap();
            (context, node)
        })
        .collect();
    let publishers: Vec<_> = nodes
        .iter()
        .enumerate()
        .map(|(index, (_, node))| {
            node.create_publisher::<Text>(&format!("/g_many/t{index}"), 10).unwrap()
        })
        .collect();
    let started = Instant::now();
    let all = |arguments: &[&str], prefix: &str| {
        let count = |finished: &Finished| {
            finished.out.lines().filter(|line| line.starts_with(prefix)).count()
        };
        let run = || Running::start_in(&domain, arguments).finish();
        eventually(run, |finished| finished.code == Some(0) && count(finished) == nodes.len());
    };
    all(&["topic", "list"], "/g_many/");
    println!("topic list beside {} participants: {:?}", nodes.len(), started.elapsed());
    all(&["node", "list"], "/g_many_");
    drop(publishers);
}

#[test]
fn types_that_nobody_knows_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
    let (bag, copy) = (path("recorded"), path("copy"));
    let line = ["bag", "record", "--topic-types", "std_msgs/Strnig", "std_msgs/String", "-o", &bag];
    let mut recorder = Running::start(&line);
    let told = recorder.error_with("unknown type");
    assert!(
        told.starts_with("warning: unknown type `std_msgs/msg/Strnig`")
            && told.contains("did you mean `std_msgs/msg/String`")
            && told.contains("looked for nevertheless"),
        "{told}"
    );
    recorder.interrupt();
    let finished = recorder.finish();
    assert!(!finished.err.contains("unknown type"), "the other type is known: {finished:?}");
    finished.success();

    for verb in ["topic", "service", "action"] {
        let found = feros(&[verb, "find", "std_msgs/msg/Strnig", "-c"]);
        assert!(found.err.contains("unknown type `std_msgs/msg/Strnig`"), "{found:?}");
        assert_eq!(found.success(), "0\n");
    }
    let known = feros(&["topic", "find", "std_msgs/String"]);
    assert!(!known.err.contains("unknown type"), "{known:?}");

    bag_of(Path::new(&path("ints")), "/t_bags/ints", &[1]);
    let ints = path("ints");
    let selected = ["--topic-types", "std_msgs/Imt32", "std_msgs/Int32"];
    for line in [&["bag", "play", &ints][..], &["bag", "slice", &ints, "-o", &copy]] {
        let finished = feros(&[line, &selected].concat());
        let expected = "no topic of the type std_msgs/Imt32; did you mean std_msgs/msg/Int32?";
        assert!(finished.err.contains(expected), "{finished:?}");
        assert!(!finished.err.contains("type std_msgs/Int32"), "{finished:?}");
        assert!(finished.success().contains("1 messages"));
    }
}
