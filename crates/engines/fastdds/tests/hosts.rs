//! Tests with two hosts, each in its own network namespace, which are connected by a link that
//! delays and loses packets. The test checks messages over this link, also after the link has been
//! interrupted for a short time, and after it has been interrupted for longer than the lease.
//!
//! The test needs root. Without root, the test is skipped with a message. Each host is a process of
//! this program, because the sockets of a session belong to the network namespace of its process.
#![cfg(has_shim)]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use feros_conformance::NotificationCounter;
use feros_engine::{
    DiscoveryRange, Engine, NodeName, Publisher, PublisherOptions, QosProfile, Session,
    SessionOptions, Subscription, SubscriptionEvent, SubscriptionOptions, copied,
};
use feros_fastdds::FastDdsEngine;
use feros_link::{Link, LinkOptions, Namespace, NamespaceError};
use feros_test_support::{TestProcess, obey, skip};

/// The variable that names the host of a process, `near` or `far`. It is not set in the test's own
/// process.
const HOST_VARIABLE: &str = "FEROS_TEST_FASTDDS_HOST";
const PROFILES_VARIABLE: &str = "FASTDDS_DEFAULT_PROFILES_FILE";
const TOPIC: &str = "/hosts/numbers";
const TYPE: &str = "std_msgs/msg/UInt64";
/// The number of messages in each part of the test.
const PART: u64 = 10;

/// The lease is two seconds, so that the link does not have to be interrupted for twenty seconds.
/// Both processes are on one machine and would use shared memory, so only UDP is enabled.
const PROFILES: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<dds xmlns="http://www.eprosima.com">
    <profiles>
        <transport_descriptors>
            <transport_descriptor><transport_id>udp</transport_id><type>UDPv4</type></transport_descriptor>
        </transport_descriptors>
        <participant profile_name="watchful" is_default_profile="true">
            <rtps>
                <userTransports><transport_id>udp</transport_id></userTransports>
                <useBuiltinTransports>false</useBuiltinTransports>
                <builtin>
                    <discovery_config>
                        <leaseDuration><sec>2</sec></leaseDuration>
                        <leaseAnnouncement><sec>0</sec><nanosec>500000000</nanosec></leaseAnnouncement>
                    </discovery_config>
                </builtin>
            </rtps>
        </participant>
    </profiles>
</dds>
"#;

/// Starts the process of a host.
fn start(host: &Namespace, name: &str, profiles: &Path) -> TestProcess {
    let mut command = host.command(std::env::current_exe().unwrap());
    command.env(HOST_VARIABLE, name).env(PROFILES_VARIABLE, profiles);
    let mut process = TestProcess::start(command, "host_process");
    process.said("ready");
    process
}

#[test]
fn hosts_that_are_parted_meet_again_and_know_what_they_lost() {
    let namespaces = Namespace::new().and_then(|near| Ok((near, Namespace::new()?)));
    let (near, far) = match namespaces {
        Ok(namespaces) => namespaces,
        Err(error @ NamespaceError::NotPermitted { .. }) => {
            return skip(error);
        }
        Err(error) => panic!("{error}"),
    };
    let profiles = std::env::temp_dir().join(format!("feros_hosts_{}.xml", std::process::id()));
    std::fs::write(&profiles, PROFILES).unwrap();
    let whole =
        LinkOptions { delay: Duration::from_millis(5), loss: 0.02, ..LinkOptions::default() };
    let cut = LinkOptions { loss: 1.0, ..whole.clone() };
    let link = Link::between(&near, &far, whole.clone()).unwrap();
    let (mut near, mut far) = (start(&near, "near", &profiles), start(&far, "far", &profiles));
    near.command("match");
    far.command("match");
    near.command("publish");
    far.command("hear");
    // The link is interrupted for a short time. Messages that are published in the meantime arrive
    // later.
    link.set(cut.clone()).unwrap();
    near.command("publish");
    link.set(whole.clone()).unwrap();
    far.command("hear");
    // The link is interrupted for longer than the lease. Messages that are published in the
    // meantime are lost and counted.
    link.set(cut).unwrap();
    near.command("part");
    far.command("part");
    near.command("publish");
    link.set(whole).unwrap();
    near.command("match");
    far.command("match");
    near.command("publish");
    far.command("hear after a loss");
    near.end();
    far.end();
    std::fs::remove_file(&profiles).unwrap();
}

/// The process of a host, which takes commands line by line. In a normal test run, this test does
/// nothing.
#[test]
fn host_process() {
    let Ok(name) = std::env::var(HOST_VARIABLE) else { return };
    let options = SessionOptions {
        domain_id: 127,
        discovery_range: DiscoveryRange::Subnet,
        ..SessionOptions::default()
    };
    let session = FastDdsEngine.open(&options).unwrap();
    if name == "near" { near(&*session) } else { far(&*session) }
}

fn near(session: &dyn Session) {
    let events = NotificationCounter::new();
    let node = session.create_node(&NodeName::new("/", "near").unwrap()).unwrap();
    let publisher = session
        .create_publisher(PublisherOptions {
            qos: QosProfile::keep_last(100),
            on_event: Some(events.notify()),
            ..PublisherOptions::new(node, TOPIC, TYPE)
        })
        .unwrap();
    let mut number = 0_u64;
    obey(|word| match word {
        "match" => events.wait_for(word, || (publisher.matched_subscriptions() == 1).then_some(())),
        "part" => events.wait_for(word, || (publisher.matched_subscriptions() == 0).then_some(())),
        _ => publish_part(&*publisher, &mut number),
    });
}

fn publish_part(publisher: &dyn Publisher, number: &mut u64) {
    for _ in 0..PART {
        let bytes = [&[0, 1, 0, 0][..], &number.to_le_bytes()].concat();
        publisher.publish(bytes.len(), &mut copied(&bytes)).unwrap();
        *number += 1;
    }
}

fn far(session: &dyn Session) {
    let changed = NotificationCounter::new();
    let node = session.create_node(&NodeName::new("/", "far").unwrap()).unwrap();
    let subscription = session
        .create_subscription(SubscriptionOptions {
            qos: QosProfile::keep_last(100),
            on_data: changed.notify(),
            on_event: Some(changed.notify()),
            ..SubscriptionOptions::new(node, TOPIC, TYPE)
        })
        .unwrap();
    let mut expected = 0_u64;
    obey(|word| match word {
        "match" => {
            changed.wait_for(word, || (subscription.matched_publishers() == 1).then_some(()));
        }
        "part" => {
            changed.wait_for(word, || (subscription.matched_publishers() == 0).then_some(()));
        }
        "hear" => hear_part(&subscription, &changed, &mut expected),
        _ => {
            expected += PART;
            hear_part(&subscription, &changed, &mut expected);
            assert_eq!(lost(&*subscription), PART);
        }
    });
}

fn hear_part(
    subscription: &Arc<dyn Subscription>,
    changed: &NotificationCounter,
    expected: &mut u64,
) {
    for _ in 0..PART {
        let sample = changed.wait_for("a message", || subscription.take().unwrap());
        assert_eq!(sample.payload[4..], expected.to_le_bytes());
        *expected += 1;
    }
}

/// Returns the total number of lost messages, according to the last event of this kind.
fn lost(subscription: &dyn Subscription) -> u64 {
    let mut lost = 0;
    while let Some(event) = subscription.take_event().unwrap() {
        if let SubscriptionEvent::MessageLost { total, .. } = event {
            lost = total;
        }
    }
    lost
}
