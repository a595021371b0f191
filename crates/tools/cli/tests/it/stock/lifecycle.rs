//! Managed stock nodes, from the command line.

use feros_interop::{Domain, python_with_ros2};
use serde_json::json;

use super::Stock;
use crate::process::Running;

#[test]
fn a_managed_node_of_stock_is_seen_asked_and_changed() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("lifecycle", json!({"name": "managed", "results": {"deactivate": "failure"}}));
    let nodes = stock.eventually(&["lifecycle", "nodes"], |text| !text.is_empty());
    assert_eq!(nodes, "/theirs/managed\n");
    let lifecycle = |verb: &str, more: &[&str]| {
        let line = [&["lifecycle", verb, "/theirs/managed"], more, &["--timeout", "50"]].concat();
        stock.feros(&line)
    };
    assert_eq!(lifecycle("get", &[]).success(), "unconfigured [1]\n");
    let list = lifecycle("list", &[]).success();
    assert!(list.starts_with("- configure [1]\n\tStart: unconfigured\n\tGoal: configuring\n"));
    assert_eq!(lifecycle("list", &["-a"]).success().lines().count(), 3 * 25);
    let done = "Transitioning successful\n";
    assert_eq!(lifecycle("set", &["configure"]).success(), done);
    assert_eq!(lifecycle("set", &["activate"]).success(), done);
    assert!(lifecycle("set", &["deactivate"]).failure(1).contains("Transitioning failed"));
    assert!(
        lifecycle("set", &["cleanup"]).failure(1).contains("- deactivate [4]\n  - shutdown [7]")
    );
    assert_eq!(lifecycle("get", &[]).success(), "active [3]\n");
    assert_eq!(lifecycle("set", &["shutdown"]).success(), done);
    assert_eq!(lifecycle("get", &[]).success(), "finalized [4]\n");
}

#[test]
fn a_managed_node_of_stock_is_launched_and_activated() {
    let Some(domain) = Domain::reserve() else { return };
    let python = python_with_ros2();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/interop/peers/managed.py");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("managed.launch.xml");
    let text = format!(
        "<launch>
           <lifecycle_node exec='{}' args='{script}' name='driver' namespace='theirs' autostart='true'/>
         </launch>",
        python.display()
    );
    std::fs::write(&file, text).unwrap();
    let mut launch = Running::start_in(&domain, &["launch", file.to_str().unwrap()]);
    let mut seen = Vec::new();
    while !seen.iter().any(|line| line == "[INFO] [/theirs/driver]: is active") {
        seen.push(launch.line().unwrap_or_else(|| panic!("{seen:#?}")));
    }
    let get = ["lifecycle", "get", "/theirs/driver", "--timeout", "50"];
    assert_eq!(Running::start_in(&domain, &get).finish().success(), "active [3]\n");
    launch.interrupt();
    assert_eq!(launch.finish().code, Some(0));
}
