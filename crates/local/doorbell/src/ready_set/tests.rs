//! Tests of rings from this process and from other processes, with real threads and the real futex.
//! They also test what harm another process can do when it overwrites the memory.

#![allow(clippy::unwrap_used)]

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

fn slot(index: usize) -> Slot {
    Slot::new(index).unwrap()
}

/// A ready set that other processes may ring.
fn expecting(memory: Arc<Doorbell>) -> ReadySet {
    let ready_set = ReadySet::shared_at(memory);
    ready_set.begin_sharing();
    ready_set
}

fn drained(ready_set: &ReadySet) -> Vec<Slot> {
    let mut slots = Vec::new();
    ready_set.drain(|slot| slots.push(slot));
    slots
}

fn with_shared_doorbell() -> (Arc<Doorbell>, ReadySet) {
    let memory = Arc::new(Doorbell::new());
    (Arc::clone(&memory), expecting(memory))
}

#[test]
fn waiting_returns_at_once_when_a_flag_is_set_by_either_process() {
    let (memory, ready_set) = with_shared_doorbell();
    memory.ring(slot(1));
    ready_set.wait(None); // this waits forever if the ring is lost
    assert_eq!(drained(&ready_set), [slot(1)]);
    assert!(memory.flags.are_clear());
    ready_set.ring(slot(2));
    ready_set.wait(None);
    assert!(ready_set.take(slot(2)));
    assert_eq!(drained(&ready_set), []);
}

#[test]
fn waiting_ends_with_its_timeout_with_and_without_shared_doorbell() {
    for ready_set in [ReadySet::private(), with_shared_doorbell().1] {
        ready_set.wait(Some(Duration::from_millis(1)));
    }
}

#[test]
fn reused_memory_is_emptied() {
    let memory = Arc::new(Doorbell::new());
    memory.ring(slot(3));
    memory.bell.store(SLEEPING, Ordering::Relaxed);
    memory.flags.words[63].store(1, Ordering::Relaxed); // the flag of a killed ringer
    let ready_set = ReadySet::shared_at(memory.clone());
    assert!(!memory.flags.repair_summary() && !memory.may_sleep());
    assert_eq!(drained(&ready_set), []);
}

/// Each ringer waits until its flag has been taken before it rings again, so a single lost wake-up
/// makes the test hang.
#[test]
fn no_ring_is_lost_between_threads() {
    const ROUNDS: usize = 20_000;
    for memory in [None, Some(Arc::new(Doorbell::new()))] {
        let ready_set = Arc::new(match &memory {
            None => ReadySet::private(),
            Some(memory) => expecting(memory.clone()),
        });
        let ringers: Vec<_> = [7, 8, 900]
            .into_iter()
            .map(|index| {
                let taken = Arc::new(AtomicBool::new(true));
                let (ready_set, seen) = (Arc::clone(&ready_set), Arc::clone(&taken));
                let other = memory.clone().filter(|_| index != 8); // this thread rings like another process
                let thread = thread::Builder::new()
                    .name(format!("ringer-{index}"))
                    .spawn(move || {
                        for _ in 0..ROUNDS {
                            while !seen.swap(false, Ordering::AcqRel) {
                                thread::yield_now();
                            }
                            match &other {
                                None => ready_set.ring(slot(index)),
                                Some(memory) => memory.ring(slot(index)),
                            }
                        }
                    })
                    .unwrap();
                (slot(index), taken, thread)
            })
            .collect();
        let mut count = 0;
        while count < ringers.len() * ROUNDS {
            let before = count;
            ready_set.drain(|found| {
                count += 1;
                let (_, taken, _) = ringers.iter().find(|(slot, ..)| *slot == found).unwrap();
                taken.store(true, Ordering::Release);
            });
            if count == before {
                ready_set.wait(None);
            }
        }
        for (_, _, thread) in ringers {
            thread.join().unwrap();
        }
    }
}

/// No matter what value the shared bell has while the executor sleeps, a ring of the executor's own
/// process wakes it.
#[test]
fn a_scribbled_bell_does_not_swallow_a_ring_of_this_process() {
    for scribble in [AWAKE, 2, 0xdead_beef, u32::MAX] {
        let (memory, ready_set) = with_shared_doorbell();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !ready_set.take(slot(3)) {
                    ready_set.wait(None);
                }
            });
            while memory.bell.load(Ordering::Relaxed) != SLEEPING {
                thread::yield_now();
            }
            memory.bell.store(scribble, Ordering::Relaxed);
            ready_set.ring(slot(3)); // if this ring is lost, the scope never ends
        });
    }
}

/// The executor sleeps on a word of its own process, except while other processes may ring one of
/// its entities.
#[test]
fn the_place_to_sleep_depends_on_who_may_ring() {
    let memory = Arc::new(Doorbell::new());
    let ready_set = ReadySet::shared_at(memory.clone());
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ready_set.take(slot(5)) {
                ready_set.wait(None);
                ready_set.take(slot(3));
            }
        });
        let await_bells = |private, shared| {
            while [&ready_set.private, &memory]
                .map(|doorbell| doorbell.bell.load(Ordering::Relaxed))
                != [private, shared]
            {
                thread::yield_now();
            }
        };
        await_bells(SLEEPING, AWAKE);
        ready_set.begin_sharing();
        ready_set.ring(slot(3));
        await_bells(SLEEPING_SHARED, SLEEPING);
        ready_set.end_sharing();
        memory.ring(slot(3));
        await_bells(SLEEPING, AWAKE);
        ready_set.ring(slot(5));
    });
}

/// The thread that is woken first is busy. Only the second ring can make another thread take the
/// second flag.
#[test]
fn the_ring_of_another_slot_wakes_another_thread() {
    let (memory, shared) = with_shared_doorbell();
    for ready_set in [ReadySet::private(), shared] {
        let woken =
            || [&ready_set.followers, &ready_set.leader].map(|it| it.load(Ordering::Relaxed));
        let leader = ready_set.leader_wait();
        let followers = [(); 2].map(|()| ready_set.follower_wait());
        ready_set.ring(slot(1));
        ready_set.ring(slot(1)); // the same thread takes this flag
        assert_eq!(woken(), [1, 0]);
        ready_set.ring(slot(2));
        assert_eq!(woken(), [2, 0], "the second follower");
        ready_set.ring(slot(3));
        if leader.is_shared() {
            assert!(!memory.may_sleep(), "the leader, at the shared doorbell");
        } else {
            assert_eq!(woken(), [2, 1], "the leader");
        }
        ready_set.ring(slot(4)); // the thread that comes first takes this flag
        ready_set.wake_next();
        ready_set.wake_leader();
        assert_eq!(woken(), [2, u32::from(!leader.is_shared())]);
        leader.wait(None); // this waits forever if the ring is lost
        for follower in followers {
            follower.wait(None);
        }
    }
}

#[test]
fn a_thread_that_wakes_by_itself_is_not_woken_again() {
    let ready_set = ReadySet::private();
    let woken = || [&ready_set.followers, &ready_set.leader].map(|it| it.load(Ordering::Relaxed));
    let no_time = Some(Duration::from_nanos(1));
    ready_set.leader_wait().wait(no_time);
    ready_set.leader_has_waited();
    let leader = ready_set.leader_wait();
    ready_set.follower_wait().wait(no_time);
    ready_set.follower_has_waited(0);
    ready_set.ring(slot(1));
    assert_eq!(woken(), [0, 1], "only the leader sleeps");
    leader.wait(None);
    ready_set.leader_has_waited();
    assert!(!ready_set.private.may_sleep());
}

/// A flag is set between a thread's last check and its sleep.
#[test]
fn a_thread_that_falls_asleep_with_a_flag_set_is_woken_at_once() {
    for ready_set in [ReadySet::private(), with_shared_doorbell().1] {
        ready_set.ring(slot(1));
        ready_set.leader_wait().wait(None); // this waits forever if the flag is missed
        ready_set.leader_has_waited();
        ready_set.follower_wait().wait(None);
        ready_set.follower_has_waited(0);
        assert!(!ready_set.private.may_sleep());
    }
}

/// The ringer has been delayed after it has set the flag. The next ring of the same slot wakes a
/// thread.
#[test]
fn a_flag_that_was_set_already_wakes_when_nobody_was_woken_for_it() {
    let ready_set = ReadySet::private();
    let follower = ready_set.follower_wait();
    ready_set.private.flags.set(slot(1));
    ready_set.ring(slot(1));
    follower.wait(None); // this waits forever if the ring is lost
}
