//! Encodes messages to serialized bytes. The number of bytes is computed first, so that the bytes
//! can be written directly into the memory where receivers read them.

use feros_cdr::{EncodeError, HEADER_LEN, Sizer, Writer};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use super::number::{Number, with_number};
use super::plan::{Kind, Many, Plan, Slot};
use super::runtime;
use crate::ffi::{self, Instance};

/// The number of bytes of a message, including the 4-byte header.
///
/// # Errors
/// Fails if a field holds a value whose size cannot be computed, such as a number instead of a
/// string.
pub(crate) fn encoded_size(plan: &Plan, message: &Bound<'_, PyAny>) -> PyResult<usize> {
    let message = instance(plan, message)?;
    let mut sizer = Sizer::with_header();
    size_message(&mut sizer, plan, message).map_err(|error| named(error, plan))?;
    Ok(sizer.total_bytes())
}

/// Writes a message whose size [`encoded_size`] has just returned.
///
/// # Errors
/// Fails if a field holds a value that does not have the field's type, or if the message is changed
/// during the call.
pub(crate) fn encode_into(
    plan: &Plan,
    message: &Bound<'_, PyAny>,
    buffer: &mut [u8],
) -> PyResult<()> {
    let (size, message) = (buffer.len(), instance(plan, message)?);
    let mut writer = Writer::new(buffer).map_err(cdr_error)?;
    write_message(&mut writer, plan, message).map_err(|error| named(error, plan))?;
    if writer.written_bytes() != size {
        return Err(changed());
    }
    Ok(())
}

/// The bytes of a message, without header, that starts `before` bytes after a multiple of 8.
///
/// # Errors
/// The same as for [`encode_into`].
pub(super) fn encode_body_at(
    plan: &Plan,
    message: &Bound<'_, PyAny>,
    before: usize,
) -> PyResult<Vec<u8>> {
    let message = instance(plan, message)?;
    let mut sizer = Sizer::with_header();
    sizer.add_slice::<u8>(before);
    size_message(&mut sizer, plan, message).map_err(|error| named(error, plan))?;
    let mut buffer = vec![0; sizer.total_bytes()];
    let mut writer = Writer::new(&mut buffer).map_err(cdr_error)?;
    writer.write_slice(&[0_u8; 8][..before]).map_err(cdr_error)?;
    write_message(&mut writer, plan, message).map_err(|error| named(error, plan))?;
    buffer.drain(..HEADER_LEN + before);
    Ok(buffer)
}

/// The message as an instance of its class; fails if it is not an instance.
fn instance<'a, 'py>(
    plan: &'a Plan,
    message: &'a Bound<'py, PyAny>,
) -> PyResult<Instance<'a, 'py>> {
    if let Some(instance) = plan.class.instance(message) {
        return Ok(instance);
    }
    let (name, got) = (&plan.name, message.get_type().fully_qualified_name()?.to_string());
    Err(PyTypeError::new_err(format!("expected a message of {name}, not {got}")))
}

fn changed() -> PyErr {
    PyValueError::new_err(
        "the message was changed by another thread while it was serialized: publish a copy",
    )
}

fn cdr_error(error: EncodeError) -> PyErr {
    match error {
        EncodeError::BufferTooSmall { .. } => changed(),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// An error, with its position in the message. The position is built from the inside out.
struct Wrong {
    place: String,
    error: PyErr,
}

type Encoded = Result<(), Box<Wrong>>;

impl From<PyErr> for Box<Wrong> {
    fn from(error: PyErr) -> Self {
        Box::new(Wrong { place: String::new(), error })
    }
}

impl From<EncodeError> for Box<Wrong> {
    fn from(error: EncodeError) -> Self {
        cdr_error(error).into()
    }
}

fn inside(mut wrong: Box<Wrong>, outer: &str) -> Box<Wrong> {
    let dot = if wrong.place.is_empty() || wrong.place.starts_with('[') { "" } else { "." };
    wrong.place = format!("{outer}{dot}{}", wrong.place);
    wrong
}

/// Makes the exception. Its text names the field.
fn named(wrong: Box<Wrong>, plan: &Plan) -> PyErr {
    Python::attach(|py| {
        let (place, text) = (&wrong.place, wrong.error.value(py).to_string());
        let text = format!("{}.{place}: {text}", plan.name);
        let kind = &wrong.error;
        if let Ok(unreadable) = kind.value(py).cast::<PyUnicodeEncodeError>() {
            let reason = unreadable
                .getattr("reason")
                .map(|reason| format!("{reason}, in {}.{place}", plan.name));
            match reason.and_then(|reason| unreadable.setattr("reason", reason)) {
                Ok(()) => wrong.error.clone_ref(py),
                Err(error) => error,
            }
        } else if kind.is_instance_of::<PyOverflowError>(py) {
            PyOverflowError::new_err(text)
        } else if kind.is_instance_of::<PyTypeError>(py) {
            PyTypeError::new_err(text)
        } else if kind.is_instance_of::<PyValueError>(py) {
            PyValueError::new_err(text)
        } else {
            wrong.error
        }
    })
}

fn wrong_type(kind: &Kind, value: &Bound<'_, PyAny>) -> PyErr {
    let got = value.get_type().fully_qualified_name().map(|name| name.to_string());
    PyTypeError::new_err(format!("expected {}, not {}", kind.describe(), got.unwrap_or_default()))
}

fn check_count(shape: Many, count: usize) -> PyResult<()> {
    match shape {
        Many::Array(wanted) if count != wanted => {
            Err(PyValueError::new_err(format!("expected {wanted} elements, but there are {count}")))
        }
        Many::Sequence { bound: Some(bound) } if count > bound => Err(PyValueError::new_err(
            format!("at most {bound} elements are allowed, but there are {count}"),
        )),
        _ => Ok(()),
    }
}

/// The value of a field with several elements other than numbers, as a list.
fn as_list<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    if let Ok(list) = value.cast::<PyList>() {
        return Ok(list.clone());
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        let got = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a list, not {got}")));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Ok(tuple.to_list());
    }
    let elements = value.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    PyList::new(value.py(), elements)
}

fn text<'a>(kind: &Kind, value: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    match value.cast::<PyString>() {
        Ok(text) => text.to_str(),
        Err(_) => Err(wrong_type(kind, value)),
    }
}

fn check_length(len: usize, bound: Option<usize>) -> PyResult<()> {
    match bound {
        Some(bound) if len > bound => Err(PyValueError::new_err(format!(
            "at most {bound} characters are allowed, but there are {len}"
        ))),
        _ => Ok(()),
    }
}

fn size_message(sizer: &mut Sizer, plan: &Plan, message: Instance<'_, '_>) -> Encoded {
    if let Some(end) = plan.end_of_fixed(sizer.position()) {
        sizer.add_slice::<u8>(end - sizer.position());
        return Ok(());
    }
    for (index, slot) in plan.slots.iter().enumerate() {
        match slot.end_of_fixed(sizer.position()) {
            Some(end) => sizer.add_slice::<u8>(end - sizer.position()),
            None => {
                let value = message.get(index)?;
                size_field(sizer, slot, &value).map_err(|wrong| inside(wrong, &slot.name))?;
            }
        }
    }
    Ok(())
}

fn size_field(sizer: &mut Sizer, slot: &Slot, value: &Bound<'_, PyAny>) -> Encoded {
    if slot.shape == Many::One {
        return size_element(sizer, &slot.kind, value);
    }
    if matches!(slot.shape, Many::Sequence { .. }) {
        sizer.add_count();
    }
    if let Kind::Number(number) = slot.kind {
        let len = ffi::with_buffer(value, |contents| contents.len() / contents.item_size());
        let count = len.map_or_else(|| value.len(), Ok)?;
        with_number!(number, T => sizer.add_slice::<T>(count));
        return Ok(());
    }
    let list = as_list(value)?;
    if let Some(end) = slot.kind.end_of_fixed(sizer.position(), list.len()) {
        sizer.add_slice::<u8>(end - sizer.position());
        return Ok(());
    }
    for (index, element) in list.iter().enumerate() {
        size_element(sizer, &slot.kind, &element)
            .map_err(|wrong| inside(wrong, &format!("[{index}]")))?;
    }
    Ok(())
}

fn size_element(sizer: &mut Sizer, kind: &Kind, value: &Bound<'_, PyAny>) -> Encoded {
    match kind {
        Kind::Text { .. } => sizer.add_string(text(kind, value)?.len()),
        Kind::WideText { .. } => sizer.add_wstring(text(kind, value)?.encode_utf16().count()),
        Kind::Message(plan) => {
            size_message(sizer, plan, instance(plan, value)?)?;
        }
        Kind::Bool | Kind::Byte => sizer.add::<u8>(),
        Kind::Number(number) => with_number!(*number, T => sizer.add::<T>()),
    }
    Ok(())
}

fn write_message(writer: &mut Writer<'_>, plan: &Plan, message: Instance<'_, '_>) -> Encoded {
    if plan.slots.is_empty() {
        writer.write(0_u8)?;
    }
    for (index, slot) in plan.slots.iter().enumerate() {
        let value = message.get(index)?;
        write_field(writer, slot, &value).map_err(|wrong| inside(wrong, &slot.name))?;
    }
    Ok(())
}

fn write_field(writer: &mut Writer<'_>, slot: &Slot, value: &Bound<'_, PyAny>) -> Encoded {
    if slot.shape == Many::One {
        return write_element(writer, &slot.kind, value);
    }
    if let Kind::Number(number) = slot.kind {
        return write_numbers(writer, number, slot.shape, value);
    }
    let list = as_list(value)?;
    check_count(slot.shape, list.len())?;
    if matches!(slot.shape, Many::Sequence { .. }) {
        writer.write_count(list.len())?;
    }
    for (index, element) in list.iter().enumerate() {
        write_element(writer, &slot.kind, &element)
            .map_err(|wrong| inside(wrong, &format!("[{index}]")))?;
    }
    Ok(())
}

fn write_numbers(
    writer: &mut Writer<'_>,
    number: Number,
    shape: Many,
    value: &Bound<'_, PyAny>,
) -> Encoded {
    let written = ffi::with_buffer(value, |contents| -> Result<bool, Box<Wrong>> {
        if !number.is_format(contents.format(), contents.item_size()) {
            return Ok(false);
        }
        let count = contents.len() / contents.item_size();
        check_count(shape, count)?;
        if matches!(shape, Many::Sequence { .. }) {
            writer.write_count(count)?;
        }
        let memory = with_number!(number, T => writer.reserve_slice::<T>(count)?);
        contents.copy_to(memory);
        Ok(true)
    });
    match written {
        Some(Ok(true)) => Ok(()),
        Some(Err(wrong)) => Err(wrong),
        // Any other value is converted, as a setter would convert it.
        Some(Ok(false)) | None => {
            let array = runtime::to_array(value, number)?;
            let is_same = ffi::with_buffer(&array, |contents| {
                number.is_format(contents.format(), contents.item_size())
            });
            if is_same != Some(true) {
                return Err(PyTypeError::new_err("the value is not an array of numbers").into());
            }
            write_numbers(writer, number, shape, &array)
        }
    }
}

fn write_element(writer: &mut Writer<'_>, kind: &Kind, value: &Bound<'_, PyAny>) -> Encoded {
    match kind {
        Kind::Bool => {
            let value: bool = value.extract().map_err(|_| wrong_type(kind, value))?;
            writer.write(value)?;
        }
        Kind::Byte => writer.write(byte(kind, value)?)?,
        Kind::Number(number) => with_number!(*number, T => {
            let value: T = value.extract().map_err(|error: PyErr| number_error(kind, value, error))?;
            writer.write(value)?;
        }),
        Kind::Text { bound } => {
            let text = text(kind, value)?;
            check_length(text.len(), *bound)?;
            writer.write_string(text)?;
        }
        Kind::WideText { bound } => {
            let units: Vec<u16> = text(kind, value)?.encode_utf16().collect();
            check_length(units.len(), *bound)?;
            writer.write_wstring(&units)?;
        }
        Kind::Message(plan) => {
            if !write_plain(writer, plan, value)? {
                write_message(writer, plan, instance(plan, value)?)?;
            }
        }
    }
    Ok(())
}

/// Writes a message that consists only of floats with the fast writer, if possible; returns whether
/// it was possible.
#[inline]
fn write_plain(
    writer: &mut Writer<'_>,
    plan: &Plan,
    value: &Bound<'_, PyAny>,
) -> Result<bool, Box<Wrong>> {
    let Some(plain) = &plan.plain else { return Ok(false) };
    let Some(end) = plan.end_of_fixed(writer.position()) else { return Ok(false) };
    let (start, size) = (writer.position() % 8, end - writer.position());
    Ok(writer.write_if(size, |memory| plain.write(value, memory, start))?)
}

fn byte(kind: &Kind, value: &Bound<'_, PyAny>) -> PyResult<u8> {
    let mut byte = [0];
    let is_one = ffi::with_buffer(value, |contents| {
        contents.copy_to(&mut byte);
        contents.len() == 1
    });
    if is_one == Some(true) { Ok(byte[0]) } else { Err(wrong_type(kind, value)) }
}

#[cold]
fn number_error(kind: &Kind, value: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyOverflowError>(value.py()) {
        PyOverflowError::new_err(format!("{value} is not {}", kind.describe()))
    } else {
        wrong_type(kind, value)
    }
}
