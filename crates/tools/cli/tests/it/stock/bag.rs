//! Messages that a stock node publishes, latches and answers are recorded, and played to a stock
//! node.

use feros_bag::BagReader;
use feros_test_support::until;
use serde_json::json;

use super::{SET_BOOL, Stock, TEXT};

/// The number of messages of a topic in the files of a bag, which may still be written.
fn count(path: &std::path::Path, topic: &str) -> u64 {
    let Ok(bag) = BagReader::open(path) else { return 0 };
    let mut topics = bag.metadata().topics.iter();
    topics.find(|found| found.topic.name == topic).map_or(0, |found| found.message_count)
}

#[test]
fn messages_of_stock_are_recorded_and_played_to_stock() {
    let Some(mut stock) = Stock::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    let bag = path.to_str().unwrap();
    let latched = json!({"durability": "transient_local", "depth": 1});
    stock.peer.ask("publisher", json!({"topic": "/map", "type": TEXT, "qos": latched}));
    stock.peer.ask("publish", json!({"topic": "/map", "values": [{"data": "the map"}]}));
    let sensor = json!({"reliability": "best_effort"});
    stock.peer.ask("publisher", json!({"topic": "/words", "type": TEXT, "qos": sensor}));
    let answer = json!({"success": true, "message": "grüße"});
    stock.peer.ask("service", json!({"name": "/enable", "type": SET_BOOL, "response": answer}));
    let contents = json!({"what": "service", "name": "/enable", "state": "contents", "qos": {}});
    stock.peer.ask("introspect", contents);

    let line = ["bag", "record", "--topics", "/map", "/words", "--services", "/enable", "-o", bag];
    let recorder = stock.start_feros(&line);
    stock.peer.ask("matched", json!({"topic": "/words", "subscriptions": 1}));
    let line = ["service", "call", "/enable", SET_BOOL, "{data: true}", "--timeout", "50"];
    // Best effort may lose a message, and events before the match reach nobody, so both are
    // repeated.
    until("words and events are in the file", || {
        stock.peer.ask("publish", json!({"topic": "/words", "values": [{"data": "word"}]}));
        stock.feros(&line).success();
        count(&path, "/words") >= 3 && count(&path, "/enable/_service_event") >= 2
    });
    recorder.interrupt();
    recorder.finish().success();
    assert_eq!(count(&path, "/map"), 1);
    let info = stock.feros(&["bag", "info", bag]).success();
    assert!(
        info.contains(&format!("Service: /enable | Type: {SET_BOOL} | Event Count: ")),
        "{info}"
    );

    stock.peer.ask("subscription", json!({"topic": "/map_again", "type": TEXT, "qos": latched}));
    stock.peer.ask("subscription", json!({"topic": "/words_again", "type": TEXT, "qos": sensor}));
    let events = json!({"service": "/again", "type": SET_BOOL, "qos": {}});
    stock.peer.ask("event_subscription", events);
    let remap = [
        "-m",
        "/map:=/map_again",
        "/words:=/words_again",
        "/enable/_service_event:=/again/_service_event",
    ];
    let line = [&["bag", "play", bag, "--wait-for-subscriptions", "60"][..], &remap].concat();
    stock.feros(&line).success();
    let heard = stock.peer.ask("take", json!({"topic": "/map_again", "count": 1}));
    assert_eq!(heard, json!([{"data": "the map"}]));
    let heard = stock.peer.ask("take", json!({"topic": "/words_again", "count": 1}));
    assert_eq!(heard, json!([{"data": "word"}]));
    let topic = "/again/_service_event";
    let heard = stock.peer.ask("take", json!({"topic": topic, "count": 2}));
    let events = heard.as_array().unwrap();
    assert!(events.iter().any(|event| event["request"] == json!([{"data": true}])), "{heard}");
}
