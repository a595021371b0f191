//! The context: one participant, the arguments common to its nodes, and its shutdown.

mod shutdown;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

use feros_engine::engine::EnvironmentError;
use feros_engine::{
    CreateEndpointError, Engine, FailureCounters, GraphChangeGuard, GraphSnapshot, NodeId,
    OpenError, Session, SessionOptions,
};
use feros_engine_list::{EngineError, chosen_engine};
use feros_parameter::{ParameterFileError, ParameterOverrides};
use feros_shm::TransportSet;
use feros_sync::Mutex;

use crate::arguments::{ArgumentError, Arguments};
use crate::clock::ClockFollower;
use crate::graph::changes::GraphChanges;
use crate::logging;
use crate::signals;
use crate::wait_error::WaitError;
use shutdown::{Shutdown, write_trace};

pub use shutdown::ShutdownGuard;

/// The reason why a context could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The ROS part of the command line cannot be used.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// A parameter file that the command line names cannot be used.
    #[error(transparent)]
    ParameterFile(#[from] ParameterFileError),
    /// An environment variable cannot be used.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The engine, or the pair of engines, does not exist.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine could not start.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The tracing that `FEROS_TRACE` asks for cannot be started.
    #[error("{0}")]
    Trace(String),
}

/// The options of a context, for programs that do not take all of them from the environment.
#[derive(Clone)]
pub struct ContextOptions {
    /// The domain, the discovery range, the form in which nodes are announced, and similar
    /// options.
    pub session: SessionOptions,
    /// The remap rules and the other arguments of the command line.
    pub arguments: Arguments,
    /// The engine, such as [`engine("zenoh")?`](crate::engine()), or two engines used as one,
    /// `engine("cyclonedds,zenoh")?`. `None` means the engine of `FEROS_ENGINE`, or the first
    /// engine that is built in.
    pub engine: Option<Arc<dyn Engine>>,
    /// Whether SIGINT and SIGTERM shut the context down.
    pub handle_signals: bool,
    /// The transports that the messages of the context's endpoints may take.
    pub transports: TransportSet,
}

impl ContextOptions {
    /// The options of a context with this session: without arguments, with the default engine and
    /// all transports. Signals are not handled.
    pub fn new(session: SessionOptions) -> Self {
        Self {
            session,
            arguments: Arguments::default(),
            engine: None,
            handle_signals: false,
            transports: TransportSet::ALL,
        }
    }

    /// Reads the options from the environment variables `ROS_DOMAIN_ID`,
    /// `ROS_AUTOMATIC_DISCOVERY_RANGE`, `ROS_STATIC_PEERS`, `FEROS_MEETING_POINTS`,
    /// `FEROS_ROS_DISTRO` and `FEROS_TRANSPORTS` (such as `intra_process,network`). The options
    /// have no arguments, and signals are not handled.
    ///
    /// # Errors
    /// When a variable cannot be used.
    pub fn from_variables() -> Result<Self, EnvironmentError> {
        let session = SessionOptions::from_variables(|name| std::env::var_os(name))?;
        let transports = TransportSet::from_env().map_err(|_| EnvironmentError {
            variable: TransportSet::ENVIRONMENT_VARIABLE,
            value: std::env::var_os(TransportSet::ENVIRONMENT_VARIABLE)
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            expected: "one or several of intra_process, shared_memory, network, separated by commas",
        })?;
        Ok(Self { transports, ..Self::new(session) })
    }
}

/// One participant in the ROS graph and the state that its nodes share. Clones refer to the same
/// context.
///
/// The participant leaves the graph when all clones, nodes and endpoints have been dropped.
///
/// ```no_run
/// use feros::Context;
/// let context = Context::from_env()?; // arguments after --ros-args, ROS_DOMAIN_ID, SIGINT
/// let node = context.create_node("talker")?;
/// # Ok::<(), feros::Error>(())
/// ```
#[derive(Clone)]
pub struct Context(Arc<ContextInner>);

struct ContextInner {
    session: Arc<dyn Session>,
    arguments: Arguments,
    parameter_overrides: ParameterOverrides,
    transports: TransportSet,
    shutdown: Arc<Shutdown>,
    changes: Arc<GraphChanges>,
    /// The readers of `/clock`, by topic, while nodes follow them.
    clock_followers: Mutex<HashMap<String, Weak<ClockFollower>>>,
    /// The subscription to graph changes. The first wait for the graph makes it, because nothing
    /// needs notifications before then.
    graph_guard: OnceLock<GraphChangeGuard>,
    /// Counts the mismatches of endpoints that nodes have reported, by topic.
    mismatches: FailureCounters,
}

impl Context {
    /// Makes a context with options from the command line (`--ros-args`) and the environment.
    /// SIGINT and SIGTERM shut the context down. Log messages go to the terminal, unless the
    /// process already has a `tracing` subscriber.
    ///
    /// # Errors
    /// When the arguments or the environment cannot be used, or the engine cannot start.
    pub fn from_env() -> Result<Self, ContextError> {
        let (arguments, _) = Arguments::parse_os(std::env::args_os().skip(1))?;
        Self::with_arguments(arguments)
    }

    /// Makes a context, as [`Context::from_env`] does, from a given command line (without the
    /// program's name). Also returns the arguments that belong to the application.
    ///
    /// # Errors
    /// When the arguments or the environment cannot be used, or the engine cannot start.
    pub fn from_args(
        line: impl IntoIterator<Item = String>,
    ) -> Result<(Self, Vec<String>), ContextError> {
        let (arguments, rest) = Arguments::parse(line)?;
        Ok((Self::with_arguments(arguments)?, rest))
    }

    fn with_arguments(arguments: Arguments) -> Result<Self, ContextError> {
        logging::init(&arguments);
        let mut options = ContextOptions::from_variables()?;
        if let Some(enclave) = &arguments.enclave {
            options.session.enclave.clone_from(enclave);
        }
        Self::new(ContextOptions { arguments, handle_signals: true, ..options })
    }

    /// Makes a context with these options. If `FEROS_TRACE` names a folder, the [trace
    /// points](crate::trace) of the process are turned on. Their events are written to the folder
    /// when the context is shut down and when it ends, and also while the process runs if
    /// `FEROS_TRACE_PERIOD` is set.
    ///
    /// # Errors
    /// When a parameter file that the arguments name cannot be used, the engine does not exist or
    /// cannot start, or tracing cannot start.
    pub fn new(options: ContextOptions) -> Result<Self, ContextError> {
        feros_trace::enable_from_environment(|error| tracing::error!("{error}"))
            .map_err(|error| ContextError::Trace(error.to_string()))?;
        let parameter_overrides = options.arguments.parameter_overrides()?;
        let engine = options.engine.map_or_else(chosen_engine, Ok)?;
        let changes = Arc::default();
        let session = engine.open(&options.session)?;
        let inner = Arc::new(ContextInner {
            arguments: options.arguments,
            parameter_overrides,
            transports: options.transports,
            shutdown: Arc::new(Shutdown::new(session.ending(), Arc::clone(&changes))),
            session,
            changes,
            clock_followers: Mutex::default(),
            graph_guard: OnceLock::new(),
            mismatches: FailureCounters::new(),
        });
        if options.handle_signals {
            let weak: Weak<Shutdown> = Arc::downgrade(&inner.shutdown);
            signals::listen(weak);
        }
        Ok(Self(inner))
    }

    /// Whether the context has not been shut down, like `rclcpp::ok()`.
    pub fn is_ok(&self) -> bool {
        !self.0.shutdown.has_begun()
    }

    /// Shuts the context down: ends all spinning and waiting. Nodes and endpoints stay until they
    /// are dropped. Others may see those that are dropped from now on until the last endpoint of
    /// the context has been dropped, because then the participant leaves as a whole.
    pub fn shutdown(&self) {
        self.0.shutdown.begin();
    }

    /// The engine's session, for tools that need more than nodes offer.
    pub fn session(&self) -> &Arc<dyn Session> {
        &self.0.session
    }

    /// The transports that the messages of this context's endpoints may take.
    pub fn transports(&self) -> TransportSet {
        self.0.transports
    }

    /// The ROS arguments of the command line.
    pub fn arguments(&self) -> &Arguments {
        &self.0.arguments
    }

    /// The parameter values from the command line.
    pub(crate) fn parameter_overrides(&self) -> &ParameterOverrides {
        &self.0.parameter_overrides
    }

    /// Returns a snapshot of the graph.
    pub fn graph(&self) -> Arc<GraphSnapshot> {
        self.0.session.graph()
    }

    /// Waits until `condition` holds, and checks it after each change of the graph. `what` returns
    /// the name of the awaited thing for the error message.
    ///
    /// # Errors
    /// When `timeout` passes or the context is shut down before `condition` holds.
    pub fn wait_for_graph<W: Into<String>>(
        &self,
        timeout: Duration,
        what: impl FnOnce() -> W,
        mut condition: impl FnMut() -> bool,
    ) -> Result<(), WaitError> {
        self.0.listen_to_graph();
        let started = Instant::now();
        loop {
            let seen = self.0.changes.count();
            if condition() {
                return Ok(());
            }
            if !self.is_ok() {
                return Err(WaitError::Shutdown { what: what().into() });
            }
            let Some(left) = timeout.checked_sub(started.elapsed()).filter(|left| !left.is_zero())
            else {
                return Err(WaitError::Timeout { what: what().into(), waited: timeout });
            };
            self.0.changes.wait_beyond(seen, left);
        }
    }

    /// The asynchronous form of [`wait_for_graph`](Self::wait_for_graph), for any runtime. This
    /// wait has no timeout: use the timer of the runtime.
    ///
    /// # Errors
    /// When the context is shut down before `condition` holds.
    pub async fn wait_for_graph_async<W: Into<String>>(
        &self,
        what: impl FnOnce() -> W,
        mut condition: impl FnMut() -> bool,
    ) -> Result<(), WaitError> {
        self.0.listen_to_graph();
        let waiting = self.0.changes.enter();
        let holds = std::future::poll_fn(|task| {
            waiting.listen(task.waker());
            match condition() {
                true => Poll::Ready(true),
                false if !self.is_ok() => Poll::Ready(false),
                false => Poll::Pending,
            }
        });
        match holds.await {
            true => Ok(()),
            false => Err(WaitError::Shutdown { what: what().into() }),
        }
    }

    /// The changes that wake the waits for the graph.
    pub(crate) fn changes(&self) -> &Arc<GraphChanges> {
        &self.0.changes
    }

    /// Counts the mismatches of endpoints that nodes of the context have reported, by topic.
    pub(crate) fn mismatch_counters(&self) -> &FailureCounters {
        &self.0.mismatches
    }

    /// Calls `listener` when the context is shut down, or immediately if it has already been shut
    /// down. Dropping the guard removes the listener.
    pub fn on_shutdown(&self, listener: impl Fn() + Send + Sync + 'static) -> ShutdownGuard {
        self.0.shutdown.add_listener(listener)
    }

    /// Returns the reader of this `/clock` topic, which all nodes of the context share.
    pub(crate) fn clock_follower(
        &self,
        node: NodeId,
        topic: &str,
    ) -> Result<Arc<ClockFollower>, CreateEndpointError> {
        let mut followers = self.0.clock_followers.lock();
        if let Some(follower) = followers.get(topic).and_then(Weak::upgrade) {
            return Ok(follower);
        }
        let follower = Arc::new(ClockFollower::new(&self.0.session, node, topic)?);
        followers.insert(topic.to_owned(), Arc::downgrade(&follower));
        Ok(follower)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl ContextInner {
    /// Subscribes to changes of the graph, at the first call only.
    fn listen_to_graph(&self) {
        self.graph_guard.get_or_init(|| {
            let changes = self.changes.clone();
            self.session.on_graph_change(Arc::new(move || changes.announce()))
        });
    }
}

/// Writes the trace events of the process. [`Context::shutdown`] has already written earlier
/// events, in case the process is killed before this point.
impl Drop for ContextInner {
    fn drop(&mut self) {
        write_trace();
    }
}
