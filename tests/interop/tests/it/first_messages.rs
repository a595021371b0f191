//! The first message of a stock publisher, right after both sides have found each other.

use feros::QosProfile;
use feros::msgs::std_msgs::msg::UInt32;
use feros_interop::Domain;
use serde_json::json;

use crate::support::{Inbox, Spinning, node, stock};

/// The stock node publishes as soon as it counts a subscription, which may not yet have read the
/// announcement of the publisher. A best-effort message is not sent again.
#[test]
fn first_messages_of_stock_arrive_by_best_effort() {
    const COUNT: u32 = 20;
    let Some(domain) = Domain::reserve() else { return };
    let mut peer = stock(&domain);
    let node = node(&domain);
    let heard = Inbox::new();
    let put = heard.putter();
    let _subscription = node
        .create_subscription("/first", QosProfile::sensor_data(), move |message: UInt32| {
            put(message.data);
        })
        .unwrap();
    let _spinning = Spinning::new(&node);
    let values: Vec<_> = (0..COUNT).map(|number| json!({"data": number})).collect();
    peer.ask(
        "publish_first",
        json!({"topic": "/first", "type": "std_msgs/msg/UInt32", "values": values}),
    );
    let mut numbers: Vec<u32> = (0..COUNT).map(|_| heard.take()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..COUNT).collect::<Vec<_>>());
}
