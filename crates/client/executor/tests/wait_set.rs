//! Tests which entities wait sets report and when, including entities that are also in other wait
//! sets and executors.
#![allow(clippy::unwrap_used)]

use feros_executor::*;
use feros_test_support::{Watchdog, spawn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

/// The timeout for a check without waiting.
const NOW: Option<Duration> = Some(Duration::ZERO);

/// An entity that is ready as long as there are messages.
#[derive(Default)]
struct Inbox {
    ringer: Ringer,
    messages: AtomicUsize,
}

impl Inbox {
    fn put(&self) {
        self.messages.fetch_add(1, Ordering::Release);
        self.ringer.ring();
    }

    fn take(&self) -> usize {
        self.messages.swap(0, Ordering::Acquire)
    }
}

impl Waitable for Inbox {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn is_ready(&self) -> bool {
        self.messages.load(Ordering::Acquire) > 0
    }
}

#[test]
fn all_that_are_ready_are_reported_until_taken() {
    let inboxes = [(); 3].map(|()| Arc::new(Inbox::default()));
    inboxes[0].put(); // before the entity is in the set
    let mut wait_set = WaitSet::new();
    assert!(wait_set.is_empty());
    for (index, inbox) in inboxes.iter().enumerate() {
        assert_eq!(wait_set.add(inbox.clone()), index);
    }
    inboxes[2].put();
    assert_eq!(wait_set.wait(None), [0, 2]);
    assert_eq!(wait_set.wait(None), [0, 2], "nothing was taken");
    inboxes[0].take();
    assert_eq!(wait_set.wait(NOW), [2]);
    inboxes[2].take();
    assert!(wait_set.wait(NOW).is_empty());
    assert!(wait_set.wait(Some(Duration::from_millis(1))).is_empty());
    assert_eq!(wait_set.len(), 3);
}

#[test]
fn a_ring_without_a_reason_wakes_nobody_up() {
    let _watchdog = Watchdog::start();
    let inbox = Arc::new(Inbox::default());
    let mut wait_set = WaitSet::new();
    wait_set.add(inbox.clone());
    let (woken, ended) = mpsc::sync_channel(1);
    let waiting = spawn("other", move || {
        let ready = wait_set.wait(None).to_vec();
        woken.send(ready).unwrap();
    });
    for _ in 0..100 {
        inbox.ringer.ring();
        thread::yield_now();
    }
    assert!(ended.try_recv().is_err(), "nothing is ready");
    inbox.put();
    assert_eq!(ended.recv().unwrap(), [0]);
    waiting.join().unwrap();
}

/// Each message is put in after the previous message has been taken, so a single lost wake-up hangs
/// the test.
#[test]
fn no_wake_up_is_lost_in_two_wait_sets_and_an_executor() {
    let _watchdog = Watchdog::start();
    const ROUNDS: usize = 5_000;
    let inbox = Arc::new(Inbox::default());
    let executor = Arc::new(Executor::new());
    let (execute, executed) = mpsc::sync_channel(1);
    let entity = Entity::new(&inbox.ringer, move || {
        execute.send(()).unwrap();
        Progress::Done
    });
    let entity = executor.add(entity).unwrap();
    let (stopper, spun) = (executor.stopper(), executor.clone());
    let spinning = spawn("other", move || spun.spin());
    let round = Arc::new(Barrier::new(3));
    let waiting = [(); 2].map(|()| {
        let (inbox, round) = (inbox.clone(), round.clone());
        spawn("other", move || {
            let mut wait_set = WaitSet::new();
            wait_set.add(inbox);
            for _ in 0..ROUNDS {
                assert_eq!(wait_set.wait(None), [0]);
                round.wait(); // both waiting threads have been woken
                round.wait(); // the message is taken
            }
        })
    });
    for _ in 0..ROUNDS {
        inbox.put();
        executed.recv().unwrap();
        round.wait();
        assert_eq!(inbox.take(), 1);
        round.wait();
    }
    waiting.into_iter().for_each(|thread| thread.join().unwrap());
    stopper.stop();
    spinning.join().unwrap().unwrap();
    drop(entity);
}

#[test]
fn guard_conditions_and_timers_are_waited_for() {
    let condition = GuardCondition::without_callback();
    let timer = Timer::without_callback(Arc::new(SteadyClock), Duration::from_millis(2));
    let mut wait_set = WaitSet::new();
    wait_set.add(Arc::new(condition.clone()));
    wait_set.add(Arc::new(timer.clone()));
    assert_eq!(wait_set.wait(None), [1], "the time has come");
    assert!(timer.take_call().is_some() && timer.take_call().is_none());
    timer.cancel();
    let trigger = condition.clone();
    let other = spawn("other", move || trigger.trigger());
    assert_eq!(wait_set.wait(None), [0]);
    assert!(condition.take() && !condition.take());
    other.join().unwrap();
    assert!(wait_set.wait(NOW).is_empty());
}

#[test]
fn a_timer_that_is_changed_or_told_the_time_ends_the_sleep() {
    let _watchdog = Watchdog::start();
    let clock = Arc::new(RosClock::simulated_at(Time::from_nanos(1)));
    let timers = [
        Timer::without_callback(clock.clone(), Duration::from_secs(5)),
        Timer::without_callback(Arc::new(SteadyClock), Duration::from_secs(3_600)),
    ];
    let mut wait_set = WaitSet::new();
    for timer in &timers {
        wait_set.add(Arc::new(timer.clone()));
    }
    assert!(wait_set.wait(NOW).is_empty());
    let telling = clock.clone();
    let other = spawn("other", move || telling.set_time(Time::from_nanos(6_000_000_000)));
    assert_eq!(wait_set.wait(None), [0]);
    other.join().unwrap();
    assert_eq!(timers[0].take_call().unwrap().actual, Time::from_nanos(6_000_000_000));
    let changed = timers[1].clone();
    let other = spawn("other", move || {
        changed.exchange_period(Duration::ZERO);
        changed.reset();
    });
    assert_eq!(wait_set.wait(None), [1]);
    other.join().unwrap();
    clock.set_time(Time::from_nanos(2)); // time jumps back: wait for a full period from there
    assert_eq!(timers[0].time_until_next(), Some(Duration::from_secs(5)));
}

#[test]
fn a_timer_of_an_executor_can_be_waited_for_too() {
    let executor = Executor::new();
    let (timer, entity) = Timer::periodic(Arc::new(SteadyClock), Duration::from_millis(1), |_| {});
    let _entity = executor.add(entity).unwrap();
    let mut wait_set = WaitSet::new();
    wait_set.add(Arc::new(timer));
    assert_eq!(wait_set.wait(None), [0]);
    assert_eq!(executor.spin_some(Duration::MAX), Ok(1));
}

#[test]
fn removed_waitables_are_neither_kept_nor_woken() {
    let inbox = Arc::new(Inbox::default());
    let pool = WaitSetPool::new();
    for _ in 0..3 {
        let mut wait_set = pool.take();
        wait_set.add(inbox.clone());
        wait_set.add(inbox.clone());
        inbox.put();
        assert_eq!(wait_set.wait(None), [0, 1]);
        inbox.take();
        drop(wait_set);
        assert_eq!(Arc::strong_count(&inbox), 1);
    }
    let mut another = pool.take();
    assert!(another.wait(NOW).is_empty() && another.is_empty());
}

/// A caller that waits for the same entities again gets the wait set that has them; that set is
/// never given to a caller that wants an empty set.
#[test]
fn a_kept_wait_set_is_found_by_its_entities() {
    let _watchdog = Watchdog::start();
    let [one, other] = [(); 2].map(|()| Arc::new(Inbox::default()));
    let pool = WaitSetPool::new();
    let has = |wait_set: &WaitSet, inbox: &Arc<Inbox>| {
        let wanted = Arc::as_ptr(inbox).cast::<()>();
        wait_set.entities().iter().any(|known| Arc::as_ptr(known).cast::<()>() == wanted)
    };
    let mut wait_set = pool.take();
    wait_set.add(one.clone());
    wait_set.keep();
    assert_eq!(one.ringer.wait_sets(), 1, "still attached");
    let mut again = pool.take_where(|known| has(known, &one));
    assert_eq!(again.len(), 1);
    one.put();
    assert_eq!(again.wait(None), [0]);
    again.keep();
    assert!(pool.take_where(|known| has(known, &other)).is_empty());
    assert!(pool.take().is_empty());
}

/// Other processes ring the wait set that an entity joined last, so an unused set in the pool must
/// not be that set.
#[test]
fn a_wait_set_is_not_kept_with_entities_of_another() {
    let shared = Arc::new(Inbox::default());
    let pool = WaitSetPool::new();
    let mut idle = pool.take();
    idle.add(shared.clone());
    idle.keep();
    let mut busy = pool.take_where(|_| false);
    busy.add(shared.clone());
    assert_eq!(shared.ringer.wait_sets(), 2);
    busy.keep();
    assert_eq!(shared.ringer.wait_sets(), 1, "the later one let go");
}

/// Another process rings the entity at its only place, which is in one of its wait sets. Both wait
/// sets get the ring.
#[test]
fn a_ring_of_another_process_is_relayed() {
    let _watchdog = Watchdog::start();
    let memory = Arc::new(Doorbell::new());
    let doorbell = memory.clone();
    let pool =
        WaitSetPool::with_doorbells(move || Some(doorbell.clone() as Arc<dyn DoorbellMemory>));
    let inbox = Arc::new(Inbox::default());
    let mut other = WaitSet::new();
    other.add(inbox.clone());
    let mut wait_set = pool.take();
    let (told, place) = mpsc::sync_channel(8);
    let observed = inbox.ringer.on_move(move |place| told.send(place).unwrap());
    wait_set.add(inbox.clone());
    let slot = place.try_iter().last().flatten().unwrap().slot;
    let waiting = spawn("other", move || other.wait(None).to_vec());
    inbox.messages.store(1, Ordering::Release);
    memory.ring(slot); // the doorbell, not the ringer
    assert_eq!(wait_set.wait(None), [0]);
    assert_eq!(waiting.join().unwrap(), [0]);
    drop(observed);
}
