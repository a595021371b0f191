//! Endpoints that do not fit a stock node: the command ends with 1, and reports the mismatch of
//! each side.

use serde_json::{Value, json};

use super::{SET_BOOL, Stock, TEXT};

fn endpoint(topic: &str, message_type: &str, qos: Value) -> Value {
    json!({"topic": topic, "type": message_type, "qos": qos})
}

/// The line in which the command reports why it failed.
fn last_error(text: &str) -> &str {
    let line = text.lines().rfind(|line| line.starts_with("error: "));
    line.unwrap_or_else(|| panic!("no error in {text:?}"))
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

/// Long enough for the stock node's name to be discovered on a busy machine.
const PATIENCE: &str = "10";

#[test]
fn another_type_is_told_with_both_sides() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", endpoint("/number", "std_msgs/msg/Int32", json!({})));
    stock.peer.ask("subscription", endpoint("/heard", "std_msgs/msg/Int32", json!({})));
    let types = ["std_msgs/msg/Int32", TEXT, "/theirs/stock_node", "/_feros_cli_"];

    let error = stock.feros(&["topic", "echo", "/number", TEXT, "--timeout", PATIENCE]).failure(1);
    assert_has(last_error(&error), &types);
    let line = ["topic", "pub", "/heard", TEXT, "{}", "--once", "--max-wait-time-secs", PATIENCE];
    let error = stock.feros(&line).failure(1);
    assert_has(last_error(&error), &types);
    assert_has(last_error(&error), &["/heard has 0 matching subscriptions"]);
    assert_eq!(stock.peer.ask("received", json!({"topic": "/heard"})), 0);

    stock.peer.ask("service", json!({"name": "enable", "type": SET_BOOL}));
    let line = ["service", "call", "/theirs/enable", "std_srvs/srv/Trigger", "--timeout", PATIENCE];
    let error = stock.feros(&line).failure(1);
    assert_has(last_error(&error), &["/theirs/enable", SET_BOOL, "std_srvs/srv/Trigger"]);
}

#[test]
fn an_incompatible_qos_is_told_with_both_sides() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", endpoint("/weak", TEXT, json!({"reliability": "best_effort"})));
    stock
        .peer
        .ask("subscription", endpoint("/strict", TEXT, json!({"durability": "transient_local"})));
    let sides = ["/theirs/stock_node", "/_feros_cli_"];

    let line = ["topic", "echo", "/weak", "--qos-reliability", "reliable", "--timeout", PATIENCE];
    let error = stock.feros(&line).failure(1);
    assert_has(last_error(&error), &sides);
    assert_has(last_error(&error), &["RELIABILITY", "BEST_EFFORT", "RELIABLE"]);
    let line = ["topic", "pub", "/strict", TEXT, "{}", "--once", "--max-wait-time-secs", PATIENCE];
    let error = stock.feros(&line).failure(1);
    assert_has(last_error(&error), &sides);
    assert_has(last_error(&error), &["DURABILITY", "VOLATILE", "TRANSIENT_LOCAL"]);

    // The command also sees that two stock endpoints do not match.
    stock.peer.ask("subscription", endpoint("/weak", TEXT, json!({})));
    let info = || stock.feros(&["topic", "info", "/weak"]);
    let warning =
        crate::process::eventually(info, |finished| finished.err.contains("RELIABILITY")).err;
    assert_has(&warning, &["/weak: publisher in ", "BEST_EFFORT", "RELIABLE"]);
}

#[test]
fn unknown_names_are_reported_with_similar_names() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask("publisher", endpoint("/chatter", TEXT, json!({})));
    stock.peer.ask("service", json!({"name": "/enable", "type": SET_BOOL}));
    stock.eventually(&["topic", "list"], |out| out.contains("/chatter"));

    let wait = ["--spin-time", "5"];
    let error = stock.feros(&[&["topic", "info", "/chater"], &wait[..]].concat()).failure(1);
    assert_has(last_error(&error), &["/chater", "did you mean", "/chatter"]);
    let error =
        stock.feros(&[&["node", "info", "/theirs/stock_nod"], &wait[..]].concat()).failure(1);
    assert_has(last_error(&error), &["/theirs/stock_nod", "did you mean", "/theirs/stock_node"]);
    let error = stock.feros(&["service", "call", "/enabel", SET_BOOL, "--timeout", "5"]).failure(1);
    assert_has(
        last_error(&error),
        &["no server of /enabel appeared within", "did you mean", "/enable"],
    );
}
