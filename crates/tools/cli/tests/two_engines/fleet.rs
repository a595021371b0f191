//! A fleet as the book describes it: a router, `feros bridge --prefix` on a robot, and an operator
//! on Zenoh; and the access rules of a router.

use feros_test_support::Watchdog;

use crate::process::{eventually, feros, has_line};
use crate::wires::{DDS, Wires, ZENOH};

const STRING: &str = "std_msgs/msg/String";

#[test]
fn an_operator_reaches_a_robot_and_sees_it() {
    let _watchdog = Watchdog::start();
    let wires = Wires::new();
    let mut bridge = wires.start_plain(&["bridge", "--prefix", "/robot1"]);
    let begun = bridge.error_with("Ctrl-C ends the bridge");
    assert!(begun.contains("bridging cyclonedds and zenoh (names below /robot1);"), "{begun}");
    let topic = ["topic", "pub", "/state", STRING, "data: ready", "-r", "20", "--print", "0"];
    let _robot = wires.start(&DDS, &topic);
    let echo = wires.start(ZENOH, &["topic", "echo", "/robot1/state", STRING, "--once"]);
    let expected =
        format!("bridged: topic /state ({STRING}) from cyclonedds to zenoh as /robot1/state");
    assert_eq!(bridge.line(), Some(expected));
    assert_eq!(echo.finish().success(), "data: ready\n---\n");

    let obeys = wires.start(&DDS, &["topic", "echo", "/command", STRING, "--once"]);
    let topic = ["topic", "pub", "/robot1/command", STRING, "data: go", "-r", "20", "--print", "0"];
    let _operator = wires.start(ZENOH, &topic);
    assert_eq!(obeys.finish().success(), "data: go\n---\n");

    let nodes = || wires.feros(ZENOH, &["node", "list"]).success();
    eventually(nodes, |nodes| has_line(nodes, "/robot1/feros_bridge"));
}

#[test]
fn access_rules_are_printed_for_the_router() {
    let line = ["zenoh", "access", "--robots", "robot1,/site/robot2", "--operators", "operator"];
    let rules = feros(&line).json();
    assert_eq!(rules["default_permission"], "deny");
    assert_eq!(rules["subjects"][0]["cert_common_names"][0], "robot1");
    assert_eq!(rules["subjects"][1]["cert_common_names"][0], "site/robot2");
    for wrong in [
        &["--robots", "robot-1"][..],
        &["--robots", "/"],
        &[],
        &["--robots", "a", "--operators", "\""],
    ] {
        assert_eq!(feros(&[&["zenoh", "access"], wrong].concat()).code, Some(2), "{wrong:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("access.json");
    let router = || feros(&["zenoh", "router", "--access", file.to_str().unwrap()]).failure(1);
    assert!(router().contains("access.json: "), "a missing file");
    std::fs::write(&file, "{ enabled: maybe }").unwrap();
    let error = router();
    assert!(error.contains("the configuration of the access rules cannot be used"), "{error}");
}
