//! Measures when callbacks begin on two threads, if all callbacks become ready at the same time and
//! compute for a long time. The baseline is the simplest pool that shares work: a queue with a
//! condition variable.
//!
//! `cargo bench -p feros-executor --bench computing`
//!
//! The threads are bound to no processor, since the kernel's choice is part of the measurement. At
//! best, two threads on two processors begin the last of ten callbacks of 500 us after 2 ms; one
//! thread alone begins it after 4.5 ms.
#![allow(missing_docs, clippy::unwrap_used)]

use feros_executor::{Entity, Executor, ExecutorOptions, Progress, Ringer};
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const CALLBACKS: usize = 10;
const THREADS: usize = 2;
const WORK: Duration = Duration::from_micros(500);
const ROUNDS: usize = 200;
const PERIOD: Duration = Duration::from_millis(20);

/// The time of the rings in one round, and the delays until the callbacks of the round began.
struct Begun {
    rung: Mutex<Instant>,
    delays: Mutex<Vec<Duration>>,
}

impl Begun {
    fn new() -> Arc<Self> {
        Arc::new(Self { rung: Mutex::new(Instant::now()), delays: Mutex::default() })
    }

    fn callback(&self) {
        let delay = self.rung.lock().unwrap().elapsed();
        self.delays.lock().unwrap().push(delay);
        let end = processor_time() + WORK;
        while processor_time() < end {}
    }
}

/// The processor time that this thread has used.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// One of the compared ways to run the callbacks, with its results.
struct Means {
    name: &'static str,
    ring_all: Box<dyn Fn()>,
    stop: Box<dyn FnOnce()>,
    begun: Arc<Begun>,
    /// The delay until the middle callback began, and the delay until the last one began, by round.
    middle: Vec<Duration>,
    last: Vec<Duration>,
}

impl Means {
    fn new(
        name: &'static str,
        begun: Arc<Begun>,
        ring_all: impl Fn() + 'static,
        stop: impl FnOnce() + 'static,
    ) -> Self {
        let (ring_all, stop) = (Box::new(ring_all), Box::new(stop));
        Self { name, ring_all, stop, begun, middle: Vec::new(), last: Vec::new() }
    }

    fn round(&mut self) {
        *self.begun.rung.lock().unwrap() = Instant::now();
        (self.ring_all)();
        thread::sleep(PERIOD);
        let mut delays = std::mem::take(&mut *self.begun.delays.lock().unwrap());
        if delays.len() == CALLBACKS {
            delays.sort_unstable();
            self.middle.push(delays[CALLBACKS / 2]);
            self.last.push(delays[CALLBACKS - 1]);
        }
    }
}

/// The state that the threads of the baseline pool share: the callbacks that wait, and whether the
/// threads should end.
#[derive(Default)]
struct Pool {
    state: Mutex<(VecDeque<usize>, bool)>,
    changed: Condvar,
}

fn by_pool() -> Means {
    let (pool, begun) = (Arc::new(Pool::default()), Begun::new());
    let work = |pool: Arc<Pool>, begun: Arc<Begun>| {
        move || loop {
            let mut state = pool.state.lock().unwrap();
            while state.0.pop_front().is_none() {
                if state.1 {
                    return;
                }
                state = pool.changed.wait(state).unwrap();
            }
            drop(state);
            begun.callback();
        }
    };
    let threads: Vec<JoinHandle<()>> =
        (0..THREADS).map(|_| spawn("pool", work(pool.clone(), begun.clone()))).collect();
    let rung = pool.clone();
    let ring_all = move || {
        for callback in 0..CALLBACKS {
            rung.state.lock().unwrap().0.push_back(callback);
            rung.changed.notify_one();
        }
    };
    Means::new("queue and condition variable", begun, ring_all, move || {
        pool.state.lock().unwrap().1 = true;
        pool.changed.notify_all();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    })
}

fn by_executor(name: &'static str, threads: usize) -> Means {
    let executor = Arc::new(Executor::with_options(ExecutorOptions::default().threads(threads)));
    let begun = Begun::new();
    let ringers: Vec<Ringer> = (0..CALLBACKS).map(|_| Ringer::new()).collect();
    for ringer in &ringers {
        let begun = begun.clone();
        let body = move || {
            begun.callback();
            Progress::Done
        };
        executor.add(Entity::new(ringer, body)).unwrap().keep();
    }
    let spinning = executor.clone();
    let thread = spawn("spinning", move || spinning.spin().unwrap());
    Means::new(
        name,
        begun,
        move || ringers.iter().for_each(Ringer::ring),
        move || {
            executor.stopper().stop();
            thread.join().unwrap();
        },
    )
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(work).unwrap()
}

fn main() {
    let mut all =
        [by_pool(), by_executor("executor, two threads", THREADS), by_executor("one thread", 1)];
    for _ in 0..ROUNDS {
        all.iter_mut().for_each(Means::round);
    }
    println!("{CALLBACKS} callbacks of {WORK:?} at once, {ROUNDS} interleaved rounds, in ms:");
    println!("  {:30} {:>14} {:>14} {:>14}", "", "middle, median", "last, median", "last, p90");
    for Means { name, stop, mut middle, mut last, .. } in all {
        stop();
        middle.sort_unstable();
        last.sort_unstable();
        let at = |delays: &[Duration], share: usize| {
            delays.get(delays.len() * share / 100).map_or(f64::NAN, |it| it.as_secs_f64() * 1e3)
        };
        let values = [at(&middle, 50), at(&last, 50), at(&last, 90)];
        println!("  {name:30} {:>14.2} {:>14.2} {:>14.2}", values[0], values[1], values[2]);
    }
}
