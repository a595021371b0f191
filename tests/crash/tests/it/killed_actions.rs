//! Servers and clients of actions are killed while a goal is executed: the other side gets an
//! error, is not held up, and finds the successor.

use serde_json::json;

use crate::support::{Peer, Place, rounds, until};

fn until_both_are(server: &mut Peer, orders: [u32; 2], status: &str) {
    until(&format!("goals {orders:?} are {status}"), || {
        let known = server.ask("goals", json!({}));
        let is = |order| known.as_array().unwrap().contains(&json!([order, status]));
        orders.into_iter().all(is).then_some(())
    });
}

#[test]
fn who_waits_for_the_result_of_a_killed_server_is_told() {
    let place = Place::own_if_possible();
    let mut client = Peer::start(&place, "client");
    for round in 1..=rounds(2) {
        let mut server = Peer::start(&place, "server");
        server.ask("serve", json!({"name": "fib"}));
        client.ask("call", json!({"name": "fib"}));
        for order in [round, round + 1] {
            client.ask("send_goal", json!({ "order": order }));
        }
        server.ask("succeed", json!({ "order": round }));
        assert_eq!(client.ask("result", json!({})), json!(["SUCCEEDED", [round]]));
        server.kill();
        let told = client.ask("result", json!({}));
        let error = told["error"].as_str().unwrap_or_default();
        assert!(error.contains("get_result no longer has a server that could respond"), "{told}");
    }
    client.end();
    place.must_be_swept();
}

#[test]
fn a_server_goes_on_when_a_client_is_killed() {
    let place = Place::own_if_possible();
    let mut server = Peer::start(&place, "server");
    server.ask("serve", json!({"name": "fib"}));
    for round in 1..=rounds(2) {
        let mut killed = Peer::start(&place, "killed");
        let mut other = Peer::start(&place, "other");
        let (theirs, others) = (2 * round, 2 * round + 1);
        for (client, order) in [(&mut killed, theirs), (&mut other, others)] {
            client.ask("call", json!({"name": "fib"}));
            client.ask("send_goal", json!({ "order": order }));
        }
        killed.kill();
        // A client gets the acceptance before the server's callback gets the goal.
        until_both_are(&mut server, [theirs, others], "EXECUTING");
        for order in [theirs, others] {
            server.ask("succeed", json!({ "order": order }));
        }
        assert_eq!(other.ask("result", json!({})), json!(["SUCCEEDED", [others]]));
        until_both_are(&mut server, [theirs, others], "SUCCEEDED");
        other.end();
    }
    server.end();
    place.must_be_swept();
}
