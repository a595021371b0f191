//! Makes new messages, whose fields have the values that were passed to the constructor, or else
//! their defaults.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList};

use super::field;
use super::plan::{Initial, Kind, Many, Plan, Slot};
use super::runtime;
use crate::ffi::no_instance;

/// Fills a new instance like the constructors of stock ROS 2: fields with a given value get that
/// value, and all other fields get their defaults.
pub(super) fn initialize<'py>(
    plan: &Plan,
    message: &Bound<'py, PyAny>,
    given: Option<&Bound<'py, PyDict>>,
    checks: bool,
) -> PyResult<()> {
    let py = message.py();
    let Some(instance) = plan.class.instance(message) else {
        return Err(no_instance(&plan.class, message));
    };
    instance.set(plan.check(), &PyBool::new(py, checks).to_owned().into_any())?;
    for (index, slot) in plan.slots.iter().enumerate() {
        let value = match given {
            Some(given) => given.get_item(&slot.name)?,
            None => None,
        };
        match value {
            Some(value) => field::assign(plan, index, message, &value, checks)?,
            None => instance.set(index, &slot.default(py, checks)?)?,
        }
    }
    Ok(())
}

/// Makes a message with its defaults.
pub(super) fn new_message<'py>(
    py: Python<'py>,
    plan: &Arc<Plan>,
    checks: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let message = plan.class.allocate(py)?;
    initialize(plan, &message, None, checks)?;
    Ok(message)
}

impl Slot {
    fn default<'py>(&self, py: Python<'py>, checks: bool) -> PyResult<Bound<'py, PyAny>> {
        let nested = |_: usize| match &self.kind {
            Kind::Message(plan) => new_message(py, plan, checks),
            _ => Ok(py.None().into_bound(py)),
        };
        Ok(match (&self.default, &self.kind) {
            (Initial::Object(object), _) => object.bind(py).clone(),
            (Initial::Numbers(bytes), Kind::Number(number)) => match self.shape {
                Many::Array(_) => runtime::fixed_array(py, *number, bytes)?,
                _ => runtime::array(py, *number, bytes)?,
            },
            (Initial::List(objects), _) => PyList::new(py, objects)?.into_any(),
            (Initial::Messages(count), _) => {
                let messages = (0..*count).map(nested).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, messages)?.into_any()
            }
            (Initial::Message | Initial::Numbers(_), _) => nested(0)?,
        })
    }
}
