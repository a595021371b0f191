//! Tests an executor whose doorbell lies in shared memory: rings through another mapping of that
//! memory, and a process that overwrites it.
#![allow(clippy::unwrap_used)]

mod mapped;

use feros_executor::*;
use mapped::Mapped;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// A spinning executor with an entity that counts its executions. Dropping this value stops the
/// executor and joins its thread.
struct Spinning {
    executor: Arc<Executor>,
    ringer: Ringer,
    place: Place,
    _observed: Observation,
    executions: Arc<AtomicUsize>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Spinning {
    fn new(memory: &Arc<Mapped>) -> Self {
        let executor =
            Arc::new(Executor::with_options(ExecutorOptions::default().doorbell(memory.clone())));
        let (ringer, executions) = (Ringer::new(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&executions);
        let body = move || {
            count.fetch_add(1, Ordering::SeqCst);
            Progress::Done
        };
        let place = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&place);
        let _observed = ringer.on_move(move |place| *seen.lock().unwrap() = place);
        executor.add(Entity::new(&ringer, body)).unwrap().keep();
        let spinning = Arc::clone(&executor);
        let thread = thread::Builder::new().name("spinning".into());
        let thread = thread.spawn(move || spinning.spin().unwrap()).unwrap();
        let place = place.lock().unwrap().unwrap();
        let spinning =
            Self { executor, ringer, place, _observed, executions, thread: Some(thread) };
        spinning.await_executions(1); // the ring that comes with the move
        spinning
    }

    fn await_executions(&self, at_least: usize) {
        while self.executions.load(Ordering::SeqCst) < at_least {
            thread::yield_now();
        }
    }

    /// Tests every way to wake the executor; each test hangs if its wake-up is lost.
    fn check_all_ways_of_waking(&self, outside: &Doorbell, rounds: usize) {
        for _ in 0..rounds {
            let before = self.executions.load(Ordering::SeqCst);
            self.ringer.ring();
            self.await_executions(before + 1);
            let before = self.executions.load(Ordering::SeqCst);
            outside.ring(self.place.slot);
            self.await_executions(before + 1);
        }
        let (fired, firings) = mpsc::sync_channel(1);
        let (_timer, entity) =
            Timer::periodic(Arc::new(SteadyClock), Duration::from_micros(50), move |_| {
                let _ = fired.try_send(());
            });
        let _entity = self.executor.add(entity).unwrap();
        for _ in 0..3 {
            firings.recv().unwrap();
        }
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.executor.stopper().stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Waits until the first word of the doorbell shows that the executor sleeps.
fn await_sleep(memory: &Mapped) {
    while memory.words()[0].load(Ordering::SeqCst) as u32 != 1 {
        thread::yield_now();
    }
}

#[test]
fn rings_arrive_from_another_mapping() {
    let memory = Mapped::new();
    let spinning = Spinning::new(&memory);
    assert_eq!(spinning.place.doorbell, Some(7));
    spinning.check_all_ways_of_waking(memory.again().doorbell(), 5_000);
}

#[test]
fn memory_of_a_former_executor_is_used_again() {
    let memory = Mapped::new();
    for _ in 0..3 {
        let stranger = memory.again();
        let spinning = Spinning::new(&memory);
        spinning.check_all_ways_of_waking(stranger.doorbell(), 10);
        stranger.words().iter().for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
    }
}

/// Overwrites all words of the doorbell, together and one at a time, while the executor sleeps and
/// while it works. The executor must continue: its own process must be able to wake it, it must run
/// its timers, and it must sleep again, which is impossible while a flag remains set.
#[test]
fn a_stranger_s_scribbling_does_no_lasting_harm() {
    let memory = Mapped::new();
    let stranger = memory.again();
    let spinning = Spinning::new(&memory);
    let words = stranger.words();
    for value in [u64::MAX, 0x0123_4567_89ab_cdef, 1, 2, 0] {
        for which in 0..=words.len() {
            if which % 2 == 0 {
                await_sleep(&memory);
            }
            match words.get(which) {
                Some(word) => word.store(value, Ordering::Relaxed),
                None => words.iter().for_each(|word| word.store(value, Ordering::Relaxed)),
            }
            // The first ring comes from this process, because rings from other processes use the
            // overwritten bell, which is valid again only after a wake-up.
            spinning.check_all_ways_of_waking(stranger.doorbell(), 2);
        }
    }
    spinning.ringer.ring();
    await_sleep(&memory);
    let executions = spinning.executions.load(Ordering::SeqCst);
    assert!(executions > 0);
}

/// Another process sets the flags of all slots repeatedly, although only one slot has an entity.
/// The entity still runs, and a stop takes effect.
#[test]
fn an_endless_sender_keeps_the_executor_neither_from_working_nor_from_stopping() {
    let memory = Mapped::new();
    let stranger = memory.again();
    let spinning = Spinning::new(&memory);
    let (done, ended) = (AtomicU64::new(0), &memory);
    thread::scope(|scope| {
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) == 0 {
                stranger.words().iter().for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
            }
        });
        while spinning.executions.load(Ordering::SeqCst) < 1_000 {
            spinning.ringer.ring(); // the other process sets flags but wakes no thread
            thread::yield_now();
        }
        drop(spinning); // stops, and waits for the spinning thread
        done.store(1, Ordering::Relaxed);
    });
    assert_eq!(Arc::strong_count(ended), 1, "the executor has dropped its doorbell");
}

/// Another process is killed after it has set a flag, and before it has woken the sleeping
/// executor.
#[test]
fn a_nudge_delivers_what_a_killed_ringer_left() {
    let memory = Mapped::new();
    let spinning = Spinning::new(&memory);
    let slot = spinning.place.slot.index();
    for rang_the_bell in [false, true] {
        await_sleep(&memory);
        let before = spinning.executions.load(Ordering::SeqCst);
        memory.words()[2 + slot / 64].fetch_or(1 << (slot % 64), Ordering::SeqCst);
        if rang_the_bell {
            memory.words()[1].fetch_or(1 << (slot / 64), Ordering::SeqCst);
            memory.words()[0].store(0, Ordering::SeqCst);
        }
        memory.doorbell().nudge();
        spinning.await_executions(before + 1);
    }
}

#[test]
fn turns_with_a_shared_doorbell_find_what_was_rung_before_them() {
    let memory = Mapped::new();
    let executor = Executor::with_options(ExecutorOptions::default().doorbell(memory.clone()));
    let (ringer, slot) = (Ringer::new(), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&slot);
    let entity = Entity::new(&ringer, || Progress::Done);
    let _entity = executor.add(entity).unwrap();
    let _observed = ringer.on_move(move |place| {
        seen.store(place.map_or(0, |place| place.slot.index()), Ordering::Relaxed)
    });
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 1, "the ring of becoming observed");
    memory.doorbell().ring(Slot::new(slot.load(Ordering::Relaxed)).unwrap());
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 1);
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 0);
    drop(executor);
    assert_eq!(slot.load(Ordering::Relaxed), 0, "notified that the executor was dropped");
}

/// While one of two threads is held in a callback, the other thread notices rings from other
/// processes, no matter which of the two was waiting for them.
#[test]
fn two_threads_hear_other_processes_while_a_callback_blocks() {
    let memory = Mapped::new();
    let outside = memory.again();
    let executor = Arc::new(Executor::with_options(
        ExecutorOptions::default().threads(2).doorbell(memory.clone()),
    ));
    let (blocked, is_blocked) = mpsc::sync_channel(1);
    let (go_on, may_go_on) = mpsc::sync_channel::<()>(1);
    let (ran, runs) = mpsc::sync_channel(1);
    let blocking = Ringer::new();
    let body = move || {
        blocked.send(()).unwrap();
        may_go_on.recv().unwrap();
        Progress::Done
    };
    executor.add(Entity::new(&blocking, body)).unwrap().keep();
    let rung = Ringer::new();
    let body = move || {
        ran.send(()).unwrap();
        Progress::Done
    };
    let place = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&place);
    executor.add(Entity::new(&rung, body)).unwrap().keep();
    let _observed = rung.on_move(move |place| *seen.lock().unwrap() = place); // rings the entity
    let slot = place.lock().unwrap().unwrap().slot;
    let spinning = Arc::clone(&executor);
    let thread = thread::Builder::new().name("spinning".into());
    let thread = thread.spawn(move || spinning.spin().unwrap()).unwrap();
    runs.recv().unwrap();
    for round in 0..200 {
        if round % 2 == 0 {
            blocking.ring();
            is_blocked.recv().unwrap();
        }
        for _ in 0..5 {
            outside.doorbell().ring(slot);
            runs.recv().unwrap(); // hangs if no thread noticed it
            rung.ring();
            runs.recv().unwrap();
        }
        if round % 2 == 0 {
            go_on.send(()).unwrap();
        }
    }
    executor.stopper().stop();
    thread.join().unwrap();
}
