//! Processes are started and killed in quick succession, while a talker and a listener go on: no
//! other process dies, every lost message is reported, and the killed processes leave nothing
//! behind.
//!
//! `FEROS_CRASH_KILLS` is the number of kills.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Peer, Place, Random, count_of, heard, number, program, resources, until};

/// The engine forgets a killed process when its lease ends. The lease is short, so that many
/// processes can be killed.
const LEASE: &str = "<Domain><Discovery><LeaseDuration>1s</LeaseDuration></Discovery></Domain>";
/// The number of processes that exist at the same time and wait to be killed.
const DOOMED: usize = 5;
/// Memory that is filled once is not a leak, so measuring begins after this many kills.
const FIRST: u32 = 15;
const LEEWAY_KB: u64 = 32 * 1024;

fn start(place: &Place, name: &str) -> Peer {
    let mut command = place.command(program());
    command.env("CYCLONEDDS_URI", LEASE);
    Peer::start_by(command, name)
}

/// Starts a process that talks or listens on the topic that all processes share.
fn start_doomed(place: &Place, random: &mut Random, number: u32) -> Peer {
    let mut doomed = start(place, "doomed");
    if random.below(3) == 0 {
        let talk = json!({"name": "pub", "topic": "image", "id": 1000 + number});
        doomed.ask("publisher", talk);
        doomed.ask("start", json!({"name": "pub", "period_us": 5000, "size": 20_000}));
    } else {
        let forms = [("owned", 0), ("view", 3), ("view", 1000), ("raw", 0)];
        let (form, hold) = forms[random.below(4) as usize];
        let by_network = random.below(4) == 0;
        let listen = json!({
            "name": "sub", "topic": "image", "form": form, "hold": hold, "by_network": by_network
        });
        doomed.ask("listen", listen);
    }
    doomed
}

#[test]
fn many_killed_processes_harm_nobody() {
    let kills = count_of("FEROS_CRASH_KILLS", 40);
    let place = Place::own_if_possible();
    let mut random = Random::new();
    let mut talker = start(&place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    let mut survivor = start(&place, "survivor");
    survivor.ask("listen", json!({"name": "sub", "topic": "image"}));
    talker.until_transport("pub", 1, "shared_memory");
    talker.ask("start", json!({"name": "pub", "period_us": 2000, "size": 10_000}));

    let forgotten = |talker: &mut Peer, survivor: &mut Peer| {
        until("the dead are forgotten", || {
            let (of_talker, of_survivor) = (talker.transports("pub"), survivor.transports("sub"));
            (of_talker.len() == 1 && of_survivor.len() == 1).then_some(())
        });
        (resources(talker, &place), resources(survivor, &place))
    };
    let mut doomed: Vec<Peer> = Vec::new();
    let mut before = None;
    let began = Instant::now();
    for number in 0..kills {
        while doomed.len() < DOOMED {
            doomed.push(start_doomed(&place, &mut random, number));
        }
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        doomed.swap_remove(random.below(DOOMED as u64) as usize).kill();
        talker.must_run();
        survivor.must_run();
        if number == FIRST {
            doomed.drain(..).for_each(Peer::kill);
            before = Some(forgotten(&mut talker, &mut survivor));
        }
    }
    doomed.drain(..).for_each(Peer::kill);
    let took = began.elapsed();
    let (talker_before, survivor_before) = before.expect("more are killed than are measured after");
    let (talker_after, survivor_after) = until("everything of the dead is closed", || {
        let now = forgotten(&mut talker, &mut survivor);
        let few = now.0.descriptors <= talker_before.descriptors
            && now.1.descriptors <= survivor_before.descriptors
            && (!place.is_own() || now.0.shm_files <= talker_before.shm_files);
        few.then_some(now)
    });
    println!(
        "{kills} processes killed in {took:?}\ntalker {talker_before:?} -> {talker_after:?}\n\
         survivor {survivor_before:?} -> {survivor_after:?}"
    );
    for (before, after) in [(talker_before, talker_after), (survivor_before, survivor_after)] {
        assert!(after.memory_kb < before.memory_kb + LEEWAY_KB, "{before:?} -> {after:?}");
    }
    let stopped = talker.of("stop", "pub");
    assert_eq!(number(&stopped, "/errors"), 0, "{stopped}");
    let report = until("the last message comes", || {
        let report = survivor.of("report", "sub");
        (heard(&report, 1, "last") == number(&stopped, "/last")).then_some(report)
    });
    assert_eq!((number(&report, "/broken"), heard(&report, 1, "doubled")), (0, 0), "{report}");
    let missing = heard(&report, 1, "missing");
    until("all losses are told", || {
        (number(&survivor.of("counts", "sub"), "/told_lost") >= missing).then_some(())
    });
    survivor.end();
    talker.end();
    place.must_be_swept();
}
