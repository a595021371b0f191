//! Tests of the harness itself: stock nodes communicate with stock nodes, and every feature that
//! the other tests rely on works.

use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

/// Two stock nodes, `/speaker` and `/listener`.
fn pair(domain: &Domain) -> (Peer, Peer) {
    (Peer::start(domain, "/", "speaker"), Peer::start(domain, "/", "listener"))
}

/// The values that arrive at one stock node when the other publishes these values.
fn sent(domain: &Domain, message_type: &str, values: &Value) -> Value {
    let (mut speaker, mut listener) = pair(domain);
    let endpoint = json!({"topic": "/values", "type": message_type});
    speaker.ask("publisher", endpoint.clone());
    listener.ask("subscription", endpoint);
    speaker.ask("matched", json!({"topic": "/values", "subscriptions": 1}));
    listener.ask("matched", json!({"topic": "/values", "publishers": 1}));
    speaker.ask("publish", json!({"topic": "/values", "values": values}));
    let count = values.as_array().map(Vec::len);
    listener.ask("take", json!({"topic": "/values", "count": count}))
}

#[test]
fn extreme_values_arrive_as_sent() {
    let Some(domain) = Domain::reserve() else { return };
    let values = json!([
        {"float32_value": "nan", "float64_value": "-inf", "int64_value": i64::MIN, "uint64_value": u64::MAX,
         "bool_value": true, "byte_value": 255, "char_value": 255, "int8_value": -128, "uint8_value": 255,
         "int16_value": -32768, "uint16_value": 65535, "int32_value": i32::MIN, "uint32_value": u32::MAX},
        {"float32_value": 0.0, "float64_value": f64::MAX, "int64_value": i64::MAX, "uint64_value": 0,
         "bool_value": false, "byte_value": 0, "char_value": 0, "int8_value": 127, "uint8_value": 0,
         "int16_value": 32767, "uint16_value": 0, "int32_value": i32::MAX, "uint32_value": 0},
    ]);
    assert_eq!(sent(&domain, "test_msgs/msg/BasicTypes", &values), values);
}

#[test]
fn wide_strings_nested_sequences_and_empty_messages_arrive_as_sent() {
    let Some(domain) = Domain::reserve() else { return };
    let values = json!([{"wstring_value": "aé😀", "wstring_value_default1": "", "unbounded_sequence_of_wstrings": ["", "ü"]}]);
    let arrived = sent(&domain, "test_msgs/msg/WStrings", &values);
    for (name, value) in values[0].as_object().into_iter().flatten() {
        assert_eq!(&arrived[0][name], value, "{name}");
    }
    assert_eq!(sent(&domain, "test_msgs/msg/Empty", &json!([{}, {}])), json!([{}, {}]));
    let cloud = json!([{"header": {"stamp": {"sec": -1, "nanosec": 999_999_999}, "frame_id": "f"}, "height": 1, "width": 2,
        "fields": [{"name": "x", "offset": 0, "datatype": 7, "count": 1}], "is_bigendian": false, "point_step": 4,
        "row_step": 8, "data": [0, 1, 2, 3, 4, 5, 6, 255], "is_dense": true}]);
    assert_eq!(sent(&domain, "sensor_msgs/msg/PointCloud2", &cloud), cloud);
}

#[test]
fn four_megabytes_arrive_as_sent() {
    let Some(domain) = Domain::reserve() else { return };
    // Base64 of zero bytes: "AAAA" for every three of them.
    let image = json!({"header": {"stamp": {"sec": 1, "nanosec": 2}, "frame_id": "camera"}, "height": 1024, "width": 1024,
        "encoding": "rgba8", "is_bigendian": 0, "step": 4096, "data": {"$base64": "AAAA".repeat((4 << 20) / 3)}});
    let arrived = sent(&domain, "sensor_msgs/msg/Image", &json!([image]));
    assert!(arrived[0] == image, "the image was changed on the way");
}

#[test]
fn late_joiner_gets_what_transient_local_keeps() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut speaker, mut listener) = pair(&domain);
    let endpoint = json!({"topic": "/latched", "type": "std_msgs/msg/Int32",
        "qos": {"durability": "transient_local", "depth": 2}});
    speaker.ask("publisher", endpoint.clone());
    speaker.ask(
        "publish",
        json!({"topic": "/latched", "values": [{"data": 1}, {"data": 2}, {"data": 3}]}),
    );
    listener.ask("subscription", endpoint);
    let taken = listener.ask("take", json!({"topic": "/latched", "count": 2}));
    assert_eq!(taken, json!([{"data": 2}, {"data": 3}]));
    assert_eq!(listener.ask("received", json!({"topic": "/latched"})), 0);
}

#[test]
fn incompatible_qos_is_told() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut speaker, mut listener) = pair(&domain);
    let with = |reliability: &str| {
        json!({"topic": "/strict", "type": "std_msgs/msg/Int32", "qos": {"reliability": reliability},
            "events": ["incompatible_qos"]})
    };
    listener.ask("subscription", with("reliable"));
    speaker.ask("publisher", with("best_effort"));
    for (peer, what) in [(&mut listener, "subscription"), (&mut speaker, "publisher")] {
        let event = peer
            .ask("event", json!({"topic": "/strict", "what": what, "kind": "incompatible_qos"}));
        assert_eq!(event["last_policy_kind"], "reliability", "{event}");
    }
}

#[test]
fn services_answer() {
    let Some(domain) = Domain::reserve() else { return };
    let (mut server, mut client) = pair(&domain);
    let long = json!({"success": true, "message": {"$repeat": ["x", 300_000]}});
    for (service_type, request, response) in [
        ("std_srvs/srv/SetBool", json!({"data": true}), long),
        (
            "test_msgs/srv/BasicTypes",
            json!({"int64_value": i64::MIN, "string_value": "s", "float64_value": "nan"}),
            json!({}),
        ),
        (
            "test_msgs/srv/Arrays",
            json!({"uint8_values": [1, 2, 255], "string_values": ["", "é", "c"]}),
            json!({}),
        ),
        ("test_msgs/srv/Empty", json!({}), json!({})),
    ] {
        let name = format!("/{}", service_type.replace('/', "_"));
        server.ask("service", json!({"name": name, "type": service_type, "response": response}));
        client.ask("client", json!({"name": name, "type": service_type}));
        client.ask("wait", json!({"service": name}));
        let answer = &client.ask("call", json!({"service": name, "requests": [request]}))[0];
        if service_type == "std_srvs/srv/SetBool" {
            assert!(
                answer["message"] == "x".repeat(300_000),
                "the long reply was changed on the way"
            );
        } else {
            // The response has every field of the request.
            for (field, value) in request.as_object().into_iter().flatten() {
                assert_eq!(&answer[field], value, "{service_type} {field}");
            }
        }
        let requests = server.ask("requests", json!({"service": name}));
        for (field, value) in request.as_object().into_iter().flatten() {
            assert_eq!(&requests[0][field], value, "{service_type} {field}");
        }
    }
}

#[test]
fn graph_shows_names_types_hashes_and_qos() {
    let Some(domain) = Domain::reserve() else { return };
    let mut speaker = Peer::start(&domain, "/ns", "speaker");
    let mut watcher = Peer::start(&domain, "/", "watcher");
    let qos = json!({"reliability": "best_effort", "depth": 3});
    speaker.ask("publisher", json!({"topic": "words", "type": "std_msgs/msg/String", "qos": qos}));
    speaker.ask("service", json!({"name": "/help", "type": "std_srvs/srv/Empty"}));

    watcher.eventually("nodes", json!({}), |nodes| {
        let has = |name: &str| {
            nodes.as_array().is_some_and(|nodes| nodes.iter().any(|node| node["name"] == name))
        };
        has("speaker") && has("watcher")
    });
    let infos = watcher.eventually("publishers", json!({"topic": "/ns/words"}), |infos| {
        infos[0]["node"] == "speaker"
    });
    assert_eq!(infos[0]["namespace"], "/ns");
    assert_eq!(infos[0]["type"], "std_msgs/msg/String");
    assert_eq!(
        infos[0]["hash"],
        "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
    );
    assert_eq!(infos[0]["qos"]["reliability"], "best_effort");
    watcher.eventually("topics", json!({}), |topics| {
        topics["/ns/words"] == json!(["std_msgs/msg/String"])
    });
    watcher.eventually("services", json!({}), |services| {
        services["/help"] == json!(["std_srvs/srv/Empty"])
    });
    watcher.eventually("node", json!({"name": "speaker", "namespace": "/ns"}), |node| {
        node["publishers"]["/ns/words"] == json!(["std_msgs/msg/String"])
    });
}

#[test]
fn peer_says_what_it_cannot_do() {
    let Some(domain) = Domain::reserve() else { return };
    let mut peer = Peer::start(&domain, "/", "peer");
    let unknown_type =
        peer.try_ask("publisher", json!({"topic": "/t", "type": "no_such_package/msg/Thing"}));
    assert!(unknown_type.unwrap_err().contains("No module named 'no_such_package'"));
    peer.ask("publisher", json!({"topic": "/t", "type": "std_msgs/msg/Int32"}));
    let unknown_field =
        peer.try_ask("publish", json!({"topic": "/t", "values": [{"nonsense": 1}]}));
    assert!(unknown_field.unwrap_err().contains("no field 'nonsense'"));
    let unknown_operation = peer.try_ask("dance", json!({}));
    assert!(unknown_operation.unwrap_err().contains("unknown operation 'dance'"));
    let out_of_time =
        peer.try_ask("matched", json!({"topic": "/t", "subscriptions": 1, "timeout": 0.1}));
    assert!(out_of_time.unwrap_err().contains("TimeoutError"));
}

#[test]
fn peer_that_cannot_start_says_why() {
    let Some(domain) = Domain::reserve() else { return };
    let started = std::panic::catch_unwind(|| Peer::start(&domain, "/", "no name"));
    let message = *started.unwrap_err().downcast::<String>().expect("a panic with text");
    assert!(message.contains("node name must not contain characters"), "{message}");
}
