//! `/dev/shm` is full, filling up, read-only or missing: messages take the network transport, and
//! the log gives the reason.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{DevShm, Peer, Place, Random, heard, number, rounds, skipped, until};

fn place(kind: &DevShm) -> Option<Place> {
    Place::own(kind).map_err(|why| skipped("a /dev/shm that is full or missing", &why)).ok()
}

/// Fills the `/dev/shm` of the place (see [`Place`]) except for `spare_bytes`.
fn fill(place: &Place, spare_bytes: u64) -> PathBuf {
    let path = place.dev_shm().join("filler");
    let mut file = fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    let size = file.metadata().unwrap().len();
    file.set_len(size.saturating_sub(spare_bytes)).unwrap();
    path
}

/// Two processes start and exchange messages over the network, and both log the reason.
fn talk_by_network(place: &Place, reason: &str, in_the_log: &str) {
    let mut talker = Peer::start(place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1, "keep_all": true}));
    let mut listener = Peer::start(place, "listener");
    listener.ask("listen", json!({"name": "sub", "topic": "image", "keep_all": true}));
    talker.until_transport("pub", 1, "network");
    listener.until_transport("sub", 1, "network");
    let published = talker.ask("publish", json!({"name": "pub", "count": 300, "size": 30_000}));
    assert_eq!(
        (number(&published, "/last"), number(&published, "/errors")),
        (300, 0),
        "{published}"
    );
    let report = until("all messages come", || {
        let report = listener.of("report", "sub");
        (heard(&report, 1, "last") == 300).then_some(report)
    });
    assert_eq!((heard(&report, 1, "missing"), heard(&report, 1, "doubled")), (0, 0), "{report}");
    for (peer, name) in [(&mut talker, "pub"), (&mut listener, "sub")] {
        let found = peer.of("transports", name);
        assert_eq!(found[0]["transport"], "network", "{found}");
        assert!(found[0]["reason"].as_str().unwrap().ends_with(reason), "{found}");
        until("the log says why", || peer.said().contains(in_the_log).then_some(()));
    }
    listener.end();
    talker.end();
}

#[test]
fn full_before_the_start() {
    let Some(place) = place(&DevShm::OfBytes(2 << 20)) else { return };
    fill(&place, 0);
    talk_by_network(&place, "its /dev/shm is full", "shared memory is full");
}

#[test]
fn nearly_full_before_the_start() {
    let Some(place) = place(&DevShm::OfBytes(2 << 20)) else { return };
    fill(&place, 64 * 1024);
    talk_by_network(&place, "its /dev/shm is full", "shared memory is full");
}

#[test]
fn read_only() {
    let Some(place) = place(&DevShm::ReadOnly) else { return };
    talk_by_network(
        &place,
        "/dev/shm is missing or read-only for its process",
        "shared memory is not available",
    );
}

#[test]
fn missing() {
    let Some(place) = place(&DevShm::Missing) else { return };
    talk_by_network(
        &place,
        "/dev/shm is missing or read-only for its process",
        "shared memory is not available",
    );
}

#[test]
fn filling_up_with_growing_messages() {
    let Some(place) = place(&DevShm::OfBytes(12 << 20)) else { return };
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1, "keep_all": true}));
    let mut listener = Peer::start(&place, "listener");
    listener.ask("listen", json!({"name": "sub", "topic": "image", "keep_all": true}));
    talker.until_transport("pub", 1, "shared_memory");
    let mut last = 0;
    for size in [100, 5_000, 40_000, 300_000, 1_500_000, 5_000_000, 20_000_000, 100] {
        let published = talker.ask("publish", json!({"name": "pub", "count": 5, "size": size}));
        assert_eq!(number(&published, "/errors"), 0, "{published}");
        last = number(&published, "/last");
    }
    let report = until("all messages come", || {
        let report = listener.of("report", "sub");
        (heard(&report, 1, "last") == last).then_some(report)
    });
    assert_eq!(heard(&report, 1, "count"), last, "{report}");
    assert_eq!((heard(&report, 1, "doubled"), number(&report, "/broken")), (0, 0), "{report}");
    let counts = talker.of("counts", "pub");
    println!("growing messages: {counts}");
    assert!(
        number(&counts, "/shared_memory_failures") > 0 && number(&counts, "/host") > 0,
        "{counts}"
    );
    let why = "took the network transport instead of shared memory";
    until("the log says why", || talker.said().contains(why).then_some(()));
    listener.end();
    talker.end();
    place.must_be_swept();
}

/// Another program fills the folder and empties it again, at random moments.
#[test]
fn filled_and_emptied_by_others_while_publishing() {
    let Some(place) = place(&DevShm::OfBytes(24 << 20)) else { return };
    let mut random = Random::new();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1, "keep_all": true}));
    let mut listener = Peer::start(&place, "listener");
    listener.ask("listen", json!({"name": "sub", "topic": "image", "keep_all": true}));
    talker.until_transport("pub", 1, "shared_memory");
    let mut last = 0;
    let mut late = Vec::new();
    for round in 0..rounds(12) {
        let filler = fill(&place, random.below(3) * 300_000);
        // Listeners that start while the folder is full get the messages too.
        if round % 4 == 1 {
            let mut peer = Peer::start(&place, "late");
            peer.ask("listen", json!({"name": "sub", "topic": "image", "keep_all": true}));
            late.push(peer);
            until("the talker knows it", || {
                (talker.transports("pub").len() > late.len()).then_some(())
            });
        }
        for is_full in [true, false] {
            if !is_full {
                fs::remove_file(&filler).unwrap();
            }
            let magnitude = 8 + random.below(13);
            let size = 200 + random.below(1 << magnitude);
            talker.send("publish", json!({"name": "pub", "count": 8, "size": size}));
            let published = talker.take_answer();
            assert_eq!(number(&published, "/errors"), 0, "{published}");
            last = number(&published, "/last");
        }
    }
    for peer in late.iter_mut().chain([&mut listener]) {
        let report = until("all messages come", || {
            let report = peer.of("report", "sub");
            (heard(&report, 1, "last") == last).then_some(report)
        });
        let counts = peer.of("counts", "sub");
        assert_eq!(
            (heard(&report, 1, "missing"), heard(&report, 1, "doubled")),
            (0, 0),
            "{report} {counts}"
        );
        assert_eq!(number(&report, "/broken"), 0, "{report}");
    }
    let counts = talker.of("counts", "pub");
    println!("filled and emptied: {counts}");
    assert!(
        number(&counts, "/shared_memory_failures") > 0 && number(&counts, "/host") > 0,
        "{counts}"
    );
    late.into_iter().chain([listener, talker]).for_each(Peer::end);
    place.must_be_swept();
}
