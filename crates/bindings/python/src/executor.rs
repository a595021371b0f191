//! Executors. Rust spins without the interpreter lock, and each callback acquires the lock while it
//! runs. Spinning is cut into slices, between which Python's signal handlers run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use feros::{Outcome, SpinError, policy};
use feros_sync::Mutex;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::callback::Failure;
use crate::detached::Detached;
use crate::entity_queue::{Called, Ready, ReadyQueue};
use crate::error::error;
use crate::node::Node;
use crate::waiting::{SLICE, duration};

/// The duration of a slice with several threads. Such a slice is longer, because the threads start
/// and end with each slice.
const SLICE_OF_SEVERAL: Duration = Duration::from_millis(500);

struct Inner {
    executor: feros::Executor,
    failure: Arc<Failure>,
    /// Whether `stop` has been called, and spinning has not ended since then.
    is_stopped: AtomicBool,
    ready: Arc<Ready>,
    /// The contexts of the nodes, by node name: spinning ends when one of them is shut down.
    contexts: Mutex<Vec<(String, feros::Context)>>,
}

/// Runs the callbacks of its nodes.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Executor {
    inner: Detached<Arc<Inner>>,
    background: Mutex<Option<JoinHandle<()>>>,
}

/// The reason why a slice of spinning ended.
enum Ended {
    /// The slice is over, and spinning may continue.
    Piece,
    /// A callback was executed.
    Executed,
    /// The executor was stopped, possibly only to check a condition, or its context was shut down.
    Stopped,
}

impl Inner {
    fn piece(
        &self,
        py: Python<'_>,
        spin: impl FnOnce(&feros::Executor) -> Result<Outcome, SpinError> + Send,
    ) -> PyResult<Ended> {
        let outcome = py.detach(|| spin(&self.executor));
        py.check_signals()?;
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        Ok(match outcome.map_err(error)? {
            Outcome::Completed(()) => Ended::Executed,
            Outcome::TimedOut => Ended::Piece,
            Outcome::Stopped => Ended::Stopped,
        })
    }

    /// Whether spinning must end. Resets the request to stop.
    fn is_over(&self) -> bool {
        let is_stopped = self.is_stopped.swap(false, Ordering::AcqRel);
        is_stopped || self.contexts.lock().iter().any(|(_, context)| !context.is_ok())
    }

    /// Runs callbacks until `ready` is due or spinning must end; returns `false` after a timeout.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let deadline = duration(timeout).map(|timeout| Instant::now() + timeout);
        loop {
            if self.ready.is_due() {
                return Ok(true);
            }
            let left = deadline.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(false);
            }
            let slice = left.min(self.slice());
            let asked = || self.failure.is_set() || self.ready.is_due();
            self.piece(py, |executor| {
                self.ready.while_spinning(|| executor.spin_until(Some(slice), asked))
            })?;
            if self.is_over() {
                self.ready.wake();
                return Ok(true);
            }
        }
    }

    fn slice(&self) -> Duration {
        if self.executor.threads() > 1 { SLICE_OF_SEVERAL } else { SLICE }
    }
}

#[pymethods]
impl Executor {
    /// Makes an executor with this number of threads (0: one for each processor) that takes ready
    /// callbacks in the order of a policy: `fair`, `ros`, `priority` or `deadline`.
    #[new]
    #[pyo3(signature = (threads=1, policy="fair"))]
    fn new(threads: usize, policy: &str) -> PyResult<Self> {
        let builder = feros::Executor::builder().threads(threads);
        let builder = match policy {
            "fair" => builder,
            "ros" => builder.policy(policy::Ros::default()),
            "priority" => builder.policy(policy::Priority::default()),
            "deadline" => builder.policy(policy::Deadline::default()),
            other => {
                return Err(PyValueError::new_err(format!(
                    "there is no policy {other:?}: use fair, ros, priority or deadline"
                )));
            }
        };
        let executor = builder.build();
        let failure = Failure::new(executor.stopper());
        let ready = Ready::new(executor.stopper());
        let inner = Arc::new(Inner {
            executor,
            failure,
            is_stopped: AtomicBool::new(false),
            ready,
            contexts: Mutex::default(),
        });
        Ok(Self { inner: Detached::new(inner), background: Mutex::default() })
    }

    fn add_node(&self, py: Python<'_>, node: &Bound<'_, Node>) -> PyResult<()> {
        let node = node.get();
        py.detach(|| self.inner.executor.add_node(node.inner())).map_err(error)?;
        node.failures().go_to(Some(self.inner.failure.clone()));
        let node = node.inner();
        let of_node = (node.name().fully_qualified(), node.context().clone());
        self.inner.contexts.lock().push(of_node);
        Ok(())
    }

    fn remove_node(&self, py: Python<'_>, node: &Bound<'_, Node>) {
        let node = node.get();
        py.detach(|| self.inner.executor.remove_node(node.inner()));
        node.failures().go_to(None);
        let name = node.inner().name().fully_qualified();
        let mut contexts = self.inner.contexts.lock();
        if let Some(place) = contexts.iter().position(|(known, _)| *known == name) {
            let context = contexts.swap_remove(place);
            drop(contexts);
            py.detach(|| drop(context)); // this may end the context
        }
    }

    /// Runs callbacks until it is stopped, or a context is shut down.
    fn spin(&self, py: Python<'_>) -> PyResult<()> {
        loop {
            let slice = self.inner.slice();
            let failure = &self.inner.failure;
            let piece =
                |executor: &feros::Executor| executor.spin_until(Some(slice), || failure.is_set());
            self.inner.piece(py, piece)?;
            if self.inner.is_over() {
                return Ok(());
            }
        }
    }

    /// Runs one callback; returns whether a callback ran. `timeout` is in seconds; `None` waits
    /// forever.
    #[pyo3(signature = (timeout=None))]
    fn spin_once(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let deadline = duration(timeout).map(|timeout| Instant::now() + timeout);
        loop {
            let left = deadline.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            let slice = left.min(SLICE);
            match self.inner.piece(py, |executor| executor.spin_once(Some(slice)))? {
                Ended::Executed => return Ok(true),
                Ended::Stopped if self.inner.is_over() => return Ok(false),
                Ended::Piece | Ended::Stopped if left <= SLICE && deadline.is_some() => {
                    return Ok(false);
                }
                Ended::Piece | Ended::Stopped => {}
            }
        }
    }

    /// Runs the callbacks that are ready now, without waiting; returns their number.
    #[pyo3(signature = (max_duration=None))]
    fn spin_some(&self, py: Python<'_>, max_duration: Option<f64>) -> PyResult<usize> {
        let max_duration = duration(max_duration).unwrap_or(Duration::MAX);
        let count = py.detach(|| {
            let executor = &self.inner.executor;
            let mut count = 0;
            // The Rust executor may have been stopped only to check a condition (`wake`). This spin
            // consumes that stop. Otherwise the stop would stay pending until a caller waits, and a
            // caller that never waits would never find a ready callback.
            if !self.inner.is_stopped.load(Ordering::Acquire) {
                let first = executor.spin_once(Some(Duration::ZERO))?;
                count += usize::from(matches!(first, Outcome::Completed(())));
            }
            Ok(count + executor.spin_some(max_duration)?)
        });
        let count: Result<usize, SpinError> = count;
        py.check_signals()?;
        match self.inner.failure.take() {
            Some(error) => Err(error),
            None => count.map_err(error),
        }
    }

    /// Runs callbacks until `is_done()`, which is called after each callback, returns true. Returns
    /// whether it returned true. `timeout` is in seconds.
    #[pyo3(signature = (is_done, timeout=None))]
    fn spin_until(
        &self,
        py: Python<'_>,
        is_done: Py<PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<bool> {
        let deadline = duration(timeout).map(|timeout| Instant::now() + timeout);
        loop {
            if is_done.call0(py)?.is_truthy(py)? {
                return Ok(true);
            }
            let left = deadline.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(false);
            }
            let (slice, failure) = (left.min(self.inner.slice()), &self.inner.failure);
            let asked = || {
                failure.is_set()
                    || Python::attach(|py| {
                        let done = is_done.call0(py).and_then(|done| done.is_truthy(py));
                        // A signal may arrive during the call. The signal's handler then raises its
                        // exception here.
                        done.unwrap_or_else(|error| {
                            failure.set(py, error);
                            true
                        })
                    })
            };
            let piece = |executor: &feros::Executor| executor.spin_until(Some(slice), asked);
            self.inner.piece(py, piece)?;
            if self.inner.is_over() {
                return is_done.call0(py)?.is_truthy(py);
            }
        }
    }

    /// Waits until an `rclpy` entity is ready or `wake` is called, and returns immediately if
    /// either has happened since the last call. Returns whether either happened. `timeout` is in
    /// seconds. Only one thread may spin at a time.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<bool> {
        let ready = &self.inner.ready;
        let is_due = self.inner.wait(py, timeout)?;
        ready.take_wake();
        ready.take_new();
        Ok(is_due)
    }

    /// Waits for a ready `rclpy` entity, and runs its callback. Returns `True` if a callback ran;
    /// `False` if `wake` was called or the timeout passed; an entity, if Python code has to ask the
    /// entity for its callback; or a tuple with an entity, its item and the result of its callback,
    /// if that result is not `None`.
    #[pyo3(signature = (timeout=None))]
    fn wait_and_call(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let ready = &self.inner.ready;
        let until = duration(timeout).map(|timeout| Instant::now() + timeout);
        loop {
            ready.take_new();
            match ready.call_next(py)? {
                Called::Nothing => {}
                Called::Ran => return true.into_py_any(py),
                Called::Asks(entity) => return Ok(entity),
                Called::Returned { entity, item, result } => {
                    return (entity, item, result).into_py_any(py);
                }
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.map(|left| left.as_secs_f64());
            if !self.inner.wait(py, left)? || ready.take_wake() {
                return false.into_py_any(py);
            }
        }
    }

    /// The queue of the `rclpy` entities that are ready.
    #[getter]
    fn ready(&self) -> ReadyQueue {
        ReadyQueue(self.inner.ready.clone())
    }

    /// Ends spinning, from any thread.
    fn stop(&self) {
        self.inner.is_stopped.store(true, Ordering::Release);
        self.inner.executor.stopper().stop();
    }

    /// Makes the spinning thread check its condition.
    fn wake(&self) {
        self.inner.ready.wake();
    }

    /// Starts a thread that spins until the executor is stopped or a context is shut down. The
    /// thread prints exceptions of callbacks, and continues.
    fn start(&self) -> PyResult<()> {
        let mut background = self.background.lock();
        if background.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        let inner = Arc::clone(&self.inner);
        let spin = move || loop {
            let spun = inner.executor.spin_until(None, || inner.failure.is_set());
            let printed = Python::try_attach(|py| {
                if let Some(error) = inner.failure.take() {
                    error.print(py);
                }
            });
            if printed.is_none() || spun.is_err() || inner.is_over() {
                break;
            }
        };
        let thread = std::thread::Builder::new().name("feros-python".into()).spawn(spin);
        *background = Some(thread.map_err(error)?);
        Ok(())
    }

    /// Stops the thread that `start` started, and waits for its end.
    fn join(&self, py: Python<'_>) {
        self.stop();
        let thread = self.background.lock().take();
        py.detach(|| thread.map(|thread| thread.join().ok()));
    }
}
