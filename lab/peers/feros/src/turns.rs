//! The role `executor`: events per second on one core, among idle entities. An event is a ring of
//! the doorbell and an empty callback.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use feros::{Error, Executor};
use feros_executor::{Entity, Progress, Ringer};
use feros_lab_contract::{Arguments, Ended, Failure, Output};

/// The number of events in one turn.
const EVENTS: u64 = 100_000;

pub(crate) fn measure(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    let take = || time_of(arguments.idle, EVENTS);
    output.ready();
    // The first turn warms up the caches.
    take()?;
    let (mut events, mut taken) = (0, Duration::ZERO);
    while taken.as_secs_f64() < arguments.seconds && !arguments.is_stopped() {
        taken += take()?;
        events += EVENTS;
    }
    let rate = events as f64 / taken.as_secs_f64().max(1e-9);
    output.values(&BTreeMap::from([("events_per_second", rate)]));
    Ok(output.end(None, &[]))
}

/// The time that `events` empty callbacks take among `idle` entities that are never ready. Each
/// callback is triggered by the previous callback.
fn time_of(idle: usize, events: u64) -> Result<Duration, Error> {
    let executor = Executor::new();
    let add = |entity| executor.add_entity(entity).map_err(Error::other);
    let left = Arc::new(AtomicU64::new(events));
    let ringers = [Ringer::new(), Ringer::new()];
    // Two entities trigger each other: one is added before the idle entities, the other after them.
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
    let first = add(rung(&ringers[0], &ringers[1]))?;
    let idle = (0..idle).map(|_| add(Entity::new(&Ringer::new(), || Progress::Done)));
    let idle = idle.collect::<Result<Vec<_>, Error>>()?;
    let second = add(rung(&ringers[1], &ringers[0]))?;
    let start = Instant::now();
    ringers[0].ring();
    executor.spin()?;
    let taken = start.elapsed();
    drop((first, idle, second));
    Ok(taken)
}
