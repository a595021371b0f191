//! Tests that the heartbeats of discovery keep their distance when many participants join at once.
//! They are counted in the engine's own trace. The bound grows with the time that the trace covers,
//! so it holds on a busy machine, too: two heartbeats of one writer to all readers are at least
//! 100 ms apart. With the times of data, they are 1 ms apart while readers join.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use feros_conformance::TestNode;
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{Engine as _, SessionOptions};
use feros_test_support::ReservedDomain;

/// The participants that join, each with a stack of its own.
const OTHERS: usize = 8;
const HEARTBEATS_PER_SECOND: f64 = 10.0;

/// The heartbeats that a session sent to all readers of a writer.
#[derive(Debug, Default)]
struct Heartbeats {
    by_writer: BTreeMap<String, usize>,
    /// The time that the trace covers.
    seconds: f64,
}

impl Heartbeats {
    fn in_trace(trace: &str) -> Self {
        let (mut found, mut times) = (Self::default(), Vec::new());
        for line in trace.lines() {
            // Each line begins with the time since 1970.
            let time = line.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
            times.extend(time.filter(|time| *time > 1e9));
            if let Some(writer) = heartbeat_of(line) {
                *found.by_writer.entry(writer.to_owned()).or_default() += 1;
            }
        }
        if let [first, .., last] = times[..] {
            found.seconds = last - first;
        }
        found
    }
}

/// Returns the writer whose event for heartbeats sent one (`ddsi_hbcontrol.c`).
fn heartbeat_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("heartbeat(wr ")?;
    let (writer, rest) = rest.split_once(')')?;
    let is_sent = rest.starts_with(" sent,");
    is_sent.then(|| writer.strip_suffix(" final").unwrap_or(writer))
}

#[test]
fn lines_of_a_trace_are_understood() {
    let trace = "1700000000.250000 [0]        tev: heartbeat(wr 1:2:3:3c2) sent, resched in 0.1 s\n\
                 1700000000.400000 [0]        tev: heartbeat(wr 1:2:3:3c2) suppressed, resched in \
                 0.1 s\n\
                 1700000000.500000 [0]        tev: heartbeat(wr 1:2:3:3c2 final) sent, resched in \
                 0.1 s\n\
                 1700000000.600000 [0]       recv: first heartbeat(wr 1:2:3:3c2 rd 4:5:6:3c7)\n\
                 1700000000.750000 [0]       recv: HEARTBEAT(#4:1..2 1:2:3:3c2 -> 0:0:0:0)\n";
    let found = Heartbeats::in_trace(trace);
    assert_eq!(found.by_writer, BTreeMap::from([("1:2:3:3c2".to_owned(), 2)]));
    assert!((found.seconds - 0.5).abs() < 1e-3, "{found:?}");
}

#[test]
fn participants_that_join_at_once_cause_few_heartbeats() {
    let name = format!("feros-discovery-times-{}", std::process::id());
    let trace = std::env::temp_dir().join(name);
    let tracing = format!(
        "<CycloneDDS><Domain><Tracing><Category>trace</Category><OutputFile>{}</OutputFile>\
         </Tracing></Domain></CycloneDDS>",
        trace.display()
    );
    let domain = ReservedDomain::new();
    let open = |configuration: String| {
        let engine = ConfiguredCycloneEngine { configuration };
        engine.open(&SessionOptions::localhost(domain.id().into())).unwrap()
    };
    let observer = TestNode::new(open(tracing));
    // Sessions with different configurations share no stack.
    let others = (0..OTHERS).map(|n| {
        let interval = 30_000 + n;
        let configuration = format!(
            "<CycloneDDS><Domain><Discovery><SPDPInterval>{interval}ms</SPDPInterval></Discovery>\
             </Domain></CycloneDDS>"
        );
        TestNode::new(open(configuration))
    });
    let others: Vec<_> = others.collect();
    observer.wait_for_graph("the nodes of all sessions", |graph| {
        let is_there = |other: &TestNode| graph.nodes.iter().any(|node| node.name == other.name);
        others.iter().all(is_there).then_some(())
    });
    drop(observer); // this writes the rest of the trace
    let text = fs::read_to_string(&trace).unwrap();
    fs::remove_file(&trace).unwrap();
    drop(others);

    assert!(text.contains("HEARTBEAT("), "the trace does not show heartbeats");
    let found = Heartbeats::in_trace(&text);
    assert!(found.seconds > 0.0, "the trace shows no times");
    // The first heartbeat may be sent at the start, and the clock of the trace may be adjusted.
    let most = 2 + (found.seconds * HEARTBEATS_PER_SECOND) as usize;
    for (writer, count) in &found.by_writer {
        assert!(*count <= most, "{writer} sent {count} heartbeats, at most {most}: {found:?}");
    }
}
