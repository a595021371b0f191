//! `feros top`: its output for nodes of this process, as JSON, as text and on a terminal.

use std::process::{Command, Stdio};

use feros::msgs::std_msgs::msg::String as Text;
use feros::{Node, QosProfile};
use feros_interop::Domain;
use feros_test_support::Background;

use crate::process::{Running, context_in, eventually};

/// A node that publishes 50 messages a second on `/chatter`. One subscription receives them; a
/// second one does not, because it requests more than the publisher offers.
struct Robot {
    domain: Domain,
    _node: Node,
    _background: Background,
}

impl Robot {
    fn new() -> Self {
        let domain = Domain::reserve_without_ros2();
        let context = context_in(&domain);
        let node = context.create_node("robot").unwrap();
        let offered = QosProfile::keep_last(10).best_effort();
        let publisher = node.create_publisher::<Text>("chatter", offered).unwrap();
        let hears = node.create_subscription("chatter", offered, |_: Text| {}).unwrap();
        let reliable = QosProfile::keep_last(10);
        let deaf = node.create_subscription("chatter", reliable, |_: Text| {}).unwrap();
        let tick = move || {
            publisher.publish(Text { data: "x".repeat(100) }).unwrap();
            let _kept = (&hears, &deaf);
        };
        let timer = node.create_wall_timer(std::time::Duration::from_millis(20), tick).unwrap();
        let executor = feros::Executor::new();
        executor.add_node(&node).unwrap();
        let stopper = executor.stopper();
        let spin = move || {
            executor.spin().unwrap();
            drop(timer);
        };
        let _background = Background::start("robot", spin, move || stopper.stop());
        Self { domain, _node: node, _background }
    }
}

#[test]
fn programs_are_told_rates_transports_mismatches_and_processor_time() {
    let robot = Robot::new();
    let found = eventually(
        || {
            let top = Running::start_in(&robot.domain, &["top", "--json", "-n", "3"]).finish();
            let lines = top.success();
            let last = lines.lines().last().unwrap_or_default();
            serde_json::from_str::<serde_json::Value>(last).unwrap()
        },
        |told| told["topics"][0]["rate_hz"].as_f64().is_some_and(|rate| rate > 0.0),
    );
    let topic = &found["topics"][0];
    assert_eq!(
        (&topic["name"], &topic["types"][0]),
        (&"/chatter".into(), &"std_msgs/msg/String".into())
    );
    assert_eq!((&topic["publishers"], &topic["subscriptions"]), (&1.into(), &2.into()));
    assert_eq!(topic["transports"]["intra_process"], 1, "{topic}");
    assert_eq!(topic["mismatches"].as_array().map(Vec::len), Some(1), "{topic}");
    // A message of 100 characters takes 109 bytes, which the network transport pads to 112: the
    // first messages take it, until shared memory is opened.
    let [rate, bytes] = ["rate_hz", "bytes_per_second"].map(|key| topic[key].as_f64().unwrap());
    assert!((108.999..112.001).contains(&(bytes / rate)), "{topic}");
    let node = found["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "/robot");
    let node = node.unwrap();
    assert_eq!(node["pid"], std::process::id());
    assert!(node["cpu_percent"].is_f64() && node["threads"].as_u64() > Some(1), "{node}");
}

#[test]
fn a_pipe_gets_a_table_of_everything() {
    let robot = Robot::new();
    let text = eventually(
        || Running::start_in(&robot.domain, &["top", "-n", "2"]).finish().success(),
        |text| text.contains("1 intra-process 1 mismatched"),
    );
    assert!(text.contains("/robot") && text.contains(&std::process::id().to_string()), "{text}");
}

/// Enter opens the selected topic, q ends; `script` provides the terminal.
#[test]
fn a_terminal_gets_a_screen_that_keys_steer() {
    let robot = Robot::new();
    let screen = eventually(
        || {
            let feros = env!("CARGO_BIN_EXE_feros");
            let line = format!("stty rows 40 cols 160; {feros} top");
            // The end of the input would end `script` too early, so the last sleep outlives it.
            let keys = "sleep 3; printf '\\r'; sleep 2; printf 'q'; sleep 2";
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("({keys}) | script -qec '{line}' /dev/null")]);
            robot.domain.confine(&mut shell);
            let out = shell.env("TERM", "xterm").stdin(Stdio::null()).output().unwrap();
            assert!(out.status.success(), "{out:?}");
            String::from_utf8_lossy(&out.stdout).into_owned()
        },
        |screen| screen.contains("MISMATCHED"),
    );
    for shown in ["/chatter", "/robot", "MISMATCHED:", "intra-process", "q quit"] {
        assert!(screen.contains(shown), "{shown}: {screen:?}");
    }
}
