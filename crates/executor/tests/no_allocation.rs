//! A turn allocates nothing: not for rings, executions, periodic timers or sleeps, whatever is idle beside.
#![allow(clippy::unwrap_used)]

use feros_executor::*;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn turns_do_not_allocate() {
    let executor = Executor::new();
    let clock = Arc::new(RosClock::simulated_at(Time::from_nanos(1)));
    let shared = Arc::clone(&clock) as Arc<dyn Clock>;
    for _ in 0..200 {
        executor.add(Entity::new(&Ringer::new(), || Progress::Done)).unwrap().keep();
        let (_, entity) = Timer::periodic(Arc::clone(&shared), Duration::from_secs(1_000), |_| {});
        executor.add(entity).unwrap().keep();
    }
    let ringer = Ringer::new();
    let mut executions = 0u32;
    let body = move || {
        executions += 1;
        if executions.is_multiple_of(3) { Progress::Done } else { Progress::More }
    };
    executor.add(Entity::new(&ringer, body)).unwrap().keep();
    let (timer, entity) = Timer::periodic(shared, Duration::from_nanos(10), |_| {});
    executor.add(entity).unwrap().keep();
    let ticks = || {
        let mut total = 0;
        for _ in 0..1_000 {
            ringer.ring();
            clock.set_time(clock.now() + Duration::from_nanos(10));
            timer.cancel();
            timer.reset();
            clock.set_time(clock.now() + Duration::from_nanos(10));
            total += executor.spin_all(Duration::MAX).unwrap();
            executor.spin_once(Some(Duration::from_nanos(1))).unwrap();
        }
        total
    };
    let warm = ticks();
    let mut total = 0;
    let allocations = allocation_counter::measure(|| total = ticks());
    assert!(warm >= 4_000 && total >= 4_000, "{warm} {total}");
    assert_eq!(allocations.count_total, 0);
}
