//! `feros doctor`: findings, the report, and hello between two processes.

use feros_interop::{Domain, Peer};
use serde_json::Value;

use crate::process::{Running, feros};

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
    assert!(report["engine_configuration"].as_str().unwrap().contains("CycloneDDS"));
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
    // A group port of this test's own, since other tests greet too.
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
