//! Tests that nodes of this engine communicate with roscpp nodes, and with a nodelet in its
//! manager.
#![allow(clippy::unwrap_used, missing_docs)]

mod ros1;
#[path = "../../../tools/cli/tests/ros1/roscpp.rs"]
mod roscpp;

use feros_conformance::{text_in, text_message};
use feros_engine::QosProfile;
use feros_test_support::eventually;
use ros1::{Ros1Node, SET_BOOL, STRING, World, answer_next, call, put_text};
use serde_json::json;

fn publish(node: &mut Ros1Node, topic: &str, text: &str) {
    eventually(|| {
        let published = node.run(json!(format!("publish {topic} {text}")));
        if published == json!(true) { Ok(()) } else { Err("nothing is connected") }
    });
}

/// Topics, latched topics and services work in both directions, and a node that is killed and
/// restarted is found again.
#[test]
fn topics_and_services_go_both_ways() {
    let Some(program) = roscpp::program() else { return };
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let heard = node.subscription_of("/in", STRING, QosProfile::default());
    let latched = QosProfile::keep_last(1).transient_local();
    let publisher = node.publisher_of("/out", STRING, latched);
    publisher.publish(&text_message("kept"));
    let served = node.service_of("/fan", SET_BOOL);
    let client = node.client_of("/lamp", SET_BOOL);
    for _ in 0..2 {
        let mut roscpp = world.node_of(program, "cpp");
        roscpp.run(json!("advertise /in"));
        for data in ["one", "two"] {
            publish(&mut roscpp, "/in", data);
            assert_eq!(text_in(&heard.next().payload), data);
        }
        roscpp.run(json!("advertise /map latch"));
        roscpp.run(json!("publish /map map"));
        let maps = node.subscription_of("/map", STRING, latched);
        assert_eq!(text_in(&maps.next().payload), "map");

        roscpp.run(json!("subscribe /out"));
        assert_eq!(roscpp.heard("/out")["message"]["data"], "kept");
        publisher.wait_for_matches(1);

        roscpp.run(json!("serve /lamp"));
        client.wait_for_server();
        let mut answer = vec![0, 1, 0, 0, 1];
        put_text(&mut answer, "from roscpp");
        assert_eq!(call(&client, &[0, 1, 0, 0, 1]), answer);
        std::thread::scope(|scope| {
            let called = scope.spawn(|| roscpp.run(json!("call /fan true")));
            answer_next(&served, |request| {
                let mut answer = vec![0, 1, 0, 0, request[4]];
                put_text(&mut answer, "from Feros");
                answer
            });
            assert_eq!(called.join().unwrap(), json!({"success": true, "message": "from Feros"}));
        });
        drop(roscpp);
        publisher.wait_for_matches(0);
        heard.wait_for_matches(0);
    }
}

/// The nodelets of one manager pass pointers to each other. Nodes of this engine also receive the
/// messages of the nodelets.
#[test]
fn nodelets_are_heard() {
    let Some(program) = roscpp::program() else { return };
    let Some(world) = World::new() else { return };
    let node = world.node("feros");
    let heard = node.subscription_of("/points", STRING, QosProfile::default());
    let commands = node.publisher_of("/cmd", STRING, QosProfile::default());
    let mut manager = world.node_of(program, "manager");
    assert_eq!(manager.run(json!("load_talker /talker /points")), json!(true));
    assert_eq!(manager.run(json!("load_listener /listener /points")), json!(true));
    assert_eq!(manager.run(json!("load_listener /commands /cmd")), json!(true));
    heard.wait_for_matches(1);
    for data in ["one", "two"] {
        publish(&mut manager, "/points", data);
        assert_eq!(manager.heard("/points")["message"]["data"], data);
        assert_eq!(text_in(&heard.next().payload), data);
    }
    commands.wait_for_matches(1);
    commands.publish(&text_message("drive"));
    assert_eq!(manager.heard("/cmd")["message"]["data"], "drive");
}
