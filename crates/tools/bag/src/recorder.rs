//! Records topics into a bag. Messages are written as they came, directly from the memory in which
//! they arrived.
//!
//! Subscriptions put messages into a bounded queue; a separate thread writes them. A message in
//! shared memory stays there until it is in the file, so only the operating system copies it.

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

use feros::engine::TypeHash;
use feros::msgs::rosbag2_interfaces::msg::WriteSplitEvent;
use feros::{CreateError, Node, Publisher, QosProfile};
use feros_message::Schema;
use feros_sync::Mutex;

use crate::error::WriteError;
use crate::metadata::BagMetadata;
use crate::offered::Offered;
use crate::selection::TopicSelection;
use crate::writer::WriterOptions;
use session::Session;

/// Returns the definition of a topic's type. Its arguments are the topic, the type, and the type's
/// hash if known.
pub type SchemaSource = Arc<dyn Fn(&str, &str, Option<TypeHash>) -> Schema + Send + Sync>;

/// The options of a recorder.
#[derive(Clone)]
pub struct RecorderOptions {
    /// The folder that is created for the bag.
    pub output: PathBuf,
    /// How the bag is written.
    pub writer: WriterOptions,
    /// The topics.
    pub selection: TopicSelection,
    /// The QoS profiles of subscriptions, by topic. They replace the profiles that fit the
    /// publishers.
    pub qos_overrides: BTreeMap<String, QosProfile>,
    /// The limit on bytes of messages that wait to be written, or that are kept with
    /// `snapshot_mode`.
    pub max_cache_bytes: usize,
    /// Keeps the newest messages in memory, and writes them at a call of [`Recorder::snapshot`].
    pub snapshot_mode: bool,
    /// Records nothing until a call of [`Recorder::resume`].
    pub start_paused: bool,
    /// Whether topics that appear after the start are recorded as well.
    pub discovery: bool,
    /// Records topics without a publisher as well.
    pub include_unpublished_topics: bool,
    /// Skips topics without subscriptions of other nodes.
    pub ignore_leaf_topics: bool,
    /// Returns the definitions of types without waiting; an empty definition means that the type is
    /// unknown.
    pub schemas: SchemaSource,
    /// Asks other nodes for an unknown definition, on threads of the recorder. An answer may take
    /// seconds, in which messages of the topic are held in memory, up to `max_cache_bytes`.
    pub asked: Option<SchemaSource>,
}

impl RecorderOptions {
    /// Returns options that record all topics, services and actions into this folder.
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

/// Returns the definitions of types that Feros ships or that the environment provides, if their
/// hash matches.
fn own_schemas() -> SchemaSource {
    let known = OnceLock::new();
    Arc::new(move |_, name, hash| {
        let (certain, all) = known.get_or_init(|| {
            let mut certain = feros_interface::standard().clone();
            for fault in certain.load_environment() {
                tracing::warn!("{fault}");
            }
            let mut all = certain.clone();
            all.add_robot_packages();
            (certain, all)
        });
        // The packages of robots change between distributions: a name alone does not identify
        // their definitions.
        let set = if hash.is_some() { all } else { certain };
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
    /// The node cannot create the recorder's endpoints.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The system refused to start a thread.
    #[error(
        "the recorder's threads cannot be started: {reason}; end other processes, or raise `ulimit -u`"
    )]
    Thread {
        /// The system's description of the error.
        reason: String,
    },
    /// The recorder is recording already, and it records one bag at a time.
    #[error("{} is already being recorded: stop that recording first", output.display())]
    Running {
        /// The bag that is being recorded.
        output: PathBuf,
    },
}

/// A finished recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The folder of the bag.
    pub output: PathBuf,
    /// The content of the bag.
    pub metadata: BagMetadata,
    /// The number of lost messages by topic: messages that were published while the transport or
    /// the disk was too slow.
    pub lost: BTreeMap<String, u64>,
}

/// Records topics. It offers the control services of rosbag2: `~/pause`, `~/resume`, `~/is_paused`,
/// `~/split_bagfile`, `~/snapshot`, `~/stop`, `~/record`, `~/start_discovery`, `~/stop_discovery`,
/// `~/is_discovery_running`.
///
/// The executor of its node receives the messages. Recording ends with [`Recorder::stop`], or when
/// the recorder is dropped.
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
    _services: Vec<Offered>,
}

/// The state that the services control.
struct Shared {
    node: Node,
    options: RecorderOptions,
    is_paused: Arc<AtomicBool>,
    discovers: Arc<AtomicBool>,
    session: Mutex<Option<Session>>,
    split_events: Publisher<WriteSplitEvent>,
}

impl Recorder {
    /// Starts recording.
    ///
    /// # Errors
    /// When the bag exists already or cannot be written, or the node cannot create the services.
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
        let services = services::start(node, &shared)?;
        Ok(Self { shared, _services: services })
    }

    /// Stops recording messages until [`Recorder::resume`].
    pub fn pause(&self) {
        self.shared.is_paused.store(true, Ordering::Relaxed);
    }

    /// Continues after a pause.
    pub fn resume(&self) {
        self.shared.is_paused.store(false, Ordering::Relaxed);
    }

    /// Whether the recorder is paused.
    pub fn is_paused(&self) -> bool {
        self.shared.is_paused.load(Ordering::Relaxed)
    }

    /// Continues in another file; returns false if no recording is running.
    pub fn split(&self) -> bool {
        self.shared.with_session(Session::split).is_some()
    }

    /// Writes the messages kept in memory and returns their number; `None` without the snapshot
    /// mode.
    pub fn snapshot(&self) -> Option<usize> {
        self.shared.with_session(Session::snapshot).flatten()
    }

    /// The topics that are recorded.
    pub fn topics(&self) -> Vec<String> {
        self.shared.with_session(Session::topics).unwrap_or_default()
    }

    /// The number of messages that were received for the bag.
    pub fn received_messages(&self) -> u64 {
        self.shared.with_session(Session::received).unwrap_or_default()
    }

    /// Whether the bag has ended without a call of [`Recorder::stop`] because writing failed;
    /// `stop` returns the reason.
    pub fn has_failed(&self) -> bool {
        self.shared.with_session(Session::has_ended).unwrap_or(false)
    }

    /// Starts another bag after [`Recorder::stop`].
    ///
    /// # Errors
    /// The errors of [`Recorder::start`], and an error if a recording is running.
    pub fn record(&self, output: &Path) -> Result<(), RecordError> {
        self.shared.record(Some(output))
    }

    /// Ends the bag with the messages received so far; `None` if no recording is running.
    ///
    /// # Errors
    /// When the bag could not be written to its end. The part written before is intact.
    pub fn stop(&self) -> Result<Option<Recording>, WriteError> {
        self.shared.stop()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // A caller that needs the result calls `stop` before.
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
