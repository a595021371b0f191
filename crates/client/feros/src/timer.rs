//! Timers and guard conditions of a node, which live as long as their handles.

use std::time::Duration;

use feros_executor::{GuardCondition, Kind, Timer, TimerCall};

use crate::callbacks::group::{CallbackOptions, callback_setters};
use crate::callbacks::node_members::Member;
use crate::clock::{Clock, ClockType};
use crate::create_error::CreateError;
use crate::node::Node;

/// The options of a timer.
#[derive(Clone)]
pub struct TimerOptions {
    /// The time between two calls of the callback.
    pub period: Duration,
    /// The timer's clock; `None` means the node's ROS time.
    pub clock: Option<Clock>,
    /// The scheduling options of the callback.
    pub callback: CallbackOptions,
}

impl TimerOptions {
    /// The options of a timer with this period of the node's ROS time.
    pub fn new(period: Duration) -> Self {
        Self { period, clock: None, callback: CallbackOptions::default() }
    }

    /// The options of a timer with this period of the steady clock.
    pub fn wall(period: Duration) -> Self {
        Self::on(&Clock::new(ClockType::Steady), period)
    }

    /// The options of a timer with this period of a clock.
    pub fn on(clock: &Clock, period: Duration) -> Self {
        Self { clock: Some(clock.clone()), ..Self::new(period) }
    }
}

callback_setters!(TimerOptions);

/// A timer of a node, which ends when it is dropped. It has all methods of a [`Timer`].
#[must_use = "a timer ends when it is dropped"]
pub struct NodeTimer {
    timer: Timer,
    _member: Member,
}

impl NodeTimer {
    /// Starts a timer on the node's executor.
    pub(crate) fn start(
        node: &Node,
        options: TimerOptions,
        mut callback: impl FnMut() + Send + 'static,
    ) -> Result<Self, CreateError> {
        let logger = node.logger().clone();
        let clock = options.clock.as_ref().unwrap_or(node.clock());
        let (timer, entity) =
            Timer::periodic(clock.source(), options.period, move |_: TimerCall| {
                let _logger = crate::logging::enter_logger(&logger);
                callback();
            });
        let member = node.add_member_with("a timer", entity, Kind::Timer, &options.callback)?;
        Ok(Self { timer, _member: member })
    }
}

impl std::ops::Deref for NodeTimer {
    type Target = Timer;

    fn deref(&self) -> &Timer {
        &self.timer
    }
}

/// A guard condition of a node, which ends when this value is dropped. Clones of the
/// [`GuardCondition`] can trigger the callback from any thread.
#[must_use = "a guard condition ends when it is dropped"]
pub struct NodeGuardCondition {
    condition: GuardCondition,
    _member: Member,
}

impl NodeGuardCondition {
    /// Puts a guard condition on the node's executor.
    pub(crate) fn start(
        node: &Node,
        callback: impl FnMut() + Send + 'static,
    ) -> Result<Self, CreateError> {
        let (condition, entity) = GuardCondition::new(callback);
        let member = node.add_member("a guard condition", entity)?;
        Ok(Self { condition, _member: member })
    }
}

impl std::ops::Deref for NodeGuardCondition {
    type Target = GuardCondition;

    fn deref(&self) -> &GuardCondition {
        &self.condition
    }
}
