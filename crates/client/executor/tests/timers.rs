//! Tests timers, most of them on a virtual clock (simulated ROS time), where every instant is
//! exact, and a few on real clocks.
#![allow(clippy::unwrap_used)]

use feros_executor::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const NO_WAIT: Option<Duration> = Some(Duration::ZERO);

fn at(nanos: i64) -> Time {
    Time::from_nanos(nanos)
}

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// An executor with one timer on a virtual clock, and the recorded calls of the timer's callback.
struct Bench {
    clock: Arc<RosClock>,
    executor: Executor,
    timer: Timer,
    calls: Arc<Mutex<Vec<TimerCall>>>,
    _entity: EntityHandle,
}

impl Bench {
    fn new(start: i64, make: impl FnOnce(Arc<dyn Clock>, Callback) -> (Timer, Entity)) -> Self {
        let clock = Arc::new(RosClock::simulated_at(at(start)));
        let executor = Executor::new();
        let calls: Arc<Mutex<Vec<TimerCall>>> = Arc::default();
        let log = Arc::clone(&calls);
        let shared: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
        let (timer, entity) = make(shared, Box::new(move |call| log.lock().unwrap().push(call)));
        let entity = executor.add(entity).unwrap();
        Self { clock, executor, timer, calls, _entity: entity }
    }

    fn periodic(start: i64, period: u64) -> Self {
        Self::new(start, |clock, callback| Timer::periodic(clock, nanos(period), callback))
    }

    /// Sets the time and spins until nothing is ready; returns the resulting calls.
    fn advance_to(&self, time: i64) -> Vec<TimerCall> {
        self.clock.set_time(at(time));
        self.executor.spin_all(Duration::MAX).unwrap();
        std::mem::take(&mut *self.calls.lock().unwrap())
    }

    fn until_next(&self) -> Option<u64> {
        self.timer.time_until_next().map(|rest| rest.as_nanos() as u64)
    }
}

type Callback = Box<dyn FnMut(TimerCall) + Send>;

fn call(expected: i64, actual: i64, missed: u64) -> TimerCall {
    TimerCall { expected: at(expected), actual: at(actual), missed }
}

#[test]
fn a_periodic_timer_does_not_drift_and_skips_what_it_missed() {
    let bench = Bench::periodic(1_000, 100);
    assert_eq!(bench.until_next(), Some(100));
    assert_eq!(bench.advance_to(1_099), []);
    assert_eq!(bench.advance_to(1_130), [call(1_100, 1_130, 0)]);
    assert_eq!(bench.until_next(), Some(70));
    assert_eq!(bench.advance_to(1_199), []);
    assert_eq!(bench.advance_to(1_200), [call(1_200, 1_200, 0)]);
    // The call of 1300 is late; those of 1400, 1500 and 1600 are skipped.
    assert_eq!(bench.advance_to(1_650), [call(1_300, 1_650, 3)]);
    assert_eq!(bench.timer.missed(), 3);
    assert_eq!(bench.until_next(), Some(50));
    assert_eq!(bench.advance_to(1_700), [call(1_700, 1_700, 0)]);
}

#[test]
fn a_one_shot_timer_fires_once_per_reset() {
    let bench = Bench::new(0, |clock, callback| Timer::one_shot(clock, nanos(50), callback));
    assert_eq!(bench.advance_to(50), [call(50, 50, 0)]);
    assert_eq!(bench.until_next(), None);
    assert!(!bench.timer.is_canceled());
    assert_eq!(bench.advance_to(500), []);
    bench.timer.reset();
    assert_eq!(bench.advance_to(560), [call(550, 560, 0)]);
    assert_eq!(bench.advance_to(1_000), []);
}

#[test]
fn cancel_reset_and_a_new_period_take_effect_at_once() {
    let bench = Bench::periodic(0, 100);
    bench.clock.set_time(at(150)); // due, but not yet executed
    assert!(bench.timer.is_ready());
    bench.timer.cancel();
    assert!(bench.timer.is_canceled());
    assert_eq!(bench.advance_to(200), []);
    bench.timer.reset();
    assert!(!bench.timer.is_canceled());
    assert_eq!(bench.advance_to(299), []);
    assert_eq!(bench.advance_to(300), [call(300, 300, 0)]);
    assert_eq!(bench.timer.exchange_period(nanos(10)), nanos(100));
    assert_eq!(bench.advance_to(400), [call(400, 400, 0)]);
    assert_eq!(bench.advance_to(410), [call(410, 410, 0)]);
    bench.clock.set_time(at(420));
    bench.timer.reset(); // the executor was rung for the deadline at 420, which is void now
    assert_eq!(bench.advance_to(429), []);
    assert_eq!(bench.advance_to(430), [call(430, 430, 0)]);
}

#[test]
fn time_jumping_back_re_arms_the_timer() {
    let bench = Bench::periodic(1_000, 100);
    assert_eq!(bench.advance_to(1_100).len(), 1);
    // These times are not before the last call, so the deadline stays.
    assert_eq!(bench.advance_to(1_150), []);
    assert_eq!(bench.advance_to(1_120), []);
    assert_eq!(bench.until_next(), Some(80));
    // This time is before the last call, so a full period begins there.
    assert_eq!(bench.advance_to(10), []);
    assert_eq!(bench.until_next(), Some(100));
    assert_eq!(bench.advance_to(110), [call(110, 110, 0)]);
    // This time is far ahead, but leads to only one call.
    assert_eq!(bench.advance_to(1_000_000), [call(210, 1_000_000, 9_997)]);
}

#[test]
fn turning_simulated_time_on_and_off_keeps_the_rest_of_the_wait() {
    let bench = Bench::periodic(5_000, 3_600_000_000_000);
    bench.clock.set_simulated(false);
    let rest = bench.timer.time_until_next().unwrap();
    assert!(rest > Duration::from_secs(3_000) && rest <= Duration::from_secs(3_600), "{rest:?}");
    bench.clock.set_time(at(9_000_000));
    bench.clock.set_simulated(true);
    let rest = bench.timer.time_until_next().unwrap();
    assert!(rest > Duration::from_secs(3_000) && rest <= Duration::from_secs(3_600), "{rest:?}");
    // No elapsed time can be carried over from a source whose time is unknown, and its first time
    // counts as a jump back.
    bench.clock.set_simulated(false);
    bench.clock.set_time(at(0));
    bench.clock.set_simulated(true);
    assert_eq!(bench.advance_to(1_000), []);
    assert_eq!(bench.until_next(), Some(3_600_000_000_000));
}

#[test]
fn a_sleeping_executor_is_woken_by_simulated_time() {
    let clock = Arc::new(RosClock::simulated_at(at(1)));
    let executor = Arc::new(Executor::new());
    let (fired, firings) = mpsc::sync_channel(1);
    let callback = move |call: TimerCall| fired.send(call.actual).unwrap();
    let (_timer, entity) =
        Timer::periodic(Arc::clone(&clock) as Arc<dyn Clock>, nanos(10), callback);
    let _entity = executor.add(entity).unwrap();
    let spinning = Arc::clone(&executor);
    let thread =
        thread::Builder::new().name("spinning".into()).spawn(move || spinning.spin()).unwrap();
    for step in 1..2_000 {
        clock.set_time(at(1 + 10 * step));
        assert_eq!(firings.recv().unwrap(), at(1 + 10 * step));
    }
    executor.stopper().stop();
    thread.join().unwrap().unwrap();
}

#[test]
fn a_callback_may_reset_and_cancel_its_own_timer() {
    let clock = Arc::new(RosClock::simulated_at(at(0)));
    let executor = Executor::new();
    let own: Arc<Mutex<Option<Timer>>> = Arc::default();
    let (count, inner) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&own));
    let counted = Arc::clone(&count);
    let (timer, entity) =
        Timer::one_shot(Arc::clone(&clock) as Arc<dyn Clock>, nanos(10), move |_| {
            let timer = inner.lock().unwrap().clone().unwrap();
            timer.reset();
            if counted.fetch_add(1, Ordering::SeqCst) == 2 {
                timer.cancel();
            }
        });
    *own.lock().unwrap() = Some(timer.clone());
    let _entity = executor.add(entity).unwrap();
    for time in (10..=100).step_by(10) {
        clock.set_time(at(time));
        executor.spin_all(Duration::MAX).unwrap();
    }
    assert_eq!(count.load(Ordering::SeqCst), 3);
    assert!(timer.is_canceled());
    own.lock().unwrap().take(); // breaks a reference cycle
}

#[test]
fn a_timer_moves_to_another_executor_with_its_deadline() {
    let Bench { clock, executor, timer, calls, _entity } = Bench::periodic(0, 100);
    clock.set_time(at(60));
    let entity = _entity.detach().unwrap();
    clock.set_time(at(100));
    assert_eq!(executor.spin_all(Duration::MAX).unwrap(), 0);
    timer.reset(); // the timer belongs to no executor at the moment
    let other = Executor::new();
    let _entity = other.add(entity).unwrap();
    clock.set_time(at(199));
    assert_eq!(other.spin_all(Duration::MAX).unwrap(), 0);
    clock.set_time(at(200));
    assert_eq!(other.spin_all(Duration::MAX).unwrap(), 1);
    assert_eq!(*calls.lock().unwrap(), [call(200, 200, 0)]);
}

#[test]
fn timers_on_several_clocks_share_an_executor() {
    let executor = Executor::new();
    let (fired, firings) = mpsc::sync_channel(64);
    let simulated = Arc::new(RosClock::simulated_at(at(1)));
    let clocks: [Arc<dyn Clock>; 4] = [
        Arc::new(SteadyClock),
        Arc::new(SystemClock),
        Arc::new(RosClock::new()),
        Arc::clone(&simulated) as Arc<dyn Clock>,
    ];
    let starts = clocks.clone().map(|clock| clock.now());
    for (name, clock) in clocks.into_iter().enumerate() {
        let fired = fired.clone();
        let callback = move |call: TimerCall| fired.send((name, call)).unwrap();
        let (_, entity) = Timer::one_shot(clock, Duration::from_millis(3), callback);
        executor.add(entity).unwrap().keep();
    }
    let mut seen = Vec::new();
    executor
        .spin_until(None, || {
            seen.extend(firings.try_iter());
            if seen.len() == 3 {
                simulated.set_time(at(3_000_001));
            }
            seen.len() == 4
        })
        .unwrap();
    seen.sort_by_key(|(name, _)| *name);
    for ((name, call), start) in seen.iter().zip(starts) {
        assert!(call.expected >= start + Duration::from_millis(3), "clock {name}");
        assert!(call.actual >= call.expected, "clock {name}");
    }
    assert_eq!(executor.spin_once(NO_WAIT).unwrap(), Outcome::TimedOut);
}

/// Another thread sets a deadline while the executor sleeps until a later deadline, or without a
/// deadline.
#[test]
fn an_earlier_deadline_shortens_the_sleep() {
    let executor = Arc::new(Executor::new());
    let (fired, firings) = mpsc::sync_channel(1);
    let far = Duration::from_secs(3_600);
    let (timer, entity) =
        Timer::one_shot(Arc::new(SteadyClock), far, move |_| fired.send(()).unwrap());
    let _entity = executor.add(entity).unwrap();
    let spinning = Arc::clone(&executor);
    let thread =
        thread::Builder::new().name("spinning".into()).spawn(move || spinning.spin()).unwrap();
    for _ in 0..200 {
        timer.exchange_period(Duration::from_micros(50));
        timer.reset();
        firings.recv().unwrap(); // hangs if the executor stays asleep
    }
    executor.stopper().stop();
    thread.join().unwrap().unwrap();
}

/// A timer is always late because its callback takes longer than its period, a second entity always
/// has more work, and a third entity is rung now and then. All three get their turns after a
/// bounded number of other turns.
#[test]
fn a_late_timer_and_a_busy_entity_starve_nobody() {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Who {
        Timer,
        ZeroTimer,
        Busy,
        Rare,
    }
    let clock = Arc::new(RosClock::simulated_at(at(1)));
    let executor = Executor::new();
    let order: Arc<Mutex<Vec<Who>>> = Arc::default();
    let push = |who| {
        let order = Arc::clone(&order);
        move || order.lock().unwrap().push(who)
    };

    let (log, running) = (push(Who::Timer), Arc::clone(&clock));
    let (_timer, timer_entity) =
        Timer::periodic(Arc::clone(&clock) as Arc<dyn Clock>, nanos(10), move |_| {
            log();
            running.set_time(running.now() + nanos(25)); // the callback takes two and a half periods
        });
    clock.set_time(at(11));
    let log = push(Who::ZeroTimer);
    let (_zero, zero_entity) =
        Timer::periodic(Arc::clone(&clock) as Arc<dyn Clock>, Duration::ZERO, move |_| log());
    let (busy, rare) = (Ringer::new(), Ringer::new());
    busy.ring();
    let log = push(Who::Busy);
    let busy_entity = Entity::new(&busy, move || {
        log();
        Progress::More
    });
    let log = push(Who::Rare);
    let rare_entity = Entity::new(&rare, move || {
        log();
        Progress::Done
    });
    let _entities = [timer_entity, zero_entity, busy_entity, rare_entity]
        .map(|entity| executor.add(entity).unwrap());

    for turn in 0..4_000 {
        if turn % 100 == 0 {
            rare.ring();
        }
        assert_eq!(executor.spin_once(NO_WAIT).unwrap(), Outcome::Completed(()));
        if turn % 100 == 3 {
            let order = order.lock().unwrap();
            assert!(
                order[order.len() - 4..].contains(&Who::Rare),
                "a ready entity waited longer than a round"
            );
        }
    }
    let order = order.lock().unwrap();
    for window in order.windows(4) {
        for who in [Who::Timer, Who::ZeroTimer, Who::Busy] {
            assert!(window.contains(&who), "{who:?} had no turn among {window:?}");
        }
    }
}
