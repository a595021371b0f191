//! `~/get_type_description` in both directions: Feros nodes describe a type like stock nodes, with
//! the same fields and defaults.

use feros::engine::NodeName;
use feros::message::dynamic::DynamicType;
use feros::message::{Action, Message, Service, TypeHash};
use feros::msgs::action_msgs::srv::CancelGoal;
use feros::msgs::std_srvs::srv::SetBool;
use feros::msgs::test_msgs::action::Fibonacci;
use feros::msgs::test_msgs::msg::{Arrays, Defaults, Nested, Strings};
use feros::{Node, TypeDescriptionError};
use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

use crate::support::{Spinning, WATCHDOG, node, stock};

const OURS: &str = "/ours/feros_node/get_type_description";
const THEIRS: &str = "/theirs/stock_node/get_type_description";

/// The answer to a stock request for a type description, from the node that has this service.
fn asked(peer: &mut Peer, service: &str, name: &str, hash: &TypeHash) -> Value {
    let request = json!({
        "type_name": name, "type_hash": hash.to_string(), "include_type_sources": false
    });
    peer.ask("call", json!({"service": service, "requests": [request]}))[0].clone()
}

#[test]
fn we_describe_types_as_stock_does() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _publishers = (
        node.create_publisher::<Defaults>("/defaults", 10).unwrap(),
        node.create_publisher::<Nested>("/nested", 10).unwrap(),
        node.create_publisher::<Arrays>("/arrays", 10).unwrap(),
        node.create_publisher::<Strings>("/texts", 10).unwrap(),
    );
    let _client = node.create_client::<SetBool>("/switch").unwrap();
    let _spinning = Spinning::new(&node);
    for service in [OURS, THEIRS] {
        let ty = "type_description_interfaces/srv/GetTypeDescription";
        peer.ask("client", json!({"name": service, "type": ty}));
        peer.ask("wait", json!({"service": service}));
    }
    let types = [
        ("/defaults", Defaults::TYPE_NAME, Defaults::TYPE_HASH),
        ("/nested", Nested::TYPE_NAME, Nested::TYPE_HASH),
        ("/arrays", Arrays::TYPE_NAME, Arrays::TYPE_HASH),
        ("/texts", Strings::TYPE_NAME, Strings::TYPE_HASH),
    ];
    for (topic, name, hash) in types {
        peer.ask("subscription", json!({"topic": topic, "type": name}));
        let (ours, theirs) =
            (asked(&mut peer, OURS, name, &hash), asked(&mut peer, THEIRS, name, &hash));
        assert_eq!((&ours["successful"], &theirs["successful"]), (&json!(true), &json!(true)));
        assert_eq!(ours["type_description"], theirs["type_description"], "{name}");
    }
    peer.ask("client", json!({"name": "/switch", "type": "std_srvs/srv/SetBool"}));
    let (name, hash) = (<SetBool as Service>::TYPE_NAME, <SetBool as Service>::TYPE_HASH);
    let (ours, theirs) =
        (asked(&mut peer, OURS, name, &hash), asked(&mut peer, THEIRS, name, &hash));
    assert_eq!(ours["type_description"], theirs["type_description"], "{name}");

    // An action as a whole, and the service that accepts its goals.
    let _server = node
        .create_action_server::<Fibonacci, _>("/fib", |_: feros::ServerGoalHandle<Fibonacci>| ())
        .unwrap();
    let theirs = json!({"name": "/other_fib", "type": <Fibonacci as Action>::TYPE_NAME});
    peer.ask("action_server", theirs);
    type Goals = <Fibonacci as Action>::SendGoal;
    for (name, hash) in [
        (<Fibonacci as Action>::TYPE_NAME, <Fibonacci as Action>::TYPE_HASH),
        (<Goals as Service>::TYPE_NAME, <Goals as Service>::TYPE_HASH),
        (<CancelGoal as Service>::TYPE_NAME, <CancelGoal as Service>::TYPE_HASH),
    ] {
        let (ours, theirs) =
            (asked(&mut peer, OURS, name, &hash), asked(&mut peer, THEIRS, name, &hash));
        assert_eq!((&ours["successful"], &theirs["successful"]), (&json!(true), &json!(true)));
        assert_eq!(ours["type_description"], theirs["type_description"], "{name}");
    }

    let unused = TypeHash([1; 32]);
    let (ours, theirs) =
        (asked(&mut peer, OURS, "a/msg/B", &unused), asked(&mut peer, THEIRS, "a/msg/B", &unused));
    assert_eq!(ours, theirs, "the answer for an unused type");
}

#[test]
fn stock_describes_its_types_to_us() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer): (Node, Peer) = (node(&domain), stock(&domain));
    peer.ask("publisher", json!({"topic": "/nested", "type": Nested::TYPE_NAME}));
    let theirs = NodeName::new("/theirs", "stock_node").unwrap();
    let described =
        node.get_type_description(&theirs, Nested::TYPE_NAME, Nested::TYPE_HASH, WATCHDOG).unwrap();
    let ty = DynamicType::from_description(&described).unwrap();
    assert_eq!((ty.type_hash(), ty.fields().len()), (Nested::TYPE_HASH, 1));
    let refused = node
        .get_type_description(&theirs, Arrays::TYPE_NAME, Arrays::TYPE_HASH, WATCHDOG)
        .unwrap_err();
    assert!(matches!(refused, TypeDescriptionError::Refused { .. }), "{refused}");
    // The type name does not belong to the hash.
    let refused = node
        .get_type_description(&theirs, Arrays::TYPE_NAME, Nested::TYPE_HASH, WATCHDOG)
        .unwrap_err();
    assert!(matches!(refused, TypeDescriptionError::Wrong { .. }), "{refused}");
}
