//! Large messages, and many messages in a row, arrive without loss.

use feros::msgs::sensor_msgs::msg::Image;
use feros::{QosProfile, View};
use feros_interop::Domain;
use serde_json::json;

use crate::support::{Inbox, Spinning, WATCHDOG, items, node, stock};

const SIZES: [usize; 4] = [65_000, 300_000, 1 << 20, 4 << 20];
const ROW: usize = 100;
const ROW_SIZE: usize = 64 << 10;
const TYPE: &str = "sensor_msgs/msg/Image";

/// The bytes that `peers/node.py` makes and expects for this number.
fn block(number: usize, size: usize) -> Vec<u8> {
    (number..number + size).map(|n| (n % 251) as u8).collect()
}

fn image(number: usize, size: usize) -> Image {
    let mut image = Image { data: block(number, size), ..Image::default() };
    image.header.stamp.sec = number as i32;
    image
}

#[test]
fn large_messages_and_long_rows_reach_stock() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let qos = json!({"depth": ROW});
    peer.ask("subscription", json!({"topic": "/blocks", "type": TYPE, "qos": qos, "blocks": true}));
    let publisher = node.create_publisher::<Image>("/blocks", ROW).unwrap();
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    peer.ask("matched", json!({"topic": "/blocks", "publishers": 1}));

    for (number, size) in SIZES.into_iter().enumerate() {
        publisher.publish(image(number, size)).unwrap();
        let taken = peer.ask("take", json!({"topic": "/blocks"}));
        assert_eq!(taken, json!([{"number": number, "size": size, "intact": true}]));
    }
    for number in 0..ROW {
        publisher.publish(image(number, ROW_SIZE)).unwrap();
    }
    publisher.wait_for_all_acked(WATCHDOG).unwrap();
    let taken = peer.ask("take", json!({"topic": "/blocks", "count": ROW}));
    for (number, item) in items(&taken).iter().enumerate() {
        assert_eq!(*item, json!({"number": number, "size": ROW_SIZE, "intact": true}));
    }
}

#[test]
fn large_messages_and_long_rows_arrive_from_stock() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    peer.ask("publisher", json!({"topic": "/blocks", "type": TYPE, "qos": {"depth": ROW}}));
    let inbox = Inbox::new();
    let put = inbox.putter();
    let intact = move |image: View<Image>| {
        let image = image.get();
        let number = image.header.stamp.sec as usize;
        put((number, image.data.len(), image.data == block(number, image.data.len())));
    };
    let subscription =
        node.create_subscription("/blocks", QosProfile::keep_last(ROW), intact).unwrap();
    subscription.wait_for_publishers(1, WATCHDOG).unwrap();
    peer.ask("matched", json!({"topic": "/blocks", "subscriptions": 1}));

    for size in SIZES {
        peer.ask("publish_blocks", json!({"topic": "/blocks", "count": 1, "size": size}));
        assert_eq!(inbox.take(), (0, size, true));
    }
    peer.ask("publish_blocks", json!({"topic": "/blocks", "count": ROW, "size": ROW_SIZE}));
    for number in 0..ROW {
        assert_eq!(inbox.take(), (number, ROW_SIZE, true));
    }
    assert_eq!(peer.ask("acked", json!({"topic": "/blocks"})), true);
}

/// The number of times that this thread has given up its processor voluntarily.
fn pauses() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.unwrap().trim().parse().unwrap()
}

/// The receive buffer of stock ROS 2 holds three datagrams, so a writer that sends all seventeen
/// datagrams of a message at once has to send most of them again.
#[test]
fn a_large_message_reaches_stock_in_short_bursts() {
    const MESSAGES: u64 = 10;
    if feros_interop::peers_are_on_feros("how Fast DDS is sent datagrams") {
        return;
    }
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    peer.ask("subscription", json!({"topic": "/blocks", "type": TYPE, "blocks": true}));
    let publisher = node.create_publisher::<Image>("/blocks", 10).unwrap();
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    peer.ask("matched", json!({"topic": "/blocks", "publishers": 1}));
    let mut paused = 0;
    for number in 0..MESSAGES {
        let image = image(number as usize, 1 << 20);
        let before = pauses();
        publisher.publish(image).unwrap();
        paused += pauses() - before;
        peer.ask("take", json!({"topic": "/blocks"}));
    }
    assert!(paused >= 7 * MESSAGES, "{paused} pauses in {MESSAGES} messages");
}
