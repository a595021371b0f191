//! The Python objects that messages need: `array.array`, numpy if it is installed, and the
//! conversions that are rare enough to be written in Python.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

use super::number::Number;
use crate::ffi;

/// The array types, looked up once.
struct Runtime {
    /// An `array.array` of a single zero for each type of number.
    zeros: Vec<Py<PyAny>>,
    /// `feros._values.numbers(value, typecode, dtype)`, which converts any iterable to an array.
    numbers: Py<PyAny>,
    /// `feros._values.check(class, field, value)`, which does the checks of stock ROS 2.
    check: Py<PyAny>,
}

/// The functions of numpy that this module calls.
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

/// Imports numpy when the first array needs it, since importing numpy takes longer than importing
/// Feros.
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

/// Makes an `array.array` of these numbers, which are in the byte order of this machine.
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

/// Makes an `array.array` with this number of zeros, to be filled.
pub(super) fn array_of_zeros(
    py: Python<'_>,
    number: Number,
    count: usize,
) -> PyResult<Bound<'_, PyAny>> {
    runtime(py)?.zeros[number.index()].bind(py).mul(count)
}

/// Makes the value of a fixed-size array field: a numpy array, or an `array.array` if numpy is not
/// installed.
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

/// Converts any value to the value of a fixed-size array field.
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

/// Converts any value to an `array.array`, element by element.
pub(super) fn to_array<'py>(
    value: &Bound<'py, PyAny>,
    number: Number,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    runtime(py)?.numbers.bind(py).call1((value, number.typecode(), number.dtype()))
}

/// Makes a view of numbers that are read in place: a numpy array, or a `memoryview` if numpy is not
/// installed. Both are read-only.
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

/// Makes a read-only copy in the same form, since a copy of a few numbers is cheaper than keeping
/// the message.
pub(super) fn view_of_copy<'py>(
    py: Python<'py>,
    number: Number,
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let copy = PyBytes::new(py, bytes);
    view(copy.as_any(), number, 0, bytes.len() / number.size())
}

/// Raises the exception of stock ROS 2 for a value that a field does not accept.
pub(super) fn check(
    class: &Bound<'_, PyAny>,
    field: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let py = class.py();
    runtime(py)?.check.bind(py).call1((class, field, value)).map(drop)
}
