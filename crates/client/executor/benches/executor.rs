//! Measures the executor's costs: the hand-over of one event to a sleeping thread, compared with a
//! bare futex that does the same, and the handling of one event among idle entities.
//!
//! `cargo bench -p feros-executor`
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use feros_executor::{
    Clock, Deadline, DoorbellMemory, Entity, Executor, ExecutorOptions, Priority, Progress, Ringer,
    Ros, Sequence, Slot, SteadyClock, Timer,
};
use mapped::Mapped;
use rustix::thread::{CpuSet, futex, sched_getaffinity, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[path = "../tests/mapped/mod.rs"]
mod mapped;

/// The cheapest way to wake a sleeping thread: a futex on a counter.
#[derive(Default)]
struct Bare(AtomicU32);

impl Bare {
    fn signal(&self) {
        self.0.fetch_add(1, Ordering::Release);
        futex::wake(&self.0, futex::Flags::PRIVATE, 1).unwrap();
    }

    /// Waits until the counter differs from `seen`, and returns the counter.
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

/// One of the compared ways to hand an event to a sleeping thread, with that thread.
struct Means {
    name: &'static str,
    send: Box<dyn Fn()>,
    stop: Box<dyn FnOnce()>,
    nanos: Vec<u64>,
}

fn by_futex(back: &Arc<Bare>, cpu: usize) -> Means {
    let (there, stopped) = (Arc::new(Bare::default()), Arc::new(AtomicU32::new(0)));
    let (inbox, reply, stop) = (Arc::clone(&there), Arc::clone(back), Arc::clone(&stopped));
    let echo = move || {
        run_on(cpu);
        let mut seen = 0;
        loop {
            seen = inbox.wait(seen);
            if stop.load(Ordering::Relaxed) != 0 {
                return;
            }
            reply.signal();
        }
    };
    let thread = thread::Builder::new().name("bare".into()).spawn(echo).unwrap();
    let last = Arc::clone(&there);
    Means {
        name: "bare futex",
        send: Box::new(move || there.signal()),
        stop: Box::new(move || {
            stopped.store(1, Ordering::Relaxed);
            last.signal();
            thread.join().unwrap();
        }),
        nanos: Vec::new(),
    }
}

/// Hands events over through an executor. With `outside`, the event rings that doorbell instead of
/// the entity's ringer. With `is_observed`, other processes learn how to ring the entity.
fn by_executor(
    name: &'static str,
    executor: Executor,
    outside: Option<Arc<Mapped>>,
    is_observed: bool,
    back: &Arc<Bare>,
    cpu: usize,
) -> Means {
    let executor = Arc::new(executor);
    let (ringer, reply) = (Ringer::new(), Arc::clone(back));
    let body = move || {
        reply.signal();
        Progress::Done
    };
    let observed = is_observed.then(|| ringer.on_move(|_| {}));
    executor.add(Entity::new(&ringer, body)).unwrap().keep();
    let spinning = Arc::clone(&executor);
    let spin = move || {
        run_on(cpu);
        spinning.spin().unwrap();
    };
    let thread = thread::Builder::new().name("spinning".into()).spawn(spin).unwrap();
    let slot = Slot::new(1).unwrap(); // the first slot that an executor assigns
    Means {
        name,
        send: match outside {
            Some(memory) => Box::new(move || memory.doorbell().ring(slot)),
            None => Box::new(move || ringer.ring()),
        },
        stop: Box::new(move || {
            executor.stopper().stop();
            thread.join().unwrap();
            drop(observed);
        }),
        nanos: Vec::new(),
    }
}

fn run_on(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).unwrap();
}

/// Measures round trips between this thread and another thread. The way there uses the means under
/// test, and the way back always uses a bare futex.
///
/// The means take turns in short batches, so that other load on the host affects all of them alike.
/// The output is the time of the whole round trip, and the cost of the way there, assuming that the
/// way back costs half of the bare median. Threads are bound to cores, because the kernel's
/// placement makes more of a difference than anything measured here: on one core, only the work of
/// the hand-over counts; on two cores, the second core also has to wake up.
fn hand_over(_: &mut Criterion) {
    let allowed = sched_getaffinity(None).unwrap();
    let cores = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).take(2).collect::<Vec<_>>();
    run_on(cores[0]);
    hand_over_to(cores[0], "one core");
    if let Some(&other) = cores.get(1) {
        hand_over_to(other, "two cores");
    }
    sched_setaffinity(None, &allowed).unwrap();
}

fn hand_over_to(cpu: usize, placement: &str) {
    const BATCHES: usize = 400;
    const BATCH: usize = 50;
    let back = Arc::new(Bare::default());
    let [unheard, observed, rung_outside] = [(); 3].map(|()| Mapped::new());
    let with_doorbell = |memory: &Arc<Mapped>| {
        Executor::with_options(ExecutorOptions::default().doorbell(memory.clone()))
    };
    let outside = rung_outside.again();
    let mut all = [
        by_futex(&back, cpu),
        by_executor("executor, private doorbell", Executor::new(), None, false, &back, cpu),
        by_executor(
            "two threads",
            Executor::with_options(ExecutorOptions::default().threads(2)),
            None,
            false,
            &back,
            cpu,
        ),
        by_executor(
            "shared doorbell, not observed",
            with_doorbell(&unheard),
            None,
            false,
            &back,
            cpu,
        ),
        by_executor("shared doorbell, observed", with_doorbell(&observed), None, true, &back, cpu),
        by_executor(
            "rung from outside",
            with_doorbell(&rung_outside),
            Some(outside),
            true,
            &back,
            cpu,
        ),
    ];
    let mut seen = 0;
    for _ in 0..BATCHES {
        for means in &mut all {
            for _ in 0..BATCH {
                let start = Instant::now();
                (means.send)();
                seen = back.wait(seen);
                means.nanos.push(start.elapsed().as_nanos() as u64);
            }
        }
    }
    println!(
        "hand-over between two threads on {placement}, {} interleaved round trips:",
        BATCHES * BATCH
    );
    let mut one_way = 0.0;
    for Means { name, stop, mut nanos, .. } in all {
        stop();
        nanos.sort_unstable();
        let at = |share: usize| nanos[nanos.len() * share / 100] as f64 / 1_000.0;
        let (median, p99) = (at(50), at(99));
        if one_way == 0.0 {
            one_way = median / 2.0;
        }
        let ratio = (median - one_way) / one_way;
        println!(
            "  {name:33} median {median:6.2} us, p99 {p99:6.2} us; one way {ratio:.2} x the bare futex"
        );
    }
}

/// Measures one event of an entity that is always ready, on one thread, among idle entities. The
/// idle entities are plain entities in one group of runs, and timers in the other group.
fn among_idle(criterion: &mut Criterion) {
    let clock: Arc<dyn Clock> = Arc::new(SteadyClock);
    for kind in ["entities", "timers"] {
        let mut group = criterion.benchmark_group(format!("one event among idle {kind}"));
        for idle in [0, 1, 10, 100, 1_000] {
            let executor = Executor::new();
            for _ in 0..idle {
                let entity = match kind {
                    "timers" => {
                        Timer::periodic(Arc::clone(&clock), Duration::from_secs(3_600), |_| {}).1
                    }
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

/// The time that this many events take among idle entities. Each event is a ring and an empty
/// callback.
fn events_take(options: ExecutorOptions, idle: usize, events: u64) -> Duration {
    let executor = Executor::with_options(options);
    let left = Arc::new(AtomicU64::new(events));
    let ringers = [Ringer::new(), Ringer::new()];
    // Two entities ring each other: one is added before the idle entities, the other after them.
    let rung = |own: &Ringer, other: &Ringer| {
        let (left, other, stopper) = (Arc::clone(&left), other.clone(), executor.stopper());
        Entity::new(own, move || {
            if left.load(Ordering::Relaxed) > 1 {
                left.fetch_sub(1, Ordering::Relaxed);
                other.ring();
            } else {
                stopper.stop();
            }
            Progress::Done
        })
    };
    executor.add(rung(&ringers[0], &ringers[1])).unwrap().keep();
    for _ in 0..idle {
        executor.add(Entity::new(&Ringer::new(), || Progress::Done)).unwrap().keep();
    }
    executor.add(rung(&ringers[1], &ringers[0])).unwrap().keep();
    let start = Instant::now();
    ringers[0].ring();
    executor.spin().unwrap();
    start.elapsed()
}

/// Measures the events per second on one core, for every policy and for two threads; each event is
/// a ring and an empty callback. The runs alternate between the numbers of idle entities, so that
/// other load on the host affects all of them alike. The result is the median.
fn event_rates(_: &mut Criterion) {
    const IDLE: [usize; 5] = [0, 1, 10, 100, 1_000];
    const EVENTS: u64 = 100_000;
    type Make = fn() -> ExecutorOptions;
    let kinds: [(&str, Make); 6] = [
        ("fair", ExecutorOptions::default),
        ("ros", || ExecutorOptions::default().policy(Ros::default())),
        ("priority", || ExecutorOptions::default().policy(Priority::default())),
        ("deadline", || ExecutorOptions::default().policy(Deadline::default())),
        ("sequence", || ExecutorOptions::default().policy(Sequence::default())),
        ("fair, 2 threads", || ExecutorOptions::default().threads(2)),
    ];
    println!("events per second (millions) with {IDLE:?} idle entities:");
    for (name, make) in kinds {
        let mut nanos = IDLE.map(|_| Vec::new());
        for _ in 0..15 {
            for (nanos, idle) in nanos.iter_mut().zip(IDLE) {
                nanos.push(events_take(make(), idle, EVENTS).as_nanos() as u64);
            }
        }
        let rates = nanos.map(|mut nanos| {
            nanos.sort_unstable();
            EVENTS as f64 * 1_000.0 / nanos[nanos.len() / 2] as f64
        });
        println!("  {name:16} {rates:6.2?}");
    }
}

criterion_group!(benches, hand_over, among_idle, event_rates);
criterion_main!(benches);
