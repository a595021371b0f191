//! Subscriptions: with a callback, or with an inbox from which messages are taken.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::SystemTime;

use feros::engine::FailureCounter;
use feros::{
    ContentFilterOptions, GenericSubscription, MessageInfo as Info, QosProfile, SerializedFilter,
    SerializedMessage, SubscriptionOptions,
};
use feros_sync::Mutex;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::callback::Owner;
use crate::callback_group::{Schedule, callback_options};
use crate::detached::Detached;
use crate::entity_queue::EntityQueue;
use crate::error::{DecodeError, error, wait_error};
use crate::events::subscription_event;
use crate::ffi::{Block, Pins};
use crate::message::{MessageType, decode, may_view};
use crate::qos::{self, QosTuple};
use crate::waiting::wait_in_slices;
use crate::wakeups::Wakeups;

/// The arguments of a subscription.
pub(crate) struct SubscriptionArguments<'a> {
    pub(crate) message_type: Py<MessageType>,
    pub(crate) topic: &'a str,
    pub(crate) qos: QosProfile,
    pub(crate) raw: bool,
    pub(crate) views: bool,
    pub(crate) max_pinned: usize,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) on_event: Option<Py<PyAny>>,
    pub(crate) ignore_local: bool,
    pub(crate) log_lost: bool,
    pub(crate) content_filter: Option<FilterTuple>,
}

impl SubscriptionArguments<'_> {
    fn options(&mut self, owner: Owner<'_>) -> SubscriptionOptions {
        let mut options = SubscriptionOptions::from(self.qos);
        options.callback = callback_options(self.schedule.as_ref());
        options.log_lost_messages = self.log_lost;
        if self.ignore_local {
            options = options.ignore_local_publications();
        }
        if let Some(on_event) = self.on_event.take() {
            let failures = owner.failures.clone();
            options = options.on_event(move |event| {
                failures.run(|py| {
                    let Some((name, status)) = subscription_event(py, event)? else {
                        return Ok(());
                    };
                    on_event.call1(py, (name, status)).map(drop)
                });
            });
        }
        options
    }
}

/// A DDS filter expression, with the values of `%0`, `%1` and so on.
pub(crate) type FilterTuple = (String, Vec<String>);

/// Makes Python messages from received messages.
struct Opener {
    /// The content filter, once a filter has been set.
    filter: OnceLock<SerializedFilter>,
    topic: String,
    message_type: Py<MessageType>,
    raw: bool,
    views: bool,
    pins: Arc<Pins>,
    malformed: FailureCounter,
}

impl Opener {
    fn new(py: Python<'_>, arguments: &SubscriptionArguments<'_>) -> Arc<Self> {
        Arc::new(Self {
            filter: OnceLock::new(),
            topic: arguments.topic.to_owned(),
            message_type: arguments.message_type.clone_ref(py),
            raw: arguments.raw,
            views: arguments.views,
            pins: Pins::new(arguments.max_pinned),
            malformed: FailureCounter::new(),
        })
    }

    fn set_filter(&self, filter: FilterTuple) -> PyResult<()> {
        let options = ContentFilterOptions { expression: filter.0, parameters: filter.1 };
        if let Some(filter) = self.filter.get() {
            return filter.set(options).map_err(error);
        }
        let description = self.message_type.get().description();
        let filter = SerializedFilter::new(description, options.clone()).map_err(error)?;
        // Another thread may have set the filter first.
        self.filter
            .set(filter)
            .or_else(|_| self.set_filter((options.expression, options.parameters)))
    }

    fn wants(&self, message: &SerializedMessage) -> bool {
        self.filter.get().is_none_or(|filter| filter.wants_bytes(message))
    }

    /// Decodes the message. `None` if the bytes are not a message; such samples are counted and
    /// logged.
    fn open<'py>(
        &self,
        py: Python<'py>,
        message: SerializedMessage,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.raw {
            return Ok(Some(PyBytes::new(py, &message).into_any()));
        }
        let plan = self.message_type.get().plan()?;
        let opened = if self.views && may_view(plan, &message) {
            let block = Bound::new(py, Block::new(message, &self.pins))?;
            decode(py, plan, block.get().bytes(), Some(block.as_any()), false)
        } else {
            decode(py, plan, &message, None, false)
        };
        match opened {
            Err(error) if error.is_instance_of::<DecodeError>(py) => {
                if let Some(count) = self.malformed.count() {
                    tracing::error!(
                        "{}: {count} messages have been refused so far; the last error: {}",
                        self.topic,
                        error.value(py)
                    );
                }
                Ok(None)
            }
            opened => opened.map(Some),
        }
    }
}

/// The information about a message, without its content.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct MessageInfo(Info);

fn nanos(time: Option<SystemTime>) -> Option<i64> {
    let since = time?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok()
}

#[pymethods]
impl MessageInfo {
    fn __repr__(&self) -> String {
        let or_none = |number: Option<String>| number.unwrap_or_else(|| "None".to_owned());
        let gid: String = self.0.publisher_gid.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!(
            "MessageInfo(source_timestamp={}, received_timestamp={}, \
             publication_sequence_number={}, publisher_gid={gid}, is_same_context={})",
            or_none(self.source_timestamp().map(|nanos| nanos.to_string())),
            or_none(self.received_timestamp().map(|nanos| nanos.to_string())),
            or_none(self.publication_sequence_number().map(|number| number.to_string())),
            if self.is_same_context() { "True" } else { "False" },
        )
    }

    /// The time of publication, in nanoseconds on the publisher's clock.
    #[getter]
    fn source_timestamp(&self) -> Option<i64> {
        nanos(self.0.source_timestamp)
    }

    /// The time of reception, in nanoseconds on this machine's clock.
    #[getter]
    fn received_timestamp(&self) -> Option<i64> {
        nanos(self.0.received_timestamp)
    }

    /// The publication number of the message; the publisher counts from 1.
    #[getter]
    fn publication_sequence_number(&self) -> Option<u64> {
        self.0.publication_sequence_number
    }

    /// The identity of the publisher.
    #[getter]
    fn publisher_gid<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.publisher_gid.0)
    }

    /// Whether the publisher belongs to the same context.
    #[getter]
    fn is_same_context(&self) -> bool {
        self.0.from_same_session
    }
}

/// Receives messages of one type from one topic, and calls a callback with each message.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Subscription {
    subscription: Detached<GenericSubscription>,
    opener: Arc<Opener>,
}

impl Subscription {
    pub(crate) fn new(
        py: Python<'_>,
        owner: Owner<'_>,
        mut arguments: SubscriptionArguments<'_>,
        callback: Py<PyAny>,
        with_info: bool,
    ) -> PyResult<Self> {
        let opener = Opener::new(py, &arguments);
        let (opening, failures) = (opener.clone(), owner.failures.clone());
        let queue = callback.cast_bound::<EntityQueue>(py).ok().map(|queue| queue.get().waiting());
        if let Some(filter) = arguments.content_filter.take() {
            opener.set_filter(filter)?;
        }
        let deliver = move |message: SerializedMessage, info: Info| {
            if !opening.wants(&message) {
                return;
            }
            failures.run(|py| {
                let Some(message) = opening.open(py, message)? else { return Ok(()) };
                if let Some(queue) = &queue {
                    queue.push(py, (message, MessageInfo(info)).into_py_any(py)?)
                } else if with_info {
                    callback.call1(py, (message, MessageInfo(info))).map(drop)
                } else {
                    callback.call1(py, (message,)).map(drop)
                }
            });
        };
        let subscription = subscribe(py, owner, &mut arguments, deliver)?;
        Ok(Self { subscription, opener })
    }
}

fn subscribe(
    py: Python<'_>,
    owner: Owner<'_>,
    arguments: &mut SubscriptionArguments<'_>,
    deliver: impl FnMut(SerializedMessage, Info) + Send + 'static,
) -> PyResult<Detached<GenericSubscription>> {
    let options = arguments.options(owner);
    let (node, identity) = (owner.node, arguments.message_type.get().identity());
    let topic = arguments.topic;
    let made = py.detach(|| node.create_generic_subscription(topic, &identity, options, deliver));
    let made = Detached::new(made.map_err(error)?);
    node.describe_type(arguments.message_type.get().description().clone());
    Ok(made)
}

#[pymethods]
impl Subscription {
    #[getter]
    fn topic_name(&self) -> String {
        self.subscription.topic_name().to_owned()
    }

    #[getter]
    fn qos(&self) -> QosTuple {
        qos::tuple(&self.subscription.qos())
    }

    #[getter]
    fn publisher_count(&self) -> usize {
        self.subscription.publisher_count()
    }

    /// Waits until at least `count` publishers match; `timeout` is in seconds.
    #[pyo3(signature = (count=1, timeout=None))]
    fn wait_for_publishers(
        &self,
        py: Python<'_>,
        count: usize,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        let wait = |slice| self.subscription.wait_for_publishers(count, slice);
        wait_in_slices(py, timeout, wait)?.map_err(wait_error)
    }

    /// The number of messages that were refused because they do not have the subscription's type.
    #[getter]
    fn refused_messages(&self) -> u64 {
        self.opener.malformed.total() + self.subscription.refused_messages()
    }

    /// Sets a content filter: an expression and its parameters. The empty expression accepts all
    /// messages.
    fn set_content_filter(&self, expression: String, parameters: Vec<String>) -> PyResult<()> {
        self.opener.set_filter((expression, parameters))
    }

    /// The content filter, if a filter has ever been set.
    #[getter]
    fn content_filter(&self) -> Option<FilterTuple> {
        let options = self.opener.filter.get()?.options();
        Some((options.expression, options.parameters))
    }

    /// The number of messages that Python arrays keep in the memory in which they arrived.
    #[getter]
    fn pinned_messages(&self) -> usize {
        self.opener.pins.held()
    }

    /// The number of messages that were copied out of the memory in which they arrived, because too
    /// many were kept.
    #[getter]
    fn copied_messages(&self) -> u64 {
        self.opener.pins.copied()
    }

    /// The messages by transport: intra-process, shared memory, network.
    fn counts(&self) -> (u64, u64, u64) {
        let counts = self.subscription.counts();
        (counts.intra_process.messages, counts.shared_memory.messages, counts.network.messages)
    }
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<(SerializedMessage, Info)>,
    waker: Option<Waker>,
    dropped: u64,
}

/// A subscription whose messages wait to be taken. If too many messages wait, the oldest message is
/// dropped.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Inbox {
    /// Delivers messages until the inbox ends.
    _subscription: Detached<GenericSubscription>,
    opener: Arc<Opener>,
    queue: Arc<Mutex<Queue>>,
    /// Wakes a waiting event loop when the context is shut down.
    _guard: Detached<feros::ShutdownGuard>,
}

impl Inbox {
    pub(crate) fn new(
        py: Python<'_>,
        owner: Owner<'_>,
        mut arguments: SubscriptionArguments<'_>,
        depth: usize,
    ) -> PyResult<Self> {
        let (opener, queue) = (Opener::new(py, &arguments), Arc::<Mutex<Queue>>::default());
        let (inbox, depth) = (queue.clone(), depth.max(1));
        let deliver = move |message, info| {
            let mut queue = inbox.lock();
            let mut oldest = None;
            if queue.messages.len() >= depth {
                oldest = queue.messages.pop_front();
                queue.dropped += 1;
            }
            queue.messages.push_back((message, info));
            let waker = queue.waker.take();
            drop(queue);
            drop(oldest);
            waker.into_iter().for_each(Waker::wake);
        };
        let subscription = subscribe(py, owner, &mut arguments, deliver)?;
        let ended = queue.clone();
        let guard = owner.node.context().on_shutdown(move || {
            let waker = ended.lock().waker.take();
            waker.into_iter().for_each(Waker::wake);
        });
        Ok(Self { _subscription: subscription, opener, queue, _guard: Detached::new(guard) })
    }
}

#[pymethods]
impl Inbox {
    /// The next message and its information. If there is no message, returns `None`; with
    /// `wakeups`, the loop is then woken for `token` when a message arrives.
    #[pyo3(signature = (wakeups=None, token=0))]
    fn take<'py>(
        &self,
        py: Python<'py>,
        wakeups: Option<&Bound<'py, Wakeups>>,
        token: u64,
    ) -> PyResult<Option<(Bound<'py, PyAny>, MessageInfo)>> {
        loop {
            let mut queue = self.queue.lock();
            let Some((message, info)) = queue.messages.pop_front() else {
                queue.waker = wakeups.map(|wakeups| wakeups.get().waker(token));
                return Ok(None);
            };
            drop(queue);
            if let Some(message) = self.opener.open(py, message)? {
                return Ok(Some((message, MessageInfo(info))));
            }
        }
    }

    /// The number of messages that were dropped because they were not taken in time.
    #[getter]
    fn dropped_messages(&self) -> u64 {
        self.queue.lock().dropped
    }
}
