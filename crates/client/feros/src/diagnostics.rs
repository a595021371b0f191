//! Diagnostics: publishes the statuses of a node's parts on `/diagnostics`, like the package
//! `diagnostic_updater`.

mod frequency;
mod time_stamp;

pub use frequency::{FrequencyBounds, FrequencyStatus};
pub use time_stamp::{TimeStampBounds, TimeStampStatus};

use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_engine::FailureCounter;
use feros_msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use feros_msgs::std_msgs::msg::Header;
use feros_sync::Mutex;

use crate::error::Error;
use crate::node::{Node, WeakNode};
use crate::timer::NodeTimer;
use crate::topics::publisher::Publisher;

const TOPIC: &str = "/diagnostics";
const PERIOD: &str = "diagnostic_updater.period";
const USE_FQN: &str = "diagnostic_updater.use_fqn";

/// Runs tasks that report the statuses of a node's parts, and publishes the statuses on
/// `/diagnostics`. This happens every second, or with the period in the parameter
/// `diagnostic_updater.period`, while an executor spins the node.
///
/// The name of a status begins with the name of the node (`camera: lens`), or with the node's full
/// name if the parameter `diagnostic_updater.use_fqn` is set. The updater ends when it is dropped.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros::diagnostics::{
///     DiagnosticUpdater, FrequencyBounds, FrequencyStatus, TimeStampBounds, TimeStampStatus,
///     heartbeat,
/// };
/// use feros::msgs::diagnostic_msgs::msg::DiagnosticStatus;
///
/// let updater = DiagnosticUpdater::new(&node)?;
/// updater.set_hardware_id("camera 4711");
/// updater.add("temperature", |status| {
///     let celsius = 41.5;
///     match celsius < 60.0 {
///         true => status.set_summary(DiagnosticStatus::OK, "cool"),
///         false => status.set_summary(DiagnosticStatus::WARN, "hot"),
///     }
///     status.add("celsius", celsius);
/// });
/// updater.add("heartbeat", heartbeat);
/// let images = FrequencyStatus::new(node.clock(), FrequencyBounds::around(30.0));
/// updater.add("images", images.task());
/// let stamps = TimeStampStatus::new(node.clock(), TimeStampBounds::default());
/// updater.add("stamps of images", stamps.task());
/// // ... with each image:
/// # let image: feros::msgs::sensor_msgs::msg::Image = unimplemented!();
/// images.tick();
/// stamps.tick(&image.header.stamp);
/// # Ok::<(), feros::Error>(())
/// ```
#[must_use = "the statuses end when this is dropped"]
pub struct DiagnosticUpdater {
    shared: Arc<Shared>,
    _timer: NodeTimer,
}

/// A task for [`DiagnosticUpdater::add`] that reports that the node's executor runs: `Alive`.
pub fn heartbeat(status: &mut DiagnosticStatus) {
    status.set_summary(DiagnosticStatus::OK, "Alive");
}

struct Shared {
    node: WeakNode,
    /// The prefix of the names of all statuses.
    prefix: String,
    publisher: Publisher<DiagnosticArray>,
    tasks: Mutex<Vec<Arc<Task>>>,
    hardware_id: Mutex<String>,
    unpublished: FailureCounter,
}

type Run = Box<dyn FnMut(&mut DiagnosticStatus) + Send>;

struct Task {
    name: String,
    /// `None` while the task runs, so that no lock is held during the run.
    run: Mutex<Option<Run>>,
}

impl DiagnosticUpdater {
    /// Makes an updater for a node, without tasks.
    ///
    /// # Errors
    /// When the node already has an updater, which has declared the same parameters, the period is
    /// invalid, or the engine refuses the publisher.
    pub fn new(node: &Node) -> Result<Self, Error> {
        let period = node
            .build_parameter(PERIOD, 1.0)
            .description("Seconds between two publications on /diagnostics")
            .range(0.001..=86_400.0)
            .read_only()
            .declare()?;
        let use_fqn = node
            .build_parameter(USE_FQN, false)
            .description("Name statuses after the node's full name")
            .read_only()
            .declare()?;
        let prefix = match use_fqn.get() {
            true => node.name().fully_qualified(),
            false => node.name().name().to_owned(),
        };
        let shared = Arc::new(Shared {
            node: node.downgrade(),
            prefix,
            publisher: node.create_publisher(TOPIC, 1)?,
            tasks: Mutex::default(),
            hardware_id: Mutex::default(),
            unpublished: FailureCounter::new(),
        });
        let weak: Weak<Shared> = Arc::downgrade(&shared);
        let update = move || {
            if let Some(shared) = weak.upgrade() {
                shared.update();
            }
        };
        let timer = node.create_timer(Duration::from_secs_f64(period.get()), update)?;
        Ok(Self { shared, _timer: timer })
    }

    /// Adds a task that reports the status of one part of the node. At each update the task gets a
    /// status without values and with the level error, and fills it in.
    ///
    /// As in `diagnostic_updater`, the status `Node starting up` is published for the task
    /// immediately.
    pub fn add(&self, name: &str, run: impl FnMut(&mut DiagnosticStatus) + Send + 'static) {
        let task = Task { name: name.to_owned(), run: Mutex::new(Some(Box::new(run))) };
        self.shared.tasks.lock().push(Arc::new(task));
        let mut status = self.shared.status(name);
        status.set_summary(DiagnosticStatus::OK, "Node starting up");
        self.shared.publish(vec![status]);
    }

    /// Removes all tasks of this name; returns whether there was such a task.
    pub fn remove(&self, name: &str) -> bool {
        let mut tasks = self.shared.tasks.lock();
        let before = tasks.len();
        let removed: Vec<Arc<Task>> = tasks.extract_if(.., |task| task.name == name).collect();
        let is_removed = tasks.len() < before;
        drop(tasks);
        drop(removed); // outside the lock: the captures of a task may run any code
        is_removed
    }

    /// Sets the hardware id of all statuses, such as a serial number.
    pub fn set_hardware_id(&self, hardware_id: &str) {
        hardware_id.clone_into(&mut self.shared.hardware_id.lock());
    }

    /// Runs all tasks and publishes now, independently of the period.
    pub fn force_update(&self) {
        self.shared.update();
    }

    /// Publishes the same status for all tasks without running them, for example when a node ends.
    pub fn broadcast(&self, level: u8, message: &str) {
        let names: Vec<String> =
            self.shared.tasks.lock().iter().map(|task| task.name.clone()).collect();
        let statuses = names.iter().map(|name| {
            let mut status = self.shared.status(name);
            status.set_summary(level, message);
            status
        });
        self.shared.publish(statuses.collect());
    }
}

impl Shared {
    fn status(&self, task: &str) -> DiagnosticStatus {
        DiagnosticStatus {
            level: DiagnosticStatus::ERROR,
            name: format!("{}: {task}", self.prefix),
            message: "No message was set".to_owned(),
            hardware_id: self.hardware_id.lock().clone(),
            values: Vec::new(),
        }
    }

    fn update(&self) {
        let tasks = self.tasks.lock().clone();
        let statuses: Vec<_> =
            tasks.iter().filter_map(|task| task.ask(self.status(&task.name))).collect();
        self.publish(statuses);
    }

    fn publish(&self, status: Vec<DiagnosticStatus>) {
        let Some(node) = self.node.upgrade() else { return };
        if status.is_empty() {
            return;
        }
        let header = Header { stamp: node.now().into(), frame_id: String::new() };
        if let Err(error) = self.publisher.publish(DiagnosticArray { header, status })
            && let Some(so_far) = self.unpublished.so_far()
        {
            crate::warn!(node, "diagnostics were not published: {error}{so_far}");
        }
    }
}

impl Task {
    /// Runs the task and returns its status; `None` if another thread is running the task.
    fn ask(&self, mut status: DiagnosticStatus) -> Option<DiagnosticStatus> {
        let mut run = self.run.lock().take()?;
        run(&mut status);
        *self.run.lock() = Some(run);
        Some(status)
    }
}
