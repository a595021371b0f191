//! `feros bridge --prefix`: the names of a robot are below a namespace on the side of the fleet.

use feros_interop::Domain;
use feros_test_support::Watchdog;

use crate::process::{Running, feros};

const STRING: &str = "std_msgs/msg/String";

/// Two domains stand for the robot and the fleet. The command names both names of each topic, and
/// the side on which the prefix is.
#[test]
fn a_robot_s_names_are_below_its_prefix() {
    let _watchdog = Watchdog::start();
    let [robot, fleet] = [(); 2].map(|()| Domain::reserve_without_ros2());
    let domains = format!("{},{}", robot.id(), fleet.id());
    let line = ["bridge", "--domains", &domains, "--prefix", "/robot1", "--topics", "/chatter"];
    let mut bridge = Running::start(&line);
    let begun = bridge.error_with("Ctrl-C ends the bridge");
    let last = format!("and domain {} (names below /robot1);", fleet.id());
    assert!(begun.contains(&last), "{begun}");
    let topic = ["topic", "pub", "/chatter", STRING, "data: hello", "-r", "20", "--print", "0"];
    let _talker = Running::start_in(&robot, &topic);
    let echo = Running::start_in(&fleet, &["topic", "echo", "/robot1/chatter", STRING, "--once"]);
    let expected = format!(
        "bridged: topic /chatter ({STRING}) from domain {} to domain {} as /robot1/chatter",
        robot.id(),
        fleet.id()
    );
    assert_eq!(bridge.line(), Some(expected));
    assert_eq!(echo.finish().success(), "data: hello\n---\n");
}

#[test]
fn a_wrong_prefix_is_refused_in_words() {
    for wrong in ["/", "", "/robot-1", "/1robot", "/robot1/", "/robots/*"] {
        let error = feros(&["bridge", "--domains", "3,4", "--prefix", wrong]).failure(2);
        assert!(error.contains("--prefix") && error.contains("such as /robot1"), "{error}");
    }
    // Without other options, the sides are an engine on DDS and Zenoh.
    if feros::engine("zenoh").is_err() {
        let error = feros(&["bridge", "--prefix", "/robot1"]).failure(1);
        assert!(error.contains("there is no engine \"zenoh\""), "{error}");
        assert!(error.contains("cargo build --features zenoh"), "{error}");
    }
}
