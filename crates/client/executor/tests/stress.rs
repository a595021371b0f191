//! Many threads ring, add, remove, detach and reset entities while one thread spins. No ring may be
//! lost, no entity may run after its removal, and everything must end.
#![allow(clippy::unwrap_used)]

mod spinning;

use feros_executor::*;
use feros_test_support::spawn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use spinning::spinning;

#[test]
fn every_message_of_every_producer_arrives() {
    const MESSAGES: usize = 20_000;
    let executor = Arc::new(Executor::new());
    let total = Arc::new(AtomicUsize::new(0));
    let mut producers = Vec::new();
    for producer in 0..4 {
        let (sender, inbox) = mpsc::sync_channel::<usize>(16);
        let (ringer, total, stopper) = (Ringer::new(), Arc::clone(&total), executor.stopper());
        let mut expected = 0;
        let body = move || match inbox.try_recv() {
            Ok(number) => {
                assert_eq!(number, expected);
                expected += 1;
                if total.fetch_add(1, Ordering::Relaxed) + 1 == 4 * MESSAGES {
                    stopper.stop();
                }
                Progress::More
            }
            Err(_) => Progress::Done,
        };
        executor.add(Entity::new(&ringer, body)).unwrap().keep();
        producers.push(spawn(&format!("producer-{producer}"), move || {
            for number in 0..MESSAGES {
                sender.send(number).unwrap(); // blocks while the queue is full, so a lost ring hangs the test
                ringer.ring();
            }
        }));
    }
    spinning(&executor).join().unwrap().unwrap();
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    assert_eq!(total.load(Ordering::Relaxed), 4 * MESSAGES);
}

#[test]
fn nothing_runs_after_detach_while_others_ring() {
    let executor = Arc::new(Executor::new());
    let spinner = spinning(&executor);
    let workers: Vec<_> = (0..3)
        .map(|worker| {
            let handle = executor.handle();
            spawn(&format!("worker-{worker}"), move || {
                for round in 0..1_500 {
                    let (ringer, gone) = (Ringer::new(), Arc::new(AtomicBool::new(false)));
                    let (is_gone, alive) = (Arc::clone(&gone), Arc::new(()));
                    let held = Arc::clone(&alive);
                    let entity = Entity::new(&ringer, move || {
                        assert!(!is_gone.load(Ordering::SeqCst), "executed after detach");
                        let _held = &held;
                        Progress::More
                    });
                    ringer.ring();
                    let entity = handle.add(entity).unwrap();
                    ringer.ring();
                    if round % 2 == 0 {
                        drop(entity.detach().unwrap());
                        gone.store(true, Ordering::SeqCst);
                        assert_eq!(Arc::strong_count(&alive), 1, "captures outlived detach");
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
fn an_entity_wanders_between_two_spinning_executors_without_losing_a_message() {
    const MESSAGES: usize = 3_000;
    let executors = [(); 2].map(|()| Arc::new(Executor::new()));
    let spinners = executors.each_ref().map(spinning);
    let (sender, inbox) = mpsc::sync_channel::<()>(1);
    let (ringer, arrived) = (Ringer::new(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&arrived);
    let entity = Entity::new(&ringer, move || match inbox.try_recv() {
        Ok(()) => {
            count.fetch_add(1, Ordering::SeqCst);
            Progress::More
        }
        Err(_) => Progress::Done,
    });
    let producer = spawn("producer", move || {
        for _ in 0..MESSAGES {
            sender.send(()).unwrap();
            ringer.ring();
        }
    });
    let mut handle = executors[0].add(entity).unwrap();
    let mut moves = 0;
    while arrived.load(Ordering::SeqCst) < MESSAGES {
        moves += 1;
        handle = executors[moves % 2].add(handle.detach().unwrap()).unwrap();
        thread::yield_now();
    }
    producer.join().unwrap();
    assert!(moves > 0);
    for (executor, spinner) in executors.iter().zip(spinners) {
        executor.stopper().stop();
        spinner.join().unwrap().unwrap();
    }
}

#[test]
fn timers_are_reset_canceled_added_and_removed_while_spinning() {
    let executor = Arc::new(Executor::new());
    let spinner = spinning(&executor);
    let clock: Arc<dyn Clock> = Arc::new(SteadyClock);
    let workers: Vec<_> = (0..2)
        .map(|worker| {
            let (handle, clock) = (executor.handle(), Arc::clone(&clock));
            spawn(&format!("worker-{worker}"), move || {
                for _ in 0..300 {
                    let (fired, firings) = mpsc::sync_channel(1);
                    let (timer, entity) = Timer::periodic(
                        Arc::clone(&clock),
                        Duration::from_micros(20),
                        move |call| {
                            assert!(call.actual >= call.expected);
                            let _ = fired.try_send(());
                        },
                    );
                    let _entity = handle.add(entity).unwrap();
                    timer.cancel();
                    timer.reset();
                    firings.recv().unwrap(); // hangs if the deadline was lost
                    timer.reset();
                    firings.recv().unwrap();
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    executor.stopper().stop();
    spinner.join().unwrap().unwrap();
}
