//! Goals that the command sends to a stock node.

use serde_json::json;

use super::Stock;

const FIBONACCI: &str = "test_msgs/action/Fibonacci";

#[test]
fn goals_are_sent_to_a_stock_server() {
    let Some(mut stock) = Stock::start() else { return };
    let name = "/theirs/fib";
    stock.peer.ask("action_server", json!({"name": name, "type": FIBONACCI}));
    stock.eventually(&["action", "list", "-t"], |out| {
        out.contains(&format!("{name} [{FIBONACCI}]\n"))
    });
    let line = ["action", "send_goal", name, FIBONACCI, "{order: 3}", "-f"];
    let sending = stock.start_feros(&line);
    let goals = stock.peer.ask("goals", json!({"name": name}));
    let of = |more: serde_json::Value| {
        let mut arguments = json!({"name": name, "id": goals[0]["id"]});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    stock.peer.ask("feedback", of(json!({"values": [{"sequence": [0, 1]}]})));
    let result = json!({"outcome": "succeed", "result": {"sequence": [2]}});
    stock.peer.ask("end", of(result));
    let out = sending.finish().success();
    let end = "Result:\n    sequence:\n- 2\n\nGoal finished with status: SUCCEEDED\n";
    assert!(out.contains(end), "{out}");

    let mut sending = stock.start_feros(&line);
    let goals = stock.peer.ask("goals", json!({"name": name}));
    while !sending.line().unwrap().starts_with("Goal accepted with ID") {}
    sending.interrupt();
    let ended = sending.finish();
    assert!(ended.out.ends_with("Canceling goal...\nGoal canceled.\n"), "{ended:?}");
    let canceled = json!({"name": name, "id": goals[0]["id"], "outcome": "canceled"});
    stock.peer.ask("end", canceled);
}
