//! The listing verbs show a stock node, and the node sees the command.

use feros_interop::history_at_stock;
use serde_json::json;

use super::{SET_BOOL, Stock, TEXT, end, has_line};

const HASH_OF_TEXT: &str =
    "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

#[test]
fn topics_of_stock_are_listed_with_types_hashes_and_qos() {
    let Some(mut stock) = Stock::start() else { return };
    let qos = json!({"depth": 3, "durability": "transient_local", "deadline": 1.5, "lifespan": 5,
        "liveliness": "manual_by_topic", "liveliness_lease_duration": 7});
    stock.peer.ask("publisher", json!({"topic": "words", "type": TEXT, "qos": qos}));
    stock.peer.ask(
        "subscription",
        json!({"topic": "words", "type": TEXT, "qos": {"reliability": "best_effort", "depth": 5}}),
    );
    stock.peer.ask("subscription", json!({"topic": "/numbers", "type": "std_msgs/msg/Int32"}));

    let listed = ["/theirs/words", "/numbers", "/rosout", "/parameter_events"];
    let typed = stock
        .eventually(&["topic", "list", "-t"], |out| listed.iter().all(|name| out.contains(name)));
    assert_eq!(
        typed,
        "/numbers [std_msgs/msg/Int32]\n/parameter_events [rcl_interfaces/msg/ParameterEvent]\n/rosout \
         [rcl_interfaces/msg/Log]\n/theirs/words [std_msgs/msg/String]\n"
    );
    let names =
        stock.eventually(&["topic", "list"], |out| listed.iter().all(|name| has_line(out, name)));
    assert!(typed.lines().map(|line| line.split(' ').next().unwrap()).eq(names.lines()), "{names}");
    let topics = stock.eventually_json(&["topic", "list", "--json"], |topics| {
        let topics = topics.as_array().unwrap();
        topics.iter().any(|topic| topic["name"] == "/numbers")
            && topics.iter().any(|topic| {
                topic["name"] == "/theirs/words"
                    && topic["publishers"] == 1
                    && topic["subscriptions"] == 1
            })
    });
    let numbers =
        topics.as_array().unwrap().iter().find(|topic| topic["name"] == "/numbers").unwrap();
    assert_eq!((&numbers["publishers"], &numbers["subscriptions"]), (&json!(0), &json!(1)));

    assert_eq!(
        stock.eventually(&["topic", "type", "/theirs/words"], |_| true),
        "std_msgs/msg/String\n"
    );
    let found = stock.eventually(&["topic", "find", TEXT], |out| !out.is_empty());
    assert_eq!(found, "/theirs/words\n");
    let none = stock.eventually(&["topic", "find", "std_msgs/msg/Char"], |_| true);
    assert_eq!(none, "");

    let info = ["topic", "info", "-v", "/theirs/words"];
    let text = stock.eventually(&info, |out| out.matches("Node name: stock_node\n").count() == 2);
    let blocks: Vec<&str> = text.split("\n\n").collect();
    let [kind, publishers, publisher, subscriptions, subscription, paths] = blocks[..] else {
        panic!("{text}")
    };
    assert_eq!(
        [kind, publishers, subscriptions],
        ["Type: std_msgs/msg/String", "Publisher count: 1", "Subscription count: 1"]
    );
    let without_gid = |block: &str| {
        block.lines().filter(|line| !line.starts_with("GID: ")).collect::<Vec<_>>().join("\n")
    };
    // Stock ROS 2 on Fast DDS announces no history.
    let expected = format!(
        "Node name: stock_node\nNode namespace: /theirs\nTopic type: {TEXT}\nTopic type hash: {HASH_OF_TEXT}\nEndpoint \
         type: PUBLISHER\nQoS profile:\n  Reliability: RELIABLE\n  History (Depth): UNKNOWN\n  Durability: \
         TRANSIENT_LOCAL\n  Lifespan: 5000000000 nanoseconds\n  Deadline: 1500000000 nanoseconds\n  Liveliness: \
         MANUAL_BY_TOPIC\n  Liveliness lease duration: 7000000000 nanoseconds"
    );
    assert_eq!(without_gid(publisher), expected);
    let expected = format!(
        "Node name: stock_node\nNode namespace: /theirs\nTopic type: {TEXT}\nTopic type hash: {HASH_OF_TEXT}\nEndpoint \
         type: SUBSCRIPTION\nQoS profile:\n  Reliability: BEST_EFFORT\n  History (Depth): UNKNOWN\n  Durability: \
         VOLATILE\n  Lifespan: Infinite\n  Deadline: Infinite\n  Liveliness: AUTOMATIC\n  Liveliness lease duration: \
         Infinite"
    );
    assert_eq!(without_gid(subscription), expected);
    assert_eq!(
        paths,
        "Transports:\n  /theirs/stock_node -> /theirs/stock_node: network, because the publisher is not a Feros endpoint\n"
    );
    // The gid is the one under which the stock node knows its own publisher.
    let own = stock.peer.ask("publishers", json!({"topic": "/theirs/words"}));
    let gid = publisher.lines().find_map(|line| line.strip_prefix("GID: ")).unwrap();
    assert_eq!(gid.replace('.', ""), own[0]["gid"].as_str().unwrap());
}

#[test]
fn nodes_and_services_of_stock_are_listed() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", json!({"topic": "words", "type": TEXT}));
    stock.peer.ask("subscription", json!({"topic": "/heard", "type": TEXT}));
    stock.peer.ask("service", json!({"name": "enable", "type": SET_BOOL}));
    stock.peer.ask("client", json!({"name": "/disable", "type": SET_BOOL}));

    assert_eq!(stock.eventually(&["node", "list"], |out| !out.is_empty()), "/theirs/stock_node\n");
    let nodes = stock.eventually_json(&["node", "list", "--json"], |nodes| nodes != &json!([]));
    assert_eq!(nodes, json!([{"name": "/theirs/stock_node", "enclave": "/"}]));
    let info = stock.eventually_json(&["node", "info", "/theirs/stock_node", "--json"], |info| {
        let servers = &info["service_servers"];
        info["service_clients"] != json!({})
            && info["publishers"].as_object().unwrap().len() == 3
            && info["subscribers"] != json!({})
            && servers["/theirs/enable"].is_array()
            && servers["/theirs/stock_node/get_parameters"].is_array()
    });
    assert_eq!(info["subscribers"], json!({"/heard": [TEXT]}));
    assert_eq!(
        info["publishers"],
        json!({"/parameter_events": ["rcl_interfaces/msg/ParameterEvent"], "/rosout": ["rcl_interfaces/msg/Log"],
            "/theirs/words": [TEXT]})
    );
    assert_eq!(info["service_servers"]["/theirs/enable"], json!([SET_BOOL]));
    assert_eq!(
        info["service_servers"]["/theirs/stock_node/get_parameters"],
        json!(["rcl_interfaces/srv/GetParameters"])
    );
    assert_eq!(info["service_clients"], json!({"/disable": [SET_BOOL]}));

    let services = stock.eventually(&["service", "list", "-t"], |out| {
        out.contains("/disable")
            && out.contains("/theirs/enable")
            && out.contains("get_type_description")
    });
    for line in [
        "/disable [std_srvs/srv/SetBool]",
        "/theirs/enable [std_srvs/srv/SetBool]",
        "/theirs/stock_node/get_type_description [type_description_interfaces/srv/GetTypeDescription]",
    ] {
        assert!(has_line(&services, line), "{line} is not in {services}");
    }
    assert_eq!(
        stock.eventually(&["service", "type", "/theirs/enable"], |_| true),
        "std_srvs/srv/SetBool\n"
    );
    let info = stock.eventually(&["service", "info", "/theirs/enable"], |_| true);
    assert_eq!(info, "Type: std_srvs/srv/SetBool\nClients count: 0\nServices count: 1\n");
    let info = stock.eventually(&["service", "info", "-v", "/disable"], |out| {
        out.contains("Node name: stock_node\nNode namespace: /theirs\n")
    });
    assert!(info.contains("\nEndpoint type: CLIENT\n"), "{info}");
    let found = stock.eventually(&["service", "find", SET_BOOL], |out| out.lines().count() == 2);
    assert_eq!(found, "/disable\n/theirs/enable\n");

    // The end of the node is noticed as well.
    let Stock { peer, domain } = stock;
    drop(peer);
    let out =
        crate::process::Running::start_in(&domain, &["node", "list", "--all"]).finish().success();
    assert!(!out.contains("stock_node"), "{out}");
}

#[test]
fn stock_sees_a_publishing_command_as_a_node() {
    let Some(mut stock) = Stock::start() else { return };
    let line = [
        "topic",
        "pub",
        "/spoken",
        TEXT,
        "{data: hello}",
        "--rate",
        "20",
        "--node-name",
        "speaker",
        "--qos-durability",
        "transient_local",
        "--qos-depth",
        "4",
    ];
    let speaker = stock.start_feros(&line);
    let infos = stock.peer.eventually("publishers", json!({"topic": "/spoken"}), |infos| {
        infos[0]["node"] == "speaker"
    });
    let info = &infos[0];
    assert_eq!(infos.as_array().unwrap().len(), 1, "{infos}");
    assert_eq!([&info["namespace"], &info["type"], &info["hash"]], ["/", TEXT, HASH_OF_TEXT]);
    let qos = &info["qos"];
    assert_eq!([&qos["reliability"], &qos["durability"]], ["reliable", "transient_local"]);
    let (history, depth) = history_at_stock("keep_last", 4);
    assert_eq!([&qos["history"], &qos["depth"]], [&json!(history), &json!(depth)]);
    let topics = stock.peer.ask("topics", json!({}));
    assert_eq!(topics["/spoken"], json!([TEXT]));
    let about = stock.peer.eventually("node", json!({"name": "speaker"}), |about| {
        about["publishers"] == json!({"/spoken": [TEXT]})
    });
    assert_eq!([&about["subscriptions"], &about["services"]], [&json!({}), &json!({})]);
    // A stock subscription that comes later receives the published message.
    stock.peer.ask(
        "subscription",
        json!({"topic": "/spoken", "type": TEXT, "qos": {"durability": "transient_local", "depth": 100}}),
    );
    assert_eq!(stock.peer.ask("take", json!({"topic": "/spoken"})), json!([{"data": "hello"}]));

    end(speaker);
    stock.peer.eventually("publishers", json!({"topic": "/spoken"}), |infos| infos == &json!([]));
    stock.peer.eventually("nodes", json!({}), |nodes| {
        nodes.as_array().unwrap().iter().all(|node| node["name"] != "speaker")
    });
}

#[test]
fn stock_sees_a_listening_command_as_hidden() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", json!({"topic": "/words", "type": TEXT}));
    let echo = stock.start_feros(&["topic", "echo", "/words", TEXT]);
    let infos = stock.peer.eventually("subscriptions", json!({"topic": "/words"}), |infos| {
        infos[0]["node"].as_str().is_some_and(|name| name.starts_with("_feros_cli_"))
    });
    assert_eq!([&infos[0]["type"], &infos[0]["hash"]], [TEXT, HASH_OF_TEXT]);
    // The command only watches, and adds neither topics nor services of its own.
    let names: Vec<_> =
        stock.peer.ask("topics", json!({})).as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["/parameter_events", "/rosout", "/words"]);
    let services = stock.peer.ask("services", json!({}));
    assert!(
        services.as_object().unwrap().keys().all(|name| name.starts_with("/theirs/stock_node/")),
        "{services}"
    );
    end(echo);
}
