//! The record matches the output of the programs, even if the programs hang, crash or write
//! nonsense.

use feros_lab::record::{Status, Value};

use crate::fixture::{Fixture, MACHINE};

fn experiment(systems: &str) -> String {
    format!(
        "workload = \"latency\"\nsystems = [{systems}]\nsizes = [256]\nrates_hz = [200]\ncount = 100\n\
         timeout_seconds = 20\nsettle_seconds = 2\n"
    )
}

/// The rate of messages after the warm-up of 10, from the times in the talker's output, since a
/// busy machine makes the talker late.
fn rate_said(raw: &str) -> f64 {
    let lines = raw.lines().filter_map(|line| line.split("\ttalker\tout\t").nth(1));
    let said = lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut times = Vec::new();
    for published in said.filter_map(|line| line.get("published").cloned()) {
        let all = |key: &str| published[key].as_array().unwrap().clone();
        for (number, at) in all("numbers").into_iter().zip(all("at_nanos")) {
            if number.as_u64().unwrap() >= 10 {
                times.push(at.as_u64().unwrap());
            }
        }
    }
    assert_eq!(times.len(), 100);
    99.0 * 1e9 / (times[99] - times[0]) as f64
}

#[test]
fn latencies_losses_and_counts_are_what_the_programs_said() {
    let fixture = Fixture::new();
    let systems = r#""mock", "mock:slow", "mock:spread", "mock:lossy", "mock:initial-loss", "mock:duplicates", "mock:garbage""#;
    let plan = fixture.plan("known", &format!("{}placements = [\"local\"]\n", experiment(systems)));
    let seen = fixture.run(&plan);
    assert_eq!(seen.result.unwrap().complete, 7, "{:?}", seen.notes);

    let latency = |system: &str| fixture.record(system).subscriptions[0].latency.clone().unwrap();
    let exact = latency("mock");
    assert_eq!((exact.count, exact.min, exact.p50, exact.max), (100, 1e6, 1e6, 1e6));
    assert_eq!(latency("mock:slow").p50, 2e6);
    let spread = latency("mock:spread");
    assert_eq!((spread.min, spread.max), (1_000_000.0, 1_090_000.0));
    assert!((1_040_000.0..=1_050_000.0).contains(&spread.p50), "{spread:?}");
    assert!(exact.histogram.is_some(), "the histogram is kept");

    for (system, received, lost, values) in [
        (
            "mock",
            100,
            0,
            vec![("lost_initial", 0.0), ("lost_percent", 0.0), ("sent_initial", 10.0)],
        ),
        // Messages 9, 19, ... 109 are lost; the first of them belongs to the warm-up.
        ("mock:lossy", 90, 10, vec![("lost_percent", 10.0), ("lost_initial", 1.0)]),
        ("mock:initial-loss", 100, 0, vec![("lost_initial", 5.0), ("lost_percent", 0.0)]),
        ("mock:duplicates", 100, 0, vec![("duplicates", 11.0)]),
        ("mock:garbage", 100, 0, vec![("not_understood_lines", 2.0)]),
    ] {
        let record = fixture.record(system);
        assert_eq!(record.status, Status::Complete, "{system}");
        assert_eq!(record.sent, 100, "{system}");
        assert_eq!(
            (record.subscriptions[0].received, record.subscriptions[0].lost),
            (received, lost),
            "{system}"
        );
        for (name, value) in values {
            assert_eq!(record.values.get(name), Some(&value), "{system} {name}");
        }
        assert!(record.values["threads"] >= 2.0 && record.processes.len() == 2, "{record:?}");
        let said = rate_said(&fixture.raw(&record));
        assert!(
            (record.values["publish_rate_hz"] / said - 1.0).abs() < 1e-9,
            "{said} {:?}",
            record.values
        );
        assert!(said < 210.0, "a talker that is late does not catch up: {said}");
        assert_eq!(record.timeline.iter().map(|second| second.0).sum::<u64>(), 100);
    }
    let run = fixture.stored_run();
    assert!(run.ended_unix_seconds.is_some());
    assert!(run.systems.iter().all(|system| system.version.is_some()), "{:?}", run.systems);
    assert!(run.floors.iter().any(|floor| floor.name == "recording" && floor.nanos.p50 > 0.0));
}

#[test]
fn a_cell_that_took_another_transport_is_marked() {
    let fixture = Fixture::new();
    let systems = r#""mock", "mock:shared-memory", "mock:network", "mock:network-by-name""#;
    let plan = fixture.plan("paths", &format!("{}placements = [\"local\"]\n", experiment(systems)));
    let seen = fixture.run(&plan);
    let summary = seen.result.unwrap();
    assert_eq!((summary.complete, summary.unexpected_transport), (4, 1), "{:?}", seen.notes);
    for (system, transport, is_unexpected) in [
        ("mock", None, false),
        ("mock:shared-memory", Some("shared_memory"), false),
        ("mock:network", Some("network"), true),
        ("mock:network-by-name", Some("network"), false),
    ] {
        let record = fixture.record(system);
        assert_eq!(record.transport.as_deref(), transport, "{system}");
        assert_eq!(record.unexpected_transport, is_unexpected, "{system}");
        assert_eq!(record.is_result(), !is_unexpected, "{system}");
    }
    let note = seen.notes.iter().find(|note| note.contains("another transport")).unwrap();
    assert!(note.contains("mock:network local") && note.contains("(network)"), "{note}");
    // Without information about transports, the record has no such field.
    let lines = std::fs::read_to_string(fixture.out().join("cells.jsonl")).unwrap();
    let plain = lines.lines().find(|line| line.contains("\"mock\"")).unwrap();
    assert!(!plain.contains("transport"), "{plain}");
}

#[test]
fn hanging_systems_are_killed_and_output_of_crashed_ones_is_kept() {
    let fixture = Fixture::new();
    let systems = r#""mock:hang", "mock:crash", "mock:unfinished", "mock:unsupported", "mock:no-licence", "mock_absent""#;
    let experiment = experiment(systems)
        .replace("timeout_seconds = 20", "timeout_seconds = 5")
        .replace("count = 100", "count = 300");
    let plan = fixture.plan("faults", &format!("{experiment}placements = [\"composed\"]\n"));
    let seen = fixture.run(&plan);
    let summary = seen.result.unwrap();
    assert_eq!((summary.complete, summary.failed, summary.skipped), (0, 3, 2), "{:?}", seen.notes);

    let hung = fixture.record("mock:hang");
    let Status::Hung(reason) = &hung.status else { panic!("{:?}", hung.status) };
    let pid: u32 =
        reason.split("process ").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} is still running");
    assert!(fixture.raw(&hung).contains("\"ready\""), "what it said is kept");

    let crashed = fixture.record("mock:crash");
    assert!(
        matches!(&crashed.status, Status::Failed(reason) if reason.contains("SIGSEGV")),
        "{:?}",
        crashed.status
    );
    assert!(fixture.raw(&crashed).contains("\"hello\""));
    let unfinished = fixture.record("mock:unfinished");
    assert!(
        matches!(&unfinished.status, Status::Failed(reason) if reason.contains("without its last line"))
    );
    assert!(matches!(fixture.record("mock:unsupported").status, Status::Skipped(_)));
    assert!(matches!(fixture.record("mock:no-licence").status, Status::Skipped(_)));

    // A system that is not installed has no record; the run reports the missing requirement.
    assert!(
        !fixture
            .records()
            .iter()
            .any(|record| record.dimensions["system"] == Value::Text("mock_absent".into()))
    );
    let run = fixture.stored_run();
    let absent = run.systems.iter().find(|system| system.name == "mock_absent").unwrap();
    assert!(!absent.missing.as_ref().unwrap().reason.is_empty());
    assert!(seen.notes.iter().any(|note| note.contains("mock_absent")), "{:?}", seen.notes);

    // No process of a cell is left. The lock is needed, since other tests of this process start
    // cells with the same mark.
    let _alone = MACHINE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let left = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter(|entry| {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let mark = format!("FEROS_LAB_CELL=lab{}x", std::process::id());
        String::from_utf8_lossy(&environment).contains(&mark)
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn chains_nodes_and_many_subscriptions() {
    let fixture = Fixture::new();
    let common = "systems = [\"mock\"]\nsizes = [256]\nrates_hz = [200]\ncount = 50\n";
    let chain = fixture.plan(
        "chain",
        &format!(
            "workload = \"chain\"\nnodes = [2, 4]\nplacements = [\"local\", \"composed\"]\n{common}"
        ),
    );
    let seen = fixture.run(&chain);
    assert_eq!(seen.result.unwrap().complete, 4, "{:?}", seen.notes);
    for record in fixture.records() {
        assert_eq!(record.subscriptions.len(), 1, "relays do not count: {record:?}");
        assert_eq!((record.sent, record.subscriptions[0].received), (50, 50), "{record:?}");
    }
    let processes: Vec<usize> =
        fixture.records().iter().map(|record| record.processes.len()).collect();
    assert_eq!(processes, [2, 4, 1, 1]);

    let fixture = Fixture::new();
    let fan = fixture.plan(
        "fan",
        &format!(
            "workload = \"latency\"\nsubscriptions = [3]\nplacements = [\"local\", \"intra\"]\n{common}"
        ),
    );
    assert_eq!(fixture.run(&fan).result.unwrap().complete, 2);
    for record in fixture.records() {
        let received: Vec<u64> =
            record.subscriptions.iter().map(|subscription| subscription.received).collect();
        assert_eq!(received, [50, 50, 50], "{record:?}");
    }

    let fixture = Fixture::new();
    let nodes = fixture.plan(
        "nodes",
        "workload = \"nodes\"\nsystems = [\"mock\"]\nnodes = [3]\nplacements = [\"local\", \"composed\"]\n\
         seconds = 0.6\nsettle_seconds = 0.2\n",
    );
    assert_eq!(fixture.run(&nodes).result.unwrap().complete, 2);
    let records = fixture.records();
    assert_eq!((records[0].processes.len(), records[1].processes.len()), (3, 1));
    for record in records {
        assert!(
            record.values["pss_bytes"] > 1e5 && record.values["code_file_bytes"] > 1e5,
            "{record:?}"
        );
        assert!(record.values.contains_key("cpu_percent"), "{record:?}");
    }
}

#[test]
fn calls_are_measured_between_two_processes_and_within_one() {
    let fixture = Fixture::new();
    let plan = fixture.plan(
        "calls",
        "workload = \"call\"\nsystems = [\"mock\"]\nplacements = [\"local\", \"composed\"]\n\
         rates_hz = [500]\ncount = 20\nrepetitions = 1\n",
    );
    let seen = fixture.run(&plan);
    assert_eq!(seen.result.unwrap().complete, 2, "{:?}", seen.notes);
    for record in fixture.records() {
        assert_eq!(record.sent, 20);
        let [calls] = record.subscriptions.as_slice() else { panic!("{record:?}") };
        assert_eq!((calls.received, calls.lost), (20, 0));
        assert_eq!(calls.latency.as_ref().unwrap().p50, 1_000_000.0);
        assert_eq!(record.dimensions["type"], Value::Text("string".into()));
        assert!(!record.dimensions.contains_key("subscriptions"), "{:?}", record.dimensions);
        let is_alone = record.dimensions["placement"] == Value::Text("composed".into());
        assert_eq!(record.processes.len(), if is_alone { 1 } else { 2 });
    }
}
