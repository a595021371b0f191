//! `feros bridge` between two engines, with nodes on one engine each: topics and services in both
//! directions.

use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros_test_support::Watchdog;

use crate::wires::{
    BOTH, DDS, Heard, KEEP_ALL, OF_A_SOURCE, UINT32, Wires, ZENOH, count_in_order, numbers_in,
};

/// The nodes of each engine have processes of their own, and no node is on both engines.
#[test]
fn topics_and_services_go_both_ways_once() {
    let _watchdog = Watchdog::start();
    for (from, to) in [(&**DDS, ZENOH), (ZENOH, &**DDS)] {
        let wires = Wires::new();
        let folder = tempfile::tempdir().unwrap();
        let bridge = wires.start_plain(&["bridge", "--engines", &BOTH]);
        let here = wires.node(to, "here");
        let heard = Heard::new(&here.node, "/crossed");
        let answer = |request: SetBool_Request| SetBool_Response {
            success: request.data,
            message: "from over there".into(),
        };
        let _server = here.node.create_service::<SetBool, _>("/asked", answer).unwrap();

        let file = numbers_in(folder.path(), 0, OF_A_SOURCE / 2);
        let line = ["topic", "pub", "/crossed", UINT32, "-r", "100", "-w", "1", "--print", "0"];
        let line = [&line[..], &["--yaml-file", &file], &KEEP_ALL].concat();
        let publishing = wires.start(from, &line);
        let numbers: Vec<u32> = (0..300).map(|_| heard.next()).collect();
        assert_eq!(count_in_order(&numbers, 0), 300, "from {from} to {to}");
        assert_eq!(heard.subscription.publisher_count(), 1, "the bridge's alone");
        publishing.interrupt();
        publishing.finish();

        let line = ["service", "call", "/asked", "std_srvs/srv/SetBool", "{data: true}", "--json"];
        let answered = wires.feros(from, &line).json();
        let expected = serde_json::json!({ "success": true, "message": "from over there" });
        assert_eq!(answered, expected, "from {from} to {to}");

        bridge.interrupt();
        let said = bridge.finish().success();
        // A call is counted in the direction of its server.
        for (begin, end) in
            [(format!("from {from} to {to}: "), 0), (format!("from {to} to {from}: "), 1)]
        {
            let counts = said.lines().find(|line| line.starts_with(&begin));
            let end = format!(" messages, {end} calls; lost before: 0, failed: 0");
            assert!(counts.is_some_and(|counts| counts.ends_with(&end)), "{said}");
        }
    }
}
