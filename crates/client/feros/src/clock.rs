//! Clocks: steady time, system time, and ROS time, which follows `/clock` when time is simulated.

mod follower;
mod jump;

pub(crate) use follower::ClockFollower;
pub use jump::{ClockChange, JumpGuard, JumpThreshold, TimeJump};

use std::sync::Arc;

use feros_executor::{Clock as ClockSource, RosClock, SteadyClock, SystemClock, Time};
use feros_sync::Mutex;

/// The source of a clock's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockType {
    /// A clock that is never adjusted, for measuring durations.
    Steady,
    /// The system's time of day.
    System,
    /// The system's time of day, or simulated time.
    Ros,
}

/// A clock. Clones show the same time.
#[derive(Clone)]
pub struct Clock {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Steady(Arc<SteadyClock>),
    System(Arc<SystemClock>),
    Ros { clock: Arc<RosClock>, follower: Arc<Mutex<Option<Arc<ClockFollower>>>> },
}

impl Clock {
    /// Makes a clock of this type. ROS time is the system's time until simulated time is turned on.
    pub fn new(clock_type: ClockType) -> Self {
        let kind = match clock_type {
            ClockType::Steady => Kind::Steady(Arc::new(SteadyClock)),
            ClockType::System => Kind::System(Arc::new(SystemClock)),
            ClockType::Ros => {
                Kind::Ros { clock: Arc::new(RosClock::new()), follower: Arc::default() }
            }
        };
        Self { kind }
    }

    /// The source of the clock's time.
    pub fn clock_type(&self) -> ClockType {
        match self.kind {
            Kind::Steady(_) => ClockType::Steady,
            Kind::System(_) => ClockType::System,
            Kind::Ros { .. } => ClockType::Ros,
        }
    }

    /// The time now. Simulated time is zero before the first `/clock` message.
    pub fn now(&self) -> Time {
        self.source().now()
    }

    /// Whether the clock shows simulated time.
    pub fn is_simulated(&self) -> bool {
        self.source().is_simulated()
    }

    /// Sets simulated time, as a `/clock` message does. A clock of the type [`ClockType::Ros`]
    /// stores the time, and shows it while [`is_simulated`](Self::is_simulated) returns true.
    /// Clocks of the other types ignore this call.
    pub fn set_simulated_time(&self, time: Time) {
        if let Kind::Ros { clock, .. } = &self.kind {
            clock.set_time(time);
        }
    }

    /// Calls `before` and `after` around each jump of the clock that reaches the threshold, on the
    /// thread that sets the clock, without any lock. Only ROS time jumps; changes of the system's
    /// clock are not reported.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::JumpThreshold;
    /// let threshold = JumpThreshold::any_discontinuity();
    /// let _guard = node.clock().create_jump_callback(threshold, |_| (), |jump| {
    ///     println!("time went from {:?} to {:?}: forget what is buffered", jump.before, jump.after);
    /// });
    /// ```
    pub fn create_jump_callback(
        &self,
        threshold: JumpThreshold,
        before: impl Fn(&TimeJump) + Send + Sync + 'static,
        after: impl Fn(&TimeJump) + Send + Sync + 'static,
    ) -> JumpGuard {
        match &self.kind {
            Kind::Steady(_) | Kind::System(_) => JumpGuard::of_no_jumps(),
            Kind::Ros { clock, .. } => JumpGuard::watch(clock, threshold, before, after),
        }
    }

    /// The clock in the form that timers use.
    pub(crate) fn source(&self) -> Arc<dyn ClockSource> {
        match &self.kind {
            Kind::Steady(clock) => clock.clone(),
            Kind::System(clock) => clock.clone(),
            Kind::Ros { clock, .. } => clock.clone(),
        }
    }

    /// Makes ROS time follow `/clock`; with `None`, ROS time is the system's time again.
    pub(crate) fn follow(&self, new_follower: Option<Arc<ClockFollower>>) {
        let Kind::Ros { clock, follower } = &self.kind else { return };
        clock.set_simulated(new_follower.is_some());
        if let Some(new_follower) = &new_follower {
            new_follower.add(clock);
        }
        let before = std::mem::replace(&mut *follower.lock(), new_follower);
        if let Some(before) = &before
            && !self.follows(before)
        {
            before.remove(clock);
        }
        drop(before); // outside the lock: dropping the follower may wait for its thread
    }

    fn follows(&self, other: &Arc<ClockFollower>) -> bool {
        let Kind::Ros { follower, .. } = &self.kind else { return false };
        let follower = follower.lock();
        follower.as_ref().is_some_and(|follower| Arc::ptr_eq(follower, other))
    }

    /// Stops following `/clock`; simulated time stays at its last value.
    pub(crate) fn stop_following(&self) {
        if let Kind::Ros { follower, .. } = &self.kind {
            let before = follower.lock().take();
            drop(before);
        }
    }
}
