//! Messages that consist only of floats, such as poses, written without a reference to each of
//! their objects and without a call into the interpreter for each float: a pose has a dozen
//! objects, and a message may have a thousand poses.
//!
//! The position of a float's value is searched for like the offset of a slot. Anything unexpected
//! (a subclass, an integer instead of a float) is left to the general code.

use std::sync::{Arc, OnceLock};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyType};

use super::class::Class;

/// The way to write instances of one class.
pub(crate) struct Plain {
    class: Py<PyType>,
    steps: Vec<Step>,
    /// The offset of a float's value.
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
    /// Takes the contents of the first slots of a class; `None` if an offset is not known.
    pub(crate) fn new(py: Python<'_>, class: &Class, slots: Vec<What>) -> Option<Self> {
        let steps = slots.into_iter().enumerate();
        let steps = steps.map(|(index, what)| Some(Step { offset: class.offset(index)?, what }));
        let steps = steps.collect::<Option<Vec<_>>>()?;
        Some(Self { class: class.class().clone_ref(py), steps, value_offset: value_offset(py)? })
    }

    /// Writes a message in little endian into memory, which it fills exactly and which begins
    /// `start` bytes after an address aligned to 8. Returns whether it did; if not, the general
    /// code has to write the message.
    #[inline]
    pub(crate) fn write(
        &self,
        message: &Bound<'_, PyAny>,
        memory: &mut [u8],
        start: usize,
    ) -> bool {
        let mut out = Out { memory, start, at: start };
        // SAFETY: the object is alive, and the interpreter lock is held for the call, during which
        // no Python code runs: nothing that it refers to goes away.
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
            // SAFETY: it is an instance of the class, and all instances have the slot at this
            // offset: null, or a pointer to an object to which it holds a reference.
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

    /// The value of a float; `None` if the object is something else.
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
    /// The distance from an aligned address to the beginning of the memory.
    start: usize,
    /// The position of the next byte, counted from that address.
    at: usize,
}

impl Out<'_> {
    /// Writes bytes at the next position that is aligned for them, and zeros before it.
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

/// The offset of a float's value, if it follows the object's head.
fn value_offset(py: Python<'_>) -> Option<usize> {
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    let behind_head = size_of::<ffi::PyObject>();
    let holds = |value: f64| {
        let float = PyFloat::new(py, value);
        let size: Option<usize> =
            float.get_type().getattr("__basicsize__").and_then(|size| size.extract()).ok();
        size == Some(behind_head + size_of::<f64>()) && {
            // SAFETY: the object has that many bytes, which were written when it was made, and its
            // head ends aligned for pointers, and hence for floats of 8 bytes.
            let bits = unsafe {
                float.as_ptr().cast::<u8>().add(behind_head).cast::<u64>().read_unaligned()
            };
            bits == value.to_bits()
        }
    };
    *OFFSET.get_or_init(|| (holds(1.5e-300) && holds(-2.75e299)).then_some(behind_head))
}
