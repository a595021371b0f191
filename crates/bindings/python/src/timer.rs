//! Timers and guard conditions.

use std::time::Duration;

use feros::{NodeGuardCondition, NodeTimer, TimerOptions};
use pyo3::prelude::*;

use crate::callback::Owner;
use crate::detached::Detached;
use crate::error::error;

/// Calls a callback periodically.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Timer(Detached<NodeTimer>);

impl Timer {
    pub(crate) fn new(
        py: Python<'_>,
        owner: Owner<'_>,
        options: TimerOptions,
        callback: Py<PyAny>,
    ) -> PyResult<Self> {
        let (failures, node) = (owner.failures.clone(), owner.node);
        let call = move || failures.run(|py| callback.call0(py).map(drop));
        let made = py.detach(|| node.create_timer_with(options, call));
        Ok(Self(Detached::new(made.map_err(error)?)))
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[pymethods]
impl Timer {
    fn cancel(&self) {
        self.0.cancel();
    }

    fn reset(&self) {
        self.0.reset();
    }

    fn is_canceled(&self) -> bool {
        self.0.is_canceled()
    }

    fn is_ready(&self) -> bool {
        self.0.is_ready()
    }

    /// The period in nanoseconds.
    #[getter]
    fn period(&self) -> u64 {
        nanos(self.0.period())
    }

    fn change_period(&self, period: u64) {
        self.0.exchange_period(Duration::from_nanos(period));
    }

    /// The nanoseconds until the timer is due; `None` if it was canceled.
    fn time_until_next_call(&self) -> Option<u64> {
        self.0.time_until_next().map(nanos)
    }
}

/// Makes the executor call a callback after each trigger.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct GuardCondition(Detached<NodeGuardCondition>);

impl GuardCondition {
    pub(crate) fn new(py: Python<'_>, owner: Owner<'_>, callback: Py<PyAny>) -> PyResult<Self> {
        let (failures, node) = (owner.failures.clone(), owner.node);
        let call = move || failures.run(|py| callback.call0(py).map(drop));
        let made = py.detach(|| node.create_guard_condition(call));
        Ok(Self(Detached::new(made.map_err(error)?)))
    }
}

#[pymethods]
impl GuardCondition {
    /// Triggers the guard condition. May be called from any thread.
    fn trigger(&self) {
        self.0.trigger();
    }
}
