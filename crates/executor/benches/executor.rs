//! What the executor costs: the hand-over of one event to a sleeping thread beside a bare futex that does the same, and
//! one event among idle entities.
//!
//! `cargo bench -p feros-executor`
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use feros_executor::{Clock, Entity, Executor, Progress, Ringer, SteadyClock, Timer};
use rustix::thread::futex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The least that hands something to a sleeping thread: a counter that is waited on.
#[derive(Default)]
struct Bare(AtomicU32);

impl Bare {
    fn signal(&self) {
        self.0.fetch_add(1, Ordering::Release);
        futex::wake(&self.0, futex::Flags::PRIVATE, 1).unwrap();
    }

    /// Waits until the counter is not `seen`, and returns it.
    fn wait(&self, seen: u32) -> u32 {
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now != seen {
                return now;
            }
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, seen, None);
        }
    }
}

/// Round trips between this thread and another: there by the means under test, back by a bare futex in both cases.
///
/// The two take turns in short batches, so that whatever else the host does hits both alike; the medians of all round
/// trips are printed, and what the way there costs when half of the bare round trip is the way back. On a busy host
/// the kernel may place the two pairs of threads differently; a ratio far from one in either direction is that.
fn hand_over(_: &mut Criterion) {
    const BATCHES: usize = 400;
    const BATCH: usize = 100;
    let back = Arc::new(Bare::default());

    let (there, stop) = (Arc::new(Bare::default()), Arc::new(AtomicU32::new(0)));
    let (inbox, reply, stopped) = (Arc::clone(&there), Arc::clone(&back), Arc::clone(&stop));
    let echo = move || {
        let mut seen = 0;
        loop {
            seen = inbox.wait(seen);
            if stopped.load(Ordering::Relaxed) != 0 {
                return;
            }
            reply.signal();
        }
    };
    let bare = thread::Builder::new().name("bare".into()).spawn(echo).unwrap();

    let executor = Arc::new(Executor::new());
    let (ringer, reply) = (Ringer::new(), Arc::clone(&back));
    let body = move || {
        reply.signal();
        Progress::Done
    };
    executor.add(Entity::new(&ringer, body)).unwrap().keep();
    let spinning = Arc::clone(&executor);
    let spinner = thread::Builder::new().name("spinning".into()).spawn(move || spinning.spin()).unwrap();

    let mut seen = 0;
    let mut round_trips = |send: &dyn Fn(), nanos: &mut Vec<u128>| {
        for _ in 0..BATCH {
            let start = Instant::now();
            send();
            seen = back.wait(seen);
            nanos.push(start.elapsed().as_nanos());
        }
    };
    let (mut by_futex, mut by_executor) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        round_trips(&|| there.signal(), &mut by_futex);
        round_trips(&|| ringer.ring(), &mut by_executor);
    }
    stop.store(1, Ordering::Relaxed);
    there.signal();
    bare.join().unwrap();
    executor.stopper().stop();
    spinner.join().unwrap().unwrap();

    let [bare, executor] = [by_futex, by_executor].map(|mut nanos| {
        nanos.sort_unstable();
        nanos[nanos.len() / 2] as f64 / 1_000.0
    });
    let one_way = bare / 2.0;
    let ratio = (executor - one_way) / one_way;
    println!("hand-over between two threads, medians of {} interleaved round trips:", BATCHES * BATCH);
    println!("  bare futex {bare:.2} us, executor {executor:.2} us; one way {ratio:.2} x the bare futex");
}

/// One event of an entity that is always ready, in one thread, among idle ones of the two kinds.
fn among_idle(criterion: &mut Criterion) {
    let clock: Arc<dyn Clock> = Arc::new(SteadyClock);
    for kind in ["entities", "timers"] {
        let mut group = criterion.benchmark_group(format!("one event among idle {kind}"));
        for idle in [0, 1, 10, 100, 1_000] {
            let executor = Executor::new();
            for _ in 0..idle {
                let entity = match kind {
                    "timers" => Timer::periodic(Arc::clone(&clock), Duration::from_secs(3_600), |_| {}).1,
                    _ => Entity::new(&Ringer::new(), || Progress::Done),
                };
                executor.add(entity).unwrap().keep();
            }
            let (ringer, stopper) = (Ringer::new(), executor.stopper());
            let left = Arc::new(std::sync::atomic::AtomicU64::new(0));
            let count = Arc::clone(&left);
            let body = move || {
                if count.fetch_sub(1, Ordering::Relaxed) > 1 {
                    return Progress::More;
                }
                stopper.stop();
                Progress::Done
            };
            executor.add(Entity::new(&ringer, body)).unwrap().keep();
            group.bench_function(BenchmarkId::from_parameter(idle), |bencher| {
                bencher.iter_custom(|events| {
                    left.store(events, Ordering::Relaxed);
                    let start = Instant::now();
                    ringer.ring();
                    executor.spin().unwrap();
                    start.elapsed()
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, hand_over, among_idle);
criterion_main!(benches);
