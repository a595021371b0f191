//! Timers and guard conditions of a node: they live as long as their handles.

use feros_executor::{GuardCondition, Timer};

use crate::endpoint::Member;

/// A timer of a node; it ends when this is dropped. All that a [`Timer`] can do, it can do.
#[must_use = "a timer ends when it is dropped"]
pub struct NodeTimer {
    timer: Timer,
    _member: Member,
}

impl NodeTimer {
    pub(crate) fn new(timer: Timer, member: Member) -> Self {
        Self { timer, _member: member }
    }
}

impl std::ops::Deref for NodeTimer {
    type Target = Timer;

    fn deref(&self) -> &Timer {
        &self.timer
    }
}

/// A guard condition of a node; it ends when this is dropped. Clones of the [`GuardCondition`] may trigger it from any
/// thread.
#[must_use = "a guard condition ends when it is dropped"]
pub struct NodeGuardCondition {
    condition: GuardCondition,
    _member: Member,
}

impl NodeGuardCondition {
    pub(crate) fn new(condition: GuardCondition, member: Member) -> Self {
        Self { condition, _member: member }
    }
}

impl std::ops::Deref for NodeGuardCondition {
    type Target = GuardCondition;

    fn deref(&self) -> &GuardCondition {
        &self.condition
    }
}
