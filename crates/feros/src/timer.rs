//! Timers and guard conditions of a node: they live as long as their handles.

use std::time::Duration;

use feros_executor::{GuardCondition, Timer};

use crate::clock::{Clock, ClockType};
use crate::endpoint::Member;
use crate::executor::{CallbackOptions, callback_setters};

/// How a timer is made.
#[derive(Clone)]
pub struct TimerOptions {
    /// How often its callback is called.
    pub period: Duration,
    /// Whose time it goes by; the node's ROS time if not said.
    pub clock: Option<Clock>,
    /// How its callback is scheduled.
    pub callback: CallbackOptions,
}

impl TimerOptions {
    /// Every `period` of the node's ROS time.
    pub fn new(period: Duration) -> Self {
        Self { period, clock: None, callback: CallbackOptions::default() }
    }

    /// Every `period` of the steady clock.
    pub fn wall(period: Duration) -> Self {
        Self::on(&Clock::new(ClockType::Steady), period)
    }

    /// Every `period` of a clock.
    pub fn on(clock: &Clock, period: Duration) -> Self {
        Self { clock: Some(clock.clone()), ..Self::new(period) }
    }
}

callback_setters!(TimerOptions);

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

/// A guard condition of a node; it ends when this is dropped. Clones of the [`GuardCondition`] may
/// trigger it from any thread.
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
