//! Tests several threads on one executor: which entities overlap and which do not, and that no
//! event is lost and no entity waits forever. A lost event hangs a test.
#![allow(clippy::unwrap_used)]

mod spinning;

use feros_executor::*;
use feros_test_support::spawn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use spinning::spinning;

fn executor_of(threads: usize) -> Arc<Executor> {
    Arc::new(Executor::with_options(ExecutorOptions::default().threads(threads).name("worker")))
}

fn of_group(group: &ExclusiveGroup) -> Attributes {
    Attributes { group: Some(group.clone()), ..Attributes::default() }
}

/// Two callbacks wait for each other, so they have to overlap. Both are rung again after each
/// meeting.
#[test]
fn different_entities_overlap_without_a_group_or_in_different_groups() {
    for groups in [None, Some([ExclusiveGroup::new(), ExclusiveGroup::new()])] {
        let executor = executor_of(2);
        let meeting = Arc::new(Barrier::new(2));
        let (met, meetings) = mpsc::sync_channel(4);
        let ringers = [0, 1].map(|which| {
            let (ringer, meeting, met) = (Ringer::new(), meeting.clone(), met.clone());
            let entity = Entity::new(&ringer, move || {
                meeting.wait();
                met.send(()).unwrap();
                Progress::Done
            });
            let entity = match &groups {
                Some(groups) => entity.with(of_group(&groups[which])),
                None => entity,
            };
            executor.add(entity).unwrap().keep();
            ringer
        });
        let spinner = spinning(&executor);
        for round in 0..500 {
            ringers[round % 2].ring();
            ringers[1 - round % 2].ring();
            meetings.recv().unwrap();
            meetings.recv().unwrap();
        }
        executor.stopper().stop();
        spinner.join().unwrap().unwrap();
    }
}

/// Busy entities of one group never overlap, no entity overlaps with itself, and every message is
/// handled.
#[test]
fn a_group_runs_one_entity_at_a_time_and_nothing_is_lost() {
    const MESSAGES: usize = 3_000;
    let executor = executor_of(3);
    let groups = [ExclusiveGroup::new(), ExclusiveGroup::new()];
    let inside = [0, 1].map(|_| Arc::new(AtomicUsize::new(0)));
    let total = Arc::new(AtomicUsize::new(0));
    let mut producers = Vec::new();
    for entity in 0..6 {
        let (sender, inbox) = mpsc::sync_channel::<usize>(4);
        let (ringer, total, stopper) = (Ringer::new(), total.clone(), executor.stopper());
        let group = (entity < 4).then_some(entity % 2);
        let (inside, own) = (group.map(|group| inside[group].clone()), AtomicUsize::new(0));
        let mut expected = 0;
        let body = move || {
            let Ok(number) = inbox.try_recv() else { return Progress::Done };
            for count in inside.as_deref().into_iter().chain([&own]) {
                assert_eq!(count.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
            }
            assert_eq!(number, expected);
            expected += 1;
            thread::yield_now();
            for count in inside.as_deref().into_iter().chain([&own]) {
                count.fetch_sub(1, Ordering::SeqCst);
            }
            if total.fetch_add(1, Ordering::SeqCst) + 1 == 6 * MESSAGES {
                stopper.stop();
            }
            Progress::More
        };
        let entity = Entity::new(&ringer, body);
        let entity = match group {
            Some(group) => entity.with(of_group(&groups[group])),
            None => entity,
        };
        executor.add(entity).unwrap().keep();
        producers.push(spawn("other", move || {
            for number in 0..MESSAGES {
                sender.send(number).unwrap(); // blocks while the queue is full, so a lost ring hangs the test
                ringer.ring();
            }
        }));
    }
    spinning(&executor).join().unwrap().unwrap();
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    assert_eq!(total.load(Ordering::SeqCst), 6 * MESSAGES);
}

/// While one thread is held in a callback, the other thread serves rings, a timer, and entities
/// that are added in the meantime.
#[test]
fn a_callback_that_blocks_holds_up_its_group_only() {
    let executor = executor_of(2);
    let group = ExclusiveGroup::new();
    let (blocked, is_blocked) = mpsc::sync_channel(1);
    let (go_on, may_go_on) = mpsc::sync_channel::<()>(1);
    let (blocking, rival) = (Ringer::new(), Ringer::new());
    let body = move || {
        blocked.send(()).unwrap();
        may_go_on.recv().unwrap();
        Progress::Done
    };
    executor.add(Entity::new(&blocking, body).with(of_group(&group))).unwrap().keep();
    let (ran, runs) = mpsc::sync_channel(1);
    let body = move || {
        ran.send(()).unwrap();
        Progress::Done
    };
    executor.add(Entity::new(&rival, body).with(of_group(&group))).unwrap().keep();
    let spinner = spinning(&executor);
    blocking.ring();
    is_blocked.recv().unwrap();
    rival.ring();
    let (fired, firings) = mpsc::sync_channel(1);
    let period = Duration::from_micros(200);
    let (_, timer) = Timer::periodic(Arc::new(SteadyClock), period, move |_| {
        let _ = fired.try_send(());
    });
    let _timer = executor.add(timer).unwrap();
    let (triggered, triggers) = mpsc::sync_channel(1);
    let (condition, entity) = GuardCondition::new(move || triggered.send(()).unwrap());
    let _condition = executor.add(entity).unwrap();
    for _ in 0..50 {
        firings.recv().unwrap();
        condition.trigger();
        triggers.recv().unwrap();
    }
    assert!(runs.try_recv().is_err(), "its group is busy");
    go_on.send(()).unwrap();
    runs.recv().unwrap();
    executor.stopper().stop();
    spinner.join().unwrap().unwrap();
}

#[test]
fn timers_of_several_periods_are_kept_by_several_threads() {
    let executor = executor_of(3);
    let _noise = executor.add(GuardCondition::new(|| {}).1).unwrap();
    let receivers: Vec<_> = [50, 70, 110, 1_000]
        .into_iter()
        .map(|micros| {
            let (fired, firings) = mpsc::sync_channel(1);
            let (timer, entity) = Timer::periodic(
                Arc::new(SteadyClock),
                Duration::from_micros(micros),
                move |call| {
                    assert!(call.actual >= call.expected);
                    let _ = fired.try_send(());
                },
            );
            executor.add(entity).unwrap().keep();
            (timer, firings)
        })
        .collect();
    let spinner = spinning(&executor);
    for _ in 0..200 {
        receivers.iter().for_each(|(_, firings)| firings.recv().unwrap());
    }
    // Set a deadline that is earlier than all others.
    for (timer, _) in &receivers {
        timer.exchange_period(Duration::from_secs(1_000));
        timer.reset();
    }
    let (fired, firings) = mpsc::sync_channel(1);
    let (_, entity) =
        Timer::one_shot(Arc::new(SteadyClock), Duration::from_micros(10), move |_| {
            fired.send(()).unwrap();
        });
    let _one_shot = executor.add(entity).unwrap();
    firings.recv().unwrap();
    executor.stopper().stop();
    spinner.join().unwrap().unwrap();
}

/// A callback makes two other entities ready and adds a timer. All three callbacks wait until the
/// timer has fired. So the leader has to learn of the timer, although the thread that noticed the
/// timer also had to wake another thread.
#[test]
fn a_timer_that_comes_with_other_work_is_watched_at_once() {
    let executor = executor_of(4);
    let meeting = Arc::new(Barrier::new(4));
    let waiting = [(); 2].map(|()| {
        let (ringer, meeting) = (Ringer::new(), meeting.clone());
        let body = move || {
            meeting.wait();
            Progress::Done
        };
        executor.add(Entity::new(&ringer, body)).unwrap().keep();
        ringer
    });
    let (first, handle) = (Ringer::new(), executor.handle());
    let (met, meetings) = mpsc::sync_channel(1);
    let body = move || {
        waiting.iter().for_each(Ringer::ring);
        let at_timer = meeting.clone();
        let soon = Duration::from_millis(2); // after the other threads have looked for work
        let (_, timer) = Timer::one_shot(Arc::new(SteadyClock), soon, move |_| {
            at_timer.wait();
        });
        let _timer = handle.add(timer).unwrap();
        meeting.wait();
        met.send(()).unwrap();
        Progress::Done
    };
    executor.add(Entity::new(&first, body)).unwrap().keep();
    let spinner = spinning(&executor);
    for _ in 0..200 {
        first.ring();
        meetings.recv().unwrap();
    }
    executor.stopper().stop();
    spinner.join().unwrap().unwrap();
}

#[test]
fn predicates_and_futures_are_answered_whichever_thread_does_the_work() {
    let executor = executor_of(3);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let (condition, entity) = GuardCondition::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let _entity = executor.add(entity).unwrap();
    for round in 1..=300 {
        let trigger = condition.clone();
        let ringing = spawn("other", move || trigger.trigger());
        let outcome = executor.spin_until(None, || count.load(Ordering::SeqCst) == round).unwrap();
        assert_eq!(outcome, Outcome::Completed(()));
        ringing.join().unwrap();
    }
    assert_eq!(
        executor.spin_until(Some(Duration::from_millis(1)), || false).unwrap(),
        Outcome::TimedOut
    );
    let answer: Arc<Mutex<(bool, Option<std::task::Waker>)>> = Arc::default();
    for _ in 0..300 {
        let (told, waiting) = (answer.clone(), answer.clone());
        *answer.lock().unwrap() = (false, None);
        let telling = spawn("other", move || {
            let mut answer = told.lock().unwrap();
            answer.0 = true;
            if let Some(waker) = answer.1.take() {
                waker.wake();
            }
        });
        let future = std::future::poll_fn(|context| {
            let mut answer = waiting.lock().unwrap();
            answer.1 = Some(context.waker().clone());
            if answer.0 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        });
        assert_eq!(executor.spin_until_complete(None, future).unwrap(), Outcome::Completed(()));
        telling.join().unwrap();
    }
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 0);
}

#[test]
fn stopping_and_panicking_end_all_threads() {
    let executor = executor_of(4);
    for _ in 0..300 {
        let stopper = executor.stopper();
        let stopping = spawn("other", move || stopper.stop());
        executor.spin().unwrap();
        stopping.join().unwrap();
    }
    assert!(!executor.is_spinning());
    let names: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = names.clone();
    let (condition, entity) = GuardCondition::new(move || {
        noted.lock().unwrap().push(thread::current().name().unwrap_or_default().to_owned());
        panic!("as wanted by the test");
    });
    let _entity = executor.add(entity).unwrap();
    for _ in 0..20 {
        condition.trigger();
        assert!(catch_unwind(AssertUnwindSafe(|| executor.spin())).is_err());
        assert!(!executor.is_spinning());
    }
    let expected = |name: &String| name.starts_with("worker-") || name.starts_with("stopping_and");
    assert!(names.lock().unwrap().iter().all(expected), "{names:?}");
}

#[test]
fn a_callback_on_any_thread_cannot_spin_its_executor() {
    let executor = executor_of(2);
    let meeting = Arc::new(Barrier::new(2));
    let ringers = [(); 2].map(|()| {
        let (ringer, meeting, inner) = (Ringer::new(), meeting.clone(), Arc::downgrade(&executor));
        let stopper = executor.stopper();
        let body = move || {
            meeting.wait(); // so both threads are in a callback
            let inner = inner.upgrade().unwrap();
            assert_eq!(inner.spin_once(None), Err(SpinError::InsideCallback));
            meeting.wait();
            stopper.stop();
            Progress::Done
        };
        executor.add(Entity::new(&ringer, body)).unwrap().keep();
        ringer
    });
    ringers.iter().for_each(Ringer::ring);
    executor.spin().unwrap();
}

#[test]
fn entities_come_and_go_while_several_threads_spin() {
    let executor = executor_of(3);
    let spinner = spinning(&executor);
    let group = ExclusiveGroup::new();
    let workers: Vec<_> = (0..3)
        .map(|worker| {
            let (handle, group) = (executor.handle(), group.clone());
            spawn("other", move || {
                for round in 0..700 {
                    let (ringer, gone) = (Ringer::new(), Arc::new(AtomicBool::new(false)));
                    let is_gone = gone.clone();
                    let entity = Entity::new(&ringer, move || {
                        assert!(!is_gone.load(Ordering::SeqCst), "executed after detach");
                        Progress::More
                    });
                    let entity = if worker < 2 { entity.with(of_group(&group)) } else { entity };
                    ringer.ring();
                    let entity = handle.add(entity).unwrap();
                    if round % 2 == 0 {
                        drop(entity.detach().unwrap());
                        gone.store(true, Ordering::SeqCst);
                    } else {
                        drop(entity);
                    }
                    ringer.ring();
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    executor.stopper().stop();
    spinner.join().unwrap().unwrap();
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 0);
}

#[test]
fn several_threads_follow_simulated_time() {
    let clock = Arc::new(RosClock::simulated_at(Time::from_nanos(1_000)));
    let executor = executor_of(2);
    let (fired, firings) = mpsc::sync_channel(1);
    let (_, entity) = Timer::periodic(clock.clone(), Duration::from_nanos(100), move |call| {
        fired.send(call.expected.as_nanos()).unwrap();
    });
    let _timer = executor.add(entity).unwrap();
    let spinner = spinning(&executor);
    for step in 1..=200 {
        clock.set_time(Time::from_nanos(1_000 + 100 * step));
        assert_eq!(firings.recv().unwrap(), 1_000 + 100 * step);
    }
    executor.stopper().stop();
    spinner.join().unwrap().unwrap();
}

#[test]
fn a_sequence_has_one_thread_and_a_frozen_executor_takes_nothing_more() {
    assert_eq!(
        Executor::with_options(ExecutorOptions::default().threads(4).policy(Sequence::default()))
            .threads(),
        1
    );
    assert!(Executor::with_options(ExecutorOptions::default().threads(0)).threads() >= 2);
    let executor = Executor::with_options(ExecutorOptions::default().frozen());
    let (condition, entity) = GuardCondition::new(|| {});
    let _entity = executor.add(entity).unwrap();
    condition.trigger();
    assert_eq!(executor.spin_some(Duration::MAX).unwrap(), 1);
    assert_eq!(executor.add(GuardCondition::new(|| {}).1).unwrap_err(), AddError::Frozen);
}
