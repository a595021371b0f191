//! Parameters of a node, with Python values.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros::parameter::ParameterCallbackGuard;
use feros::{ParameterDescriptor, ParameterValue};
use feros_sync::Mutex;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::callback::Failures;
use crate::detached::Detached;
use crate::error::ParameterError;

/// Converts a Python object to a parameter value. A list has the type of its elements; in a list of
/// integers and floating-point numbers, all elements count as floating-point numbers.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<ParameterValue> {
    if value.is_none() {
        return Ok(ParameterValue::NotSet);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(ParameterValue::Bool(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(ParameterValue::Integer(value.extract()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(ParameterValue::Double(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(ParameterValue::String(value.extract()?));
    }
    if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
        return Ok(ParameterValue::ByteArray(value.extract()?));
    }
    let elements: Vec<Bound<'_, PyAny>> = match value.try_iter() {
        Ok(elements) => elements.collect::<PyResult<_>>()?,
        Err(_) => return Err(no_value(value)),
    };
    let all = |is: &dyn Fn(&Bound<'_, PyAny>) -> bool| elements.iter().all(is);
    if all(&|element| element.is_instance_of::<PyBytes>()) && !elements.is_empty() {
        let bytes = elements.iter().map(|element| element.extract::<Vec<u8>>());
        return Ok(ParameterValue::ByteArray(bytes.collect::<PyResult<Vec<_>>>()?.concat()));
    }
    if all(&|element| element.is_instance_of::<PyString>()) {
        let texts = elements.iter().map(|element| element.extract());
        return Ok(ParameterValue::StringArray(texts.collect::<PyResult<_>>()?));
    }
    if all(&|element| element.is_instance_of::<PyBool>()) {
        let bools = elements.iter().map(|element| element.extract());
        return Ok(ParameterValue::BoolArray(bools.collect::<PyResult<_>>()?));
    }
    if all(&|element| element.is_instance_of::<PyInt>() && !element.is_instance_of::<PyBool>()) {
        let integers = elements.iter().map(|element| element.extract());
        return Ok(ParameterValue::IntegerArray(integers.collect::<PyResult<_>>()?));
    }
    let floats: PyResult<Vec<f64>> = elements.iter().map(|element| element.extract()).collect();
    floats.map(ParameterValue::DoubleArray).map_err(|_| no_value(value))
}

fn no_value(value: &Bound<'_, PyAny>) -> PyErr {
    let got = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!(
        "{got} cannot be the value of a parameter: use bool, int, float, str, bytes, or a list of one of these"
    ))
}

/// Converts a parameter value to a Python object.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &ParameterValue,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        ParameterValue::NotSet => py.None().into_bound(py),
        ParameterValue::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        ParameterValue::Integer(value) => value.into_pyobject(py)?.into_any(),
        ParameterValue::Double(value) => value.into_pyobject(py)?.into_any(),
        ParameterValue::String(value) => PyString::new(py, value).into_any(),
        ParameterValue::ByteArray(value) => {
            PyList::new(py, value.iter().map(|byte| PyBytes::new(py, &[*byte])))?.into_any()
        }
        ParameterValue::BoolArray(value) => PyList::new(py, value)?.into_any(),
        ParameterValue::IntegerArray(value) => PyList::new(py, value)?.into_any(),
        ParameterValue::DoubleArray(value) => PyList::new(py, value)?.into_any(),
        ParameterValue::StringArray(value) => PyList::new(py, value)?.into_any(),
    })
}

fn refused(error: impl std::fmt::Display) -> PyErr {
    ParameterError::new_err(error.to_string())
}

fn named<'py>(
    py: Python<'py>,
    values: &[(String, ParameterValue)],
) -> PyResult<Bound<'py, PyList>> {
    let values = values.iter().map(|(name, value)| {
        let pair = (name.as_str(), to_python(py, value)?, value.parameter_type().number());
        pair.into_pyobject(py)
    });
    PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
}

/// The parameters of a node.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Parameters {
    node: Detached<feros::Node>,
    failures: Arc<Failures>,
}

impl Parameters {
    pub(crate) fn of(node: &feros::Node, failures: &Arc<Failures>) -> Self {
        Self { node: Detached::new(node.clone()), failures: failures.clone() }
    }
}

/// Declares a parameter whose type is that of its value. This is a macro because each type has its
/// own builder.
macro_rules! declare {
    ($builder:expr, $how:expr, $($range:ident)?) => {{
        let mut builder = $builder.description(&$how.description);
        builder = builder.additional_constraints(&$how.constraints);
        if $how.read_only {
            builder = builder.read_only();
        }
        if $how.ignore_override {
            builder = builder.ignore_override();
        }
        $(if let Some((from, to, step)) = $how.$range {
            builder = builder.stepped_range(from..=to, step);
        })?
        builder.declare().map(drop).map_err(refused)
    }};
}

/// The options for declaring a parameter.
#[derive(Default)]
struct How {
    description: String,
    constraints: String,
    read_only: bool,
    ignore_override: bool,
    dynamic: bool,
    floats: Option<(f64, f64, f64)>,
    integers: Option<(i64, i64, u64)>,
}

impl How {
    fn of(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut how = Self::default();
        for (name, value) in given.into_iter().flatten() {
            match name.extract::<String>()?.as_str() {
                "description" => how.description = value.extract()?,
                "additional_constraints" => how.constraints = value.extract()?,
                "read_only" => how.read_only = value.extract()?,
                "ignore_override" => how.ignore_override = value.extract()?,
                "dynamic_typing" => how.dynamic = value.extract()?,
                "floating_point_range" => how.floats = value.extract()?,
                "integer_range" => how.integers = value.extract()?,
                other => {
                    return Err(PyTypeError::new_err(format!(
                        "a parameter has no option {other:?}"
                    )));
                }
            }
        }
        Ok(how)
    }
}

#[pymethods]
impl Parameters {
    /// Declares a parameter that starts with `default`; returns its value.
    #[pyo3(signature = (name, default, **how))]
    fn declare<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: &Bound<'py, PyAny>,
        how: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (how, default) = (How::of(how)?, from_python(default)?);
        let node: &feros::Node = &self.node;
        py.detach(|| match default {
            value if how.dynamic => declare!(node.build_dynamic_parameter(name, value), how,),
            ParameterValue::Bool(value) => declare!(node.build_parameter(name, value), how,),
            ParameterValue::Integer(value) => {
                declare!(node.build_parameter(name, value), how, integers)
            }
            ParameterValue::Double(value) => {
                declare!(node.build_parameter(name, value), how, floats)
            }
            ParameterValue::String(value) => declare!(node.build_parameter(name, value), how,),
            ParameterValue::ByteArray(value) => declare!(node.build_parameter(name, value), how,),
            ParameterValue::BoolArray(value) => declare!(node.build_parameter(name, value), how,),
            ParameterValue::IntegerArray(value) => {
                declare!(node.build_parameter(name, value), how, integers)
            }
            ParameterValue::DoubleArray(value) => {
                declare!(node.build_parameter(name, value), how, floats)
            }
            ParameterValue::StringArray(value) => {
                declare!(node.build_parameter(name, value), how,)
            }
            value @ ParameterValue::NotSet => {
                declare!(node.build_dynamic_parameter(name, value), how,)
            }
        })?;
        self.get(py, name)
    }

    fn undeclare(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        py.detach(|| self.node.undeclare_parameter(name)).map_err(refused)
    }

    fn has(&self, name: &str) -> bool {
        self.node.has_parameter(name)
    }

    /// The value of a parameter.
    fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.node.get_parameter(name).map_err(refused)?)
    }

    /// All parameters whose names begin with `prefix.`, by the rest of their names.
    fn by_prefix<'py>(&self, py: Python<'py>, prefix: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (name, value) in self.node.get_parameters_by_prefix(prefix) {
            found.set_item(name, to_python(py, &value)?)?;
        }
        Ok(found)
    }

    /// Sets all of these parameters, or no parameter if one of them cannot be set.
    fn set(&self, py: Python<'_>, values: &Bound<'_, PyDict>) -> PyResult<()> {
        let values = values
            .iter()
            .map(|(name, value)| PyResult::Ok((name.extract::<String>()?, from_python(&value)?)));
        let values = values.collect::<PyResult<Vec<_>>>()?;
        py.detach(|| self.node.set_parameters_atomically(values)).map_err(refused)
    }

    /// The names below prefixes, at most `depth` levels deep (0: without limit), and the prefixes
    /// found.
    #[pyo3(signature = (prefixes=Vec::new(), depth=0))]
    fn list(&self, prefixes: Vec<String>, depth: u64) -> (Vec<String>, Vec<String>) {
        let list = self.node.list_parameters(&prefixes, depth);
        (list.names, list.prefixes)
    }

    /// The descriptors of parameters.
    fn describe<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let found = self.node.describe_parameters(&names).map_err(refused)?;
        found.iter().map(|descriptor| describe(py, descriptor)).collect()
    }

    /// The values from the command line and from parameter files.
    fn overrides<'py>(&self, py: Python<'py>) -> PyResult<BTreeMap<String, Bound<'py, PyAny>>> {
        let overrides = self.node.parameter_overrides().iter();
        overrides.map(|(name, value)| Ok((name.clone(), to_python(py, value)?))).collect()
    }

    /// Calls `callback` when parameters are set, with a list of names, values and types. If the
    /// callback returns a string, the parameters are not set, and the string is the reason.
    fn on_set(&self, py: Python<'_>, callback: Py<PyAny>) -> ParameterCallback {
        let failures = self.failures.clone();
        let guard = py.detach(|| {
            self.node.add_on_set_parameters_callback(move |values| {
                let mut reason =
                    Err("the node's callback for parameters raised an exception".to_owned());
                failures.run(|py| {
                    let answer = callback.call1(py, (named(py, values)?,))?;
                    reason = match answer.extract::<Option<String>>(py)? {
                        Some(text) => Err(text),
                        None => Ok(()),
                    };
                    Ok(())
                });
                reason
            })
        });
        ParameterCallback(Mutex::new(Some(guard)))
    }

    /// Calls `callback` after parameters have been set, with a list of names, values and types.
    fn after_set(&self, py: Python<'_>, callback: Py<PyAny>) -> ParameterCallback {
        let failures = self.failures.clone();
        let guard = py.detach(|| {
            self.node.add_post_set_parameters_callback(move |values| {
                failures.run(|py| callback.call1(py, (named(py, values)?,)).map(drop));
            })
        });
        ParameterCallback(Mutex::new(Some(guard)))
    }
}

fn describe<'py>(
    py: Python<'py>,
    descriptor: &ParameterDescriptor,
) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    described.set_item("name", &descriptor.name)?;
    described.set_item("type", descriptor.parameter_type.number())?;
    described.set_item("description", &descriptor.description)?;
    described.set_item("additional_constraints", &descriptor.additional_constraints)?;
    described.set_item("read_only", descriptor.read_only)?;
    described.set_item("dynamic_typing", descriptor.dynamic_typing)?;
    let floats = descriptor.floating_point_range.as_ref();
    let floats = floats.map(|range| (range.from_value, range.to_value, range.step));
    described.set_item("floating_point_range", floats)?;
    let integers = descriptor.integer_range.as_ref();
    let integers = integers.map(|range| (range.from_value, range.to_value, range.step));
    described.set_item("integer_range", integers)?;
    Ok(described)
}

/// A registered parameter callback. It is called until `remove` is called or this object is
/// dropped.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct ParameterCallback(Mutex<Option<ParameterCallbackGuard>>);

#[pymethods]
impl ParameterCallback {
    fn remove(&self, py: Python<'_>) {
        let guard = self.0.lock().take();
        py.detach(|| drop(guard));
    }
}
