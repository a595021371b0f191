//! Callback groups, and the other options that determine how a callback is scheduled.

use std::time::Duration;

use feros::CallbackOptions;
use pyo3::prelude::*;

/// Callbacks that are scheduled together.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct CallbackGroup(pub(crate) feros::CallbackGroup);

/// The group of a callback, its priority, and its deadline in nanoseconds.
pub(crate) type Schedule = (Option<Py<CallbackGroup>>, i32, Option<u64>);

/// Converts a schedule into the options of a callback; without a schedule, the defaults of the node
/// apply.
pub(crate) fn callback_options(schedule: Option<&Schedule>) -> CallbackOptions {
    let mut options = CallbackOptions::default();
    if let Some((group, priority, deadline)) = schedule {
        options.group = group.as_ref().map(|group| group.get().0.clone());
        options.priority = *priority;
        options.deadline = deadline.map(Duration::from_nanos);
    }
    options
}
