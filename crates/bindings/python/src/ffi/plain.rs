//! The fast path for messages that consist only of floats, such as poses: writes them without
//! taking a reference to each of their objects, and without a call into the interpreter for each
//! float. A pose has a dozen objects, and a message may have a thousand poses.
//!
//! The offset of the value within a Python float is found by search, like the offset of a slot. The
//! general code handles all unexpected objects, such as a subclass, or an integer instead of a
//! float.

use std::sync::{Arc, OnceLock};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyType};

use super::class::Class;

/// The offsets needed to write instances of one class.
pub(crate) struct Plain {
    class: Py<PyType>,
    steps: Vec<Step>,
    /// The offset of the value within a Python float.
    value_offset: usize,
}

struct Step {
    offset: usize,
    what: What,
}

/// The content of a slot.
pub(crate) enum What {
    Float32,
    Float64,
    Message(Arc<Plain>),
}

impl Plain {
    /// Prepares the writer for a class whose first slots have these contents; returns `None` if an
    /// offset is unknown.
    pub(crate) fn new(py: Python<'_>, class: &Class, slots: Vec<What>) -> Option<Self> {
        let steps = slots.into_iter().enumerate();
        let steps = steps.map(|(index, what)| Some(Step { offset: class.offset(index)?, what }));
        let steps = steps.collect::<Option<Vec<_>>>()?;
        Some(Self { class: class.class().clone_ref(py), steps, value_offset: value_offset(py)? })
    }

    /// Writes a message in little endian, so that it fills `memory` exactly. In the serialized body
    /// `memory` begins `start` bytes after a multiple of 8. Returns whether that succeeded; if not,
    /// the general code must write the message.
    #[inline]
    pub(crate) fn write(
        &self,
        message: &Bound<'_, PyAny>,
        memory: &mut [u8],
        start: usize,
    ) -> bool {
        let mut out = Out { memory, start, at: start };
        // SAFETY: the object is alive. The interpreter lock is held and no Python code runs during
        // the call, so all objects to which it refers stay alive.
        let written = unsafe { self.write_object(message.as_ptr(), &mut out) };
        written.is_some() && out.is_full()
    }

    /// # Safety
    /// The object is alive, and nobody changes the object or the objects to which it refers during
    /// the call.
    unsafe fn write_object(&self, object: *mut ffi::PyObject, out: &mut Out<'_>) -> Option<()> {
        // SAFETY: the object is alive.
        if unsafe { ffi::Py_TYPE(object) }.cast() != self.class.as_ptr() {
            return None;
        }
        for step in &self.steps {
            // SAFETY: the object is an instance of the class, and all instances have the slot at
            // this offset. The slot is null or points to an object to which it holds a reference.
            let value =
                unsafe { *object.cast::<u8>().add(step.offset).cast::<*mut ffi::PyObject>() };
            if value.is_null() {
                return None;
            }
            // SAFETY: the slot refers to the value, so it is alive; the caller guarantees the rest.
            unsafe {
                match &step.what {
                    What::Message(plain) => plain.write_object(value, out)?,
                    What::Float64 => out.put(self.float(value)?.to_le_bytes())?,
                    What::Float32 => out.put((self.float(value)? as f32).to_le_bytes())?,
                }
            }
        }
        Some(())
    }

    /// The value of a float; `None` if the object is not a float.
    ///
    /// # Safety
    /// The object is alive.
    #[inline]
    unsafe fn float(&self, object: *mut ffi::PyObject) -> Option<f64> {
        // SAFETY: the object is alive, and a float has its value at this offset, which is aligned.
        unsafe {
            (ffi::PyFloat_CheckExact(object) != 0)
                .then(|| *object.cast::<u8>().add(self.value_offset).cast::<f64>())
        }
    }
}

/// Memory that is written from start to end.
struct Out<'a> {
    memory: &'a mut [u8],
    /// The position of the start of the memory in the serialized body, modulo 8.
    start: usize,
    /// The position of the next byte, counted in the same way.
    at: usize,
}

impl Out<'_> {
    /// Writes bytes at the next position that is aligned for them, and zeros as padding before
    /// them.
    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) -> Option<()> {
        let (from, begin) = (self.at - self.start, self.at.next_multiple_of(N));
        let to = begin - self.start;
        if from != to {
            self.memory.get_mut(from..to)?.fill(0);
        }
        self.memory.get_mut(to..to + N)?.copy_from_slice(&bytes);
        self.at = begin + N;
        Some(())
    }

    fn is_full(&self) -> bool {
        self.at - self.start == self.memory.len()
    }
}

/// The offset of the value within a Python float, if the value comes directly after the object's
/// head.
fn value_offset(py: Python<'_>) -> Option<usize> {
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    let behind_head = size_of::<ffi::PyObject>();
    let holds = |value: f64| {
        let float = PyFloat::new(py, value);
        let size: Option<usize> =
            float.get_type().getattr("__basicsize__").and_then(|size| size.extract()).ok();
        size == Some(behind_head + size_of::<f64>()) && {
            // SAFETY: the object has that many bytes, all initialized. Its head ends aligned for
            // pointers, and therefore for floats of 8 bytes.
            let bits = unsafe {
                float.as_ptr().cast::<u8>().add(behind_head).cast::<u64>().read_unaligned()
            };
            bits == value.to_bits()
        }
    };
    *OFFSET.get_or_init(|| (holds(1.5e-300) && holds(-2.75e299)).then_some(behind_head))
}
