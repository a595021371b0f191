//! What one core does at most with empty callbacks: the number that `feros lab executor` shows.

use crate::builder::Builder;
use crate::entity::{Entity, Progress};
use crate::ready::Ringer;
use crate::spin::SpinError;
use crate::sync::{Arc, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long `events` take on the calling thread when each is a ring and an empty callback, among
/// `idle` entities that are never ready. The executor is the one that `builder` makes; with several
/// threads, it has the same work to do.
///
/// # Errors
///
/// [`SpinError`] if the system refuses the threads or what they are to be.
///
/// ```
/// use feros_executor::{Executor, events_take};
///
/// let taken = events_take(Executor::builder(), 100, 10_000)?;
/// println!("{:.0} events per second", 10_000.0 / taken.as_secs_f64());
/// # Ok::<(), feros_executor::SpinError>(())
/// ```
pub fn events_take(builder: Builder, idle: usize, events: u64) -> Result<Duration, SpinError> {
    let executor = builder.build();
    let add = |entity| {
        if let Ok(handle) = executor.add(entity) {
            handle.keep();
        }
    };
    let left = Arc::new(AtomicU64::new(events));
    let ringers = [Ringer::new(), Ringer::new()];
    // One before and one after the idle ones, ringing each other.
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
    add(rung(&ringers[0], &ringers[1]));
    (0..idle).for_each(|_| add(Entity::new(&Ringer::new(), || Progress::Done)));
    add(rung(&ringers[1], &ringers[0]));
    let start = Instant::now();
    ringers[0].ring();
    executor.spin()?;
    Ok(start.elapsed())
}
