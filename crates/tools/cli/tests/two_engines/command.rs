//! `feros --engine cyclonedds,zenoh` and similar: everything that it publishes, prints, lists and
//! calls comes once.

use std::sync::Arc;

use feros::QosProfile;
use feros::msgs::std_msgs::msg::UInt32;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros_sync::{AtomicU64, Ordering};

use crate::process::{eventually, has_line};
use crate::wires::{
    BOTH, DDS, Heard, KEEP_ALL, OF_A_SOURCE, UINT32, Wires, ZENOH, count_in_order, number_in,
    numbers_in, publish, repeating,
};

/// A node on each engine and a node on both receive each message as often as it was published.
#[test]
fn published_messages_come_once() {
    let wires = Wires::new();
    let nodes = wires.nodes();
    let heard = nodes.each_ref().map(|spun| Heard::new(&spun.node, "/numbers"));
    let folder = tempfile::tempdir().unwrap();
    let file = numbers_in(folder.path(), 0, OF_A_SOURCE / 2);
    let line = ["topic", "pub", "/numbers", UINT32, "-r", "100", "-w", "3", "--print", "0"];
    let line = [&line[..], &["--yaml-file", &file], &KEEP_ALL].concat();
    let publishing = wires.start(&BOTH, &line);
    for heard in &heard {
        let numbers: Vec<u32> = (0..100).map(|_| heard.next()).collect();
        assert_eq!(count_in_order(&numbers, 0), 100);
        assert_eq!(heard.subscription.publisher_count(), 1);
    }
    publishing.interrupt();
    publishing.finish();
}

/// Messages of nodes on each engine and of a node on both are printed once.
#[test]
fn echoed_messages_are_printed_once() {
    let wires = Wires::new();
    let nodes = wires.nodes();
    let publishing: Vec<_> = (0..)
        .zip(&nodes)
        .map(|(source, spun)| {
            let publisher = spun.node.create_publisher::<UInt32>("/mixed", QosProfile::keep_all());
            let (publisher, mut data) = (publisher.unwrap(), source * OF_A_SOURCE);
            repeating(move || {
                publish(&publisher, data);
                data += 1;
            })
        })
        .collect();
    let line = [&["topic", "echo", "/mixed", UINT32][..], &KEEP_ALL].concat();
    let mut echo = wires.start(&BOTH, &line);
    let mut printed = Vec::new();
    let has_all = |printed: &[u32]| (0..3).all(|source| count_in_order(printed, source) >= 100);
    while !has_all(&printed) {
        let line = echo.line().unwrap();
        printed.extend(number_in(&line));
    }
    drop(publishing);
}

/// Nodes of both engines are in one list, and a node on both is listed once; a command on one
/// engine also discovers a node on both.
#[test]
fn each_node_and_topic_is_listed_once() {
    let wires = Wires::new();
    let nodes = wires.nodes();
    let _publishers = nodes.each_ref().map(|spun| {
        spun.node.create_publisher::<UInt32>("/listed", QosProfile::default()).unwrap()
    });
    let sees = |engine: &str, names: &[&str]| {
        let count = format!("Publisher count: {}", names.len());
        let info = || wires.feros(engine, &["topic", "info", "/listed"]).success();
        eventually(info, |out| has_line(out, &count));
        let list = || wires.feros(engine, &["node", "list"]).success();
        eventually(list, |out| out.lines().eq(names.iter().copied()));
        let list = || wires.feros(engine, &["topic", "list"]).success();
        eventually(list, |out| out.lines().filter(|line| *line == "/listed").count() == 1);
    };
    sees(&BOTH, &["/on_both", "/on_dds", "/on_zenoh"]);
    sees(&format!("{ZENOH},{}", *DDS), &["/on_both", "/on_dds", "/on_zenoh"]);
    sees(&DDS, &["/on_both", "/on_dds"]);
    sees(ZENOH, &["/on_both", "/on_zenoh"]);
}

/// The command calls servers on either engine and on both, and gets one answer; a command on one
/// engine calls a server on both once.
#[test]
fn each_service_is_called_once() {
    let wires = Wires::new();
    let nodes = wires.nodes();
    let calls = nodes.each_ref().map(|spun| {
        let calls = Arc::new(AtomicU64::new(0));
        let counted = calls.clone();
        let answer = move |request: SetBool_Request| {
            counted.fetch_add(1, Ordering::AcqRel);
            SetBool_Response { success: request.data, message: "done".into() }
        };
        let name = format!("{}/enable", spun.node.name().name());
        (spun.node.create_service::<SetBool, _>(&name, answer).unwrap(), calls)
    });
    let call = |engine: &str, node: &str| {
        let name = format!("/{node}/enable");
        let line = ["service", "call", &name, "std_srvs/srv/SetBool", "{data: true}", "--json"];
        let answer = wires.feros(engine, &line).json();
        assert_eq!(answer, serde_json::json!({ "success": true, "message": "done" }), "{engine}");
    };
    ["on_dds", "on_zenoh", "on_both"].into_iter().for_each(|node| call(&BOTH, node));
    let turned = format!("{ZENOH},{}", *DDS);
    let engines = [&*turned, &**DDS, ZENOH];
    engines.into_iter().for_each(|engine| call(engine, "on_both"));
    let counted = calls.each_ref().map(|(_, calls)| calls.load(Ordering::Acquire));
    assert_eq!(counted, [1, 1, 4]);
}

/// Parameters of nodes on either engine are set and read.
#[test]
fn it_reaches_parameters_on_both_wires() {
    let wires = Wires::new();
    let nodes = wires.nodes();
    for spun in &nodes {
        spun.node.declare_parameter("speed", 1_i64).unwrap();
        let name = format!("/{}", spun.node.name().name());
        wires.feros(&BOTH, &["param", "set", &name, "speed", "7"]).success();
        let got = wires.feros(&BOTH, &["param", "get", &name, "speed", "--hide-type"]).success();
        assert_eq!(got, "7\n", "{name}");
    }
}
