//! Domains for tests.

use feros_test_domain::ReservedDomain as Reserved;
use pyo3::prelude::*;

use crate::error::error;

/// A domain that no other test on this host uses until it is released.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct ReservedDomain {
    id: u16,
    reserved: feros_sync::Mutex<Option<Reserved>>,
}

#[pymethods]
impl ReservedDomain {
    /// Reserves a free domain. Waits up to ten minutes while all domains are in use.
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        let reserved = py.detach(Reserved::new).map_err(error)?;
        Ok(Self { id: reserved.id(), reserved: feros_sync::Mutex::new(Some(reserved)) })
    }

    /// The domain id.
    #[getter]
    fn id(&self) -> u16 {
        self.id
    }

    /// Releases the domain. A second call has no effect.
    fn release(&self) {
        *self.reserved.lock() = None;
    }
}
