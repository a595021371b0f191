//! Tests the rings with one thread on both sides, and with positions that other processes have
//! overwritten.

use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use super::*;

struct Memory {
    positions: Positions,
    places: Vec<AtomicU64>,
    size: Size,
}

impl Memory {
    fn new(depth: usize, views: usize) -> Self {
        let size = Size::new(depth, views);
        let places = (0..size.places()).map(|_| AtomicU64::new(0)).collect();
        Self { positions: Positions::new(), places, size }
    }

    fn ring(&self) -> Ring<'_> {
        Ring::new(&self.positions, &self.places, self.size).expect("there are as many places")
    }
}

#[test]
fn the_layout_is_fixed() {
    assert_eq!((size_of::<Positions>(), align_of::<Positions>()), (64, 64));
    assert_eq!(std::mem::offset_of!(Positions, read), 8);
    assert_eq!(std::mem::offset_of!(Positions, returned), 16);
}

#[test]
fn too_little_memory_is_no_ring() {
    let memory = Memory::new(3, 2);
    assert_eq!(memory.places.len(), 4 + 8);
    let places = &memory.places[1..];
    assert!(Ring::new(&memory.positions, places, memory.size).is_none());
    assert!(Ring::new(&memory.positions, &places[..2], memory.size).is_none());
}

#[test]
fn a_full_ring_gives_up_the_oldest() {
    let memory = Memory::new(3, 1);
    let (ring, mut written) = (memory.ring(), 0);
    for message in 1..=3 {
        assert_eq!(ring.push(&mut written, message), Ok(None));
    }
    assert_eq!(ring.push(&mut written, 4), Ok(Some(1)));
    assert!(ring.has_message());
    assert_eq!([(); 4].map(|()| ring.take()), [Ok(Some(2)), Ok(Some(3)), Ok(Some(4)), Ok(None)]);
    assert!(!ring.has_message());
}

#[test]
fn returned_messages_come_back_in_order() {
    let memory = Memory::new(2, 1);
    let (ring, mut returned, mut reclaimed) = (memory.ring(), 0, 0);
    for message in 0..10 {
        ring.give_back(&mut returned, message);
        ring.give_back(&mut returned, message + 100);
        assert_eq!(ring.reclaim(&mut reclaimed), Ok(Some(message)));
        assert_eq!(ring.reclaim(&mut reclaimed), Ok(Some(message + 100)));
        assert_eq!(ring.reclaim(&mut reclaimed), Ok(None));
    }
}

#[test]
fn impossible_positions_are_nonsense() {
    let memory = Memory::new(2, 1);
    let ring = memory.ring();
    let (mut written, mut reclaimed) = (0, 0);
    memory.positions.read.store(1, Ordering::Relaxed); // more messages than have been written
    assert_eq!(ring.push(&mut written, 1), Err(Nonsense));
    assert_eq!((written, ring.take()), (0, Err(Nonsense)));
    memory.positions.returned.store(5, Ordering::Relaxed);
    assert_eq!(ring.reclaim(&mut reclaimed), Err(Nonsense));
}

proptest! {
    /// Each message is either taken or pushed out, exactly once and in order.
    #[test]
    fn each_message_goes_one_way(depth in 1_usize..9, steps in vec(any::<bool>(), 0..200)) {
        let memory = Memory::new(depth, 1);
        let (ring, mut written, mut next) = (memory.ring(), 0, 0);
        for is_push in steps {
            if is_push {
                let message = written;
                if let Some(oldest) = ring.push(&mut written, message).expect("is possible") {
                    prop_assert_eq!(oldest, next);
                    prop_assert_eq!(message - oldest, depth as u64);
                    next += 1;
                }
            } else if let Some(message) = ring.take().expect("is possible") {
                prop_assert_eq!(message, next);
                next += 1;
            } else {
                prop_assert_eq!(written, next);
            }
        }
    }

    /// No matter what positions other processes write, no side panics or runs forever.
    #[test]
    fn any_positions_are_borne(words in vec(any::<u64>(), 3), depth in 1_usize..5) {
        let memory = Memory::new(depth, 2);
        let Positions { written, read, returned, .. } = &memory.positions;
        for (position, word) in [written, read, returned].into_iter().zip(words) {
            position.store(word, Ordering::Relaxed);
        }
        let (ring, mut own) = (memory.ring(), 7);
        let _ = ring.push(&mut own, 1);
        let taken = (0..=depth).filter(|_| matches!(ring.take(), Ok(Some(_)))).count();
        prop_assert!(taken <= depth);
        let most = memory.size.returned;
        let back = (0..=most).filter(|_| matches!(ring.reclaim(&mut own), Ok(Some(_)))).count();
        prop_assert!(back <= most);
    }
}
