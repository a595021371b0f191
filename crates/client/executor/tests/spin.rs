//! Tests the executor through its public interface: spinning, adding and removing entities,
//! stopping, and futures.
#![allow(clippy::unwrap_used)]

use feros_executor::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

const NO_WAIT: Option<Duration> = Some(Duration::ZERO);

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    thread::Builder::new().name(name.into()).spawn(work).unwrap()
}

/// Makes an entity that counts its executions and reports after each of them that no work is left.
fn counter() -> (Ringer, Entity, Arc<AtomicUsize>) {
    let (ringer, count) = (Ringer::new(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    let entity = Entity::new(&ringer, move || {
        counted.fetch_add(1, Ordering::SeqCst);
        Progress::Done
    });
    (ringer, entity, count)
}

#[test]
fn one_turn_executes_one_unit_and_more_asks_for_another() {
    let executor = Executor::new();
    let ringer = Ringer::new();
    let mut left = 3;
    let _entity = executor.add(Entity::new(&ringer, move || {
        left -= 1;
        if left > 0 { Progress::More } else { Progress::Done }
    }));
    assert_eq!(executor.spin_once(NO_WAIT).unwrap(), Outcome::TimedOut);
    ringer.ring();
    ringer.ring();
    for _ in 0..3 {
        assert_eq!(executor.spin_once(NO_WAIT).unwrap(), Outcome::Completed(()));
    }
    assert_eq!(executor.spin_once(NO_WAIT).unwrap(), Outcome::TimedOut);
}

#[test]
fn rings_before_adding_and_between_executors_are_kept() {
    let (ringer, entity, count) = counter();
    ringer.ring();
    let first = Executor::new();
    let handle = first.add(entity).unwrap();
    assert_eq!(first.spin_some(Duration::MAX).unwrap(), 1);
    ringer.ring();
    let entity = handle.detach().unwrap();
    assert_eq!(first.spin_some(Duration::MAX).unwrap(), 0);
    let second = Executor::new();
    let _handle = second.add(entity).unwrap();
    assert_eq!(second.spin_some(Duration::MAX).unwrap(), 1);
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[test]
fn ringing_and_handles_outlive_the_executor() {
    let (ringer, entity, count) = counter();
    let executor = Executor::new();
    let (handle, adder, stopper) =
        (executor.add(entity).unwrap(), executor.handle(), executor.stopper());
    drop(executor);
    ringer.ring();
    stopper.stop();
    assert!(!adder.is_spinning());
    assert_eq!(adder.add(counter().1).unwrap_err(), AddError::ExecutorGone);
    assert!(matches!(handle.detach(), Err(DetachError::ExecutorGone)));
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert_eq!(Arc::strong_count(&count), 1, "the entity was dropped with its executor");
}

#[test]
fn a_ringer_belongs_to_one_entity_and_slots_are_limited_and_reused() {
    let executor = Executor::new();
    let (ringer, entity, _) = counter();
    let handle = executor.add(entity).unwrap();
    let thief = Entity::new(&ringer, || Progress::Done);
    assert_eq!(executor.add(thief).unwrap_err(), AddError::RingerInUse);

    let mut rest = (2..CAPACITY).map(|_| executor.add(counter().1).unwrap()).collect::<Vec<_>>();
    assert_eq!(executor.add(counter().1).unwrap_err(), AddError::Full { capacity: CAPACITY });
    rest.truncate(100);
    drop(handle);
    ringer.ring(); // must not reach the next entity in the slot
    let (late_ringer, late, count) = counter();
    let _late = executor.add(late).unwrap();
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 0);
    late_ringer.ring();
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 1);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn entities_are_added_and_removed_by_callbacks() {
    let executor = Executor::new();
    let adder = executor.handle();
    let kept: Arc<Mutex<Vec<EntityHandle>>> = Arc::default();
    let (_, child, count) = counter();
    child.ringer().ring();
    let mut child = Some(child);
    let (own, handles) = (Ringer::new(), Arc::clone(&kept));
    let parent = Entity::new(&own, move || {
        let mut handles = handles.lock().unwrap();
        if let Some(child) = child.take() {
            handles.push(adder.add(child).unwrap());
            Progress::More
        } else {
            // The first handle is that of the entity itself: its callback runs to its end, and
            // never again.
            let mine = handles.remove(0);
            let Err(DetachError::OwnCallback(mine)) = mine.detach() else {
                panic!("detached while running")
            };
            drop(mine);
            Progress::More
        }
    });
    own.ring();
    let alive = Arc::downgrade(&kept);
    kept.lock().unwrap().push(executor.add(parent).unwrap());
    assert_eq!(executor.spin_all(Duration::MAX).unwrap(), 3);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(kept.lock().unwrap().len(), 1);
    drop(kept);
    assert!(alive.upgrade().is_none(), "the parent and its captures are dropped");
}

#[test]
fn detach_waits_for_the_callback_that_runs() {
    let executor = Arc::new(Executor::new());
    let (started, has_started) = mpsc::sync_channel(1);
    let (go_on, may_go_on) = mpsc::sync_channel::<()>(1);
    let finished = Arc::new(AtomicBool::new(false));
    let (ringer, ends) = (Ringer::new(), Arc::clone(&finished));
    let handle = executor
        .add(Entity::new(&ringer, move || {
            started.send(()).unwrap();
            may_go_on.recv().unwrap();
            ends.store(true, Ordering::SeqCst);
            Progress::Done
        }))
        .unwrap();
    ringer.ring();
    let spinning = spawn("spinning", {
        let executor = Arc::clone(&executor);
        move || executor.spin()
    });
    has_started.recv().unwrap();
    let detaching = spawn("detaching", move || {
        let entity = handle.detach().unwrap();
        (entity, finished.load(Ordering::SeqCst))
    });
    // The result is the same whether the call of `detach` or the end of the callback comes first.
    go_on.send(()).unwrap();
    let (entity, was_finished) = detaching.join().unwrap();
    assert!(was_finished);
    executor.stopper().stop();
    spinning.join().unwrap().unwrap();
    // The entity can be added to another executor.
    let other = Executor::new();
    let _handle = other.add(entity).unwrap();
    go_on.send(()).unwrap();
    ringer.ring();
    assert_eq!(other.spin_some(Duration::MAX).unwrap(), 1);
    assert!(has_started.try_recv().is_ok());
}

#[test]
fn spinning_twice_is_refused_with_the_reason() {
    let executor = Arc::new(Executor::new());
    let (inner, stopper) = (Arc::clone(&executor), executor.stopper());
    let (seen, errors) = mpsc::sync_channel(2);
    let (condition, entity) = GuardCondition::new(move || {
        assert!(inner.is_spinning());
        seen.send(inner.spin_some(Duration::ZERO).unwrap_err()).unwrap();
        let other = Arc::clone(&inner);
        seen.send(spawn("other", move || other.spin_once(None).unwrap_err()).join().unwrap())
            .unwrap();
        stopper.stop();
    });
    executor.add(entity).unwrap().keep();
    condition.trigger();
    let spinning = Arc::clone(&executor);
    spawn("first", move || spinning.spin()).join().unwrap().unwrap();
    assert_eq!(errors.recv().unwrap(), SpinError::InsideCallback);
    assert_eq!(errors.recv().unwrap(), SpinError::AlreadySpinning { thread: "first".into() });
    assert!(!executor.is_spinning());
}

#[test]
fn a_panic_leaves_the_executor_usable_and_loses_nothing() {
    let executor = Executor::new();
    let ringer = Ringer::new();
    let mut work = vec![2, 1, 0];
    let (done, results) = mpsc::sync_channel(3);
    let _entity = executor.add(Entity::new(&ringer, move || match work.pop() {
        Some(1) => panic!("as wanted by the test"),
        Some(number) => {
            done.send(number).unwrap();
            Progress::More
        }
        None => Progress::Done,
    }));
    ringer.ring();
    assert!(catch_unwind(AssertUnwindSafe(|| executor.spin_all(Duration::MAX))).is_err());
    assert!(!executor.is_spinning());
    assert_eq!(executor.spin_all(Duration::MAX).unwrap(), 2);
    assert_eq!(results.try_iter().collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn spin_some_serves_each_ready_entity_once() {
    let executor = Executor::new();
    let entities: Vec<_> = (0..3).map(|_| counter()).collect();
    let (insatiable, mut served) = (Ringer::new(), 0);
    let _insatiable = executor.add(Entity::new(&insatiable, move || {
        served += 1;
        assert!(served <= 2);
        Progress::More
    }));
    insatiable.ring();
    let handles: Vec<_> = entities
        .into_iter()
        .map(|(ringer, entity, count)| {
            ringer.ring();
            (executor.add(entity).unwrap(), count)
        })
        .collect();
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 4);
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 1);
    assert!(handles.iter().all(|(_, count)| count.load(Ordering::SeqCst) == 1));
}

#[test]
fn stopping_ends_one_spin_before_during_or_between() {
    let executor = Arc::new(Executor::new());
    executor.stopper().stop();
    executor.spin().unwrap();
    assert_eq!(executor.spin_once(NO_WAIT).unwrap(), Outcome::TimedOut);
    executor.stopper().stop();
    assert_eq!(executor.spin_once(None).unwrap(), Outcome::Stopped);
    // Stop many times while the spinning thread is going to sleep. A lost stop hangs the test.
    for _ in 0..5_000 {
        let stopper = executor.stopper();
        let stopping = spawn("stopping", move || stopper.stop());
        executor.spin().unwrap();
        stopping.join().unwrap();
    }
}

#[test]
fn spin_until_ends_with_its_predicate_or_its_time() {
    let executor = Executor::new();
    let (ringer, entity, count) = counter();
    let _entity = executor.add(entity).unwrap();
    let hurried = executor.spin_until(Some(Duration::from_millis(1)), || false).unwrap();
    assert_eq!(hurried, Outcome::TimedOut);
    let ringing = spawn("ringing", move || ringer.ring());
    let outcome = executor.spin_until(None, || count.load(Ordering::SeqCst) == 1).unwrap();
    assert_eq!(outcome, Outcome::Completed(()));
    ringing.join().unwrap();
    assert_eq!(executor.spin_until(NO_WAIT, || true).unwrap(), Outcome::Completed(()));
}

#[test]
fn a_future_is_completed_by_a_callback_or_another_thread() {
    /// A one-shot promise: the value, or the waker of the waiting task.
    type Promise = Arc<Mutex<(Option<u32>, Option<Waker>)>>;
    fn fulfil(promise: &Promise, value: u32) {
        let mut promise = promise.lock().unwrap();
        promise.0 = Some(value);
        if let Some(waker) = promise.1.take() {
            waker.wake();
        }
    }
    fn wait_for(promise: &Promise) -> impl Future<Output = u32> + use<> {
        let promise = Arc::clone(promise);
        std::future::poll_fn(move |context| {
            let mut promise = promise.lock().unwrap();
            promise.1 = Some(context.waker().clone());
            promise.0.take().map_or(Poll::Pending, Poll::Ready)
        })
    }

    let executor = Executor::new();
    let promise = Promise::default();
    let mut future = wait_for(&promise);
    let short = Some(Duration::from_millis(1));
    assert_eq!(executor.spin_until_complete(short, &mut future).unwrap(), Outcome::TimedOut);

    let by_callback = Arc::clone(&promise);
    let (condition, entity) = GuardCondition::new(move || fulfil(&by_callback, 1));
    let _entity = executor.add(entity).unwrap();
    condition.trigger();
    assert_eq!(executor.spin_until_complete(None, &mut future).unwrap(), Outcome::Completed(1));

    for round in 0..1_000 {
        let by_thread = Arc::clone(&promise);
        let thread = spawn("fulfilling", move || fulfil(&by_thread, round));
        let outcome = executor.spin_until_complete(None, wait_for(&promise)).unwrap();
        assert_eq!(outcome, Outcome::Completed(round));
        thread.join().unwrap();
    }

    let yields = async {
        let mut rounds = 100;
        std::future::poll_fn(|context| {
            rounds -= 1;
            context.waker().wake_by_ref(); // wakes the task from within its poll
            if rounds == 0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    };
    assert_eq!(executor.spin_until_complete(None, yields).unwrap(), Outcome::Completed(()));
}

#[test]
fn triggers_before_the_callback_count_once_and_stray_rings_do_not_count() {
    let executor = Executor::new();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let (condition, entity) = GuardCondition::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let stray = entity.ringer();
    condition.trigger();
    condition.clone().trigger();
    let _entity = executor.add(entity).unwrap();
    executor.spin_all(Duration::MAX).unwrap();
    stray.ring();
    executor.spin_all(Duration::MAX).unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_policy_is_a_value_that_names_the_next_slot() {
    /// Executes the highest slot first, regardless of earlier turns.
    #[derive(Default)]
    struct Highest(SlotSet);
    impl Policy for Highest {
        fn add(&mut self, _: Slot, _: &Attributes) {}
        fn remove(&mut self, slot: Slot) -> bool {
            self.0.remove(slot)
        }
        fn make_ready(&mut self, slot: Slot) {
            self.0.insert(slot);
        }
        fn next(&mut self) -> Option<(Slot, Step)> {
            let slot = self.0.iter().last()?;
            self.0.remove(slot);
            Some((slot, Step::Execute))
        }
        fn has_ready(&self) -> bool {
            !self.0.is_empty()
        }
    }
    let executor = Executor::with_options(ExecutorOptions::default().policy(Highest::default()));
    let order: Arc<Mutex<Vec<usize>>> = Arc::default();
    for name in 0..4 {
        let (ringer, order, mut units) = (Ringer::new(), Arc::clone(&order), 2);
        ringer.ring();
        let body = move || {
            order.lock().unwrap().push(name);
            units -= 1;
            if units > 0 { Progress::More } else { Progress::Done }
        };
        executor.add(Entity::new(&ringer, body)).unwrap().keep();
    }
    executor.spin_all(Duration::MAX).unwrap();
    // `spin_all` runs rounds in which each entity has one turn, in the order of the policy.
    assert_eq!(*order.lock().unwrap(), [3, 2, 1, 0, 3, 2, 1, 0]);
}

/// Catches the first panic, drops the entity in the report of that panic, and refuses all callbacks
/// after it.
#[derive(Default)]
struct Strict {
    has_failed: AtomicBool,
    texts: Mutex<Vec<String>>,
    handle: Mutex<Option<EntityHandle>>,
}

impl Supervisor for Strict {
    fn supervision(&self) -> Supervision {
        if self.has_failed.load(Ordering::SeqCst) {
            Supervision::Refuse
        } else {
            Supervision::Catch
        }
    }

    fn panicked(&self, text: &str) {
        self.has_failed.store(true, Ordering::SeqCst);
        self.texts.lock().unwrap().push(text.to_owned());
        drop(self.handle.lock().unwrap().take());
    }
}

#[test]
fn a_supervisor_learns_of_a_panic_and_can_refuse_more_entities() {
    let executor = Executor::new();
    let strict = Arc::new(Strict::default());
    let (bad, alive) = (Ringer::new(), Arc::new(()));
    let held = Arc::clone(&alive);
    let body = move || -> Progress { panic!("number {}", Arc::strong_count(&held)) };
    let entity = Entity::new(&bad, body).supervised_by(strict.clone());
    *strict.handle.lock().unwrap() = Some(executor.add(entity).unwrap());
    let (ringer, entity, count) = counter();
    let _refused = executor.add(entity.supervised_by(strict.clone())).unwrap();
    let (other, entity, others) = counter();
    let _other = executor.add(entity).unwrap();
    [&bad, &ringer, &other].into_iter().for_each(Ringer::ring);
    executor.spin_all(Duration::MAX).unwrap();
    assert_eq!(*strict.texts.lock().unwrap(), ["number 2"]);
    assert_eq!(Arc::strong_count(&alive), 1, "dropped with its captures");
    assert_eq!((count.load(Ordering::SeqCst), others.load(Ordering::SeqCst)), (0, 1));
    assert_eq!(supervise(&*strict, || 1), None);
}

#[test]
fn a_thread_that_looks_before_it_sleeps_misses_no_ring_and_no_stop() {
    const RINGS: usize = 200;
    for (threads, limit) in [(1, Duration::from_micros(50)), (1, Duration::MAX), (3, Duration::MAX)]
    {
        let options = ExecutorOptions::default().threads(threads).busy_wait(limit);
        let executor = Arc::new(Executor::with_options(options));
        let (executed, seen) = mpsc::sync_channel(RINGS);
        let ringer = Ringer::new();
        let entity = Entity::new(&ringer, move || {
            executed.send(()).unwrap();
            Progress::Done
        });
        let _entity = executor.add(entity).unwrap();
        let spins = Arc::clone(&executor);
        let spinning = spawn("spinning", move || spins.spin());
        for round in 0..RINGS {
            if round % 20 == 0 {
                thread::sleep(Duration::from_millis(2)); // longer than the first call's limit
            }
            ringer.ring();
            seen.recv_timeout(Duration::from_secs(60)).expect("the watchdog bit");
        }
        executor.stopper().stop();
        spinning.join().unwrap().unwrap();
        assert!(executor.busy_waited() > Duration::ZERO, "{threads} threads");
    }
    assert_eq!(Executor::new().busy_waited(), Duration::ZERO, "off by default");
}
