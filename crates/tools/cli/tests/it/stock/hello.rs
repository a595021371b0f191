//! `feros doctor hello` beside a stock node that says hello as `ros2 doctor hello` does.

use serde_json::json;

use super::{Stock, TEXT, next_object};

#[test]
fn the_hello_of_stock_is_heard_and_answered() {
    let Some(mut stock) = Stock::start() else { return };
    const TOPIC: &str = "/canyouhearme";
    stock.peer.ask("publisher", json!({"topic": TOPIC, "type": TEXT}));
    stock.peer.ask("subscription", json!({"topic": TOPIC, "type": TEXT}));
    let port = (49_300 + stock.domain.id()).to_string();
    let mut hello = stock.start_feros(&["doctor", "hello", "--json", "--port", &port]);
    // The other subscription is that of the stock node itself.
    stock.peer.ask("matched", json!({"topic": TOPIC, "subscriptions": 2}));
    let said = json!([{"data": "hello, it's me robot"}, {"data": "hello, it's me robot"}]);
    stock.peer.ask("publish", json!({"topic": TOPIC, "values": said}));
    let mut heard = 0;
    while heard < 2 {
        heard += next_object(&mut hello)["heard"]["robot"].as_u64().unwrap_or(0);
    }
    assert_eq!(heard, 2);
    let mut answers = Vec::new();
    while !answers.iter().any(|text: &String| !text.ends_with(" robot")) {
        let taken = stock.peer.ask("take", json!({"topic": TOPIC, "count": 1}));
        answers.push(taken[0]["data"].as_str().unwrap().to_owned());
    }
    assert!(answers.iter().all(|text| text.starts_with("hello, it's me ")), "{answers:?}");
    super::end(hello);
}
