//! Nodes: their names, their queries of the graph, and the endpoints that they make.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use feros::engine::graph::NamesAndTypes;
use feros::engine::{EndpointInfo, EndpointKind};
use feros::{CallbackGroupKind, LogLevel, TimerOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::callback::{Failures, Owner};
use crate::callback_group::{CallbackGroup, Schedule, callback_options};
use crate::client::Client;
use crate::clock::Clock;
use crate::detached::Detached;
use crate::error::{error, wait_error};
use crate::graph_listener::GraphListener;
use crate::message::MessageType;
use crate::parameter::Parameters;
use crate::publisher::Publisher;
use crate::qos::{self, QosTuple};
use crate::service::Service;
use crate::subscription::{FilterTuple, Inbox, Subscription, SubscriptionArguments};
use crate::timer::{GuardCondition, Timer};
use crate::waiting::wait_in_slices;
use crate::wakeups::Wakeups;

/// A node of the graph.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Node {
    node: Detached<feros::Node>,
    failures: Arc<Failures>,
}

impl Node {
    pub(crate) fn new(node: feros::Node) -> Self {
        Self::with(node, Arc::default())
    }

    pub(crate) fn with(node: feros::Node, failures: Arc<Failures>) -> Self {
        Self { node: Detached::new(node), failures }
    }

    pub(crate) fn inner(&self) -> &feros::Node {
        &self.node
    }

    pub(crate) fn failures(&self) -> &Arc<Failures> {
        &self.failures
    }

    fn as_owner(&self) -> Owner<'_> {
        Owner { node: &self.node, failures: &self.failures }
    }
}

fn plain(names: NamesAndTypes) -> BTreeMap<String, Vec<String>> {
    names.into_iter().map(|(name, types)| (name, types.into_iter().collect())).collect()
}

/// The information about an endpoint.
fn describe<'py>(py: Python<'py>, endpoint: &EndpointInfo) -> PyResult<Bound<'py, PyDict>> {
    let info = PyDict::new(py);
    let node = endpoint.node.name();
    info.set_item("node_name", node.map_or("_NODE_NAME_UNKNOWN_", |node| node.name()))?;
    info.set_item("node_namespace", node.map_or("_NODE_NAMESPACE_UNKNOWN_", |n| n.namespace()))?;
    info.set_item("topic_type", &endpoint.type_name)?;
    let hash = endpoint.type_hash.map(|hash| feros_interface::TypeHash(hash.0).to_string());
    info.set_item("topic_type_hash", hash)?;
    info.set_item("is_publisher", endpoint.kind == EndpointKind::Publisher)?;
    info.set_item("endpoint_gid", PyBytes::new(py, &endpoint.gid.0))?;
    info.set_item("qos", qos::tuple(&endpoint.qos))?;
    Ok(info)
}

#[pymethods]
impl Node {
    #[pyo3(signature = (message_type, topic, qos, mode_queue_depth=None, on_event=None))]
    fn create_publisher(
        &self,
        py: Python<'_>,
        message_type: Py<MessageType>,
        topic: &str,
        qos: QosTuple,
        mode_queue_depth: Option<usize>,
        on_event: Option<Py<PyAny>>,
    ) -> PyResult<Publisher> {
        Publisher::new(py, self.as_owner(), message_type, topic, qos, mode_queue_depth, on_event)
    }

    #[pyo3(signature = (message_type, topic, qos, callback, *, with_info=false, raw=false,
        views=true, max_pinned=8, schedule=None, on_event=None, ignore_local=false,
        log_lost=true, content_filter=None))]
    #[allow(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn create_subscription(
        &self,
        py: Python<'_>,
        message_type: Py<MessageType>,
        topic: &str,
        qos: QosTuple,
        callback: Py<PyAny>,
        with_info: bool,
        raw: bool,
        views: bool,
        max_pinned: usize,
        schedule: Option<Schedule>,
        on_event: Option<Py<PyAny>>,
        ignore_local: bool,
        log_lost: bool,
        content_filter: Option<FilterTuple>,
    ) -> PyResult<Subscription> {
        let arguments = SubscriptionArguments {
            message_type,
            topic,
            qos: qos::profile(qos)?,
            raw,
            views,
            max_pinned,
            schedule,
            on_event,
            ignore_local,
            log_lost,
            content_filter,
        };
        Subscription::new(py, self.as_owner(), arguments, callback, with_info)
    }

    /// Makes a subscription whose messages wait to be taken.
    #[pyo3(signature = (message_type, topic, qos, *, depth, raw=false, views=true, max_pinned=8))]
    #[allow(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn create_inbox(
        &self,
        py: Python<'_>,
        message_type: Py<MessageType>,
        topic: &str,
        qos: QosTuple,
        depth: usize,
        raw: bool,
        views: bool,
        max_pinned: usize,
    ) -> PyResult<Inbox> {
        let arguments = SubscriptionArguments {
            message_type,
            topic,
            qos: qos::profile(qos)?,
            raw,
            views,
            max_pinned,
            schedule: None,
            on_event: None,
            ignore_local: false,
            log_lost: true,
            content_filter: None,
        };
        Inbox::new(py, self.as_owner(), arguments, depth)
    }

    #[pyo3(signature = (name, type_name, request_type, response_type, qos, callback, schedule=None))]
    #[allow(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn create_service(
        &self,
        py: Python<'_>,
        name: &str,
        type_name: &str,
        request_type: Py<MessageType>,
        response_type: Py<MessageType>,
        qos: QosTuple,
        callback: Py<PyAny>,
        schedule: Option<Schedule>,
    ) -> PyResult<Service> {
        let types = (type_name, request_type, response_type);
        Service::new(py, self.as_owner(), name, types, qos::profile(qos)?, callback, schedule)
    }

    fn create_client(
        &self,
        py: Python<'_>,
        name: &str,
        type_name: &str,
        request_type: Py<MessageType>,
        response_type: Py<MessageType>,
        qos: QosTuple,
    ) -> PyResult<Client> {
        let types = (type_name, request_type, response_type);
        Client::new(py, self.as_owner(), name, types, qos::profile(qos)?)
    }

    /// Makes a timer with a period in nanoseconds.
    #[pyo3(signature = (period, callback, clock=None, schedule=None))]
    fn create_timer(
        &self,
        py: Python<'_>,
        period: u64,
        callback: Py<PyAny>,
        clock: Option<Py<Clock>>,
        schedule: Option<Schedule>,
    ) -> PyResult<Timer> {
        let period = Duration::from_nanos(period);
        let mut options = match &clock {
            Some(clock) => TimerOptions::on(clock.get().inner(), period),
            None => TimerOptions::new(period),
        };
        options.callback = callback_options(schedule.as_ref());
        Timer::new(py, self.as_owner(), options, callback)
    }

    fn create_guard_condition(
        &self,
        py: Python<'_>,
        callback: Py<PyAny>,
    ) -> PyResult<GuardCondition> {
        GuardCondition::new(py, self.as_owner(), callback)
    }

    fn create_callback_group(&self, reentrant: bool) -> CallbackGroup {
        let kind = match reentrant {
            true => CallbackGroupKind::Reentrant,
            false => CallbackGroupKind::MutuallyExclusive,
        };
        CallbackGroup(self.node.create_callback_group(kind))
    }

    #[getter]
    fn name(&self) -> String {
        self.node.name().name().to_owned()
    }

    #[getter]
    fn namespace(&self) -> String {
        self.node.name().namespace().to_owned()
    }

    #[getter]
    fn fully_qualified_name(&self) -> String {
        self.node.name().fully_qualified()
    }

    #[getter]
    fn logger_name(&self) -> String {
        self.node.logger_name().to_owned()
    }

    /// Publishes the messages of a child logger of the node's logger on `/rosout` as long as the
    /// result exists.
    fn child_logger(&self, name: &str) -> Logger {
        Logger { _logger: Detached::new(self.node.child_logger(name)) }
    }

    /// The parameters of the node.
    #[getter]
    fn parameters(&self) -> Parameters {
        Parameters::of(&self.node, &self.failures)
    }

    #[getter]
    fn clock(&self) -> Clock {
        Clock::of(self.node.clock().clone())
    }

    #[pyo3(signature = (name, only_expand=false))]
    fn resolve_topic_name(&self, name: &str, only_expand: bool) -> PyResult<String> {
        if only_expand {
            return feros::engine::name::expand_topic_name(name, self.node.name()).map_err(error);
        }
        self.node.resolve_topic_name(name, false).map_err(error)
    }

    fn resolve_service_name(&self, name: &str) -> PyResult<String> {
        self.node.resolve_service_name(name).map_err(error)
    }

    /// The name and namespace of each node.
    fn node_names(&self) -> Vec<(String, String)> {
        let names = self.node.node_names().into_iter();
        names.map(|name| (name.name().to_owned(), name.namespace().to_owned())).collect()
    }

    fn topic_names_and_types(&self) -> BTreeMap<String, Vec<String>> {
        plain(self.node.topic_names_and_types())
    }

    fn service_names_and_types(&self) -> BTreeMap<String, Vec<String>> {
        plain(self.node.service_names_and_types())
    }

    fn action_names_and_types(&self) -> BTreeMap<String, Vec<String>> {
        plain(self.node.action_names_and_types())
    }

    /// The names and types of a node's endpoints of one kind (`publisher`, `subscription`,
    /// `service`, `client`).
    fn names_and_types_by_node(
        &self,
        node: &str,
        namespace: &str,
        kind: &str,
    ) -> PyResult<BTreeMap<String, Vec<String>>> {
        let name = feros::engine::NodeName::new(namespace, node).map_err(error)?;
        Ok(plain(self.node.context().graph().of_node(&name, kind_of(kind))))
    }

    /// The number of endpoints of one kind on a topic or service with this fully qualified name.
    fn count(&self, name: &str, kind: &str) -> usize {
        self.node.context().graph().count(kind_of(kind), name)
    }

    fn publishers_info<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let found = self.node.publishers_info_by_topic(topic).map_err(error)?;
        found.iter().map(|endpoint| describe(py, endpoint)).collect()
    }

    fn subscriptions_info<'py>(
        &self,
        py: Python<'py>,
        topic: &str,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let found = self.node.subscriptions_info_by_topic(topic).map_err(error)?;
        found.iter().map(|endpoint| describe(py, endpoint)).collect()
    }

    /// The information about the clients or the servers of a service with this fully qualified
    /// name.
    fn service_info<'py>(
        &self,
        py: Python<'py>,
        service: &str,
        kind: &str,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let graph = self.node.context().graph();
        graph.endpoints_of(kind_of(kind), service).map(|endpoint| describe(py, endpoint)).collect()
    }

    /// Wakes an asyncio loop for `token` at the next change of the graph.
    fn listen_to_graph(
        &self,
        py: Python<'_>,
        wakeups: &Bound<'_, Wakeups>,
        token: u64,
    ) -> GraphListener {
        let wakeups = wakeups.get();
        py.detach(|| GraphListener::new(self.node.context(), wakeups, token))
    }

    /// Waits until `condition()` is true, and checks it again after each change of the graph.
    /// `timeout` is in seconds, `None` waits forever.
    #[pyo3(signature = (condition, timeout=None, what="a change of the graph"))]
    fn wait_for_graph(
        &self,
        py: Python<'_>,
        condition: Bound<'_, PyAny>,
        timeout: Option<f64>,
        what: &str,
    ) -> PyResult<()> {
        let condition = condition.unbind();
        let mut failed = None;
        let waited = wait_in_slices(py, timeout, |slice| {
            let holds = || {
                Python::attach(|py| {
                    let holds = condition.call0(py).and_then(|value| value.is_truthy(py));
                    holds.unwrap_or_else(|error| {
                        failed = Some(error);
                        true
                    })
                })
            };
            self.node.context().wait_for_graph(slice, || what.to_owned(), holds)
        })?;
        match (failed, waited) {
            (Some(error), _) => Err(error),
            (None, result) => result.map_err(wait_error),
        }
    }
}

/// Publishes the logger's messages on `/rosout` as long as this object exists.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct Logger {
    _logger: Detached<feros::Logger>,
}

/// Logs a message for a logger: to the terminal, and to `/rosout` if the logger belongs to a node.
/// `level` is one of 10, 20, 30, 40, 50; `place` has the function, file and line of the call.
#[pyfunction]
pub(crate) fn log(
    py: Python<'_>,
    logger: &str,
    level: u8,
    message: &str,
    place: (&str, &str, u32),
) {
    let (ros_function, ros_file, ros_line) = place;
    macro_rules! say {
        ($level:ident $(, $fatal:ident = $is:literal)?) => {
            tracing::$level!(
                ros_logger = logger, ros_file, ros_function, ros_line, $($fatal = $is,)? "{message}"
            )
        };
    }
    py.detach(|| match level {
        50 => say!(error, ros_fatal = true),
        40 => say!(error),
        30 => say!(warn),
        20 => say!(info),
        _ => say!(debug),
    });
}

fn level_of(level: u8) -> LogLevel {
    match level {
        0..=10 => LogLevel::Debug,
        11..=20 => LogLevel::Info,
        21..=30 => LogLevel::Warn,
        31..=40 => LogLevel::Error,
        _ => LogLevel::Fatal,
    }
}

/// Sets the minimum level that a logger shows; without a level the logger takes the level of its
/// parent.
#[pyfunction]
#[pyo3(signature = (logger, level=None))]
pub(crate) fn set_log_level(logger: Option<&str>, level: Option<u8>) {
    match level {
        Some(level) => feros::logging::set_level(logger, level_of(level)),
        None => feros::logging::unset_level(logger),
    }
}

/// The kind of endpoint with this name.
fn kind_of(word: &str) -> EndpointKind {
    match word {
        "publisher" => EndpointKind::Publisher,
        "subscription" => EndpointKind::Subscription,
        "service" => EndpointKind::Service,
        _ => EndpointKind::Client,
    }
}

/// The minimum level that a logger shows.
#[pyfunction]
pub(crate) fn log_level(logger: &str) -> u8 {
    feros::logging::effective_level(logger) as u8
}

/// The level that was set for the logger itself.
#[pyfunction]
pub(crate) fn own_log_level(logger: &str) -> Option<u8> {
    feros::logging::level(Some(logger)).map(|level| level as u8)
}

/// Connects the loggers to the terminal and `/rosout`, unless a context has already done so.
#[pyfunction]
pub(crate) fn start_logging() {
    feros::logging::init(&feros::Arguments::default());
}
