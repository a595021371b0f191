//! The robot nodes of the command beside a stock node, which sends joint states and receives
//! transforms.

use std::path::Path;

use feros_interop::{Domain, Package, Peer};
use serde_json::json;

use super::{Stock, end};
use crate::robot_nodes::ROBOT;

const TF: &str = "tf2_msgs/msg/TFMessage";

#[test]
fn stock_receives_transforms_for_its_joint_states() {
    let Some(domain) = Domain::reserve() else { return };
    // No wheel has the package.
    let package = Package::built("tf2_msgs", Path::new(env!("CARGO_TARGET_TMPDIR")));
    let peer = Peer::start_with(&domain, "/theirs", "stock_node", &[package]);
    let mut stock = Stock { peer, domain };
    let folder = tempfile::tempdir().unwrap();
    let urdf = folder.path().join("arm.urdf");
    std::fs::write(&urdf, ROBOT).unwrap();
    let line = ["run", "robot_state_publisher", "robot_state_publisher", urdf.to_str().unwrap()];
    let more = ["--ros-args", "-p", "ignore_timestamp:=true"];
    let robot = stock.start_feros(&[&line[..], &more].concat());

    let kept = json!({"durability": "transient_local", "reliability": "reliable", "depth": 100});
    let tf_static = json!({"topic": "/tf_static", "type": TF, "qos": kept});
    stock.peer.ask("subscription", tf_static);
    let fixed = stock.peer.ask("take", json!({"topic": "/tf_static", "count": 1}));
    let mount = &fixed[0]["transforms"][0];
    assert_eq!(
        (&mount["header"]["frame_id"], &mount["child_frame_id"]),
        (&json!("base"), &json!("laser"))
    );
    assert_eq!(mount["transform"]["translation"]["x"], 0.25, "{fixed}");

    stock.peer.ask("subscription", json!({"topic": "/tf", "type": TF, "qos": {"depth": 100}}));
    let states = "sensor_msgs/msg/JointState";
    stock.peer.ask("publisher", json!({"topic": "/joint_states", "type": states}));
    stock.peer.ask("matched", json!({"topic": "/joint_states", "subscriptions": 1}));
    stock.peer.ask("matched", json!({"topic": "/tf", "publishers": 1}));
    let state = json!({"name": ["shoulder"], "position": [1.0]});
    stock.peer.ask("publish", json!({"topic": "/joint_states", "values": [state]}));
    let moved = stock.peer.ask("take", json!({"topic": "/tf", "count": 1}));
    let transforms = &moved[0]["transforms"];
    assert_eq!(
        (&transforms[0]["child_frame_id"], &transforms[1]["child_frame_id"]),
        (&json!("upper"), &json!("hand"))
    );
    let z = transforms[0]["transform"]["rotation"]["z"].as_f64().unwrap();
    assert!((z - 0.5_f64.sin()).abs() < 1e-12, "{moved}");
    end(robot);
}
