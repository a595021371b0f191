//! Tests of announcements, and of the transports that result from two announcements.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::announcing::{Choice, classify};
use crate::reason::Side;
use crate::reason::declined::ConnectionObstacle;
use proptest::prelude::*;

const HERE: HostId = HostId { boot: 1, user_namespace: 2, pid_namespace: 3, dev_shm: 4 };

fn announcement() -> Announcement {
    Announcement {
        host: Some(HERE),
        uid: 1000,
        pid: 42,
        token: 7,
        endpoint: 9,
        transports: TransportSet::ALL,
        shared_memory: Ok(5),
        declined: vec![],
    }
}

/// Makes the announcement of a subscription in another process of the same host and user.
fn neighbour() -> Announcement {
    Announcement { pid: 43, token: 8, ..announcement() }
}

/// A publisher, a subscription, and the transport of their match with the reason.
type Case = (Announced, Announced, Option<Transport>, Option<Reason>);

fn check(cases: Vec<Case>) {
    for (publisher, subscription, transport, reason) in cases {
        let choice = classify(&publisher, &subscription);
        assert_eq!(choice, Choice { transport, reason }, "{publisher:?} to {subscription:?}");
    }
}

/// Puts the version before the other fields of an announcement.
fn versioned(fields: &str) -> String {
    format!("{:x},{fields}", format_version())
}

/// Reads an announcement with this version of the format.
fn read(fields: &str) -> Announced {
    Announced::read(Some(&versioned(fields)))
}

fn feros(announcement: Announcement) -> Announced {
    Announced::Feros(announcement)
}

#[test]
fn the_shortest_possible_transport_is_taken() {
    let no_memory = Announcement { shared_memory: Err(Obstacle::Full), ..announcement() };
    check(vec![
        (feros(announcement()), feros(announcement()), Some(Transport::IntraProcess), None),
        (feros(announcement()), feros(neighbour()), Some(Transport::SharedMemory), None),
        (feros(neighbour()), feros(announcement()), Some(Transport::SharedMemory), None),
        // The intra-process transport passes pointers, which needs no shared memory.
        (feros(no_memory.clone()), feros(no_memory.clone()), Some(Transport::IntraProcess), None),
        (
            feros(no_memory.clone()),
            feros(neighbour()),
            Some(Transport::Network),
            Some(Reason::SharedMemoryUnavailable { by: Side::Publisher, why: Obstacle::Full }),
        ),
        (
            feros(neighbour()),
            feros(no_memory),
            Some(Transport::Network),
            Some(Reason::SharedMemoryUnavailable { by: Side::Subscription, why: Obstacle::Full }),
        ),
        // The process id is the same, but it belongs to a process at another time. In the second
        // case, the token is also the same, but the namespace is different.
        (
            feros(announcement()),
            feros(Announcement { token: 8, ..announcement() }),
            Some(Transport::SharedMemory),
            None,
        ),
        (
            feros(announcement()),
            feros(Announcement {
                host: Some(HostId { pid_namespace: 9, ..HERE }),
                ..announcement()
            }),
            Some(Transport::Network),
            Some(Reason::OtherPidNamespace),
        ),
    ]);
}

#[test]
fn each_difference_of_places_has_its_reason() {
    let with = |host| feros(Announcement { host: Some(host), ..neighbour() });
    let cases = [
        (with(HostId { boot: 9, user_namespace: 9, ..HERE }), Reason::OtherHost),
        (with(HostId { user_namespace: 9, pid_namespace: 9, ..HERE }), Reason::OtherUserNamespace),
        (with(HostId { pid_namespace: 9, dev_shm: 9, ..HERE }), Reason::OtherPidNamespace),
        (with(HostId { dev_shm: 9, ..HERE }), Reason::OtherDevShm),
        (
            feros(Announcement { uid: 0, ..neighbour() }),
            Reason::OtherUser { publisher_uid: 1000, subscription_uid: 0 },
        ),
        (
            feros(Announcement {
                host: None,
                shared_memory: Err(Obstacle::NoDevShm),
                ..neighbour()
            }),
            Reason::SharedMemoryUnavailable { by: Side::Subscription, why: Obstacle::NoDevShm },
        ),
        // Two processes that do not know their locations may be on different hosts.
        (
            feros(Announcement { host: None, ..neighbour() }),
            Reason::SharedMemoryUnavailable { by: Side::Subscription, why: Obstacle::Other },
        ),
        (Announced::Nothing, Reason::StockPeer { side: Side::Subscription }),
        (Announced::Unreadable, Reason::UnreadableAnnouncement { side: Side::Subscription }),
        (
            Announced::OtherVersion(77),
            Reason::IncompatibleVersion { publisher: format_version(), subscription: 77 },
        ),
    ];
    check(
        cases
            .into_iter()
            .map(|(other, reason)| {
                (feros(announcement()), other, Some(Transport::Network), Some(reason))
            })
            .collect(),
    );
    check(vec![
        (
            Announced::Nothing,
            feros(announcement()),
            Some(Transport::Network),
            Some(Reason::StockPeer { side: Side::Publisher }),
        ),
        (
            Announced::OtherVersion(2),
            feros(announcement()),
            Some(Transport::Network),
            Some(Reason::IncompatibleVersion { publisher: 2, subscription: format_version() }),
        ),
    ]);
}

#[test]
fn a_transport_that_either_side_forbids_is_not_used() {
    let only = |transports: &str, announcement| {
        feros(Announcement { transports: transports.parse().unwrap(), ..announcement })
    };
    let forbidden = |transport, by| Some(Reason::NotAllowed { transport, by });
    let no_transport = |shorter, by| Some(Reason::NoTransport { shorter: Box::new(shorter), by });
    check(vec![
        (
            only("shared_memory,network", announcement()),
            feros(announcement()),
            Some(Transport::SharedMemory),
            forbidden(Transport::IntraProcess, Side::Publisher),
        ),
        (
            feros(announcement()),
            only("network", announcement()),
            Some(Transport::Network),
            forbidden(Transport::IntraProcess, Side::Subscription),
        ),
        (
            feros(announcement()),
            only("intra_process,network", neighbour()),
            Some(Transport::Network),
            forbidden(Transport::SharedMemory, Side::Subscription),
        ),
        (
            only("intra_process", announcement()),
            only("shared_memory", neighbour()),
            None,
            no_transport(
                Reason::NotAllowed { transport: Transport::SharedMemory, by: Side::Publisher },
                Side::Publisher,
            ),
        ),
        (
            only("intra_process,shared_memory", announcement()),
            Announced::Nothing,
            None,
            no_transport(Reason::StockPeer { side: Side::Subscription }, Side::Publisher),
        ),
        (
            feros(announcement()),
            only("intra_process,shared_memory", Announcement { uid: 7, ..neighbour() }),
            None,
            no_transport(
                Reason::OtherUser { publisher_uid: 1000, subscription_uid: 7 },
                Side::Subscription,
            ),
        ),
    ]);
}

#[test]
fn the_text_is_as_documented() {
    let mut announcement = announcement();
    let fields = "1-2-3-4,3e8,2a,7,9,phn,5";
    assert_eq!(announcement.encode(), versioned(fields));
    assert_eq!(read(fields), feros(announcement.clone()));
    announcement.host = None;
    announcement.transports = TransportSet::NONE;
    announcement.shared_memory = Err(Obstacle::NoDevShm);
    let fields = "-,3e8,2a,7,9,-,!no-shm";
    assert_eq!(announcement.encode(), versioned(fields));
    assert_eq!(read(fields), feros(announcement));
}

#[test]
fn this_process_announces_itself_briefly() {
    let announcement = Announcement::of_this_process(u64::MAX, TransportSet::ALL, None);
    let segment = ProcessSegment::of_this_process().unwrap();
    assert_eq!(announcement.shared_memory, Ok(segment.file_number()));
    assert_eq!((announcement.pid, announcement.token), (std::process::id(), segment.token().get()));
    let text = announcement.encode();
    assert!(text.len() < 120, "{} bytes: {text}", text.len());
    let off = Announcement::of_this_process(1, TransportSet::ALL, Some(Obstacle::Off));
    assert_eq!(off.shared_memory, Err(Obstacle::Off));
}

#[test]
fn later_versions_may_add_fields_and_letters_and_codes() {
    let later = read("1-2-3-4,3e8,2a,7,9,phnx,!later,more,and more");
    let expected = Announcement { shared_memory: Err(Obstacle::Other), ..announcement() };
    assert_eq!(later, feros(expected));
    let next = format_version() + 1;
    let text = format!("{next:x},anything");
    assert_eq!(Announced::read(Some(&text)), Announced::OtherVersion(next));
}

#[test]
fn a_connection_that_could_not_be_opened_is_told_to_its_publisher_alone() {
    let why = ConnectionObstacle::TooManySubscriptions { limit: 16 };
    let reason = Reason::TooManySubscriptions { limit: 16 };
    let declining = Announcement { declined: vec![Declined { publisher: 9, why }], ..neighbour() };
    assert!(declining.encode().ends_with(",5,9!subs-10"), "{}", declining.encode());
    let other = Announcement { endpoint: 10, ..announcement() };
    check(vec![
        (
            feros(announcement()),
            feros(declining.clone()),
            Some(Transport::Network),
            Some(reason.clone()),
        ),
        (feros(other), feros(declining.clone()), Some(Transport::SharedMemory), None),
    ]);
    let mut declining = feros(declining);
    assert_eq!(declining.forget_declined(10), None);
    assert_eq!(declining.forget_declined(9), Some(reason));
    assert_eq!(declining, feros(neighbour()));
    // One announcement has too many entries. The other has codes that only later versions know.
    let entries = |number| vec![Declined { publisher: u64::MAX, why }; number];
    let many = Announcement { declined: entries(100), ..neighbour() };
    let few = Announcement { declined: entries(MAX_DECLINED), ..neighbour() };
    assert_eq!(Announced::read(Some(&many.encode())), feros(few));
    let later = read("1-2-3-4,3e8,2a,7,9,phn,5,+x!full+9!later+8!subs-x+7");
    let declined =
        vec![Declined { publisher: 9, why: ConnectionObstacle::Unavailable(Obstacle::Other) }];
    assert_eq!(later, feros(Announcement { declined: declined.clone(), ..announcement() }));
    // The announcement of an endpoint that is also on another engine.
    for announcement in [announcement(), Announcement { declined, ..announcement() }] {
        let text = feros_engine::twin::first_announcement(&announcement.encode());
        assert_eq!(Announced::read(Some(&text)), feros(announcement));
    }
    let alone = feros_engine::twin::first_announcement("");
    assert_eq!(Announced::read(Some(&alone)), Announced::Nothing);
}

#[test]
fn invalid_announcements_are_unreadable() {
    assert_eq!(Announced::read(None), Announced::Nothing);
    assert_eq!(Announced::read(Some("-,bridge=1.0")), Announced::Nothing);
    let alone = format!("{:x}", format_version());
    for text in ["", ",", "x", &alone, "100000000,"] {
        assert_eq!(Announced::read(Some(text)), Announced::Unreadable, "{text:?}");
    }
    let long = format!("1-2-3-4,3e8,2a,7,9,phn,5,{}", "x".repeat(MAX_TEXT_BYTES));
    for fields in [
        "",
        "1-2-3-4,3e8,2a,7,9,phn",
        "1-2-3,3e8,2a,7,9,phn,5",
        "1-2-3-4-5,3e8,2a,7,9,phn,5",
        "1-2-3-4,100000000,2a,7,9,phn,5",
        "1-2-3-4,3e8,-2a,7,9,phn,5",
        "1-2-3-4,3e8,+2a,7,9,phn,5",
        "1-2-3-4,3e8,2a,10000000000000000,9,phn,5",
        "1-2-3-4,3e8,2a,7,9,phn,",
        "1-2-3-4,3e8,2a,7,9,phn,é",
        &long,
    ] {
        assert_eq!(read(fields), Announced::Unreadable, "{fields:?}");
    }
}

/// The fuzz target `announcement` puts the version before each line in the same way, so that it
/// starts from announcements that can be read.
#[test]
fn the_fuzz_seeds_are_announcements() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fuzz/seeds/announcement");
    let mut lines = 0;
    for seed in std::fs::read_dir(folder).unwrap() {
        let path = seed.unwrap().path();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let fields = line.strip_prefix(',').unwrap();
            assert!(matches!(read(fields), Announced::Feros(_)), "{}: {line}", path.display());
            lines += 1;
        }
    }
    assert!(lines >= 6, "{folder} has only {lines} lines");
}

fn any_announcement() -> impl Strategy<Value = Announcement> {
    let host = proptest::option::of(any::<(u64, u64, u64, u64)>());
    let transports = proptest::collection::vec(0..3_usize, 0..4);
    let memory = prop_oneof![
        any::<u32>().prop_map(Ok),
        prop_oneof![Just(Obstacle::NoMemory), Just(Obstacle::TableFull), Just(Obstacle::Other)]
            .prop_map(Err)
    ];
    let why = prop_oneof![
        any::<u32>().prop_map(|limit| ConnectionObstacle::TooManySubscriptions { limit }),
        any::<u32>().prop_map(|limit| ConnectionObstacle::TooManyPublishers { limit }),
        prop_oneof![Just(Obstacle::Full), Just(Obstacle::NotMapped)]
            .prop_map(ConnectionObstacle::Unavailable),
    ];
    let declined = (any::<u64>(), why).prop_map(|(publisher, why)| Declined { publisher, why });
    let declined = proptest::collection::vec(declined, 0..=MAX_DECLINED);
    (host, any::<u32>(), any::<u32>(), any::<u64>(), any::<u64>(), transports, memory, declined)
        .prop_map(|(host, uid, pid, token, endpoint, transports, shared_memory, declined)| {
            Announcement {
                host: host.map(|(boot, user_namespace, pid_namespace, dev_shm)| HostId {
                    boot,
                    user_namespace,
                    pid_namespace,
                    dev_shm,
                }),
                uid,
                pid,
                token,
                endpoint,
                transports: transports.into_iter().map(|index| Transport::ALL[index]).collect(),
                shared_memory,
                declined,
            }
        })
}

proptest! {
    #[test]
    fn every_announcement_survives_its_text(announcement in any_announcement()) {
        let text = announcement.encode();
        prop_assert!(text.len() <= MAX_TEXT_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic()));
        prop_assert!(!text.contains([';', '=']));
        prop_assert_eq!(Announced::read(Some(&text)), Announced::Feros(announcement));
    }

    #[test]
    fn no_text_does_harm(text in ".*", almost in "[01],([0-9a-f-]{0,20},){0,8}([0-9a-f+]{0,3}!?(subs-|pubs-)?[a-z0-9]{0,9}){0,9}") {
        for text in [text, almost] {
            let read = Announced::read(Some(&text));
            classify(&read, &Announced::Feros(announcement()));
        }
    }
}
