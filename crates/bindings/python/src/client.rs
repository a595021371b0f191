//! Service clients. A caller blocks until the response arrives, awaits it in an event loop, or gets
//! it through a callback on the executor.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::Instant;

use feros::engine::TypeHash;
use feros::{CallError, GenericClient, QosProfile, SerializedMessage, SerializedResponseFuture};
use feros_sync::Mutex;
use pyo3::prelude::*;

use crate::callback::{Failures, Owner};
use crate::detached::Detached;
use crate::error::{FerosError, call_error, error, publish_error, wait_error};
use crate::message::{MessageType, decode};
use crate::service::{CallTuple, ServiceTypes, call_tuple, hash_text, identity};
use crate::waiting::{SLICE, duration, wait_in_slices};
use crate::wakeups::Wakeups;

/// Calls a service.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Client {
    client: Detached<GenericClient>,
    type_hash: Option<TypeHash>,
    types: (Py<MessageType>, Py<MessageType>),
    node: Detached<feros::Node>,
    completions: Arc<Completions>,
}

/// The calls that end with a callback on the executor of the client's node.
struct Completions {
    calls: Mutex<Vec<CallWithCallback>>,
    response_type: Py<MessageType>,
    failures: Arc<Failures>,
    /// Made at the first call with a callback, since most clients have no such calls.
    condition: OnceLock<Detached<feros::NodeGuardCondition>>,
    trigger: OnceLock<feros::GuardCondition>,
}

struct CallWithCallback {
    future: SerializedResponseFuture,
    callback: Py<PyAny>,
    /// The result, if the call had already ended when it was first polled.
    ended: Option<Result<SerializedMessage, CallError>>,
}

impl CallWithCallback {
    fn look(&mut self, task: &mut Task<'_>) -> Poll<Result<SerializedMessage, CallError>> {
        match self.ended.take() {
            Some(result) => Poll::Ready(result),
            None => Pin::new(&mut self.future).poll(task),
        }
    }
}

/// Makes an executor poll the calls of a client.
struct Trigger(feros::GuardCondition);

impl Wake for Trigger {
    fn wake(self: Arc<Self>) {
        self.0.trigger();
    }
}

fn response<'py>(
    py: Python<'py>,
    response_type: &Py<MessageType>,
    result: Result<SerializedMessage, CallError>,
) -> PyResult<Bound<'py, PyAny>> {
    let bytes = result.map_err(call_error)?;
    decode(py, response_type.get().plan()?, &bytes, None, false)
}

impl Completions {
    /// Polls the calls, and calls the callbacks of those that have ended.
    fn look(&self) {
        let Some(trigger) = self.trigger.get() else { return };
        let waker = Waker::from(Arc::new(Trigger(trigger.clone())));
        let mut task = Task::from_waker(&waker);
        let mut ended = Vec::new();
        let mut calls = self.calls.lock();
        let mut index = 0;
        while index < calls.len() {
            match calls[index].look(&mut task) {
                Poll::Ready(result) => ended.push((calls.swap_remove(index).callback, result)),
                Poll::Pending => index += 1,
            }
        }
        drop(calls);
        for (callback, result) in ended {
            self.failures.run(|py| {
                let (response, error) = match response(py, &self.response_type, result) {
                    Ok(response) => (Some(response), None),
                    Err(error) => (None, Some(error.into_value(py))),
                };
                callback.call1(py, (response, error)).map(drop)
            });
        }
    }
}

impl Client {
    pub(crate) fn new(
        py: Python<'_>,
        owner: Owner<'_>,
        name: &str,
        types: ServiceTypes<'_>,
        qos: QosProfile,
    ) -> PyResult<Self> {
        let (identity, failures) = (identity(&types), owner.failures.clone());
        let node = owner.node.clone();
        let made = py.detach(|| node.create_generic_client(name, &identity, qos));
        let completions = Completions {
            calls: Mutex::default(),
            response_type: types.2.clone_ref(py),
            failures,
            condition: OnceLock::new(),
            trigger: OnceLock::new(),
        };
        Ok(Self {
            client: Detached::new(made.map_err(error)?),
            type_hash: identity.type_hash,
            types: (types.1, types.2),
            node: Detached::new(node),
            completions: Arc::new(completions),
        })
    }

    fn send(
        &self,
        py: Python<'_>,
        request: &Bound<'_, PyAny>,
        needs_server: bool,
    ) -> PyResult<SerializedResponseFuture> {
        let bytes = self.types.0.get().to_vec(request)?;
        let send = || match needs_server {
            true => self.client.call_serialized(&bytes),
            false => self.client.call_whoever_serves(&bytes),
        };
        py.detach(send).map_err(publish_error)
    }

    /// The guard condition that makes the executor poll the calls. It is made once.
    fn condition(&self, py: Python<'_>) -> PyResult<&Detached<feros::NodeGuardCondition>> {
        if let Some(condition) = self.completions.condition.get() {
            return Ok(condition);
        }
        let weak = Arc::downgrade(&self.completions);
        let look = move || {
            if let Some(completions) = weak.upgrade() {
                completions.look();
            }
        };
        let made = py.detach(|| self.node.create_guard_condition(look)).map_err(error)?;
        let _ = self.completions.trigger.set((*made).clone());
        Ok(self.completions.condition.get_or_init(|| Detached::new(made)))
    }
}

#[pymethods]
impl Client {
    /// Sends a request. Raises `CallFailed` if there is no server.
    fn call(&self, py: Python<'_>, request: &Bound<'_, PyAny>) -> PyResult<Call> {
        let future = Mutex::new(Some(self.send(py, request, true)?));
        Ok(Call { future, response_type: self.types.1.clone_ref(py) })
    }

    /// Sends a request. The executor of the node calls `callback` with the response and `None`, or
    /// with `None` and an exception. Returns the identity of the call in service introspection
    /// events. If there is no server, the request is lost, as in stock ROS 2; with `needs_server`,
    /// the function raises `CallFailed` instead.
    #[pyo3(signature = (request, callback, needs_server=false))]
    fn call_with_callback<'py>(
        &self,
        py: Python<'py>,
        request: &Bound<'py, PyAny>,
        callback: Py<PyAny>,
        needs_server: bool,
    ) -> PyResult<CallTuple<'py>> {
        let condition = self.condition(py)?;
        let future = self.send(py, request, needs_server)?;
        let call = call_tuple(py, future.call_id());
        // The first poll registers the waker. If the executor registered the waker later, messages
        // that the server publishes after its response could be handled before the response.
        let waker = Waker::from(Arc::new(Trigger((***condition).clone())));
        let mut call_of = CallWithCallback { future, callback, ended: None };
        let mut calls = self.completions.calls.lock();
        if let Poll::Ready(result) = call_of.look(&mut Task::from_waker(&waker)) {
            call_of.ended = Some(result);
        }
        let has_ended = call_of.ended.is_some();
        calls.push(call_of);
        drop(calls);
        if has_ended {
            condition.trigger();
        }
        Ok(call)
    }

    #[getter]
    fn service_name(&self) -> String {
        self.client.service_name().to_owned()
    }

    /// The hash of the service type that the client announces, as `RIHS01_...`.
    #[getter]
    fn type_hash(&self) -> Option<String> {
        self.type_hash.map(hash_text)
    }

    /// Whether there is a server.
    fn service_is_ready(&self) -> bool {
        self.client.service_is_ready()
    }

    /// Waits until there is a server; returns whether there is one. `timeout` is in seconds.
    #[pyo3(signature = (timeout=None))]
    fn wait_for_service(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        match wait_in_slices(py, timeout, |slice| self.client.wait_for_service(slice))? {
            Ok(()) => Ok(true),
            Err(feros::WaitError::Timeout { .. }) => Ok(false),
            Err(error) => Err(wait_error(error)),
        }
    }
}

/// One call, for callers that block or await.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Call {
    future: Mutex<Option<SerializedResponseFuture>>,
    response_type: Py<MessageType>,
}

fn over() -> PyErr {
    FerosError::new_err(
        "the call has ended: its response was taken, or another thread waits for it",
    )
}

#[pymethods]
impl Call {
    /// Blocks until the response arrives. `timeout` is in seconds; after a timeout the caller may
    /// wait again.
    #[pyo3(signature = (timeout=None))]
    fn wait<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let future = self.future.lock().take().ok_or_else(over)?;
        let deadline = duration(timeout).map(|timeout| Instant::now() + timeout);
        loop {
            let left = deadline.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            let result = py.detach(|| future.wait_for(left.min(SLICE)));
            let signals = py.check_signals();
            if let Err(CallError::Timeout { .. }) = &result {
                if signals.is_ok() && (left > SLICE || deadline.is_none()) {
                    continue;
                }
                *self.future.lock() = Some(future);
            }
            signals?;
            return response(py, &self.response_type, result);
        }
    }

    /// Returns the response if it has arrived. Otherwise returns `None`, and wakes the loop for
    /// `token` when the response arrives.
    fn poll<'py>(
        &self,
        py: Python<'py>,
        wakeups: &Bound<'py, Wakeups>,
        token: u64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let waker = wakeups.get().waker(token);
        let mut slot = self.future.lock();
        let future = slot.as_mut().ok_or_else(over)?;
        match Pin::new(future).poll(&mut Task::from_waker(&waker)) {
            Poll::Pending => Ok(None),
            Poll::Ready(result) => {
                let future = slot.take();
                drop(slot);
                drop(future);
                response(py, &self.response_type, result).map(Some)
            }
        }
    }

    /// Forgets the call: its response is dropped.
    fn cancel(&self) {
        let future = self.future.lock().take();
        drop(future);
    }
}
