//! `feros doctor`: findings, the report, and hello between two processes.

use feros::QosProfile;
use feros::msgs::std_msgs::msg::{Bool, String as Text};
use feros_interop::{Domain, Peer};
use feros_test_support::until;
use serde_json::Value;

use crate::process::{Finished, OnTerminal, Running, context, eventually, feros};

#[test]
fn doctor_reports_with_cures() {
    let report = feros(&["doctor", "--json", "--verbose"]);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    let findings = report["findings"].as_array().unwrap();
    for area in ["network", "buffers", "memory", "environment", "clock", "version", "engine"] {
        assert!(findings.iter().any(|finding| finding["area"] == area), "{area}");
    }
    assert!(
        findings.iter().all(|finding| finding["status"] == "ok" || finding["cure"].is_string())
    );
    assert_eq!(report["complete"], true);
    assert!(report["engine_configuration"].as_str().unwrap().contains("CycloneDDS"));
}

/// Whether a finding with its cure contains these words.
fn finds(report: &Value, status: &str, text: &[&str], cure: &str) -> bool {
    let has = |finding: &Value| {
        let words = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        words("status") == status
            && text.iter().all(|part| words("text").contains(part))
            && words("cure").contains(cure)
    };
    report["findings"].as_array().unwrap().iter().any(has)
}

#[test]
fn a_mismatch_is_an_error_with_both_endpoints() {
    let context = context();
    let node = |name: &str| context.create_node(name).unwrap();
    let (lidar, slam) = (node("dr_lidar"), node("dr_slam"));
    let _weak = lidar.create_publisher::<Bool>("/dr_scan", QosProfile::sensor_data()).unwrap();
    let _strong = slam.create_subscription("/dr_scan", 10, |_: Bool| ()).unwrap();
    let _text = lidar.create_publisher::<Text>("/dr_types", 10).unwrap();
    let _bool = slam.create_publisher::<Bool>("/dr_types", 10).unwrap();
    let report = || {
        let finished = feros(&["doctor", "--json"]);
        (finished.code, serde_json::from_str::<Value>(&finished.out).unwrap())
    };
    eventually(report, |(code, report)| {
        let sides = ["/dr_scan: ", "/dr_lidar", "/dr_slam", "BEST_EFFORT", "RELIABLE"];
        let cure = "let /dr_lidar publish reliably, or let /dr_slam request best effort";
        let types = ["/dr_types", "std_msgs/msg/Bool by /dr_slam", "String by /dr_lidar"];
        *code == Some(1)
            && finds(report, "error", &sides, cure)
            && finds(report, "error", &types, "use one of them everywhere")
    });
}

#[test]
fn participants_are_counted_with_what_discovery_costs() {
    let domain = Domain::reserve_without_ros2();
    let line = ["topic", "pub", "/dr_near", "std_msgs/msg/Bool", "{data: true}"];
    let _publisher = Running::start_in(&domain, &line);
    let report_with = |neighbours: Option<&str>| {
        let doctor = Running::start_with_in(&domain, &["doctor", "--json"], |command| {
            command.envs(neighbours.map(|value| ("FEROS_NEIGHBOURS", value)));
        });
        serde_json::from_str::<Value>(&doctor.finish().out).unwrap()
    };
    let texts = [
        "1 other participant: 1 in shared memory, 0 by the network; joining took ",
        ", staying takes ",
    ];
    let report = eventually(|| report_with(None), |report| finds(report, "ok", &texts, ""));
    let findings = report["findings"].as_array().unwrap().iter();
    let mut of_discovery = findings.filter(|finding| finding["area"] == "discovery");
    assert!(of_discovery.all(|finding| finding["status"] == "ok"), "{report}");
    let texts = ["has found 1 participant of Feros on this host: FEROS_NEIGHBOURS=0 is set here"];
    let warns = |report: &Value| finds(report, "warning", &texts, "unset FEROS_NEIGHBOURS");
    eventually(|| report_with(Some("0")), warns);
}

#[test]
fn programs_of_another_domain_are_named() {
    let elsewhere = Domain::reserve_without_ros2();
    let echo = Running::start_in(&elsewhere, &["topic", "echo", "/dr_far", "std_msgs/Bool"]);
    let in_domain = format!("in domain {}", elsewhere.id());
    let cure = format!("export ROS_DOMAIN_ID={}", elsewhere.id());
    let report = || serde_json::from_str::<Value>(&feros(&["doctor", "--json"]).out).unwrap();
    eventually(report, |report| finds(report, "warning", &[&in_domain, "feros ("], &cure));
    echo.interrupt();
    echo.finish();
}

/// The system gives the ports of domains above 101 to programs that ask for no port in particular.
#[test]
fn programs_of_a_domain_with_assigned_ports_are_named() {
    let reserved = Domain::reserve_without_ros2();
    let far = (reserved.id() + 102).to_string();
    let line = ["topic", "echo", "/dr_farther", "std_msgs/Bool"];
    let echo = Running::start_with_in(&reserved, &line, |command| {
        command.env("ROS_DOMAIN_ID", &far);
    });
    let (in_domain, cure) = (format!("in domain {far}, "), format!("export ROS_DOMAIN_ID={far}"));
    let process = format!("feros ({})", echo.pid());
    let report = || serde_json::from_str::<Value>(&feros(&["doctor", "--json"]).out).unwrap();
    eventually(report, |report| finds(report, "warning", &[&in_domain, &process], &cure));
    echo.interrupt();
    echo.finish();
}

#[test]
fn warnings_count_where_the_user_says_so() {
    let finished = feros(&["wtf", "-rf", "-iw", "--json"]);
    let report: Value = serde_json::from_str(&finished.out).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["status"] != "ok"), "{report}");
    let code = if report["worst"] == "ok" { 0 } else { 1 };
    assert_eq!(finished.code, Some(code), "{report}");
    assert_eq!(findings.is_empty(), code == 0, "{report}");
}

/// Waits until a command has joined the graph, which takes most of its time.
fn until_it_discovers(node: &feros::Node, pid: u32) {
    let own = format!("_feros_cli_{pid}");
    until("the command discovers the graph", || {
        node.node_names().iter().any(|node| node.name() == own)
    });
}

/// The wait for the graph may be over before the signal arrives, so the command is started again.
#[test]
fn an_interrupted_doctor_shows_what_it_found() {
    let context = context();
    let node = context.create_node("dr_witness").unwrap();
    let on_terminal = || {
        let doctor = OnTerminal::start(&["doctor"]);
        until_it_discovers(&node, doctor.pid());
        doctor.press_ctrl_c();
        doctor.finish()
    };
    let (_, written) = eventually(on_terminal, |(code, _)| *code == Some(130));
    assert!(written.contains("ok") && written.contains("receive buffers may have"), "{written}");
    assert!(written.contains("interrupted: some checks were not made"), "{written}");
    let piped = || {
        let doctor = Running::start(&["doctor", "--json"]);
        until_it_discovers(&node, doctor.pid());
        doctor.interrupt();
        doctor.finish()
    };
    // If the signal comes after the wait for the graph, the graph is complete.
    let is_early = |finished: &Finished| {
        let report: Value = serde_json::from_str(&finished.out).unwrap();
        finished.code == Some(130) && report["distributions"].is_null()
    };
    let finished = eventually(piped, is_early);
    let report: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(report["complete"], false, "{report}");
    let areas = report["findings"].as_array().unwrap().iter().map(|finding| &finding["area"]);
    assert!(areas.clone().any(|area| area == "engine"), "{report}");
    let report = || {
        let report = Running::start(&["doctor", "--report"]);
        until_it_discovers(&node, report.pid());
        report.interrupt();
        report.finish()
    };
    let finished = eventually(report, |finished| finished.code == Some(130));
    assert_eq!(finished.out, "", "{finished:?}");
}

#[test]
fn the_report_has_the_sections_of_ros2() {
    let report = feros(&["doctor", "--report"]).success();
    for title in [
        "NETWORK CONFIGURATION",
        "PLATFORM INFORMATION",
        "ENVIRONMENT VARIABLES",
        "RMW MIDDLEWARE",
        "PACKAGE VERSIONS",
        "TOPIC LIST",
        "SERVICE LIST",
        "QOS COMPATIBILITY LIST",
    ] {
        assert!(report.contains(&format!("\n   {title}\n")), "{title} is not in {report}");
    }
    assert!(report.contains(" : inet 127.0.0.1\n"), "{report}");
    let without = feros(&["doctor", "-r", "-ep"]).success();
    assert!(!without.contains("PACKAGE VERSIONS"), "{without}");
}

#[test]
fn the_programs_of_stock_are_named_with_what_they_run_on() {
    let Some(domain) = Domain::reserve() else { return };
    let _peer = Peer::start(&domain, "/", "stock");
    let report = feros(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&report.out).unwrap();
    let programs = report["findings"].as_array().unwrap().iter();
    let texts: Vec<_> = programs
        .filter(|finding| finding["area"] == "programs" && finding["status"] == "ok")
        .filter_map(|finding| finding["text"].as_str())
        .collect();
    let names = |text: &&str| text.contains(" on rmw_fastrtps_cpp: ") && text.contains('(');
    assert!(texts.iter().any(names), "{report}");
}

#[test]
fn two_processes_hear_each_others_hello() {
    let domain = Domain::reserve_without_ros2();
    // A group port of this test's own, because other tests send greetings too.
    let port = (49_200 + domain.id()).to_string();
    let line = ["doctor", "hello", "--json", "-pp", "0.5", "--port", &port];
    let mut greeters = [Running::start_in(&domain, &line), Running::start_in(&domain, &line)];
    for greeter in &mut greeters {
        loop {
            let table: Value = serde_json::from_str(&greeter.line().unwrap()).unwrap();
            let has = |what: &str| table[what].as_object().is_some_and(|hosts| hosts.len() == 1);
            if has("heard") && has("received") {
                assert!(table["published"].as_u64() > Some(0), "{table}");
                assert!(table["sent"].as_u64() > Some(0), "{table}");
                break;
            }
        }
    }
    for greeter in greeters {
        greeter.interrupt();
        assert_eq!(greeter.finish().code, Some(0));
    }
}
