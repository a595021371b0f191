//! Another user fills `/dev/shm` and empties it again while processes start: no matter when this
//! happens, no signal ends a process, and the processes exchange messages.
//!
//! `FEROS_CRASH_STARTS` is the number of times that a pair of processes is started; the default is
//! small:
//!
//! ```text
//! FEROS_CRASH_STARTS=320 cargo test -p feros-crash-tests --test it filled_at_start -- --nocapture
//! ```

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::support::{DevShm, Peer, Place, Random, heard, number, skipped, until};

/// A little more than the free space that a process requires before it makes shared memory.
const DEV_SHM_BYTES: u64 = 2 << 20;

/// Fills the folder and empties it again until it is stopped; each time, the folder is full for a
/// moment.
fn fill_and_empty(dev_shm: &Path, is_stopped: &AtomicBool, fillings: &AtomicU64) {
    let mut random = Random::new();
    let block = [1; 16 << 10];
    while !is_stopped.load(Ordering::Relaxed) {
        let mut file = std::fs::File::create(dev_shm.join("filler")).unwrap();
        while file.write_all(&block).is_ok() {}
        fillings.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_micros(random.below(200)));
        file.set_len(0).unwrap();
        let magnitude = 7 + random.below(9);
        std::thread::sleep(Duration::from_micros(random.below(1 << magnitude)));
    }
    std::fs::remove_file(dev_shm.join("filler")).unwrap();
}

/// Starts a pair of processes that exchange messages of growing size, and ends it when `is_enough`
/// holds for two counts: of received messages, and of messages received through shared memory.
/// Returns the second count.
fn start_a_pair(place: &Place, is_enough: impl Fn(u64, u64) -> bool) -> u64 {
    let mut listener = Peer::start(place, "listener");
    listener.ask("listen", json!({"name": "sub", "topic": "image"}));
    let mut talker = Peer::start(place, "talker");
    talker.ask("publisher", json!({"name": "pub", "topic": "image", "id": 1}));
    let mut size = 100;
    let by_shared_memory = until("messages come", || {
        let published = talker.ask("publish", json!({"name": "pub", "count": 8, "size": size}));
        assert_eq!(number(&published, "/errors"), 0, "{published}");
        size = (size * 3 / 2).min(60_000);
        let count = heard(&listener.of("report", "sub"), 1, "count");
        let by_shared_memory = number(&listener.of("counts", "sub"), "/host");
        is_enough(count, by_shared_memory).then_some(by_shared_memory)
    });
    assert_eq!(number(&listener.of("report", "sub"), "/broken"), 0);
    talker.end();
    listener.end();
    by_shared_memory
}

#[test]
fn no_signal_ends_a_process() {
    let starts =
        std::env::var("FEROS_CRASH_STARTS").map_or(40_u32, |starts| starts.parse().unwrap());
    let place = match Place::own(&DevShm::OfBytes(DEV_SHM_BYTES)) {
        Ok(place) => place,
        Err(why) => return skipped("a /dev/shm that another user fills", &why),
    };
    let (dev_shm, is_stopped, fillings) =
        (place.dev_shm(), AtomicBool::new(false), AtomicU64::new(0));
    /// Stops the thread even when a start fails, since the scope waits for the thread.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (mut by_shared_memory, mut pairs_of_shared_memory) = (0, 0);
    std::thread::scope(|scope| {
        let filling = || fill_and_empty(&dev_shm, &is_stopped, &fillings);
        std::thread::Builder::new().name("filler".into()).spawn_scoped(scope, filling).unwrap();
        let _stop = Stop(&is_stopped);
        for _ in 0..starts {
            let heard = start_a_pair(&place, |count, _| count > 40);
            by_shared_memory += heard;
            pairs_of_shared_memory += u32::from(heard > 0);
        }
    });
    let fillings = fillings.into_inner();
    println!(
        "{starts} starts, filled {fillings} times; {pairs_of_shared_memory} pairs had shared \
         memory, {by_shared_memory} messages took it"
    );
    assert!(fillings > u64::from(starts), "{fillings}");
    // Leftovers do not disturb processes that start later.
    start_a_pair(&place, |_, by_shared_memory| by_shared_memory > 0);
    place.must_be_swept();
}
