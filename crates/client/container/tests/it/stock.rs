//! A stock rclpy client loads, lists and unloads components, in every kind of container.
//!
//! No wheel contains `composition_interfaces`; `scripts/build_interfaces_for_ros2.py` makes it with
//! the wheels' own generators.

use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

use crate::support::{ALL, Container};

const LOAD: &str = "/ComponentManager/_container/load_node";
const UNLOAD: &str = "/ComponentManager/_container/unload_node";
const LIST: &str = "/ComponentManager/_container/list_nodes";

/// The fields of one response.
fn call(peer: &mut Peer, service: &str, request: Value) -> Value {
    let mut responses = peer.ask("call", json!({"service": service, "requests": [request]}));
    responses.as_array_mut().and_then(Vec::pop).expect("one request, one response")
}

#[test]
fn a_stock_client_drives_our_containers() {
    for binary in ALL {
        let Some(domain) = Domain::reserve() else { return };
        let container = Container::start_in(domain, binary, &[]);
        let mut peer = Peer::start(&container.domain, "/theirs", "stock_node");
        for (service, kind) in [(LOAD, "LoadNode"), (UNLOAD, "UnloadNode"), (LIST, "ListNodes")] {
            peer.ask(
                "client",
                json!({"name": service, "type": format!("composition_interfaces/srv/{kind}")}),
            );
            peer.ask("wait", json!({"service": service}));
        }
        let parameter = |name: &str, value: Value| json!({"name": name, "value": value});
        let request = json!({
            "package_name": "demo",
            "plugin_name": "demo_components::Talker",
            "node_name": "speaker",
            "node_namespace": "/robot",
            "remap_rules": ["chatter:=/said"],
            "parameters": [parameter("text", json!({"type": 4, "string_value": "Guten Tag"}))],
            "extra_arguments": [parameter("use_intra_process_comms", json!({"type": 1, "bool_value": true}))],
        });
        let expected = json!({"success": true, "error_message": "", "full_node_name": "/robot/speaker", "unique_id": 1});
        assert_eq!(call(&mut peer, LOAD, request), expected, "{binary}");
        peer.ask("subscription", json!({"topic": "/said", "type": "std_msgs/msg/String"}));
        let heard = peer.ask("take", json!({"topic": "/said"}));
        assert!(
            heard[0]["data"].as_str().is_some_and(|text| text.starts_with("Guten Tag: ")),
            "{heard}"
        );

        let refused =
            call(&mut peer, LOAD, json!({"package_name": "demo", "plugin_name": "demo::Nothing"}));
        // The wording of rclcpp, followed by text that rclcpp's container only logs.
        let text = "Failed to find class with the requested plugin name. package demo has no \
            component \"demo::Nothing\"; it has demo_components::Listener, demo_components::Talker";
        let error = refused["error_message"].as_str().unwrap();
        let python = error.strip_prefix(text).expect(error);
        assert!(python.starts_with("; ") && python.contains("python"), "{python}");
        let expected =
            json!({"success": false, "error_message": error, "full_node_name": "", "unique_id": 0});
        assert_eq!(refused, expected);

        let listed = json!({"full_node_names": ["/robot/speaker"], "unique_ids": [1]});
        assert_eq!(call(&mut peer, LIST, json!({})), listed);
        let done = json!({"success": true, "error_message": ""});
        assert_eq!(call(&mut peer, UNLOAD, json!({"unique_id": 1})), done);
        let twice = json!({"success": false, "error_message": "No node found with unique_id: 1"});
        assert_eq!(call(&mut peer, UNLOAD, json!({"unique_id": 1})), twice);
        assert_eq!(
            call(&mut peer, LIST, json!({})),
            json!({"full_node_names": [], "unique_ids": []})
        );
    }
}
