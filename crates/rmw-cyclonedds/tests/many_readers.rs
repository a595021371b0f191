//! A publisher reaches each of many subscriptions while others of the same participant come and go:
//! the engine computes its addresses anew only where they change (`cyclonedds-sys`,
//! `build/addresses.rs`).
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use feros_conformance::NotificationCounter;
use feros_rmw::{
    DiscoveryRange, Engine, NodeName, PublishMode, Publisher, PublisherOptions, QosProfile,
    Session, SessionOptions, Subscription, SubscriptionOptions,
};
use feros_rmw_cyclonedds::ConfiguredCycloneEngine;
use feros_test_support::own_domain;

/// Subscriptions of each participant; with fewer than 16 the addresses are always computed.
const MANY: usize = 20;
const TOPIC: &str = "/many_readers";
const TYPE: &str = "std_msgs/msg/UInt32";

/// A session of a stack of its own, so that what it has is remote to the others of this process.
fn open(stack: u32, domain: u32) -> Arc<dyn Session> {
    let configuration = format!(
        "<CycloneDDS><Domain id=\"any\"><Discovery><ExternalDomainId>{domain}</ExternalDomainId>\
         </Discovery></Domain></CycloneDDS>"
    );
    let options = SessionOptions {
        domain_id: stack,
        discovery_range: DiscoveryRange::Localhost,
        ..SessionOptions::default()
    };
    ConfiguredCycloneEngine { configuration }.open(&options).unwrap()
}

struct Listener {
    subscription: Arc<dyn Subscription>,
    data: Arc<NotificationCounter>,
}

fn listen(session: &Arc<dyn Session>) -> Listener {
    let data = NotificationCounter::new();
    let node = session.create_node(&NodeName::new("/", "listener").unwrap()).unwrap();
    let subscription = session
        .create_subscription(SubscriptionOptions {
            node,
            topic: TOPIC,
            type_name: TYPE,
            type_hash: None,
            qos: QosProfile::default(),
            announcement: "",
            ignore_local_publications: false,
            on_data: data.notify(),
            on_event: None,
        })
        .unwrap();
    Listener { subscription, data }
}

struct Talker {
    publisher: Arc<dyn Publisher>,
    events: Arc<NotificationCounter>,
    sent: u32,
    _session: Arc<dyn Session>,
}

impl Talker {
    fn new(session: Arc<dyn Session>) -> Self {
        let events = NotificationCounter::new();
        let node = session.create_node(&NodeName::new("/", "talker").unwrap()).unwrap();
        let publisher = session
            .create_publisher(PublisherOptions {
                node,
                topic: TOPIC,
                type_name: TYPE,
                type_hash: None,
                qos: QosProfile::default(),
                announcement: "",
                mode: PublishMode::Synchronous,
                on_event: Some(events.notify()),
            })
            .unwrap();
        Self { publisher, events, sent: 0, _session: session }
    }

    /// Publishes once all these match, and no other one; each gets the message.
    fn reaches(&mut self, listeners: &[&[Listener]]) {
        let listeners: Vec<&Listener> = listeners.iter().copied().flatten().collect();
        self.events.wait_for("the listeners", || {
            (self.publisher.matched_subscriptions() == listeners.len()).then_some(())
        });
        self.sent += 1;
        let mut bytes = vec![0, 1, 0, 0];
        bytes.extend(self.sent.to_le_bytes());
        let mut write = |memory: &mut [u8]| {
            memory.copy_from_slice(&bytes);
            Ok(())
        };
        self.publisher.publish(bytes.len(), &mut write).unwrap();
        for listener in listeners {
            let sample =
                listener.data.wait_for("a message", || listener.subscription.take().unwrap());
            assert_eq!(*sample.payload, *bytes);
        }
    }
}

#[test]
fn each_is_reached_while_others_of_its_participant_come_and_go() {
    let domain = own_domain();
    let (here, there) = (open(2, domain), open(3, domain));
    let many = |session| (0..MANY).map(|_| listen(session)).collect::<Vec<_>>();
    let (mut some, others) = (many(&here), many(&there));
    let mut talker = Talker::new(open(1, domain));
    talker.reaches(&[&some, &others]);
    some.truncate(1);
    talker.reaches(&[&some, &others]);
    some.clear();
    talker.reaches(&[&others]);
    some = many(&here);
    talker.reaches(&[&some, &others]);
    drop((here, some));
    talker.reaches(&[&others]);
}
