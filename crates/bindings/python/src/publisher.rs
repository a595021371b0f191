//! Publishers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros::{GenericPublisher, PublisherOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::callback::Owner;
use crate::detached::Detached;
use crate::error::{error, publish_error, wait_error};
use crate::events::publisher_event;
use crate::ffi::{LoanMemory, with_buffer};
use crate::goal_statuses::GoalStatuses;
use crate::message::{Layout, MessageType, encode_into, encoded_size};
use crate::qos::{self, QosTuple};
use crate::waiting::{duration, wait_in_slices};

/// The size from which a message is serialized directly into the memory where receivers read it.
const LEAST_LOAN_BYTES: usize = 16 * 1024;

/// Publishes messages of one type on one topic.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Publisher {
    publisher: Detached<GenericPublisher>,
    message_type: Py<MessageType>,
    /// The number of loans whose memory could not be passed on and was copied.
    copied_loans: Arc<AtomicU64>,
}

impl Publisher {
    pub(crate) fn new(
        py: Python<'_>,
        owner: Owner<'_>,
        message_type: Py<MessageType>,
        topic: &str,
        qos: QosTuple,
        queue_depth: Option<usize>,
        on_event: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut options = PublisherOptions::from(qos::profile(qos)?);
        if let Some(queue_depth) = queue_depth {
            options = options.asynchronous(queue_depth);
        }
        if let Some(on_event) = on_event {
            let failures = owner.failures.clone();
            options = options.on_event(move |event| {
                failures.run(|py| {
                    let Some((name, status)) = publisher_event(py, event)? else { return Ok(()) };
                    on_event.call1(py, (name, status)).map(drop)
                });
            });
        }
        let (node, identity) = (owner.node, message_type.get().identity());
        let made = py.detach(|| node.create_generic_publisher(topic, &identity, options));
        let publisher = Detached::new(made.map_err(error)?);
        node.describe_type(message_type.get().description().clone());
        Ok(Self { publisher, message_type, copied_loans: Arc::default() })
    }
}

#[pymethods]
impl Publisher {
    /// Publishes a message.
    fn publish(&self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<()> {
        let plan = self.message_type.get().plan()?;
        let size = encoded_size(plan, message)?;
        if size >= LEAST_LOAN_BYTES {
            let loan = py.detach(|| self.publisher.loan_serialized(size));
            let mut loan = loan.map_err(publish_error)?;
            encode_into(plan, message, loan.bytes_mut())?;
            return py.detach(|| loan.publish()).map_err(publish_error);
        }
        let mut small = [0; 256];
        let mut large = Vec::new();
        let buffer = match small.get_mut(..size) {
            Some(buffer) => buffer,
            None => {
                large.resize(size, 0);
                &mut large[..]
            }
        };
        encode_into(plan, message, buffer)?;
        let buffer = &*buffer;
        py.detach(|| self.publisher.publish_serialized(buffer)).map_err(publish_error)
    }

    /// Publishes a message that is already serialized, with its 4-byte header.
    fn publish_serialized(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(bytes) = data.cast::<PyBytes>() {
            let bytes = bytes.as_bytes();
            return py.detach(|| self.publisher.publish_serialized(bytes)).map_err(publish_error);
        }
        let copied = with_buffer(data, |contents| {
            let mut bytes = vec![0; contents.len()];
            contents.copy_to(&mut bytes);
            bytes
        });
        let Some(bytes) = copied else {
            return Err(pyo3::exceptions::PyTypeError::new_err("expected serialized bytes"));
        };
        py.detach(|| self.publisher.publish_serialized(&bytes)).map_err(publish_error)
    }

    /// Memory for a message of this shape, and the positions of its fields in it.
    #[pyo3(signature = (shape=None))]
    fn loan<'py>(
        &self,
        py: Python<'py>,
        shape: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(LoanMemory, Bound<'py, PyDict>)> {
        let plan = self.message_type.get().plan()?;
        let (layout, fields) = Layout::of(py, plan, shape)?;
        let size = layout.size_bytes();
        let loan = py.detach(|| self.publisher.loan_serialized(size));
        let mut loan = loan.map_err(publish_error)?;
        layout.write(loan.bytes_mut());
        let publisher = (*self.publisher).clone();
        Ok((LoanMemory::new(publisher, loan, self.copied_loans.clone()), fields))
    }

    /// Publishes the statuses of goals, if this is the publisher of an action's statuses.
    fn goal_statuses(&self, py: Python<'_>) -> PyResult<GoalStatuses> {
        GoalStatuses::new(py, (*self.publisher).clone())
    }

    /// The number of loans that were copied when they were published, because the program still
    /// held arrays of them.
    #[getter]
    fn copied_loans(&self) -> u64 {
        self.copied_loans.load(Ordering::Relaxed)
    }

    #[getter]
    fn topic_name(&self) -> String {
        self.publisher.topic_name().to_owned()
    }

    #[getter]
    fn qos(&self) -> QosTuple {
        qos::tuple(&self.publisher.qos())
    }

    #[getter]
    fn gid<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.publisher.gid().0)
    }

    #[getter]
    fn subscription_count(&self) -> usize {
        self.publisher.subscription_count()
    }

    /// Waits until at least `count` subscriptions match; `timeout` is in seconds.
    #[pyo3(signature = (count=1, timeout=None))]
    fn wait_for_subscriptions(
        &self,
        py: Python<'_>,
        count: usize,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        let wait = |slice| self.publisher.wait_for_subscriptions(count, slice);
        wait_in_slices(py, timeout, wait)?.map_err(wait_error)
    }

    /// Waits until all reliable subscriptions have acknowledged all published messages; returns
    /// whether they have.
    #[pyo3(signature = (timeout=None))]
    fn wait_for_all_acked(&self, py: Python<'_>, timeout: Option<f64>) -> bool {
        let timeout = duration(timeout).unwrap_or(std::time::Duration::from_secs(1 << 30));
        py.detach(|| self.publisher.wait_for_all_acked(timeout)).is_ok()
    }

    fn assert_liveliness(&self) -> PyResult<()> {
        self.publisher.assert_liveliness().map_err(error)
    }

    /// The transport of each match, and the reason why the match does not use a faster transport.
    fn transports(&self) -> Vec<(Option<String>, Option<String>)> {
        let matches = self.publisher.transports().into_iter();
        matches
            .map(|found| {
                let reason = found.reason.map(|reason| reason.to_string());
                (found.transport.map(|transport| format!("{transport:?}")), reason)
            })
            .collect()
    }

    /// The deliveries by transport: intra-process, shared memory, network.
    fn counts(&self) -> (u64, u64, u64) {
        let counts = self.publisher.counts();
        (counts.intra_process.messages, counts.shared_memory.messages, counts.network.messages)
    }
}
