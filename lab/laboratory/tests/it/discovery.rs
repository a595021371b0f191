//! The processes of a robot start, find each other, rest, are joined by a newcomer, and end.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use feros_lab::machine::Machine;
use feros_lab::record::{Record, Status, Value};
use feros_test_support::{WATCHDOG, skip};

use crate::fixture::Fixture;

fn experiment(system: &str, further: &str) -> String {
    format!(
        "workload = \"discovery\"\nsystems = [\"{system}\"]\nplacements = [\"local\"]\n\
         seconds = 0.5\nsettle_seconds = 0.1\n{further}"
    )
}

/// Checks the times and costs of a complete cell of this many processes.
fn check(record: &Record, nodes: usize) {
    assert_eq!(record.status, Status::Complete, "{record:?}");
    let value = |name: &str| {
        let value = record.values.get(name);
        *value.unwrap_or_else(|| panic!("no {name} in {:?}", record.values))
    };
    let settled = value("settled_seconds");
    assert!(value("started_seconds") > 0.0 || nodes == 1, "{record:?}");
    assert!(settled > value("started_seconds"), "the last process settles after its start");
    assert!((0.0..=settled).contains(&value("settled_seconds_median")));
    assert!(value("ready_seconds") > 0.0);
    for name in ["newcomer_seconds", "end_seconds", "settling_cpu_seconds"] {
        assert!(value(name) > 0.0, "{name}: {record:?}");
    }
    for name in ["settling_packets", "settling_traffic_bytes", "settling_datagrams_dropped"] {
        assert!(value(name) >= 0.0, "{name}");
    }
    assert!(value("rest_packets_per_second") >= 0.0 && value("cpu_percent") >= 0.0);
    // Memory and descriptors are those of the members; the newcomer is not among them.
    assert!((value("member_pss_bytes") * nodes as f64 - value("pss_bytes")).abs() < 1.0);
    assert!(value("member_descriptors") >= 3.0 && value("member_pss_bytes") > 1e5);
    assert!(!record.values.contains_key("unsettled"), "{record:?}");
    assert_eq!(record.processes.len(), nodes + 1);
    let newcomer = record.processes.last().unwrap();
    assert_eq!(newcomer.role, "newcomer");
    assert!(!newcomer.values.contains_key("pss_bytes"), "{newcomer:?}");
    assert!(record.sent == 0 && record.subscriptions.is_empty());
}

#[test]
fn processes_find_each_other_in_each_topology_and_start() {
    let fixture = Fixture::new();
    let further = "nodes = [1, 3]\ntopologies = [\"ring\", \"one_topic\"]\n\
                   starts = [\"together\", \"in_turn\"]\n";
    let plan = fixture.plan("discovery", &experiment("mock", further));
    let seen = fixture.run(&plan);
    assert_eq!(seen.result.unwrap().complete, 8, "{:?}", seen.notes);
    for record in fixture.records() {
        let Value::Number(nodes) = record.dimensions["nodes"] else { panic!("{record:?}") };
        check(&record, nodes as usize);
        let raw = fixture.raw(&record);
        let started = |name: &str| raw.find(&format!("\t{name}\tout\t{{\"hello\""));
        let settled = |name: &str| raw.find(&format!("\t{name}\tout\t{{\"settled\""));
        assert!(started("newcomer") > settled("member 0"), "{raw}");
        if record.dimensions["start"] == Value::Text("in_turn".into()) && nodes > 1.0 {
            assert!(started("member 0") < started("member 1"), "{raw}");
            assert!(started("member 1") < started("member 2"), "{raw}");
        }
    }
}

#[test]
fn a_cell_whose_processes_miss_matches_says_how_many() {
    let fixture = Fixture::new();
    let further = "nodes = [3]\ntimeout_seconds = 2\n";
    let plan = fixture.plan("unsettled", &experiment("mock:unsettled", further));
    let seen = fixture.run(&plan);
    assert_eq!(seen.result.unwrap().failed, 1, "{:?}", seen.notes);
    let record = fixture.record("mock:unsettled");
    let Status::Failed(reason) = &record.status else { panic!("{:?}", record.status) };
    // On a busy machine, the others may be late too.
    assert!(reason.contains(" of 3 processes miss matches after 2 s"), "{reason}");
    assert!(record.values["unsettled"] >= 1.0, "{record:?}");
    assert!(!record.values.contains_key("settled_seconds"), "{record:?}");
    assert!(!record.values.contains_key("newcomer_seconds"), "{record:?}");
}

#[test]
fn only_packets_of_the_cell_are_counted() {
    let mut fixture = Fixture::new();
    fixture.machine = Machine::explore();
    if let Some(reason) = &fixture.machine.no_remote {
        return skip(reason);
    }
    let plan = fixture.plan("apart", &experiment("mock", "nodes = [2]\n"));
    // Datagrams on the loopback device of this machine, during the whole cell.
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
            let to = socket.local_addr().unwrap();
            // A run that fails does not end this thread.
            let began = Instant::now();
            while !is_over.load(Ordering::Relaxed) && began.elapsed() < WATCHDOG {
                socket.send_to(b"noise", to).unwrap();
                socket.recv(&mut [0; 16]).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let seen = fixture.run(&plan);
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(seen.result.unwrap().complete, 1, "{:?}", seen.notes);
    });
    let record = fixture.record("mock");
    check(&record, 2);
    // The mock uses no network.
    for name in ["settling_packets", "settling_traffic_bytes", "settling_datagrams_sent"] {
        assert_eq!(record.values[name], 0.0, "{name}");
    }
    assert_eq!(record.values["rest_packets_per_second"], 0.0);
    assert!(record.values.contains_key("settling_wire_packets"), "{record:?}");
}
