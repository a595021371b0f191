//! Tests the rings under loom. A publisher and a subscription run at the same time.

use super::*;
use feros_sync::{Arc, AtomicUsize};
use loom::thread;

const DEPTH: usize = 1;
const VIEWS: usize = 1;
const MESSAGES: usize = 3;

/// The rings, and memory for one more message than can exist at the same time.
struct Shared {
    positions: Positions,
    places: Vec<AtomicU64>,
    /// The memory of the messages. It consists of atomics that impose no order of their own: if the
    /// rings did not order the accesses, a side would see outdated or later content.
    chunks: Vec<AtomicUsize>,
}

impl Shared {
    fn new() -> Arc<Self> {
        let places = (0..Size::new(DEPTH, VIEWS).places()).map(|_| AtomicU64::new(0)).collect();
        let chunks = (0..DEPTH + VIEWS + 1).map(|_| AtomicUsize::new(0)).collect();
        Arc::new(Self { positions: Positions::new(), places, chunks })
    }

    fn ring(&self) -> Ring<'_> {
        let size = Size::new(DEPTH, VIEWS);
        Ring::new(&self.positions, &self.places, size).expect("there are as many places")
    }

    /// Tries `looks` times to take a message and to return it. Returns the contents of the
    /// messages.
    fn take(&self, looks: usize) -> Vec<usize> {
        let (ring, mut returned, mut said) = (self.ring(), 0, Vec::new());
        for _ in 0..looks {
            if let Some(chunk) = ring.take().expect("the positions are possible") {
                said.push(self.chunks[chunk as usize].load(Ordering::Relaxed));
                ring.give_back(&mut returned, chunk);
            }
        }
        said
    }

    /// Sends messages with the contents 1, 2 and so on. Returns how many messages were pushed out.
    fn send(&self) -> usize {
        let ring = self.ring();
        let mut free: Vec<u64> = (0..self.chunks.len() as u64).collect();
        let (mut written, mut reclaimed, mut pushed_out) = (0, 0, 0);
        for message in 1..=MESSAGES {
            while let Some(chunk) = ring.reclaim(&mut reclaimed).expect("they are possible") {
                free.push(chunk);
            }
            let chunk = free.pop().expect("there are enough chunks");
            self.chunks[chunk as usize].store(message, Ordering::Relaxed);
            if let Some(chunk) = ring.push(&mut written, chunk).expect("they are possible") {
                free.push(chunk);
                pushed_out += 1;
            }
        }
        pushed_out
    }
}

#[test]
fn each_message_is_taken_or_pushed_out_and_its_memory_stays_until_it_is_returned() {
    loom::model(|| {
        let shared = Shared::new();
        let publisher = {
            let shared = shared.clone();
            thread::spawn(move || shared.send())
        };
        let mut said = shared.take(2);
        let pushed_out = publisher.join().expect("sends");
        said.extend(shared.take(MESSAGES));
        assert!(said.is_sorted_by(|one, next| one < next), "{said:?}");
        assert_eq!(said.last(), Some(&MESSAGES), "the latest is never pushed out");
        assert_eq!(said.len() + pushed_out, MESSAGES);
    });
}
