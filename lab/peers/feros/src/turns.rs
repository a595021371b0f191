//! The role `executor`: events per second of one core, each a ring and an empty callback, among idle
//! entities.

use std::collections::BTreeMap;
use std::time::Duration;

use feros::Executor;
use feros_lab_contract::{Arguments, Ended, Failure, Output};

/// Events of one turn.
const EVENTS: u64 = 100_000;

pub(crate) fn measure(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    let take = || Executor::builder().events_take(arguments.idle, EVENTS);
    output.ready();
    // The first turn is for the caches.
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
