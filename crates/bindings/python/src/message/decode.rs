//! Decodes untrusted serialized bytes to messages.

use feros_cdr::{ByteOrder, DecodeError, Reader};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyString};

use super::number::{Number, with_number};
use super::plan::{Kind, Many, Plan, Slot};
use super::runtime;
use crate::error::DecodeError as PythonDecodeError;
use crate::ffi::no_instance;

/// Numbers that take fewer bytes than this are copied even if they could be read in place, because
/// a copy is cheaper than keeping the message.
const LEAST_VIEW_BYTES: usize = 2048;

/// The reason why decoding failed, and the position in the message.
enum Failure {
    Bytes { place: String, source: String },
    Python(PyErr),
}

type Decoded<T> = Result<T, Box<Failure>>;

impl From<PyErr> for Box<Failure> {
    fn from(error: PyErr) -> Self {
        Box::new(Failure::Python(error))
    }
}

impl From<DecodeError> for Box<Failure> {
    fn from(error: DecodeError) -> Self {
        Box::new(Failure::Bytes { place: String::new(), source: error.to_string() })
    }
}

fn bound_exceeded(len: usize, bound: usize) -> Box<Failure> {
    let source = format!(
        "length {len}, but the type allows at most {bound}: the sender's type differs; build both \
         sides from the same definition"
    );
    Box::new(Failure::Bytes { place: String::new(), source })
}

impl Failure {
    fn inside(mut self: Box<Self>, outer: &str) -> Box<Self> {
        if let Self::Bytes { place, .. } = &mut *self {
            let dot = if place.is_empty() || place.starts_with('[') { "" } else { "." };
            *place = format!("{outer}{dot}{place}");
        }
        self
    }
}

/// The reader of the bytes, and the objects that are needed to make messages.
struct Decoder<'a, 'py> {
    py: Python<'py>,
    reader: Reader<'a>,
    bytes: &'a [u8],
    swap: bool,
    /// The object that holds the bytes, if arrays are to be read in place.
    block: Option<&'a Bound<'py, PyAny>>,
    check: Bound<'py, PyAny>,
}

/// Decodes a message. With `block`, which holds the bytes, sequences of numbers are read in place.
pub(crate) fn decode<'py>(
    py: Python<'py>,
    plan: &Plan,
    bytes: &[u8],
    block: Option<&Bound<'py, PyAny>>,
    checks: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let result = Reader::new(bytes).map_err(Box::<Failure>::from).and_then(|reader| {
        let swap = bytes
            .get(1)
            .is_some_and(|order| (*order == 1) != (ByteOrder::NATIVE == ByteOrder::Little));
        let check = PyBool::new(py, checks).to_owned().into_any();
        Decoder { py, reader, bytes, swap, block, check }.message(plan)
    });
    result.map_err(|failure| match *failure {
        Failure::Python(error) => error,
        Failure::Bytes { place, source } => {
            let colon = if place.is_empty() { "" } else { ": " };
            let (size, name) = (bytes.len(), &plan.name);
            PythonDecodeError::new_err(format!(
                "{size} bytes are not a message of {name}: {place}{colon}{source}"
            ))
        }
    })
}

/// Whether a message may read its arrays in place.
pub(crate) fn may_view(plan: &Plan, bytes: &[u8]) -> bool {
    plan.has_sequences && bytes.len() > LEAST_VIEW_BYTES
}

impl<'py> Decoder<'_, 'py> {
    fn message(&mut self, plan: &Plan) -> Decoded<Bound<'py, PyAny>> {
        let message = plan.class.allocate(self.py)?;
        let Some(instance) = plan.class.instance(&message) else {
            return Err(no_instance(&plan.class, &message).into());
        };
        instance.set(plan.check(), &self.check)?;
        if plan.slots.is_empty() {
            self.reader.read::<u8>()?; // the member that stock ROS 2 adds to an empty message
        }
        for (index, slot) in plan.slots.iter().enumerate() {
            let value = self.field(slot).map_err(|failure| failure.inside(&slot.name))?;
            instance.set(index, &value)?;
        }
        Ok(message)
    }

    fn field(&mut self, slot: &Slot) -> Decoded<Bound<'py, PyAny>> {
        let count = match slot.shape {
            Many::One => return self.element(&slot.kind),
            Many::Array(count) => {
                let (remaining, offset) = (self.reader.remaining_bytes(), self.reader.position());
                let needed = count.saturating_mul(slot.kind.least_bytes());
                if needed > remaining {
                    return Err(DecodeError::Truncated {
                        offset,
                        what: "array",
                        needed,
                        remaining,
                    }
                    .into());
                }
                count
            }
            Many::Sequence { bound } => {
                let count = self.reader.read_count(slot.kind.least_bytes())?;
                match bound {
                    Some(bound) if count > bound => return Err(bound_exceeded(count, bound)),
                    _ => count,
                }
            }
        };
        match &slot.kind {
            Kind::Number(number) => self.numbers(*number, slot.shape, count),
            kind => self.list(kind, count),
        }
    }

    fn element(&mut self, kind: &Kind) -> Decoded<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match kind {
            Kind::Bool => PyBool::new(py, self.reader.read::<bool>()?).to_owned().into_any(),
            Kind::Byte => PyBytes::new(py, &[self.reader.read::<u8>()?]).into_any(),
            Kind::Number(number) => with_number!(*number, T => {
                let value = self.reader.read::<T>()?;
                value.into_pyobject(py).map_err(PyErr::from)?.into_any()
            }),
            Kind::Text { bound } => {
                let text = self.reader.read_str()?;
                check_bound(text.len(), *bound)?;
                PyString::new(py, text).into_any()
            }
            Kind::WideText { bound } => {
                let text = self.reader.read_wstr()?.to_wstring();
                check_bound(text.len(), *bound)?;
                PyString::new(py, &text.to_string()).into_any()
            }
            Kind::Message(plan) => return self.message(plan),
        })
    }

    fn list(&mut self, kind: &Kind, count: usize) -> Decoded<Bound<'py, PyAny>> {
        // The list grows with its elements, so a wrong count costs no memory.
        let mut elements = Vec::new();
        for index in 0..count {
            let element = self.element(kind);
            elements.push(element.map_err(|failure| failure.inside(&format!("[{index}]")))?);
        }
        Ok(PyList::new(self.py, elements)?.into_any())
    }

    fn numbers(&mut self, number: Number, shape: Many, count: usize) -> Decoded<Bound<'py, PyAny>> {
        let bytes = with_number!(number, T => self.reader.read_slice::<T>(count)?.as_bytes());
        let mut swapped = Vec::new();
        let bytes = if self.swap && number.size() > 1 {
            swapped.extend_from_slice(bytes);
            swapped.chunks_exact_mut(number.size()).for_each(<[u8]>::reverse);
            &swapped
        } else {
            bytes
        };
        let (py, is_sequence) = (self.py, matches!(shape, Many::Sequence { .. }));
        Ok(match self.block {
            Some(block) if is_sequence && bytes.len() > LEAST_VIEW_BYTES && swapped.is_empty() => {
                let header =
                    self.bytes.len() - self.reader.remaining_bytes() - self.reader.position();
                let offset = header + self.reader.position() - bytes.len();
                runtime::view(block, number, offset, count)?
            }
            Some(_) if is_sequence => runtime::view_of_copy(py, number, bytes)?,
            None if is_sequence => runtime::array(py, number, bytes)?,
            _ => runtime::fixed_array(py, number, bytes)?,
        })
    }
}

fn check_bound(len: usize, bound: Option<usize>) -> Decoded<()> {
    match bound {
        Some(bound) if len > bound => Err(bound_exceeded(len, bound)),
        _ => Ok(()),
    }
}
