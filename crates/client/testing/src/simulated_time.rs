//! Simulated time that a test steps.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use feros::msgs::builtin_interfaces::msg::Time as Stamp;
use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::{CreateError, Node, NodeTimer, PublishError, Publisher, Time};
use feros_sync::Mutex;

use crate::error::ExpectError;
use crate::spinning::Spinning;

/// The pause before the test publishes the time again, for nodes that start later.
const PERIOD: Duration = Duration::from_millis(50);
/// How long a node may take to show the time.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause between two looks at a clock.
const PAUSE: Duration = Duration::from_millis(2);
/// The time at the beginning: one second, because zero means no time.
const BEGIN: Time = Time::from_nanos(1_000_000_000);

/// Publishes `/clock`, which nodes with the parameter `use_sim_time` follow. The time begins at one
/// second, and stands still between the steps. See
/// [`Harness::simulated_time`](crate::Harness::simulated_time).
pub struct SimulatedTime {
    own_node: Node,
    spinning: Arc<Spinning>,
    source: Arc<Source>,
    _timer: NodeTimer,
}

/// The time that the test and the timer publish.
struct Source {
    publisher: Publisher<Clock>,
    now: Mutex<Time>,
}

impl Source {
    /// Publishes the time, after setting it if there is a new one.
    fn publish(&self, new: Option<Time>) -> Result<(), PublishError> {
        // The lock keeps the messages in the order of the times.
        let mut now = self.now.lock();
        *now = new.unwrap_or(*now);
        self.publisher.publish(Clock { clock: Stamp::from(*now) })
    }
}

impl SimulatedTime {
    pub(crate) fn new(node: &Node, spinning: &Arc<Spinning>) -> Result<Self, CreateError> {
        let publisher = node.create_publisher("/clock", 1)?;
        let source = Arc::new(Source { publisher, now: Mutex::new(BEGIN) });
        let repeated = Arc::clone(&source);
        let timer = node.create_wall_timer(PERIOD, move || {
            // The next step tells the test if publishing fails.
            let _ = repeated.publish(None);
        })?;
        let (own_node, spinning) = (node.clone(), Arc::clone(spinning));
        Ok(Self { own_node, spinning, source, _timer: timer })
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        *self.source.now.lock()
    }

    /// Lets time pass, as [`set`](Self::set) does.
    ///
    /// # Errors
    /// See [`set`](Self::set).
    pub fn step(&self, duration: Duration) -> Result<(), ExpectError> {
        self.set(self.now() + duration)
    }

    /// Sets the time. Returns when the nodes that the harness spins show it; nodes of other
    /// processes may get it a moment later.
    ///
    /// # Errors
    /// When the time cannot be published, one of these nodes does not follow it, or a callback of a
    /// spun node has panicked.
    pub fn set(&self, time: Time) -> Result<(), ExpectError> {
        self.source.publish(Some(time))?;
        let look = || Ok(self.behind(time).is_empty().then_some(()));
        let missing =
            || format!("{} did not get the time {time:?}", self.behind(time).join(" and "));
        self.spinning.until(PATIENCE, look, missing)
    }

    /// Waits until a new node shows the time, if it follows it. The next step reports a node that
    /// does not get the time.
    pub(crate) fn wait_for(&self, node: &Node) {
        let began = Instant::now();
        while node.clock().is_simulated() && node.now() != self.now() && began.elapsed() < PATIENCE
        {
            thread::sleep(PAUSE);
        }
    }

    /// The nodes that show another time.
    fn behind(&self, time: Time) -> Vec<String> {
        let nodes = self.spinning.nodes().into_iter();
        let behind = nodes
            .filter(|node| node.name() != self.own_node.name())
            .filter(|node| node.clock().is_simulated() && node.now() != time);
        behind.map(|node| node.name().fully_qualified()).collect()
    }
}
