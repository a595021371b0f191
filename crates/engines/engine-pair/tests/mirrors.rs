//! Tests that a subscription on both sides of a bridge gets each message once, no matter which side
//! delivers the message first. It recognizes duplicates because the bridge's publisher announces
//! the original publisher.
#![allow(clippy::unwrap_used)]

mod domains;

use std::sync::Arc;

use feros_engine::{
    BridgeMark, NodeName, Publisher, PublisherOptions, QosProfile, Session, Subscription,
    SubscriptionOptions, TypeHash, copied,
};
use feros_test_support::{Watchdog, eventually, until};

use domains::{patient, single};

const DOMAIN_IDS: [u32; 2] = [122, 123];
const TYPE: (&str, TypeHash) = ("std_msgs/msg/UInt32", TypeHash([0x5a; 32]));
const TOPIC: &str = "/passed_on";

fn publisher(session: &Arc<dyn Session>, announcement: &str) -> Arc<dyn Publisher> {
    let node = session.create_node(&NodeName::new("/", "talker").unwrap()).unwrap();
    let options = PublisherOptions {
        type_hash: Some(TYPE.1),
        qos: QosProfile::keep_all(),
        announcement,
        ..PublisherOptions::new(node, TOPIC, TYPE.0)
    };
    session.create_publisher(options).unwrap()
}

fn subscription(session: &Arc<dyn Session>) -> Arc<dyn Subscription> {
    let node = session.create_node(&NodeName::new("/", "listener").unwrap()).unwrap();
    let options = SubscriptionOptions {
        type_hash: Some(TYPE.1),
        qos: QosProfile::keep_all(),
        ..SubscriptionOptions::new(node, TOPIC, TYPE.0)
    };
    session.create_subscription(options).unwrap()
}

fn say(publisher: &Arc<dyn Publisher>, number: u32) {
    let bytes = [[0, 1, 0, 0], number.to_le_bytes()].concat();
    publisher.publish(bytes.len(), &mut copied(&bytes)).unwrap();
}

#[test]
fn forwarded_messages_are_received_once() {
    let _watchdog = Watchdog::start();
    for order in [DOMAIN_IDS, [DOMAIN_IDS[1], DOMAIN_IDS[0]]] {
        let [near, far] = DOMAIN_IDS.map(single);
        let both = patient(order);
        let listener = subscription(&both);
        let origin = publisher(&near, "");
        let mark = BridgeMark { bridge: 7, from: 0 };
        let mirror = publisher(&far, &mark.announcement_for(origin.gid()));
        until("the matches on both sides", || {
            origin.matched_subscriptions() == 1 && mirror.matched_subscriptions() == 1
        });
        until("one publisher", || listener.matched_publishers() == 1);
        let next = |expected: u32| {
            let sample = eventually(|| listener.take().unwrap().ok_or("a message"));
            let number = u32::from_le_bytes(sample.payload[4..8].try_into().unwrap());
            assert_eq!((number, sample.info.publisher_gid), (expected, origin.gid()));
            assert_eq!(sample.info.publication_sequence_number, Some(number.into()));
        };
        // The first message of the mirror has number 2, and is delivered before the original
        // message.
        mirror.skip(1);
        say(&mirror, 2);
        next(2);
        (1..=3).for_each(|number| say(&origin, number));
        next(1);
        next(3);
        (3..=4).for_each(|number| say(&mirror, number));
        next(4);
        (4..=5).for_each(|number| say(&origin, number));
        next(5);
        say(&mirror, 5);
        say(&origin, 6);
        next(6);
        assert_eq!(listener.matches().len(), 1);
        assert!(listener.take().unwrap().is_none());
    }
}
