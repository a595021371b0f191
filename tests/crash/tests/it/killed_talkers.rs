//! Talkers are killed while they publish large messages; the listeners receive messages from the
//! next talker.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Peer, Place, Random, heard, number, resources, rounds, until};

const SIZE_BYTES: usize = 1 << 20;
/// The number of talkers that are killed in succession before the engine has forgotten the first
/// talker.
const GENERATION: u32 = 4;
/// The heap memory that the listener may keep: a listener that is held up keeps two histories of
/// ten such messages on two transports. Over many rounds, a leak would exceed this.
const LEEWAY_KB: u64 = 40 * 1024;

#[test]
fn killed_talkers_harm_nobody() {
    let place = Place::own_if_possible();
    let mut random = Random::new();
    let mut listener = Peer::start(&place, "listener");
    listener.ask("listen", json!({"name": "owned", "topic": "image"}));
    listener.ask("listen", json!({"name": "views", "topic": "image", "form": "view", "hold": 3}));
    let rounds = rounds(2) * GENERATION;
    let (mut slowest_start, mut slowest_host) = (Duration::ZERO, Duration::ZERO);
    let mut measured = Vec::new();
    let mut began = Instant::now();
    for id in 1..=rounds {
        let mut talker = Peer::start(&place, "talker");
        talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": id}));
        let host = |listener: &mut Peer, name| number(&listener.of("counts", name), "/host");
        let before = (host(&mut listener, "owned"), host(&mut listener, "views"));
        talker.ask("start", json!({"name": "pub", "period_us": 2000, "size": SIZE_BYTES}));
        until("the listener hears the new talker", || {
            (heard(&listener.of("report", "owned"), id, "count") > 0).then_some(())
        });
        slowest_start = slowest_start.max(began.elapsed());
        until("the listener hears the new talker through shared memory", || {
            let now = (host(&mut listener, "owned"), host(&mut listener, "views"));
            (now.0 >= before.0 + 10 && now.1 >= before.1 + 10).then_some(())
        });
        slowest_host = slowest_host.max(began.elapsed());
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        let progress = talker.of("progress", "pub");
        assert_eq!(number(&progress, "/errors"), 0, "{progress}");
        began = Instant::now();
        talker.kill();
        // Views of a killed publisher's messages stay unchanged.
        let held = listener.of("check_held", "views");
        assert_eq!(number(&held, "/broken"), 0, "{held}");
        if id % GENERATION == 0 {
            until("the dead talkers are forgotten", || {
                ["owned", "views"]
                    .iter()
                    .all(|name| listener.transports(name).is_empty())
                    .then_some(())
            });
            // The views may belong to one or two killed talkers. The talkers' memory stays mapped
            // as long as the views exist.
            listener.of("release", "views");
            measured.push(resources(&listener, &place));
            began = Instant::now();
        }
    }
    let before = measured[0];
    let after = until("everything of the dead is closed", || {
        let now = resources(&listener, &place);
        (now.descriptors <= before.descriptors && (!place.is_own() || now.shm_files == 0))
            .then_some(now)
    });
    println!(
        "{rounds} talkers killed: from one's death to the next one's first message at most {slowest_start:?}, to the shared-memory transport \
         at most {slowest_host:?}\nlistener {before:?} -> {after:?}, memory by generation {:?} KB",
        measured.iter().map(|one| one.memory_kb).collect::<Vec<_>>()
    );
    assert!(after.memory_kb < before.memory_kb + LEEWAY_KB, "{before:?} -> {after:?}");
    assert!(!place.is_own() || after.shm_kb < before.shm_kb + 1024, "{before:?} -> {after:?}");
    for name in ["owned", "views"] {
        let report = listener.of("report", name);
        assert_eq!(number(&report, "/broken"), 0, "{report}");
        assert!((1..=rounds).all(|id| heard(&report, id, "doubled") == 0), "{report}");
        let counts = listener.of("counts", name);
        assert_eq!(
            (number(&counts, "/refused_in_shared_memory"), number(&counts, "/refused_messages")),
            (0, 0)
        );
    }
    listener.end();
    place.must_be_swept();
}
