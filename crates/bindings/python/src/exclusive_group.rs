//! A group of `rclpy` entities of which only one callback runs at a time.

use std::sync::Arc;

use feros_sync::Mutex;
use pyo3::prelude::*;

/// The member of a group that is running, by the number of its entity.
#[derive(Default)]
pub(crate) struct Exclusion(Mutex<Option<usize>>);

impl Exclusion {
    /// Claims the right to run; `false` while another entity has it.
    pub(crate) fn begin(&self, token: usize) -> bool {
        let mut active = self.0.lock();
        let is_free = active.is_none();
        if is_free {
            *active = Some(token);
        }
        is_free
    }

    /// Gives up the right to run, if this entity has it.
    pub(crate) fn end(&self, token: usize) -> bool {
        let mut active = self.0.lock();
        let is_own = *active == Some(token);
        if is_own {
            *active = None;
        }
        is_own
    }
}

/// The interface for Python, where the number is the entity's `id`.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct ExclusiveGroup(Arc<Exclusion>);

impl ExclusiveGroup {
    pub(crate) fn exclusion(&self) -> Arc<Exclusion> {
        self.0.clone()
    }
}

#[pymethods]
impl ExclusiveGroup {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Claims the right to run; `False` while another entity has it.
    fn begin(&self, token: usize) -> bool {
        self.0.begin(token)
    }

    /// Gives up the right to run; `False` if this entity does not have it.
    fn end(&self, token: usize) -> bool {
        self.0.end(token)
    }

    /// Whether no callback of the group is running.
    fn is_free(&self) -> bool {
        self.0.0.lock().is_none()
    }
}
