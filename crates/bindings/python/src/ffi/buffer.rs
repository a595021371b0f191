//! Memory that Python objects lend through the buffer protocol: any kind of array, without access
//! to single elements.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The contiguous memory of an object, for the duration of a closure.
pub(crate) struct Contents<'a> {
    view: &'a ffi::Py_buffer,
    lent: PhantomData<&'a [u8]>,
}

impl Contents<'_> {
    /// The size in bytes.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.view.len).unwrap_or_default()
    }

    /// The size of one element, in bytes; never 0.
    pub(crate) fn item_size(&self) -> usize {
        usize::try_from(self.view.itemsize).unwrap_or_default().max(1)
    }

    /// The format of the elements, as in Python's `struct`.
    pub(crate) fn format(&self) -> &str {
        if self.view.format.is_null() {
            return "B";
        }
        // SAFETY: a format is a C string that lives as long as the view.
        unsafe { CStr::from_ptr(self.view.format) }.to_str().unwrap_or_default()
    }

    /// Copies all of the memory to `out`, which has the same size.
    pub(crate) fn copy_to(&self, out: &mut [u8]) {
        let size = self.len().min(out.len());
        if size > 0 {
            // SAFETY: `buf` has `len` bytes while the view is held. Another thread may write to
            // this memory during the copy, so no Rust reference to it is made. `out` is a unique
            // reference and does not overlap `buf`.
            unsafe {
                std::ptr::copy_nonoverlapping(self.view.buf.cast::<u8>(), out.as_mut_ptr(), size);
            }
        }
    }
}

fn with_view<R>(
    object: &Bound<'_, PyAny>,
    flags: c_int,
    look: impl FnOnce(&ffi::Py_buffer) -> R,
) -> Option<R> {
    let mut view = MaybeUninit::<ffi::Py_buffer>::zeroed();
    // SAFETY: the object is alive, and the view is a local variable; on success it is filled in.
    if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view.as_mut_ptr(), flags) } != 0 {
        drop(PyErr::take(object.py()));
        return None;
    }
    // SAFETY: the view was filled in.
    let result = look(unsafe { view.assume_init_ref() });
    // SAFETY: the view was acquired above and is not used afterwards.
    unsafe { ffi::PyBuffer_Release(view.as_mut_ptr()) };
    Some(result)
}

/// Calls a closure with the memory of an object; `None` if the object lends no contiguous memory.
pub(crate) fn with_buffer<R>(
    object: &Bound<'_, PyAny>,
    look: impl FnOnce(Contents<'_>) -> R,
) -> Option<R> {
    let flags = ffi::PyBUF_C_CONTIGUOUS | ffi::PyBUF_FORMAT;
    with_view(object, flags, |view| look(Contents { view, lent: PhantomData }))
}

/// Overwrites the memory of an object, which must have exactly this size.
pub(crate) fn fill(object: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<()> {
    let flags = ffi::PyBUF_C_CONTIGUOUS | ffi::PyBUF_WRITABLE;
    let fits = with_view(object, flags, |view| {
        let fits = usize::try_from(view.len) == Ok(bytes.len());
        if fits && !bytes.is_empty() {
            // SAFETY: `buf` has `len` writable bytes while the view is held. They were just
            // allocated, so `bytes` does not overlap them.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), view.buf.cast::<u8>(), bytes.len());
            }
        }
        fits
    });
    match fits {
        Some(true) => Ok(()),
        _ => Err(PyBufferError::new_err("an array does not have the requested size")),
    }
}

/// Copies the memory of one object into another of the same size; returns whether that was
/// possible.
pub(crate) fn copy(from: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) -> bool {
    let flags = ffi::PyBUF_C_CONTIGUOUS | ffi::PyBUF_WRITABLE;
    let copied = with_view(from, ffi::PyBUF_C_CONTIGUOUS, |source| {
        with_view(to, flags, |target| {
            let fits = source.len == target.len && source.len > 0;
            if fits {
                let size = usize::try_from(source.len).unwrap_or_default();
                // SAFETY: both buffers have `len` bytes while the views are held. They may belong
                // to the same object, so they may overlap.
                unsafe { std::ptr::copy(source.buf.cast::<u8>(), target.buf.cast(), size) };
            }
            fits
        })
    });
    copied.flatten().unwrap_or(false)
}
