//! Tests that a participant with many endpoints leaves with one announcement, and not with one for
//! each endpoint, if its session is about to end. A second session counts the announcements in the
//! trace that its own engine writes.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use feros_conformance::TestNode;
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_engine::{Engine as _, QosProfile, SessionOptions};
use feros_test_support::ReservedDomain;

const NODES: usize = 5;

/// The announcements of the ends of endpoints and of participants that a session received.
#[derive(Debug, PartialEq, Eq)]
struct Ends {
    endpoints: usize,
    participants: usize,
}

impl Ends {
    /// Counts the announcements that dispose of an endpoint or a participant (`ST3`). The session
    /// may receive its own announcement, too, which deletes nothing.
    fn in_trace(trace: &Path) -> Self {
        let trace = fs::read_to_string(trace).unwrap();
        let count = |of: &str| trace.lines().filter(|line| line.contains(of)).count();
        let of_others = |line: &&str| line.contains("SPDP ST3") && line.contains("- deleting");
        let participants = trace.lines().filter(of_others).count();
        Self { endpoints: count("SEDP ST3"), participants }
    }
}

/// Lets a session with several nodes end, and returns the announcements that another session
/// received. With `is_whole`, the program first tells the engine that the whole session ends.
fn ends(is_whole: bool) -> Ends {
    let name = format!("feros-leaving-{}-{is_whole}", std::process::id());
    let trace = std::env::temp_dir().join(name);
    let tracing = format!(
        "<CycloneDDS><Domain><Tracing><Category>discovery</Category><OutputFile>{}</OutputFile>\
         </Tracing></Domain></CycloneDDS>",
        trace.display()
    );
    let domain = ReservedDomain::new();
    let open = |configuration: &str| {
        let engine = ConfiguredCycloneEngine { configuration: configuration.to_owned() };
        engine.open(&SessionOptions::localhost(domain.id().into())).unwrap()
    };
    let observer = TestNode::new(open(&tracing));
    let session = open("");
    let ending: Vec<_> = (0..NODES)
        .map(|_| {
            let node = TestNode::new(session.clone());
            let publisher = node.publisher("/leaving", QosProfile::default());
            let subscription = node.subscription("/leaving", QosProfile::default());
            (node, publisher, subscription)
        })
        .collect();
    let of_others = |graph: &feros_engine::GraphSnapshot| {
        graph.endpoints.iter().filter(|endpoint| endpoint.name == "/leaving").count()
    };
    observer.wait_for_graph("all endpoints", |graph| (of_others(graph) == 2 * NODES).then_some(()));
    if is_whole {
        session.ending().begin();
    }
    drop((ending, session));
    observer.wait_for_graph("the end", |graph| {
        let others = graph.nodes.iter().any(|node| node.name != observer.name);
        (of_others(graph) == 0 && !others).then_some(())
    });
    drop(observer); // the engine writes the rest of the trace when the session ends
    let ends = Ends::in_trace(&trace);
    fs::remove_file(trace).unwrap();
    ends
}

#[test]
fn a_session_that_is_about_to_end_leaves_with_one_announcement() {
    assert_eq!(ends(true), Ends { endpoints: 0, participants: 1 });
}

/// This shows that the trace names each end.
#[test]
fn otherwise_each_endpoint_is_announced_to_have_ended() {
    let Ends { endpoints, .. } = ends(false);
    assert!(endpoints >= 2 * NODES, "{endpoints} ends");
}
