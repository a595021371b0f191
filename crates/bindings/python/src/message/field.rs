//! The attribute of a message class for one field. Reading it is as fast as reading a slot. Setting
//! it converts the value, and also checks the value if the instance asks for checks.

use std::sync::Arc;

use pyo3::exceptions::{PyAttributeError, PyRuntimeError};
use pyo3::prelude::*;

use super::number::Number;
use super::plan::{Kind, Many, Plan, Slot};
use super::runtime;
use crate::ffi::{self, Instance};

/// One field of a class of messages.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Field {
    plan: Arc<Plan>,
    index: usize,
}

impl Field {
    pub(super) fn new(plan: &Arc<Plan>, index: usize) -> Self {
        Self { plan: plan.clone(), index }
    }

    fn instance<'a, 'py>(&'a self, object: &'a Bound<'py, PyAny>) -> PyResult<Instance<'a, 'py>> {
        let class = &self.plan.class;
        class.instance(object).ok_or_else(|| ffi::no_instance(class, object))
    }

    fn slot(&self) -> &Slot {
        &self.plan.slots[self.index]
    }
}

#[pymethods]
impl Field {
    fn __get__<'py>(
        slf: Bound<'py, Self>,
        instance: Option<Bound<'py, PyAny>>,
        _owner: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match instance {
            Some(object) => {
                let field = slf.get();
                field.instance(&object)?.get(field.index)
            }
            None => Ok(slf.into_any()),
        }
    }

    fn __set__<'py>(
        &self,
        instance: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let checks = self.instance(instance)?.get(self.plan.check())?.is_truthy()?;
        assign(&self.plan, self.index, instance, value, checks)
    }

    fn __delete__(&self, _instance: &Bound<'_, PyAny>) -> PyResult<()> {
        let name = &self.slot().name;
        Err(PyAttributeError::new_err(format!("field {name} of a message cannot be deleted")))
    }

    /// The name of the field.
    #[getter]
    fn __name__(&self) -> &str {
        &self.slot().name
    }

    fn __repr__(&self) -> String {
        format!("<field '{}' of {}>", self.slot().name, self.plan.name)
    }
}

/// Sets a field to a value, converted to the form of the field.
pub(super) fn assign<'py>(
    plan: &Plan,
    index: usize,
    message: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    checks: bool,
) -> PyResult<()> {
    let (class, slot) = (&plan.class, &plan.slots[index]);
    let instance = class.instance(message).ok_or_else(|| ffi::no_instance(class, message))?;
    if checks {
        runtime::check(message.get_type().as_any(), &slot.name, value)?;
    }
    match (&slot.kind, slot.shape) {
        (Kind::Number(_), Many::One) => instance.set(index, value),
        (Kind::Number(number), Many::Array(_)) => {
            instance.set(index, &runtime::to_fixed_array(value, *number)?)
        }
        (Kind::Number(number), Many::Sequence { .. }) => {
            instance.set(index, &copy_of_numbers(value, *number)?)
        }
        _ => instance.set(index, value),
    }
}

/// Makes an `array.array` from any object that holds numbers. If the object's memory already holds
/// numbers of the right type, a single copy of the memory is enough.
fn copy_of_numbers<'py>(value: &Bound<'py, PyAny>, number: Number) -> PyResult<Bound<'py, PyAny>> {
    let bytes = ffi::with_buffer(value, |contents| {
        let is_same = number.is_format(contents.format(), contents.item_size());
        is_same.then_some(contents.len())
    });
    let Some(Some(size)) = bytes else { return runtime::to_array(value, number) };
    let array = runtime::array_of_zeros(value.py(), number, size / number.size())?;
    if size > 0 && !ffi::copy(value, &array) {
        return Err(PyRuntimeError::new_err("the array was changed while it was copied"));
    }
    Ok(array)
}
