//! The policy that executes the earliest deadline first.

use super::keyed::{BySlot, KeyedQueue};
use crate::attributes::Attributes;
use crate::clock::{Clock, SteadyClock, Time};
use crate::policy::{Policy, Step};
use feros_doorbell::Slot;
use feros_sync::Arc;
use std::fmt;
use std::time::Duration;

/// Executes the ready entity with the earliest deadline first. The deadline is the time at which
/// the executor noticed that the entity was ready, plus the entity's [relative
/// deadline](Attributes::deadline). A running callback is not interrupted.
///
/// An entity without a relative deadline gets [`Deadline::OTHERWISE`]. No entity starves: once its
/// deadline has passed, it precedes all entities that become ready later.
pub struct Deadline {
    clock: Arc<dyn Clock>,
    relative: BySlot<Duration>,
    ready: KeyedQueue<Time>,
}

impl Deadline {
    /// The relative deadline of entities whose attributes do not set a deadline.
    pub const OTHERWISE: Duration = Duration::from_secs(1);

    /// Makes a policy with deadlines on this clock instead of the steady clock. The clock should be
    /// one that runs, not simulated time.
    pub fn on(clock: Arc<dyn Clock>) -> Self {
        Self { clock, relative: BySlot::default(), ready: KeyedQueue::default() }
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self::on(Arc::new(SteadyClock))
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").field("ready", &self.ready).finish_non_exhaustive()
    }
}

impl Policy for Deadline {
    fn add(&mut self, slot: Slot, attributes: &Attributes) {
        let relative = attributes.deadline.unwrap_or(Self::OTHERWISE);
        let count = self.relative.insert(slot, relative);
        self.ready.reserve(count);
    }

    fn remove(&mut self, slot: Slot) -> bool {
        self.relative.remove(slot);
        self.ready.remove(slot)
    }

    fn make_ready(&mut self, slot: Slot) {
        let relative = self.relative.value(slot).copied().unwrap_or(Self::OTHERWISE);
        let clock = &self.clock;
        self.ready.push(slot, || clock.now() + relative);
    }

    fn next(&mut self) -> Option<(Slot, Step)> {
        self.ready.pop().map(|slot| (slot, Step::Execute))
    }

    fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }
}
