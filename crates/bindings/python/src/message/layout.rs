//! The layout of a message whose numbers Python writes in place: its size, its initial content, and
//! the offset at which Python finds each field.

use std::sync::Arc;

use feros_cdr::{Encode, Writer, encoded_size as cdr_size};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::default::new_message;
use super::encode::encode_body_at;
use super::number::Number;
use super::plan::{Kind, Many, Plan, Slot};
use crate::ffi::no_instance;

/// The size of the header. Alignment in the body counts from the end of the header.
const HEADER: usize = feros_cdr::HEADER_LEN;

/// A message that has been laid out, but not written to memory.
pub(crate) struct Layout {
    at: usize,
    /// The bytes to write, with their offsets in the memory, in order. Between them are padding and
    /// the reserved numbers.
    writes: Vec<(usize, Vec<u8>)>,
    /// The offsets and sizes of the numbers that the program writes.
    reserved: Vec<(usize, usize)>,
}

impl Layout {
    /// Lays out a message with this shape; returns the layout, and the positions of the fields for
    /// Python. A shape has an entry for each field that differs from its default: the number of
    /// elements for a sequence of numbers, a nested shape for a message, and the value for any
    /// other field.
    pub(crate) fn of<'py>(
        py: Python<'py>,
        plan: &Arc<Plan>,
        shape: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Self, Bound<'py, PyDict>)> {
        let mut layout = Self { at: HEADER, writes: Vec::new(), reserved: Vec::new() };
        layout.writes.push((0, feros_cdr::ByteOrder::NATIVE.header().to_vec()));
        let fields = layout.message(py, plan, shape)?;
        Ok((layout, fields))
    }

    /// The size of the memory.
    pub(crate) fn size_bytes(&self) -> usize {
        self.at
    }

    /// Writes the known bytes to the memory, and zeros to the padding.
    pub(crate) fn write(&self, memory: &mut [u8]) {
        let mut places: Vec<(usize, usize)> = self.reserved.clone();
        for (at, bytes) in &self.writes {
            memory[*at..at + bytes.len()].copy_from_slice(bytes);
            places.push((*at, bytes.len()));
        }
        places.sort_unstable();
        let mut end = 0;
        for (at, size) in places {
            memory[end..at].fill(0);
            end = at + size;
        }
        memory[end..].fill(0);
    }

    fn align(&mut self, size: usize) {
        self.at = HEADER + (self.at - HEADER).next_multiple_of(size);
    }

    fn push(&mut self, align: usize, bytes: Vec<u8>) -> usize {
        self.align(align);
        let at = self.at;
        self.at += bytes.len();
        self.writes.push((at, bytes));
        at
    }

    fn message<'py>(
        &mut self,
        py: Python<'py>,
        plan: &Arc<Plan>,
        shape: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        check_names(plan, shape)?;
        if plan.slots.is_empty() {
            self.push(1, vec![0]);
        }
        let defaults = new_message(py, plan, false)?;
        for (index, slot) in plan.slots.iter().enumerate() {
            let given = match shape {
                Some(shape) => shape.get_item(&slot.name)?,
                None => None,
            };
            let Some(instance) = plan.class.instance(&defaults) else {
                return Err(no_instance(&plan.class, &defaults));
            };
            let place = self.field(py, slot, given, || instance.get(index))?;
            fields.set_item(&slot.name, place)?;
        }
        Ok(fields)
    }

    /// Lays out one field. Returns an object for Python: the position of numbers, the fields of a
    /// message, or `None` for other fields.
    fn field<'py>(
        &mut self,
        py: Python<'py>,
        slot: &Slot,
        given: Option<Bound<'py, PyAny>>,
        default: impl Fn() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = || given.clone().map_or_else(&default, Ok);
        match (&slot.kind, slot.shape) {
            (Kind::Message(plan), Many::One) => {
                let shape = given.as_ref().map(|given| given.cast::<PyDict>()).transpose();
                let shape = shape.map_err(|_| {
                    PyTypeError::new_err(format!(
                        "{}: expected a dict with the shape of a {}",
                        slot.name, plan.name
                    ))
                })?;
                Ok(self.message(py, plan, shape)?.into_any())
            }
            (Kind::Number(number), Many::One) => {
                let bytes = number_bytes(*number, &value()?)?;
                let at = self.push(number.size(), bytes);
                place(py, "number", *number, at, 1)
            }
            (Kind::Bool, Many::One) => {
                let at = self.push(1, vec![u8::from(value()?.is_truthy()?)]);
                place(py, "bool", Number::U8, at, 1)
            }
            (Kind::Number(number), Many::Array(count)) => {
                // Arrays are small and users easily forget to fill them, so they are set to zero.
                let at = self.push(number.size(), vec![0; count * number.size()]);
                place(py, "array", *number, at, count)
            }
            (Kind::Number(number), Many::Sequence { bound }) => {
                let count = match &given {
                    Some(given) => given.extract::<usize>().map_err(|_| {
                        PyTypeError::new_err(format!(
                            "{}: expected the number of elements",
                            slot.name
                        ))
                    })?,
                    None => 0,
                };
                if bound.is_some_and(|bound| count > bound) {
                    let bound = bound.unwrap_or_default();
                    return Err(PyValueError::new_err(format!(
                        "{}: at most {bound} elements are allowed, but there are {count}",
                        slot.name
                    )));
                }
                let length = u32::try_from(count)?;
                self.push(4, length.to_ne_bytes().to_vec());
                self.reserve(*number, count);
                place(py, "array", *number, self.at - count * number.size(), count)
            }
            _ => {
                self.other(slot, &value()?)?;
                Ok(py.None().into_bound(py))
            }
        }
    }

    fn reserve(&mut self, number: Number, count: usize) {
        if count > 0 {
            self.align(number.size());
        }
        self.reserved.push((self.at, count * number.size()));
        self.at += count * number.size();
    }

    /// Adds strings and lists, whose content must already be known.
    fn other(&mut self, slot: &Slot, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let elements = match slot.shape {
            Many::One => vec![value.clone()],
            Many::Array(wanted) => {
                let elements = value.try_iter()?.collect::<PyResult<Vec<_>>>()?;
                if elements.len() != wanted {
                    let (name, got) = (&slot.name, elements.len());
                    return Err(PyValueError::new_err(format!(
                        "{name}: expected {wanted} elements, but there are {got}"
                    )));
                }
                elements
            }
            Many::Sequence { bound } => {
                let elements = value.try_iter()?.collect::<PyResult<Vec<_>>>()?;
                if bound.is_some_and(|bound| elements.len() > bound) {
                    let (name, got) = (&slot.name, elements.len());
                    return Err(PyValueError::new_err(format!(
                        "{name}: at most {} elements are allowed, but there are {got}",
                        bound.unwrap_or_default()
                    )));
                }
                self.push(4, u32::try_from(elements.len())?.to_ne_bytes().to_vec());
                elements
            }
        };
        elements.iter().try_for_each(|element| self.element(&slot.kind, element))
    }

    fn element(&mut self, kind: &Kind, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let wrong = || PyTypeError::new_err(format!("expected {}", kind.describe()));
        match kind {
            Kind::Bool => drop(self.push(1, vec![u8::from(value.is_truthy()?)])),
            Kind::Byte => drop(self.push(1, value.extract::<Vec<u8>>().map_err(|_| wrong())?)),
            Kind::Text { .. } => {
                let text = value.cast::<PyString>().map_err(|_| wrong())?.to_str()?;
                self.push(4, body(&text.to_owned())?);
            }
            Kind::WideText { .. } => {
                let text = value.cast::<PyString>().map_err(|_| wrong())?.to_str()?;
                self.push(4, body(&feros_cdr::WString::from(text))?);
            }
            Kind::Message(plan) => {
                let bytes = encode_body_at(plan, value, (self.at - HEADER) % 8)?;
                self.push(1, bytes);
            }
            Kind::Number(number) => drop(self.push(number.size(), number_bytes(*number, value)?)),
        }
        Ok(())
    }
}

/// Serializes a value that starts at a multiple of 8, without the header.
fn body<T: Encode>(value: &T) -> PyResult<Vec<u8>> {
    let refused = |error: feros_cdr::EncodeError| PyValueError::new_err(error.to_string());
    let mut bytes = vec![0; cdr_size(value)];
    let mut writer = Writer::new(&mut bytes).map_err(refused)?;
    value.encode(&mut writer).map_err(refused)?;
    bytes.drain(..HEADER);
    Ok(bytes)
}

fn number_bytes(number: Number, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    super::number::with_number!(number, T => Ok(value.extract::<T>()?.to_ne_bytes().to_vec()))
}

/// Describes a position in the memory for Python: the kind of field, the letter of the number in
/// `struct`, its name in numpy, the offset and the count.
fn place<'py>(
    py: Python<'py>,
    what: &str,
    number: Number,
    at: usize,
    count: usize,
) -> PyResult<Bound<'py, PyAny>> {
    Ok((what, number.typecode(), number.dtype(), at, count).into_pyobject(py)?.into_any())
}

fn check_names(plan: &Plan, shape: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(shape) = shape else { return Ok(()) };
    for name in shape.keys().iter() {
        let name: String = name.extract()?;
        if !plan.slots.iter().any(|slot| slot.name == name) {
            let known: Vec<&str> = plan.slots.iter().map(|slot| slot.name.as_str()).collect();
            return Err(PyTypeError::new_err(format!(
                "{} has no field {name:?}; it has {}",
                plan.name,
                known.join(", ")
            )));
        }
    }
    Ok(())
}
