//! The statuses of the goals of an action server that is written in Python.

use feros::action::GoalStatus;
use feros::msgs::action_msgs::msg::GoalInfo;
use feros::msgs::builtin_interfaces::msg::Time;
use feros::msgs::unique_identifier_msgs::msg::UUID;
use feros::{GenericPublisher, GoalId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::detached::Detached;
use crate::error::error;

/// Publishes the statuses of goals on the status topic of an action. Many goals cost fewer messages
/// than one for each change.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct GoalStatuses(Detached<feros::action::GoalStatuses>);

impl GoalStatuses {
    pub(crate) fn new(py: Python<'_>, publisher: GenericPublisher) -> PyResult<Self> {
        let made = py.detach(|| feros::action::GoalStatuses::new(publisher));
        Ok(Self(Detached::new(made.map_err(error)?)))
    }
}

fn goal_id(bytes: &Bound<'_, PyBytes>) -> PyResult<GoalId> {
    let bytes = bytes.as_bytes();
    let refused =
        |_| PyValueError::new_err(format!("the id of a goal has 16 bytes, not {}", bytes.len()));
    bytes.try_into().map_err(refused)
}

#[pymethods]
impl GoalStatuses {
    /// Sets the status of a goal that was accepted at `stamp` (seconds and nanoseconds). The goal
    /// becomes known if it was not.
    fn set(&self, id: &Bound<'_, PyBytes>, stamp: (i32, u32), status: i8) -> PyResult<()> {
        let (sec, nanosec) = stamp;
        let goal_id = UUID { uuid: goal_id(id)? };
        let goal = GoalInfo { goal_id, stamp: Time { sec, nanosec } };
        self.0.set(goal, GoalStatus::from_number(status));
        Ok(())
    }

    /// Forgets a goal, after a message has had its last status.
    fn forget(&self, id: &Bound<'_, PyBytes>) -> PyResult<()> {
        self.0.forget(&goal_id(id)?);
        Ok(())
    }

    /// Publishes the statuses after a change, at once or a little later.
    fn publish(&self, py: Python<'_>) {
        py.detach(|| self.0.publish());
    }

    /// Publishes the changes that have not been published.
    fn complete(&self, py: Python<'_>) {
        py.detach(|| self.0.complete());
    }
}
