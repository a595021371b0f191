//! Services of a stock node, called by the command.

use serde_json::json;

use super::{SET_BOOL, Stock};

#[test]
fn services_of_stock_are_called() {
    let Some(mut stock) = Stock::start() else { return };
    stock.peer.ask(
        "service",
        json!({"name": "enable", "type": SET_BOOL, "response": {"success": true, "message": "grüße"}}),
    );
    let line = ["service", "call", "/theirs/enable", SET_BOOL, "{data: true}", "--timeout", "50"];
    assert_eq!(
        stock.feros(&line).success(),
        "requester: making request: {data: true}\n\nresponse:\nsuccess: true\nmessage: grüße\n\n"
    );
    assert_eq!(stock.peer.ask("requests", json!({"service": "enable"})), json!([{"data": true}]));

    let message = json!({"$repeat": ["x", 300_000]});
    stock.peer.ask(
        "service",
        json!({"name": "large", "type": SET_BOOL, "response": {"message": message}}),
    );
    let answer = stock
        .feros(&["service", "call", "/theirs/large", SET_BOOL, "--json", "--timeout", "50"])
        .json();
    assert!(
        answer["success"] == false && answer["message"] == "x".repeat(300_000),
        "the long reply was altered"
    );

    // A service that every stock node has.
    let name = "/theirs/stock_node/get_parameters";
    let request = "{names: [use_sim_time]}";
    let line = [
        "service",
        "call",
        name,
        "rcl_interfaces/srv/GetParameters",
        request,
        "--json",
        "--timeout",
        "50",
    ];
    let values = &stock.feros(&line).json()["values"];
    assert_eq!(
        (&values[0]["type"], &values[0]["bool_value"]),
        (&json!(1), &json!(false)),
        "{values}"
    );
}
