//! The harness proven on itself: stock peers talk with stock peers, and everything the tests rely on is seen to work.

use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

/// Talker -> echo -> listener: every value comes back as it was sent.
fn echoed(domain: &Domain, kind: &str, qos: &str, values: &Value) -> Value {
    let mut echo =
        Peer::start(domain, "echo.py", &["--topic", "/to", "--back", "/back", "--type", kind, "--qos", qos]);
    let mut listener =
        Peer::start(domain, "listener.py", &["--topic", "/back", "--type", kind, "--qos", qos]);
    let mut talker = Peer::start(domain, "talker.py", &["--topic", "/to", "--type", kind, "--qos", qos]);
    echo.request(json!({"op": "matched"}));
    talker.request(json!({"op": "matched"}));
    listener.request(json!({"op": "matched"}));
    let count = talker.request(json!({"op": "publish", "values": values}));
    listener.request(json!({"op": "take", "count": count}))
}

#[test]
fn extreme_values_come_back_as_sent() {
    let Some(domain) = Domain::reserve() else { return };
    let values = json!([
        {"float32_value": "nan", "float64_value": "-inf", "int64_value": i64::MIN, "uint64_value": u64::MAX,
         "bool_value": true, "byte_value": 255, "char_value": 255, "int8_value": -128, "uint8_value": 255,
         "int16_value": -32768, "uint16_value": 65535, "int32_value": i32::MIN, "uint32_value": u32::MAX},
        {"float32_value": 0.0, "float64_value": f64::MAX, "int64_value": i64::MAX, "uint64_value": 0,
         "bool_value": false, "byte_value": 0, "char_value": 0, "int8_value": 127, "uint8_value": 0,
         "int16_value": 32767, "uint16_value": 0, "int32_value": i32::MAX, "uint32_value": 0},
    ]);
    assert_eq!(echoed(&domain, "test_msgs/msg/BasicTypes", "{}", &values), values);
}

#[test]
fn wide_strings_nested_sequences_and_empty_messages_come_back_as_sent() {
    let Some(domain) = Domain::reserve() else { return };
    let values = json!([{"wstring_value": "aé😀", "wstring_value_default1": "", "unbounded_sequence_of_wstrings": ["", "ü"]}]);
    let back = echoed(&domain, "test_msgs/msg/WStrings", "{}", &values);
    for (name, value) in values[0].as_object().into_iter().flatten() {
        assert_eq!(&back[0][name], value, "{name}");
    }
    assert_eq!(echoed(&domain, "test_msgs/msg/Empty", "{}", &json!([{}, {}])), json!([{}, {}]));
    let cloud = json!([{"header": {"stamp": {"sec": -1, "nanosec": 999_999_999}, "frame_id": "f"}, "height": 1, "width": 2,
        "fields": [{"name": "x", "offset": 0, "datatype": 7, "count": 1}], "is_bigendian": false, "point_step": 4,
        "row_step": 8, "data": [0, 1, 2, 3, 4, 5, 6, 255], "is_dense": true}]);
    assert_eq!(echoed(&domain, "sensor_msgs/msg/PointCloud2", "{}", &cloud), cloud);
}

#[test]
fn four_megabytes_come_back_as_sent() {
    let Some(domain) = Domain::reserve() else { return };
    // Base64 of repeated zero bytes: "AAAA" for each three of them.
    let image = json!({"header": {"stamp": {"sec": 1, "nanosec": 2}, "frame_id": "camera"}, "height": 1024, "width": 1024,
        "encoding": "rgba8", "is_bigendian": 0, "step": 4096, "data": {"$base64": "AAAA".repeat((4 << 20) / 3)}});
    let back = echoed(&domain, "sensor_msgs/msg/Image", "{}", &json!([image]));
    assert!(back[0] == image, "the image came back changed");
}

#[test]
fn late_joiner_gets_what_transient_local_keeps() {
    let Some(domain) = Domain::reserve() else { return };
    let qos = r#"{"durability": "transient_local", "depth": 2}"#;
    let arguments = ["--topic", "/latched", "--type", "std_msgs/msg/Int32", "--qos", qos];
    let mut talker = Peer::start(&domain, "talker.py", &arguments);
    talker.request(json!({"op": "publish", "values": [{"data": 1}, {"data": 2}, {"data": 3}]}));
    let mut listener = Peer::start(&domain, "listener.py", &arguments);
    assert_eq!(listener.request(json!({"op": "take", "count": 2})), json!([{"data": 2}, {"data": 3}]));
    assert_eq!(listener.request(json!({"op": "received"})), 0);
}

#[test]
fn incompatible_qos_is_told() {
    let Some(domain) = Domain::reserve() else { return };
    let topic = ["--topic", "/strict", "--type", "std_msgs/msg/Int32", "--qos"];
    let with = |qos: &'static str| [&topic[..], &[qos]].concat();
    let mut listener = Peer::start(&domain, "listener.py", &with(r#"{"reliability": "reliable"}"#));
    let _talker = Peer::start(&domain, "talker.py", &with(r#"{"reliability": "best_effort"}"#));
    assert_eq!(listener.request(json!({"op": "incompatible"})), "reliability");
}

#[test]
fn services_answer() {
    let Some(domain) = Domain::reserve() else { return };
    let set_bool = ["--service", "/set", "--type", "std_srvs/srv/SetBool"];
    let response = r#"{"success": true, "message": {"$repeat": ["x", 300000]}}"#;
    let mut server = Peer::start(&domain, "server.py", &[&set_bool[..], &["--response", response]].concat());
    let mut client = Peer::start(&domain, "client.py", &set_bool);
    client.request(json!({"op": "wait"}));
    let answer = client.request(json!({"op": "call", "request": {"data": true}}));
    assert_eq!(answer["success"], true);
    assert!(answer["message"] == "x".repeat(300_000), "the long reply came back changed");
    assert_eq!(server.request(json!({"op": "requests"})), json!([{"data": true}]));

    for (kind, name, request) in [
        (
            "test_msgs/srv/BasicTypes",
            "/basic",
            json!({"int64_value": i64::MIN, "string_value": "s", "float64_value": "nan"}),
        ),
        (
            "test_msgs/srv/Arrays",
            "/arrays",
            json!({"uint8_values": [1, 2, 255], "string_values": ["", "é", "c"]}),
        ),
        ("test_msgs/srv/Empty", "/empty", json!({})),
    ] {
        let arguments = ["--service", name, "--type", kind];
        let mut server = Peer::start(&domain, "server.py", &arguments);
        let mut client = Peer::start(&domain, "client.py", &arguments);
        client.request(json!({"op": "wait"}));
        let answer = client.request(json!({"op": "call", "request": request}));
        for (name, value) in request.as_object().into_iter().flatten() {
            assert_eq!(&answer[name], value, "{kind} {name}");
        }
        assert_eq!(server.request(json!({"op": "requests"})).as_array().map(Vec::len), Some(1), "{kind}");
    }
}

#[test]
fn graph_shows_names_types_hashes_and_qos() {
    let Some(domain) = Domain::reserve() else { return };
    let qos = r#"{"reliability": "best_effort", "depth": 3}"#;
    let talker = [
        "--node",
        "speaker",
        "--namespace",
        "/ns",
        "--topic",
        "words",
        "--type",
        "std_msgs/msg/String",
        "--qos",
        qos,
    ];
    let _talker = Peer::start(&domain, "talker.py", &talker);
    let _server = Peer::start(
        &domain,
        "server.py",
        &["--node", "helper", "--service", "/help", "--type", "std_srvs/srv/Empty"],
    );
    let mut graph = Peer::start(&domain, "graph.py", &["--node", "watcher"]);

    let has = |list: &Value, name: &str| {
        list.as_array().is_some_and(|nodes| nodes.iter().any(|node| node["name"] == name))
    };
    graph.eventually(json!({"op": "nodes"}), |nodes| {
        ["speaker", "helper", "watcher"].iter().all(|name| has(nodes, name))
    });
    let infos = graph
        .eventually(json!({"op": "publishers", "topic": "/ns/words"}), |infos| infos[0]["node"] == "speaker");
    assert_eq!(infos[0]["namespace"], "/ns");
    assert_eq!(infos[0]["type"], "std_msgs/msg/String");
    assert_eq!(infos[0]["hash"], "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
    assert_eq!(infos[0]["qos"]["reliability"], "best_effort");
    graph.eventually(json!({"op": "topics"}), |topics| topics["/ns/words"] == json!(["std_msgs/msg/String"]));
    graph
        .eventually(json!({"op": "services"}), |services| services["/help"] == json!(["std_srvs/srv/Empty"]));
    graph.eventually(json!({"op": "node", "name": "speaker", "namespace": "/ns"}), |node| {
        node["publishers"]["/ns/words"] == json!(["std_msgs/msg/String"])
    });
}

#[test]
fn peer_says_what_it_cannot_do() {
    let Some(domain) = Domain::reserve() else { return };
    let mut talker = Peer::start(&domain, "talker.py", &["--topic", "/t", "--type", "std_msgs/msg/Int32"]);
    let unknown_field =
        talker.try_request(&json!({"op": "publish", "values": [{"nonsense": 1}]})).unwrap_err();
    assert!(unknown_field.contains("no field 'nonsense'"), "{unknown_field}");
    let unknown_operation = talker.try_request(&json!({"op": "dance"})).unwrap_err();
    assert!(unknown_operation.contains("unknown operation 'dance'"), "{unknown_operation}");
    let out_of_time = talker.try_request(&json!({"op": "matched", "timeout": 0.1})).unwrap_err();
    assert!(out_of_time.contains("TimeoutError"), "{out_of_time}");
}

#[test]
fn peer_that_cannot_start_says_why() {
    let Some(domain) = Domain::reserve() else { return };
    let started = std::panic::catch_unwind(|| {
        Peer::start(&domain, "talker.py", &["--topic", "/t", "--type", "no_such_package/msg/Thing"])
    });
    let message = *started.unwrap_err().downcast::<String>().expect("a panic with text");
    assert!(message.contains("No module named 'no_such_package'"), "{message}");
}
