//! Transforms. The buffer, the listener and the broadcasters are in Rust, so that a buffer is
//! filled without the interpreter lock. Messages are passed as instances of the Python classes.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as Task, Poll};
use std::time::{Duration, Instant};

use feros::Time;
use feros::msgs::geometry_msgs::msg::{
    PointStamped, PolygonStamped, PoseArray, PoseStamped, PoseWithCovarianceStamped,
    QuaternionStamped, TransformStamped, Vector3Stamped, WrenchStamped,
};
use feros::msgs::sensor_msgs::msg::PointCloud2;
use feros_message::{Message, from_bytes, to_vec};
use feros_sync::Mutex;
use feros_tf2::{
    BufferOptions, InsertError, ListenerOptions, LookupError, StampedTransformable, Transform,
    TransformError, TransformFuture, WaitError,
};
use pyo3::create_exception;
use pyo3::exceptions::{PyTimeoutError, PyTypeError};
use pyo3::prelude::*;

use crate::detached::Detached;
use crate::error::{FerosError, ShutdownError, error, publish_error};
use crate::message::{MessageType, decode};
use crate::node::Node;
use crate::waiting::{SLICE, duration};
use crate::wakeups::Wakeups;

// The names of the exceptions are those of tf2.
create_exception!(
    feros.tf2,
    TransformException,
    FerosError,
    "A transform cannot be computed or stored."
);
create_exception!(feros.tf2, LookupException, TransformException, "A frame does not exist.");
create_exception!(
    feros.tf2,
    ConnectivityException,
    TransformException,
    "No chain of frames connects the two frames."
);
create_exception!(
    feros.tf2,
    ExtrapolationException,
    TransformException,
    "The time is before or after all known transforms."
);
create_exception!(
    feros.tf2,
    InvalidArgumentException,
    TransformException,
    "The name of a frame or a transform is invalid."
);

fn lookup_error(error: &LookupError) -> PyErr {
    let text = error.to_string();
    match error {
        LookupError::InvalidFrame { .. } => InvalidArgumentException::new_err(text),
        LookupError::UnknownFrame { .. }
        | LookupError::Loop { .. }
        | LookupError::TooDeep { .. } => LookupException::new_err(text),
        LookupError::NotConnected { .. } => ConnectivityException::new_err(text),
        LookupError::Future { .. } | LookupError::Past { .. } | LookupError::OneSample { .. } => {
            ExtrapolationException::new_err(text)
        }
        _ => TransformException::new_err(text),
    }
}

fn insert_error(error: InsertError) -> PyErr {
    InvalidArgumentException::new_err(error.to_string())
}

fn transform_error(error: TransformError) -> PyErr {
    match error {
        TransformError::Lookup(error) => lookup_error(&error),
        other => TransformException::new_err(other.to_string()),
    }
}

/// Converts a Python message to a Rust message.
fn read<M: Message>(message_type: &Py<MessageType>, message: &Bound<'_, PyAny>) -> PyResult<M> {
    from_bytes(&message_type.get().to_vec(message)?).map_err(error)
}

/// Converts a Rust message to a Python message.
fn written<'py, M: Message>(
    py: Python<'py>,
    message_type: &Py<MessageType>,
    message: &M,
) -> PyResult<Bound<'py, PyAny>> {
    let bytes = to_vec(message).map_err(error)?;
    decode(py, message_type.get().plan()?, &bytes, None, false)
}

/// Transforms a message into another frame, with the transforms of a buffer or with one given
/// transform.
enum By<'a> {
    Buffer { buffer: &'a feros_tf2::Buffer, target: &'a str },
    Transform(&'a TransformStamped),
}

impl By<'_> {
    fn transform<M: StampedTransformable>(&self, message: &M) -> Result<M, TransformError> {
        match self {
            Self::Buffer { buffer, target } => buffer.transform(message, target),
            Self::Transform(by) => {
                let time = Time::from_nanos(by.header.stamp.to_nanos());
                let transform = Transform::from(&by.transform);
                message.transformed_to(&transform, &by.header.frame_id, time)
            }
        }
    }

    fn transform_as<'py, M: Message + StampedTransformable>(
        &self,
        message_type: &Py<MessageType>,
        message: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let message_of_library: M = read(message_type, message)?;
        let py = message.py();
        let transformed = py.detach(|| self.transform(&message_of_library));
        written(py, message_type, &transformed.map_err(transform_error)?)
    }

    fn transform_any<'py>(
        &self,
        message_type: &Py<MessageType>,
        message: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        macro_rules! of_types {
            ($($message:ty),*) => {
                match &*message_type.get().identity().name {
                    $(name if name == <$message as Message>::TYPE_NAME => {
                        self.transform_as::<$message>(message_type, message)
                    })*
                    other => Err(PyTypeError::new_err(format!(
                        "messages of type {other} cannot be transformed; supported types: {}",
                        [$(<$message as Message>::TYPE_NAME),*].join(", ")
                    ))),
                }
            };
        }
        of_types!(
            PointStamped,
            Vector3Stamped,
            QuaternionStamped,
            PoseStamped,
            PoseWithCovarianceStamped,
            PoseArray,
            WrenchStamped,
            PolygonStamped,
            TransformStamped,
            PointCloud2
        )
    }
}

/// Holds the transforms between frames within the cache length. Times are in nanoseconds; zero
/// stands for the newest known time.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct TransformBuffer {
    buffer: feros_tf2::Buffer,
    transform_type: Py<MessageType>,
}

/// The information about a frame: the parent, whether the frame is static, the authority of the
/// last transform, the times of the oldest and the newest transform, the number of transforms, and
/// their rate per second.
type FrameTuple = (Option<String>, bool, String, i64, i64, usize, Option<f64>);

#[pymethods]
impl TransformBuffer {
    /// Makes a buffer that keeps transforms for `cache_length` nanoseconds.
    #[new]
    fn new(transform_type: Py<MessageType>, cache_length: u64) -> Self {
        let options = BufferOptions::default().cache_length(Duration::from_nanos(cache_length));
        Self { buffer: feros_tf2::Buffer::with(options), transform_type }
    }

    fn set_transform(
        &self,
        transform: &Bound<'_, PyAny>,
        authority: &str,
        is_static: bool,
    ) -> PyResult<()> {
        let transform: TransformStamped = read(&self.transform_type, transform)?;
        self.buffer.set_transform(&transform, authority, is_static).map_err(insert_error)
    }

    fn lookup_transform<'py>(
        &self,
        py: Python<'py>,
        target: &str,
        source: &str,
        time: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.buffer.lookup_transform(target, source, Time::from_nanos(time));
        written(py, &self.transform_type, &found.map_err(|error| lookup_error(&error))?)
    }

    fn lookup_transform_full<'py>(
        &self,
        py: Python<'py>,
        target: (String, i64),
        source: (String, i64),
        fixed: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let [target_time, source_time] = [target.1, source.1].map(Time::from_nanos);
        let (target, source) = ((&*target.0, target_time), (&*source.0, source_time));
        let found = self.buffer.lookup_transform_full(target, source, fixed);
        written(py, &self.transform_type, &found.map_err(|error| lookup_error(&error))?)
    }

    fn can_transform(&self, target: &str, source: &str, time: i64) -> bool {
        self.buffer.can_transform(target, source, Time::from_nanos(time))
    }

    fn latest_common_time(&self, target: &str, source: &str) -> PyResult<i64> {
        let found = self.buffer.latest_common_time(target, source);
        found.map(Time::as_nanos).map_err(|error| lookup_error(&error))
    }

    fn chain(&self, target: &str, source: &str, time: i64) -> PyResult<Vec<String>> {
        let found = self.buffer.chain(target, source, Time::from_nanos(time));
        found.map_err(|error| lookup_error(&error))
    }

    fn transform<'py>(
        &self,
        message_type: Py<MessageType>,
        message: &Bound<'py, PyAny>,
        target: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        By::Buffer { buffer: &self.buffer, target }.transform_any(&message_type, message)
    }

    /// Prepares a wait for a transform. The wait begins with `wait` or `poll`.
    fn wait_for_transform(
        &self,
        py: Python<'_>,
        target: &str,
        source: &str,
        time: i64,
    ) -> TransformWait {
        TransformWait {
            buffer: self.buffer.clone(),
            question: (target.to_owned(), source.to_owned(), Time::from_nanos(time)),
            transform_type: self.transform_type.clone_ref(py),
            polled: Mutex::new(None),
        }
    }

    fn frames(&self) -> BTreeMap<String, FrameTuple> {
        let plain = |(name, info): (String, feros_tf2::FrameInfo)| {
            let (oldest, latest) = (info.oldest.as_nanos(), info.latest.as_nanos());
            let rate = info.rate_hz();
            let authority = info.authority;
            (name, (info.parent, info.is_static, authority, oldest, latest, info.samples, rate))
        };
        self.buffer.frames().into_iter().map(plain).collect()
    }

    fn all_frames_as_string(&self) -> String {
        self.buffer.all_frames_as_string()
    }

    fn all_frames_as_yaml(&self, now: i64) -> String {
        self.buffer.all_frames_as_yaml(Time::from_nanos(now))
    }

    /// Removes all transforms that are not static.
    fn clear(&self, py: Python<'_>) {
        py.detach(|| self.buffer.clear());
    }

    /// The number of stored transforms, and the number of refused transforms.
    fn counts(&self) -> (u64, u64) {
        let counts = self.buffer.counts();
        (counts.set, counts.refused.total())
    }
}

/// Transforms a message into the frame of a transform's header.
#[pyfunction]
fn do_transform<'py>(
    message_type: Py<MessageType>,
    message: &Bound<'py, PyAny>,
    transform_type: Py<MessageType>,
    transform: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let transform: TransformStamped = read(&transform_type, transform)?;
    By::Transform(&transform).transform_any(&message_type, message)
}

/// A transform that may not be known yet.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct TransformWait {
    buffer: feros_tf2::Buffer,
    question: (String, String, Time),
    transform_type: Py<MessageType>,
    /// The pending wait of an event loop.
    polled: Mutex<Option<TransformFuture>>,
}

impl TransformWait {
    fn begin(&self) -> TransformFuture {
        let (target, source, time) = &self.question;
        self.buffer.wait_for_transform(target, source, *time)
    }

    fn ended<'py>(
        &self,
        py: Python<'py>,
        result: Result<TransformStamped, WaitError>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match result {
            Ok(found) => written(py, &self.transform_type, &found),
            Err(WaitError::Hopeless(error)) => Err(lookup_error(&error)),
            Err(error @ WaitError::Closed(_)) => Err(ShutdownError::new_err(error.to_string())),
            Err(error) => Err(PyTimeoutError::new_err(error.to_string())),
        }
    }
}

#[pymethods]
impl TransformWait {
    /// Blocks until the transform is known. `timeout` is in seconds; `None` waits forever.
    #[pyo3(signature = (timeout=None))]
    fn wait<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let began = Instant::now();
        let limit = duration(timeout);
        let mut changed = 0;
        loop {
            let left = limit.map_or(SLICE, |limit| limit.saturating_sub(began.elapsed()));
            let mut result = py.detach(|| self.begin().wait(left.min(SLICE)));
            py.check_signals()?;
            if let Err(WaitError::Timeout { changes, waited, .. }) = &mut result {
                changed += *changes;
                if left > SLICE || limit.is_none() {
                    continue;
                }
                (*changes, *waited) = (changed, began.elapsed());
            }
            return self.ended(py, result);
        }
    }

    /// Returns the transform, if it is known. Otherwise returns `None`, and wakes the event loop
    /// later to poll again.
    fn poll<'py>(
        &self,
        py: Python<'py>,
        wakeups: &Bound<'py, Wakeups>,
        token: u64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let waker = wakeups.get().waker(token);
        let mut polled = self.polled.lock();
        let future = polled.get_or_insert_with(|| self.begin());
        match Pin::new(future).poll(&mut Task::from_waker(&waker)) {
            Poll::Pending => Ok(None),
            Poll::Ready(result) => {
                *polled = None;
                drop(polled);
                self.ended(py, result).map(Some)
            }
        }
    }

    /// Ends the wait of an event loop.
    fn cancel(&self) {
        let future = self.polled.lock().take();
        drop(future);
    }
}

/// Fills a buffer with the transforms from `/tf` and `/tf_static`.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct TransformListener {
    _listener: Detached<feros_tf2::TransformListener>,
}

#[pymethods]
impl TransformListener {
    #[new]
    fn new(
        py: Python<'_>,
        node: &Bound<'_, Node>,
        buffer: &Bound<'_, TransformBuffer>,
        dedicated_thread: bool,
        dynamic: bool,
    ) -> PyResult<Self> {
        let options =
            ListenerOptions::default().dedicated_thread(dedicated_thread).dynamic(dynamic);
        let (node, buffer) = (node.get().inner(), &buffer.get().buffer);
        let made = py.detach(|| feros_tf2::TransformListener::with(node, buffer, options));
        Ok(Self { _listener: Detached::new(made.map_err(error)?) })
    }
}

/// Publishes transforms between frames.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct TransformBroadcaster {
    broadcaster: Detached<Broadcaster>,
    transform_type: Py<MessageType>,
}

enum Broadcaster {
    Dynamic(feros_tf2::TransformBroadcaster),
    Static(feros_tf2::StaticTransformBroadcaster),
}

#[pymethods]
impl TransformBroadcaster {
    #[new]
    fn new(
        py: Python<'_>,
        node: &Bound<'_, Node>,
        transform_type: Py<MessageType>,
        is_static: bool,
    ) -> PyResult<Self> {
        let node = node.get().inner();
        let made = py.detach(|| match is_static {
            true => feros_tf2::StaticTransformBroadcaster::new(node).map(Broadcaster::Static),
            false => feros_tf2::TransformBroadcaster::new(node).map(Broadcaster::Dynamic),
        });
        Ok(Self { broadcaster: Detached::new(made.map_err(error)?), transform_type })
    }

    fn send_transforms(&self, py: Python<'_>, transforms: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
        let read = |transform| read(&self.transform_type, transform);
        let transforms =
            transforms.iter().map(read).collect::<PyResult<Vec<TransformStamped>>>()?;
        let sent = py.detach(|| match &*self.broadcaster {
            Broadcaster::Dynamic(broadcaster) => broadcaster.send_transforms(transforms),
            Broadcaster::Static(broadcaster) => broadcaster.send_transforms(transforms),
        });
        sent.map_err(publish_error)
    }
}

/// Adds classes and exceptions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<TransformBuffer>()?;
    module.add_class::<TransformWait>()?;
    module.add_class::<TransformListener>()?;
    module.add_class::<TransformBroadcaster>()?;
    module.add_function(wrap_pyfunction!(do_transform, module)?)?;
    module.add("TransformException", py.get_type::<TransformException>())?;
    module.add("LookupException", py.get_type::<LookupException>())?;
    module.add("ConnectivityException", py.get_type::<ConnectivityException>())?;
    module.add("ExtrapolationException", py.get_type::<ExtrapolationException>())?;
    module.add("InvalidArgumentException", py.get_type::<InvalidArgumentException>())
}
