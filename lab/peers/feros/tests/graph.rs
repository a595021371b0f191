//! The driving graph runs in one process, and reports the figures of its chain and its planner.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(arguments: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_feros-lab-feros"));
    program.args(["--role", "graph", "--timeout", "120"]).args(arguments.split_ascii_whitespace());
    program.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST").env("ROS_DOMAIN_ID", "88");
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The program's input stays open, since its end would stop the program.
    let mut child = program.spawn().unwrap();
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    output
}

/// The values of all lines.
fn values(output: &Output) -> serde_json::Map<String, Value> {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line.get("values")?.as_object().cloned()).flatten().collect()
}

#[test]
fn the_driving_graph_reports_its_figures() {
    for (arguments, transport) in [
        ("--placement intra --executor single", "received_intra_process"),
        ("--placement intra --executor multi", "received_intra_process"),
        ("--placement intra --executor isolated", "received_intra_process"),
        ("--placement composed --executor default", "received_network"),
    ] {
        let output = run(&format!("{arguments} --graph driving --until 5 --warm-up 1"));
        let found = values(&output);
        let value = |name: &str| {
            let value = found.get(name).and_then(Value::as_f64);
            value.unwrap_or_else(|| panic!("{arguments}: no {name} in {found:?}"))
        };
        assert!(value("hot_path_messages") >= 5.0, "{found:?}");
        let [median, p99, max] =
            ["median", "p99", "max"].map(|statistic| value(&format!("hot_path_nanos_{statistic}")));
        // The chain looks for primes five times, which takes any processor more than 10 us.
        assert!(median > 1e4 && p99 >= median && max >= p99, "{found:?}");
        assert!((0.0..100.0).contains(&value("hot_path_lost_percent")), "{found:?}");
        assert!((0.0..100.0).contains(&value("transforms_lost_percent")), "{found:?}");
        assert!(value("planner_jitter_nanos_max") >= value("planner_jitter_nanos_median"));
        assert!(value("planner_drift_nanos") >= 0.0);
        assert!(value(transport) > 0.0, "{arguments}: {found:?}");
    }
}

#[test]
fn a_graph_is_refused_where_it_cannot_run() {
    let apart = run("--placement local --graph driving");
    let said = String::from_utf8_lossy(&apart.stdout);
    assert!(!apart.status.success() && said.contains("unsupported"), "{said}");
    assert_eq!(run("--placement intra --graph flying").status.code(), Some(64));
    let wrong = run("--placement intra --until soon");
    assert_eq!(wrong.status.code(), Some(1), "{}", String::from_utf8_lossy(&wrong.stdout));
}
