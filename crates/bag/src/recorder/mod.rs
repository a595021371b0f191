//! Records topics into a bag: messages as they came, straight from the memory that they came in.
//!
//! Subscriptions put messages into a bounded queue, a thread of its own writes them. A message from
//! shared memory stays there until it is in the file: nothing copies it on the way but the system.

mod definitions;
mod discovery;
mod reception;
mod services;
mod session;
mod writing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use feros::msgs::rosbag2_interfaces::msg::WriteSplitEvent;
use feros::rmw::TypeHash;
use feros::{CreateError, Node, Publisher, QosProfile};
use feros_message::Schema;
use feros_sync::Mutex;

use crate::error::WriteError;
use crate::metadata::BagMetadata;
use crate::selection::TopicSelection;
use crate::writer::WriterOptions;
use services::Services;
use session::Session;

/// Gives the definition of a topic's type: topic, type, and its hash as far as it is known.
pub type SchemaSource = Arc<dyn Fn(&str, &str, Option<TypeHash>) -> Schema + Send + Sync>;

/// How a recorder works.
#[derive(Clone)]
pub struct RecorderOptions {
    /// The folder that is made for the bag.
    pub output: PathBuf,
    /// How the bag is written.
    pub writer: WriterOptions,
    /// The topics.
    pub selection: TopicSelection,
    /// Policies of subscriptions that replace what publishers offer, by topic.
    pub qos_overrides: BTreeMap<String, QosProfile>,
    /// Bytes of messages that may wait to be written; with `snapshot_mode`, bytes that are kept.
    pub max_cache_bytes: usize,
    /// Keeps the newest messages, and writes them when it is told to.
    pub snapshot_mode: bool,
    /// Records nothing until it is told to.
    pub start_paused: bool,
    /// Whether topics that appear later are recorded as well.
    pub discovery: bool,
    /// Topics without a publisher as well.
    pub include_unpublished_topics: bool,
    /// Not topics that nobody else subscribes to.
    pub ignore_leaf_topics: bool,
    /// Where definitions of types come from, without waiting; an empty one is not known.
    pub schemas: SchemaSource,
    /// Asks others for a definition that is not known, on threads of the recorder: it may take
    /// seconds, while messages of the topic are held in memory, up to `max_cache_bytes`.
    pub asked: Option<SchemaSource>,
}

impl RecorderOptions {
    /// Records all topics, services and actions into this folder.
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            writer: WriterOptions::default(),
            selection: TopicSelection::all(),
            qos_overrides: BTreeMap::new(),
            max_cache_bytes: 100 << 20,
            snapshot_mode: false,
            start_paused: false,
            discovery: true,
            include_unpublished_topics: false,
            ignore_leaf_topics: false,
            schemas: own_schemas(),
            asked: None,
        }
    }
}

/// The definitions of types that are shipped or that the environment names, of those with the right
/// hash.
fn own_schemas() -> SchemaSource {
    let known = OnceLock::new();
    Arc::new(move |_, name, hash| {
        let set = known.get_or_init(|| {
            let mut set = feros_interface::shipped().clone();
            for fault in set.load_environment() {
                tracing::warn!("{fault}");
            }
            set
        });
        let hash = hash.map(|hash| feros_interface::TypeHash(hash.0));
        Schema::of_type(set, name, hash).unwrap_or_default()
    })
}

/// Why recording did not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The bag cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The node cannot have the recorder's endpoints.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The system starts no thread.
    #[error("the recorder's threads cannot be started: {reason}; end others, or raise `ulimit -u`")]
    Thread {
        /// What the system says.
        reason: String,
    },
    /// One bag at a time.
    #[error("{} is being recorded already: stop that first", output.display())]
    Running {
        /// The bag that is being recorded.
        output: PathBuf,
    },
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The folder of the bag.
    pub output: PathBuf,
    /// What is in it.
    pub metadata: BagMetadata,
    /// Messages that were lost, by topic: they were published, and neither the transport nor the
    /// disk was quick enough.
    pub lost: BTreeMap<String, u64>,
}

/// Records topics, and is steered by the services that `rosbag2` has: `~/pause`, `~/resume`,
/// `~/is_paused`, `~/split_bagfile`, `~/snapshot`, `~/stop`, `~/record`, `~/start_discovery`,
/// `~/stop_discovery`, `~/is_discovery_running`.
///
/// Whoever spins its node receives the messages. Recording ends with [`Recorder::stop`], or when
/// this is dropped.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros_bag::{Recorder, RecorderOptions};
/// let recorder = Recorder::start(&node, RecorderOptions::new("my_bag"))?;
/// feros::spin(&node)?;
/// println!("{} messages", recorder.stop()?.expect("it was recording").metadata.message_count);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder {
    shared: Arc<Shared>,
    _services: Services,
}

/// What the services steer.
struct Shared {
    node: Node,
    options: RecorderOptions,
    is_paused: Arc<AtomicBool>,
    discovers: Arc<AtomicBool>,
    session: Mutex<Option<Session>>,
    split_events: Publisher<WriteSplitEvent>,
}

impl Recorder {
    /// Begins to record.
    ///
    /// # Errors
    /// When the bag exists already or cannot be written, or the node cannot have the services.
    pub fn start(node: &Node, options: RecorderOptions) -> Result<Self, RecordError> {
        let shared = Arc::new(Shared {
            node: node.clone(),
            is_paused: Arc::new(AtomicBool::new(options.start_paused)),
            discovers: Arc::new(AtomicBool::new(options.discovery)),
            session: Mutex::new(None),
            split_events: node.create_publisher("events/write_split", 1)?,
            options,
        });
        shared.record(None)?;
        let services = Services::start(node, &shared)?;
        Ok(Self { shared, _services: services })
    }

    /// Records nothing from now on.
    pub fn pause(&self) {
        self.shared.is_paused.store(true, Ordering::Relaxed);
    }

    /// Goes on recording.
    pub fn resume(&self) {
        self.shared.is_paused.store(false, Ordering::Relaxed);
    }

    /// Whether it records nothing for now.
    pub fn is_paused(&self) -> bool {
        self.shared.is_paused.load(Ordering::Relaxed)
    }

    /// Goes on in another file; whether it is recording at all.
    pub fn split(&self) -> bool {
        self.shared.with_session(Session::split).is_some()
    }

    /// Writes what is kept in memory; how many messages that are, `None` without the snapshot mode.
    pub fn snapshot(&self) -> Option<usize> {
        self.shared.with_session(Session::snapshot).flatten()
    }

    /// The topics that are recorded.
    pub fn topics(&self) -> Vec<String> {
        self.shared.with_session(Session::topics).unwrap_or_default()
    }

    /// Messages that were received to be written.
    pub fn received_messages(&self) -> u64 {
        self.shared.with_session(Session::received).unwrap_or_default()
    }

    /// Whether the bag has ended although nobody stopped it: it cannot be written on, and
    /// [`Recorder::stop`] says why.
    pub fn has_failed(&self) -> bool {
        self.shared.with_session(Session::has_ended).unwrap_or(false)
    }

    /// Begins another bag after [`Recorder::stop`].
    ///
    /// # Errors
    /// As [`Recorder::start`], and while it is recording.
    pub fn record(&self, output: &Path) -> Result<(), RecordError> {
        self.shared.record(Some(output))
    }

    /// Ends the bag with what was received until now; `None` if none was being recorded.
    ///
    /// # Errors
    /// When the bag could not be written to its end. What was written is intact.
    pub fn stop(&self) -> Result<Option<Recording>, WriteError> {
        self.shared.stop()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Whoever wants to know how it went calls `stop`.
        let _ = self.shared.stop();
    }
}

impl Shared {
    fn record(&self, output: Option<&Path>) -> Result<(), RecordError> {
        let mut session = self.session.lock();
        if let Some(running) = &*session {
            return Err(RecordError::Running { output: running.output().to_owned() });
        }
        let output = output.unwrap_or(&self.options.output);
        *session = Some(Session::start(self, output)?);
        Ok(())
    }

    fn with_session<T>(&self, look: impl FnOnce(&Session) -> T) -> Option<T> {
        self.session.lock().as_ref().map(look)
    }

    fn stop(&self) -> Result<Option<Recording>, WriteError> {
        let session = self.session.lock().take();
        session.map(Session::stop).transpose()
    }
}
