//! Guard conditions: callbacks on an executor that any thread can trigger.

use crate::entity::{Entity, Progress};
use crate::waitable::Waitable;
use feros_doorbell::Ringer;
use feros_sync::{Arc, AtomicBool, Ordering};

/// A guard condition, which triggers a callback on an executor. Clones trigger the same callback.
///
/// ```
/// use feros_executor::{Executor, GuardCondition};
/// use std::time::Duration;
///
/// let (condition, entity) = GuardCondition::new(|| println!("triggered"));
/// condition.trigger();
/// let executor = Executor::new();
/// let _entity = executor.add(entity)?;
/// assert_eq!(executor.spin_some(Duration::MAX)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GuardCondition {
    ringer: Ringer,
    triggered: Arc<AtomicBool>,
}

impl GuardCondition {
    /// Makes a guard condition and the entity that runs `callback`.
    pub fn new(mut callback: impl FnMut() + Send + 'static) -> (Self, Entity) {
        let condition = Self::without_callback();
        let seen = condition.clone();
        // The entity's ready flag alone would not be enough: flags are only hints, and this
        // callback must not run without a trigger.
        let entity = Entity::new(&condition.ringer, move || {
            if seen.take() {
                callback();
            }
            Progress::Done
        });
        (condition, entity)
    }

    /// Makes a guard condition for wait sets: code that finds it ready calls [`take`](Self::take).
    pub fn without_callback() -> Self {
        Self { ringer: Ringer::new(), triggered: Arc::new(AtomicBool::new(false)) }
    }

    /// Clears the trigger, and returns whether the condition has been triggered since the last
    /// `take` or callback.
    pub fn take(&self) -> bool {
        self.triggered.swap(false, Ordering::AcqRel)
    }

    /// Makes the callback run once on its entity's executor, even if the entity is added to an
    /// executor only later. Several triggers before the callback runs count as one. Any thread may
    /// call this function, which never waits.
    pub fn trigger(&self) {
        self.triggered.store(true, Ordering::Release);
        self.ringer.ring();
    }
}

impl Waitable for GuardCondition {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn is_ready(&self) -> bool {
        self.triggered.load(Ordering::Acquire)
    }
}
