//! The memory of a loan, which Python writes directly. After publication, the memory belongs to the
//! readers of the message, so if Python still holds views of the memory, the readers get a copy.

use std::ffi::c_int;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros::{GenericPublisher, SerializedLoan};
use feros_sync::Mutex;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::error::{LoanError, publish_error};

/// A loan with the address of its memory. The memory does not move until the loan is published.
struct Lent {
    loan: SerializedLoan,
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the pointer points to memory that the loan owns, and the loan may be sent to any thread.
unsafe impl Send for Lent {}

#[derive(Default)]
struct State {
    lent: Option<Lent>,
    /// The number of views that Python holds.
    views: usize,
    is_published: bool,
}

/// The memory of a message that is being built.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct LoanMemory {
    publisher: GenericPublisher,
    state: Mutex<State>,
    /// The number of loans of the publisher that were copied.
    copied: Arc<AtomicU64>,
}

impl LoanMemory {
    /// Wraps a loan into whose memory the known parts of the message have already been written.
    pub(crate) fn new(
        publisher: GenericPublisher,
        mut loan: SerializedLoan,
        copied: Arc<AtomicU64>,
    ) -> Self {
        let bytes = loan.bytes_mut();
        let (start, size) = (NonNull::from(&mut *bytes).cast(), bytes.len());
        let lent = Some(Lent { loan, start, size });
        Self { publisher, state: Mutex::new(State { lent, ..State::default() }), copied }
    }
}

#[pymethods]
impl LoanMemory {
    /// # Safety
    /// Only Python calls this function, with a view that the function fills in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let mut state = slf.get().state.lock();
        let (Some(lent), false) = (&state.lent, state.is_published) else {
            return Err(PyBufferError::new_err(PUBLISHED));
        };
        let Ok(size) = ffi::Py_ssize_t::try_from(lent.size) else {
            return Err(PyBufferError::new_err("the message is too large for Python"));
        };
        // SAFETY: the view comes from Python, and gets a reference to this object. While `views` is
        // not 0, the object does not publish the loan itself, so the memory does not move.
        let result = unsafe {
            ffi::PyBuffer_FillInfo(view, slf.as_ptr(), lent.start.as_ptr().cast(), size, 0, flags)
        };
        if result != 0 {
            return Err(PyErr::fetch(slf.py()));
        }
        state.views += 1;
        Ok(())
    }

    /// # Safety
    /// Only Python calls this function.
    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        let mut state = self.state.lock();
        state.views -= 1;
        let lent = if state.views == 0 && state.is_published { state.lent.take() } else { None };
        drop(state);
        drop(lent);
    }

    /// Publishes the message; returns whether the memory itself was passed on. While Python holds
    /// views, the memory cannot be passed on, and a copy of it is published.
    fn publish(&self, py: Python<'_>) -> PyResult<bool> {
        let mut state = self.state.lock();
        if state.is_published {
            return Err(LoanError::new_err(PUBLISHED));
        }
        state.is_published = true;
        if state.views == 0 {
            let Some(lent) = state.lent.take() else {
                return Err(LoanError::new_err(PUBLISHED));
            };
            drop(state);
            py.detach(|| lent.loan.publish()).map_err(publish_error)?;
            return Ok(true);
        }
        let Some(lent) = &state.lent else { return Err(LoanError::new_err(PUBLISHED)) };
        let mut copy = vec![0; lent.size];
        // SAFETY: the loan's memory has this size, and `state`, which is locked, keeps it alive.
        // Python may write to the memory during the copy, so no Rust reference to it is made.
        unsafe { std::ptr::copy_nonoverlapping(lent.start.as_ptr(), copy.as_mut_ptr(), lent.size) };
        drop(state);
        let copied = self.copied.fetch_add(1, Ordering::Relaxed) + 1;
        if copied.is_power_of_two() {
            tracing::warn!(
                "{copied} loans have been copied so far, because arrays of them were held when \
                 they were published: release the arrays first, or write through the loan's own \
                 arrays"
            );
        }
        py.detach(|| self.publisher.publish_serialized(&copy)).map_err(publish_error)?;
        Ok(false)
    }

    fn __len__(&self) -> usize {
        self.state.lock().lent.as_ref().map_or(0, |lent| lent.size)
    }

    /// Whether the memory is shared memory, which other processes of this host read without a copy.
    #[getter]
    fn is_shared(&self) -> bool {
        self.state.lock().lent.as_ref().is_some_and(|lent| lent.loan.is_shared())
    }
}

const PUBLISHED: &str = "the loan was published, so its memory now belongs to the readers of the message: ask the publisher for another loan";
