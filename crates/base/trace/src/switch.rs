//! The switch that turns the trace of the process on and off.

use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Whether points are recorded. Costs one relaxed load.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Starts to record events, which [`drain`](crate::drain) returns.
pub fn enable() {
    ON.store(true, Ordering::Relaxed);
}

/// Stops recording events. Events that have already been recorded can still be read.
pub fn disable() {
    ON.store(false, Ordering::Relaxed);
}
