//! Clocks, and callbacks for their jumps.

use std::time::Duration;

use feros::{ClockChange, ClockType, JumpGuard, JumpThreshold, TimeJump};
use feros_sync::Mutex;
use pyo3::prelude::*;

use crate::detached::Detached;

/// A clock. Its type is a number, as in `rcl`: 1 for ROS time, 2 for the system time, 3 for steady
/// time.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Clock(feros::Clock);

impl Clock {
    pub(crate) fn of(clock: feros::Clock) -> Self {
        Self(clock)
    }

    pub(crate) fn inner(&self) -> &feros::Clock {
        &self.0
    }
}

#[pymethods]
impl Clock {
    #[new]
    #[pyo3(signature = (clock_type=2))]
    fn new(clock_type: u8) -> Self {
        Self(feros::Clock::new(match clock_type {
            1 => ClockType::Ros,
            3 => ClockType::Steady,
            _ => ClockType::System,
        }))
    }

    /// The time now, in nanoseconds.
    fn now(&self) -> i64 {
        self.0.now().as_nanos()
    }

    #[getter]
    fn clock_type(&self) -> u8 {
        match self.0.clock_type() {
            ClockType::Ros => 1,
            ClockType::System => 2,
            ClockType::Steady => 3,
        }
    }

    /// Whether the clock shows simulated time.
    #[getter]
    fn is_simulated(&self) -> bool {
        self.0.is_simulated()
    }

    /// Sets simulated time, in nanoseconds, as a `/clock` message does.
    fn set_simulated_time(&self, py: Python<'_>, nanos: u64) {
        let time = i64::try_from(nanos).unwrap_or(i64::MAX);
        // Without the interpreter lock, since the callbacks of the jump acquire it.
        py.detach(|| self.0.set_simulated_time(feros::Time::from_nanos(time)));
    }

    /// Calls `before` and `after` around each jump that exceeds a threshold, with the time before,
    /// the time after, and the change of the clock: 1 for no change, 2 if simulated time was turned
    /// on, 3 if it was turned off. Thresholds are in nanoseconds. The callbacks run on the thread
    /// that sets the clock; exceptions in them are printed.
    #[pyo3(signature = (before, after, on_clock_change, min_forward=None, min_backward=None))]
    fn create_jump_callback(
        &self,
        before: Option<Py<PyAny>>,
        after: Option<Py<PyAny>>,
        on_clock_change: bool,
        min_forward: Option<u64>,
        min_backward: Option<u64>,
    ) -> JumpHandle {
        let threshold = JumpThreshold {
            on_clock_change,
            min_forward: min_forward.map(Duration::from_nanos),
            min_backward: min_backward.map(Duration::from_nanos),
        };
        let tell = |callback: Option<Py<PyAny>>| {
            move |jump: &TimeJump| {
                if let Some(callback) = &callback {
                    call(callback, jump);
                }
            }
        };
        let guard = self.0.create_jump_callback(threshold, tell(before), tell(after));
        JumpHandle(Mutex::new(Some(Detached::new(guard))))
    }
}

fn call(callback: &Py<PyAny>, jump: &TimeJump) {
    let change: u8 = match jump.clock_change {
        ClockChange::None => 1,
        ClockChange::SimulatedTimeOn => 2,
        ClockChange::SimulatedTimeOff => 3,
    };
    let _ = Python::try_attach(|py| {
        let times = (jump.before.as_nanos(), jump.after.as_nanos(), change);
        if let Err(error) = callback.call1(py, times) {
            error.print(py);
        }
    });
}

/// Keeps the callbacks for a clock's jumps registered.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct JumpHandle(Mutex<Option<Detached<JumpGuard>>>);

#[pymethods]
impl JumpHandle {
    /// Removes the callbacks. Calling this again does nothing.
    fn remove(&self) {
        let guard = self.0.lock().take();
        drop(guard); // outside the lock, since this may drop the callbacks
    }
}
