//! Messages that consist of floats alone, such as poses, written without a reference to each of
//! their objects and without a call into the interpreter for each float: there are a dozen objects
//! in a pose, and a thousand poses in a message.
//!
//! Where the value of a float lies is looked for as the place of a slot is. What is not as expected
//! (a subclass, an integer in the place of a float) is left to the general way.

use std::sync::{Arc, OnceLock};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyType};

use super::class::Class;

/// How instances of one class are written.
pub(crate) struct Plain {
    class: Py<PyType>,
    steps: Vec<Step>,
    /// Where in a float its value lies.
    value_offset: usize,
}

struct Step {
    offset: usize,
    what: What,
}

/// What a slot holds.
pub(crate) enum What {
    Float32,
    Float64,
    Message(Arc<Plain>),
}

impl Plain {
    /// The way for a class of which the first slots hold these; `None` where a place is not known.
    pub(crate) fn new(py: Python<'_>, class: &Class, slots: Vec<What>) -> Option<Self> {
        let steps = slots.into_iter().enumerate();
        let steps = steps.map(|(index, what)| Some(Step { offset: class.offset(index)?, what }));
        let steps = steps.collect::<Option<Vec<_>>>()?;
        Some(Self { class: class.class().clone_ref(py), steps, value_offset: value_offset(py)? })
    }

    /// Writes a message in little endian into the memory that it fills, which begins `start` bytes
    /// behind a place that is aligned to 8. Says whether it did: else it is to be written in
    /// another way.
    #[inline]
    pub(crate) fn write(
        &self,
        message: &Bound<'_, PyAny>,
        memory: &mut [u8],
        start: usize,
    ) -> bool {
        let mut out = Out { memory, start, at: start };
        // SAFETY: the object is alive, and the lock of the interpreter is held for the call, during
        // which no code of Python runs: nothing that it refers to goes away.
        let written = unsafe { self.write_object(message.as_ptr(), &mut out) };
        written.is_some() && out.is_full()
    }

    /// # Safety
    /// The object is alive, and nobody changes it or what it refers to during the call.
    unsafe fn write_object(&self, object: *mut ffi::PyObject, out: &mut Out<'_>) -> Option<()> {
        // SAFETY: the object is alive.
        if unsafe { ffi::Py_TYPE(object) }.cast() != self.class.as_ptr() {
            return None;
        }
        for step in &self.steps {
            // SAFETY: it is an instance of the class, in all of which a slot lies there: null, or a
            // pointer to an object to which it holds a reference.
            let value =
                unsafe { *object.cast::<u8>().add(step.offset).cast::<*mut ffi::PyObject>() };
            if value.is_null() {
                return None;
            }
            // SAFETY: the slot refers to the value, so that it is alive; the rest is the caller's.
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

    /// The value of a float; `None` where it is something else.
    ///
    /// # Safety
    /// The object is alive.
    #[inline]
    unsafe fn float(&self, object: *mut ffi::PyObject) -> Option<f64> {
        // SAFETY: the object is alive, and a float has its value there, aligned.
        unsafe {
            (ffi::PyFloat_CheckExact(object) != 0)
                .then(|| *object.cast::<u8>().add(self.value_offset).cast::<f64>())
        }
    }
}

/// Memory that is written from its beginning to its end.
struct Out<'a> {
    memory: &'a mut [u8],
    /// How far behind an aligned place it begins.
    start: usize,
    /// Where the next byte goes, counted from that place.
    at: usize,
}

impl Out<'_> {
    /// Writes bytes at the next place that is aligned for them, and zeros before it.
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

/// Where in a float its value lies, if it does behind the head of the object.
fn value_offset(py: Python<'_>) -> Option<usize> {
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    let behind_head = size_of::<ffi::PyObject>();
    let holds = |value: f64| {
        let float = PyFloat::new(py, value);
        let size: Option<usize> =
            float.get_type().getattr("__basicsize__").and_then(|size| size.extract()).ok();
        size == Some(behind_head + size_of::<f64>()) && {
            // SAFETY: the object has so many bytes, which were written when it was made, and its
            // head ends aligned for pointers, hence for floats of 8 bytes.
            let bits = unsafe {
                float.as_ptr().cast::<u8>().add(behind_head).cast::<u64>().read_unaligned()
            };
            bits == value.to_bits()
        }
    };
    *OFFSET.get_or_init(|| (holds(1.5e-300) && holds(-2.75e299)).then_some(behind_head))
}
