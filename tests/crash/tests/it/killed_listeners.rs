//! Listeners are killed while they receive, hold views, or are inside a callback; all other
//! processes go on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    Peer, Place, Random, heard, largest_gap_ms, number, resources, rounds, until,
};

/// The activities of the listeners when they are killed, with the options of the subscription.
const LIVES: [(&str, &str); 4] = [
    ("receiving", r#"{"form": "owned"}"#),
    ("holding views", r#"{"form": "view", "hold": 7}"#),
    ("holding all views it may", r#"{"form": "view", "hold": 1000}"#),
    ("inside a callback", r#"{"form": "owned", "stall_ms": 30}"#),
];

/// The memory that queues and pools may keep once a busy machine has filled them. If killed
/// listeners were not forgotten, two rounds would take more memory than this.
const LEEWAY_KB: u64 = 16 * 1024;

fn start_doomed(place: &Place, life: &str) -> Peer {
    let mut doomed = Peer::start(place, "doomed");
    let mut request: Value = serde_json::from_str(life).unwrap();
    (request["name"], request["topic"]) = (json!("sub"), json!("image"));
    doomed.ask("listen", request);
    doomed
}

#[test]
fn killed_listeners_harm_nobody() {
    let place = Place::own_if_possible();
    let mut random = Random::new();
    let mut talker = Peer::start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    let mut survivor = Peer::start(&place, "survivor");
    survivor.ask("listen", json!({"name": "sub", "topic": "image"}));
    talker.ask("start", json!({"name": "pub", "period_us": 1000, "size": 20_000}));
    talker.until_transport("pub", 1, "shared_memory");
    survivor.until_transport("sub", 1, "shared_memory");

    let rounds = rounds(2);
    let (mut largest_gap, mut slowest_host) = (0, Duration::ZERO);
    let mut measured = Vec::new();
    for _ in 0..rounds {
        let mut doomed: Vec<_> = LIVES.iter().map(|life| start_doomed(&place, life.1)).collect();
        for peer in &mut doomed {
            let began = Instant::now();
            until("the doomed listener hears through shared memory", || {
                (number(&peer.of("counts", "sub"), "/host") >= 5).then_some(())
            });
            slowest_host = slowest_host.max(began.elapsed());
        }
        while !doomed.is_empty() {
            let next = doomed.swap_remove(random.below(doomed.len() as u64) as usize);
            std::thread::sleep(Duration::from_micros(random.below(30_000)));
            survivor.of("report", "sub");
            let before = number(&talker.of("progress", "pub"), "/last");
            next.kill();
            // Messages that are published after the listener's death arrive.
            until("messages flow after the death", || {
                let report = survivor.of("report", "sub");
                largest_gap = largest_gap.max(largest_gap_ms(&report));
                (heard(&report, 1, "last") >= before + 200).then_some(())
            });
        }
        // The engine forgets the killed processes when their leases end; after that, nothing of
        // these processes is left.
        until("the talker has forgotten the dead", || {
            (talker.transports("pub").len() == 1).then_some(())
        });
        measured.push((resources(&talker, &place), resources(&survivor, &place)));
    }
    let (talker_before, survivor_before) = measured[0];
    let (talker_after, survivor_after) = until("everything of the dead is closed", || {
        let now = (resources(&talker, &place), resources(&survivor, &place));
        let few = now.0.descriptors <= talker_before.descriptors
            && now.1.descriptors <= survivor_before.descriptors
            && (!place.is_own() || now.0.shm_files <= talker_before.shm_files);
        few.then_some(now)
    });
    println!(
        "{} listeners killed: largest gap of the survivor {largest_gap} ms, slowest way to the shared-memory transport {slowest_host:?}\n\
         talker {talker_before:?} -> {talker_after:?}\nsurvivor {survivor_before:?} -> {survivor_after:?}",
        rounds as usize * LIVES.len()
    );
    assert!(
        talker_after.memory_kb < talker_before.memory_kb + LEEWAY_KB,
        "{talker_before:?} -> {talker_after:?}"
    );
    assert!(
        survivor_after.memory_kb < survivor_before.memory_kb + LEEWAY_KB,
        "{survivor_before:?} -> {survivor_after:?}"
    );
    assert!(
        !place.is_own() || talker_after.shm_kb < talker_before.shm_kb + 1024,
        "{talker_before:?} -> {talker_after:?}"
    );
    let stopped = talker.of("stop", "pub");
    assert_eq!(number(&stopped, "/errors"), 0, "{stopped}");
    let counts = talker.of("counts", "pub");
    assert_eq!(
        number(&counts, "/shared_memory_failures"),
        0,
        "the pool was never exhausted: {counts}"
    );
    let report = until("the last message comes", || {
        let report = survivor.of("report", "sub");
        (heard(&report, 1, "last") == number(&stopped, "/last")).then_some(report)
    });
    assert_eq!((number(&report, "/broken"), heard(&report, 1, "doubled")), (0, 0), "{report}");
    // Messages that a queue of ten could not hold are reported as lost, on any transport.
    let before_the_first = heard(&report, 1, "first") - 1;
    let missing = heard(&report, 1, "missing");
    let told = until("all losses are told", || {
        let told = number(&survivor.of("counts", "sub"), "/told_lost");
        (told >= missing).then_some(told)
    });
    assert!(told <= missing + before_the_first, "{told} were reported as lost: {report}");
    survivor.end();
    talker.end();
    place.must_be_swept();
}
