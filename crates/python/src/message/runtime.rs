//! What messages need of Python: `array.array`, numpy if it is there, and the conversions that are
//! rare enough to be written in Python.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

use super::number::Number;
use crate::ffi;

/// The array types, looked up once.
struct Runtime {
    /// For each number an `array.array` of a single zero.
    zeros: Vec<Py<PyAny>>,
    /// `feros._values.numbers(value, typecode, dtype)`: any iterable as an array.
    numbers: Py<PyAny>,
    /// `feros._values.check(class, field, value)`: the checks of stock ROS 2.
    check: Py<PyAny>,
}

/// The functions of numpy that are called.
struct Numpy {
    empty: Py<PyAny>,
    array: Py<PyAny>,
    frombuffer: Py<PyAny>,
    dtypes: Vec<Py<PyAny>>,
}

static RUNTIME: PyOnceLock<Runtime> = PyOnceLock::new();
static NUMPY: PyOnceLock<Option<Numpy>> = PyOnceLock::new();

fn runtime(py: Python<'_>) -> PyResult<&'static Runtime> {
    RUNTIME.get_or_try_init(py, || {
        let array = py.import("array")?.getattr("array")?;
        let zero = |number: &Number| Ok(array.call1((number.typecode(), [0]))?.unbind());
        let values = py.import("feros._values")?;
        Ok(Runtime {
            zeros: Number::ALL.iter().map(zero).collect::<PyResult<_>>()?,
            numbers: values.getattr("numbers")?.unbind(),
            check: values.getattr("check")?.unbind(),
        })
    })
}

/// numpy, imported when the first array needs it: importing it takes longer than all of Feros.
fn numpy(py: Python<'_>) -> PyResult<Option<&'static Numpy>> {
    let found = NUMPY.get_or_try_init(py, || {
        let Ok(module) = py.import("numpy") else { return Ok(None) };
        let dtype = module.getattr("dtype")?;
        let dtypes = Number::ALL.iter().map(|number| Ok(dtype.call1((number.dtype(),))?.unbind()));
        PyResult::Ok(Some(Numpy {
            empty: module.getattr("empty")?.unbind(),
            array: module.getattr("array")?.unbind(),
            frombuffer: module.getattr("frombuffer")?.unbind(),
            dtypes: dtypes.collect::<PyResult<_>>()?,
        }))
    })?;
    Ok(found.as_ref())
}

/// A new `array.array` of these numbers, which are in the byte order of this machine.
pub(super) fn array<'py>(
    py: Python<'py>,
    number: Number,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let zero = runtime(py)?.zeros[number.index()].bind(py);
    let array = zero.mul(bytes.len() / number.size())?;
    if !bytes.is_empty() {
        ffi::fill(&array, bytes)?;
    }
    Ok(array)
}

/// The same of a size, to be filled.
pub(super) fn array_of_zeros(
    py: Python<'_>,
    number: Number,
    count: usize,
) -> PyResult<Bound<'_, PyAny>> {
    runtime(py)?.zeros[number.index()].bind(py).mul(count)
}

/// A new array as fixed arrays are: of numpy, or where that is not installed an `array.array`.
pub(super) fn fixed_array<'py>(
    py: Python<'py>,
    number: Number,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let Some(numpy) = numpy(py)? else { return array(py, number, bytes) };
    let dtype = &numpy.dtypes[number.index()];
    let array = numpy.empty.bind(py).call1((bytes.len() / number.size(), dtype))?;
    ffi::fill(&array, bytes)?;
    Ok(array)
}

/// Any value as an array for a field of so many numbers.
pub(super) fn to_fixed_array<'py>(
    value: &Bound<'py, PyAny>,
    number: Number,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    match numpy(py)? {
        Some(numpy) => numpy.array.bind(py).call1((value, &numpy.dtypes[number.index()])),
        None => to_array(value, number),
    }
}

/// Any value as an `array.array`, whose elements are converted one by one.
pub(super) fn to_array<'py>(
    value: &Bound<'py, PyAny>,
    number: Number,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    runtime(py)?.numbers.bind(py).call1((value, number.typecode(), number.dtype()))
}

/// Numbers that are read where they lie: a view of numpy, or a `memoryview` where that is not
/// installed. Neither can be written to.
pub(super) fn view<'py>(
    owner: &Bound<'py, PyAny>,
    number: Number,
    offset: usize,
    count: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let Some(numpy) = numpy(py)? else {
        let all = pyo3::types::PyMemoryView::from(owner)?;
        let end = offset + count * number.size();
        let part = all.get_item(pyo3::types::PySlice::new(py, offset as isize, end as isize, 1))?;
        return part.call_method1("cast", (number.typecode(),));
    };
    let dtype = &numpy.dtypes[number.index()];
    if count == 0 {
        return numpy.empty.bind(py).call1((0, dtype));
    }
    numpy.frombuffer.bind(py).call1((owner, dtype, count, offset))
}

/// The same of a copy: for few numbers it is cheaper than to keep a message.
pub(super) fn view_of_copy<'py>(
    py: Python<'py>,
    number: Number,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let copy = PyBytes::new(py, bytes);
    view(copy.as_any(), number, 0, bytes.len() / number.size())
}

/// Raises what stock ROS 2 raises for a value that a field does not take.
pub(super) fn check(
    class: &Bound<'_, PyAny>,
    field: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let py = class.py();
    runtime(py)?.check.bind(py).call1((class, field, value)).map(drop)
}
