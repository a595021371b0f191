//! The graph: each side sees the nodes and endpoints of the other side, and their changes.

use std::collections::BTreeSet;
use std::time::Duration;

use feros::engine::{EndpointInfo, EndpointKind, NodeName};
use feros::msgs::rcl_interfaces::msg::Log;
use feros::msgs::std_msgs::msg::{Int32, String as Text};
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{
    Context, Durability, History, Liveliness, NodeOptions, QosProfile, Reliability, TypeIdentity,
};
use feros_interop::{Domain, Peer, history_at_stock};
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, context, items, node, options, stock};

const TEXT: &str = "std_msgs/msg/String";
const SET_BOOL: &str = "std_srvs/srv/SetBool";

/// The services of every node that offers its parameters, with their types.
const PARAMETER_SERVICES: [(&str, &str); 6] = [
    ("describe_parameters", "DescribeParameters"),
    ("get_parameter_types", "GetParameterTypes"),
    ("get_parameters", "GetParameters"),
    ("list_parameters", "ListParameters"),
    ("set_parameters", "SetParameters"),
    ("set_parameters_atomically", "SetParametersAtomically"),
];

/// The value that the stock node gives for an unlimited duration.
const INFINITE: f64 = i64::MAX as f64 / 1e9;

fn answer(request: SetBool_Request) -> SetBool_Response {
    SetBool_Response { success: request.data, message: String::new() }
}

fn has_node(nodes: &Value, namespace: &str, name: &str) -> bool {
    items(nodes).iter().any(|node| node["name"] == name && node["namespace"] == namespace)
}

/// Waits until the stock node knows the node of every endpoint of a topic; `kind` is "publishers"
/// or "subscriptions".
fn endpoints(peer: &mut Peer, kind: &str, topic: &str, count: usize) -> Value {
    peer.eventually(kind, json!({"topic": topic}), |found| {
        items(found).len() == count
            && items(found).iter().all(|info| !info["node"].as_str().unwrap().starts_with('_'))
    })
}

#[test]
fn stock_sees_our_nodes_endpoints_types_hashes_and_qos() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let lively = Duration::from_secs(7);
    let rich = QosProfile::keep_last(3)
        .transient_local()
        .deadline(Duration::from_millis(1500))
        .lifespan(Duration::from_secs(5))
        .liveliness(Liveliness::ManualByTopic, lively);
    let publisher = node.create_publisher::<Text>("words", rich).unwrap();
    let subscription =
        node.create_subscription("words", QosProfile::sensor_data(), |_: Text| {}).unwrap();
    let all = node.create_publisher::<Int32>("~/all", QosProfile::keep_all()).unwrap();
    let service = node.create_service::<SetBool, _>("enable", answer).unwrap();
    let client = node.create_client::<SetBool>("/disable").unwrap();

    let nodes = peer.eventually("nodes", json!({}), |nodes| has_node(nodes, "/ours", "feros_node"));
    let ours = items(&nodes).iter().find(|node| node["name"] == "feros_node").unwrap();
    assert_eq!(ours["enclave"], "/");

    let infos = endpoints(&mut peer, "publishers", "/ours/words", 1);
    let info = &infos[0];
    assert_eq!([&info["node"], &info["namespace"]], ["feros_node", "/ours"]);
    assert_eq!([&info["type"], &info["kind"]], [TEXT, "publisher"]);
    assert_eq!(info["hash"], TypeIdentity::of::<Text>().hash.unwrap().to_string());
    assert_eq!(
        info["gid"],
        publisher.gid().0.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    );
    let (history, depth) = history_at_stock("keep_last", 3);
    assert_eq!(
        info["qos"],
        json!({"reliability": "reliable", "durability": "transient_local", "history": history, "depth": depth,
            "liveliness": "manual_by_topic", "deadline": 1.5, "lifespan": 5.0, "liveliness_lease_duration": 7.0})
    );
    let infos = endpoints(&mut peer, "subscriptions", "/ours/words", 1);
    assert_eq!([&infos[0]["node"], &infos[0]["kind"]], ["feros_node", "subscription"]);
    let qos = &infos[0]["qos"];
    assert_eq!([&qos["reliability"], &qos["durability"]], ["best_effort", "volatile"]);
    let (history, depth) = history_at_stock("keep_last", 5);
    assert_eq!((&qos["history"], &qos["depth"]), (&json!(history), &json!(depth)));
    assert_eq!(qos["liveliness"], "automatic");
    assert!(qos["deadline"].as_f64().unwrap() >= INFINITE, "{qos}");
    let infos = endpoints(&mut peer, "publishers", "/ours/feros_node/all", 1);
    assert_eq!(infos[0]["qos"]["history"], history_at_stock("keep_all", 0).0);

    let topics = peer.ask("topics", json!({}));
    assert_eq!(topics["/ours/words"], json!([TEXT]));
    assert_eq!(topics["/rosout"], json!(["rcl_interfaces/msg/Log"]));
    let services = peer.eventually("services", json!({}), |services| {
        services["/ours/enable"].is_array() && services["/disable"].is_array()
    });
    assert_eq!(
        [&services["/ours/enable"], &services["/disable"]],
        [&json!([SET_BOOL]), &json!([SET_BOOL])]
    );
    let mut services_of_ours = json!({"/ours/enable": [SET_BOOL]});
    for (service, ty) in PARAMETER_SERVICES {
        services_of_ours[format!("/ours/feros_node/{service}")] =
            json!([format!("rcl_interfaces/srv/{ty}")]);
    }
    services_of_ours["/ours/feros_node/get_type_description"] =
        json!(["type_description_interfaces/srv/GetTypeDescription"]);
    let about =
        peer.eventually("node", json!({"name": "feros_node", "namespace": "/ours"}), |about| {
            about["services"] == services_of_ours
                && about["clients"] == json!({"/disable": [SET_BOOL]})
        });
    assert_eq!(about["subscriptions"], json!({"/ours/words": [TEXT]}));
    assert_eq!(
        about["publishers"],
        json!({"/ours/words": [TEXT], "/ours/feros_node/all": ["std_msgs/msg/Int32"],
            "/rosout": ["rcl_interfaces/msg/Log"], "/parameter_events": ["rcl_interfaces/msg/ParameterEvent"]})
    );

    // The stock node sees each end: first the ends of the endpoints, then the end of the node.
    drop((subscription, all));
    peer.eventually("subscriptions", json!({"topic": "/ours/words"}), |infos| {
        items(infos).is_empty()
    });
    peer.eventually("node", json!({"name": "feros_node", "namespace": "/ours"}), |about| {
        about["subscriptions"] == json!({}) && about["publishers"]["/ours/feros_node/all"].is_null()
    });
    let second = node.context().create_node("second").unwrap();
    peer.eventually("nodes", json!({}), |nodes| has_node(nodes, "/", "second"));
    drop(second);
    peer.eventually("nodes", json!({}), |nodes| !has_node(nodes, "/", "second"));
    drop((publisher, service, client, node));
    peer.eventually("nodes", json!({}), |nodes| !has_node(nodes, "/ours", "feros_node"));
    peer.eventually("topics", json!({}), |topics| topics["/ours/words"].is_null());
    peer.eventually("services", json!({}), |services| services["/ours/enable"].is_null());
}

#[test]
fn stock_sees_the_enclave_and_several_nodes_of_one_context() {
    let Some(domain) = Domain::reserve() else { return };
    let mut peer = stock(&domain);
    let mut options = options(&domain);
    options.session.enclave = "/kitchen/robot".into();
    let context = Context::new(options).unwrap();
    let nodes: Vec<_> = ["/", "/arm", "/arm/hand"]
        .map(|namespace| {
            context.create_node_with(NodeOptions::new("same").namespace(namespace)).unwrap()
        })
        .into();
    let _publishers: Vec<_> =
        nodes.iter().map(|node| node.create_publisher::<Text>("/shared", 10).unwrap()).collect();
    let seen = peer.eventually("nodes", json!({}), |seen| {
        ["/", "/arm", "/arm/hand"].iter().all(|namespace| has_node(seen, namespace, "same"))
    });
    let same: Vec<_> = items(&seen).iter().filter(|node| node["name"] == "same").collect();
    assert!(
        same.len() == 3 && same.iter().all(|node| node["enclave"] == "/kitchen/robot"),
        "{seen}"
    );
    let infos = endpoints(&mut peer, "publishers", "/shared", 3);
    let namespaces: BTreeSet<_> =
        items(&infos).iter().map(|info| info["namespace"].as_str().unwrap()).collect();
    assert_eq!(namespaces, BTreeSet::from(["/", "/arm", "/arm/hand"]));
}

#[test]
fn we_see_stock_nodes_endpoints_types_hashes_and_qos() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let context = node.context();
    let stock_node = NodeName::new("/theirs", "stock_node").unwrap();
    let qos = json!({"depth": 3, "durability": "transient_local", "deadline": 1.5, "lifespan": 5,
        "liveliness": "manual_by_topic", "liveliness_lease_duration": 7});
    peer.ask("publisher", json!({"topic": "words", "type": TEXT, "qos": qos}));
    peer.ask(
        "subscription",
        json!({"topic": "words", "type": TEXT, "qos": {"reliability": "best_effort", "depth": 5}}),
    );
    peer.ask("service", json!({"name": "enable", "type": SET_BOOL}));
    peer.ask("client", json!({"name": "/disable", "type": SET_BOOL}));

    let named = |kind, name: &str, count: usize| {
        let graph = context.graph();
        let of_node = graph
            .endpoints_of(kind, name)
            .filter(|info| info.node.name() == Some(&stock_node))
            .count();
        of_node == count
    };
    let complete = || {
        named(EndpointKind::Publisher, "/theirs/words", 1)
            && named(EndpointKind::Subscription, "/theirs/words", 1)
            && named(EndpointKind::Service, "/theirs/enable", 1)
            && named(EndpointKind::Client, "/disable", 1)
    };
    context.wait_for_graph(WATCHDOG, || "the stock node's endpoints", complete).unwrap();
    let graph = context.graph();
    let info = graph.nodes.iter().find(|info| info.name == stock_node).unwrap();
    assert_eq!(info.enclave, "/");
    assert!(node.node_names().contains(&stock_node));

    let info = &node.publishers_info_by_topic("/theirs/words").unwrap()[0];
    assert_eq!((info.type_name.as_str(), info.type_hash), (TEXT, TypeIdentity::of::<Text>().hash));
    assert_eq!(
        (info.qos.reliability, info.qos.durability),
        (Reliability::Reliable, Durability::TransientLocal)
    );
    assert_eq!(info.qos.deadline.finite(), Some(Duration::from_millis(1500)));
    assert_eq!(info.qos.liveliness, Liveliness::ManualByTopic);
    assert_eq!(info.qos.liveliness_lease_duration.finite(), Some(Duration::from_secs(7)));
    assert_eq!(info.qos.lifespan.finite(), Some(Duration::from_secs(5)));
    // Stock ROS 2 on Fast DDS does not announce the history policy.
    if !feros_interop::peers_are_on_feros("endpoints without a history") {
        assert_eq!(info.qos.history, History::Unknown);
    }
    let info = &node.subscriptions_info_by_topic("/theirs/words").unwrap()[0];
    assert_eq!(
        (info.qos.reliability, info.qos.durability),
        (Reliability::BestEffort, Durability::Volatile)
    );

    assert!(node.topic_names_and_types()["/theirs/words"].contains(TEXT));
    assert!(node.service_names_and_types()["/theirs/enable"].contains(SET_BOOL));
    let of_node = |kind| context.graph().of_node(&stock_node, kind);
    let names = |kind| of_node(kind).into_keys().collect::<Vec<_>>();
    assert_eq!(names(EndpointKind::Subscription), ["/theirs/words"]);
    assert_eq!(names(EndpointKind::Client), ["/disable"]);
    for topic in ["/parameter_events", "/rosout", "/theirs/words"] {
        assert!(of_node(EndpointKind::Publisher).contains_key(topic), "{topic}");
    }
    for service in ["enable", "stock_node/get_parameters", "stock_node/get_type_description"] {
        assert!(
            of_node(EndpointKind::Service).contains_key(&format!("/theirs/{service}")),
            "{service}"
        );
    }

    // Feros sees each end: first the ends of the endpoints, then the end of the node.
    for what in ["publisher", "subscription"] {
        peer.ask("destroy", json!({"what": what, "name": "words"}));
    }
    let gone = || !context.graph().topics().contains_key("/theirs/words");
    context.wait_for_graph(WATCHDOG, || "the end of the topic", gone).unwrap();
    peer.ask("destroy", json!({"what": "service", "name": "enable"}));
    let gone = || !context.graph().services().contains_key("/theirs/enable");
    context.wait_for_graph(WATCHDOG, || "the end of the service", gone).unwrap();
    drop(peer);
    let gone = || !node.node_names().contains(&stock_node);
    context.wait_for_graph(WATCHDOG, || "the end of the node", gone).unwrap();
    // The end of the endpoints and the end of their node are announced separately.
    let is_of_others = |info: &EndpointInfo| info.is_ros && info.node.name() != Some(node.name());
    let gone = || !context.graph().endpoints.iter().any(is_of_others);
    context.wait_for_graph(WATCHDOG, || "the end of all its endpoints", gone).unwrap();
}

#[test]
fn log_messages_arrive_on_the_other_side() {
    let Some(domain) = Domain::reserve() else { return };
    let context = context(&domain);
    let node = context.create_node("log_of_feros").unwrap();
    let mut peer = stock(&domain);
    let _spinning = Spinning::new(&node);
    peer.ask(
        "subscription",
        json!({"topic": "/rosout", "type": "rcl_interfaces/msg/Log",
        "qos": {"depth": 1000, "durability": "transient_local"}}),
    );
    feros::error!(node, "grüße aus {}", "Feros");
    let log = loop {
        let taken = peer.ask("take", json!({"topic": "/rosout"}));
        if taken[0]["name"] == "log_of_feros" {
            break taken[0].clone();
        }
    };
    assert_eq!([&log["level"], &log["msg"]], [&json!(Log::ERROR), &json!("grüße aus Feros")]);
    assert!(
        log["file"].as_str().unwrap().ends_with("graph.rs") && log["line"].as_u64().unwrap() > 0,
        "{log}"
    );
    assert!(log["stamp"]["sec"].as_u64().unwrap() > 1_700_000_000, "{log}");

    let inbox = Inbox::new();
    let _subscription =
        node.create_subscription("/rosout", QosProfile::rosout_default(), inbox.putter()).unwrap();
    peer.ask("log", json!({"text": "grüße von stock", "level": "warn"}));
    let log = inbox.take_where(|log: &Log| log.name == "theirs.stock_node");
    assert_eq!((log.level, log.msg.as_str()), (Log::WARN, "grüße von stock"));
}
