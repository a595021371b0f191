//! The launch's own nodes: one calls containers and managed nodes, one receives simulated time.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use feros::{Context, ContextOptions, Node, NodeOptions, WaitError};

/// The interval at which a wait checks whether it was cancelled.
pub(super) const POLL_PERIOD: Duration = Duration::from_millis(500);
/// The time between warnings that name the nodes and services that are still missing.
pub(super) const REMINDER_PERIOD: Duration = Duration::from_secs(10);

/// A node of the launch, created when it is first needed.
#[derive(Default)]
pub(super) struct RosNode {
    made: OnceLock<Result<(Context, Node), String>>,
    uses_sim_time: bool,
}

impl RosNode {
    /// Makes a node that takes its time from `/clock`.
    pub(super) fn by_simulated_time() -> Self {
        Self { made: OnceLock::new(), uses_sim_time: true }
    }

    /// The node, created on the first call.
    ///
    /// # Errors
    /// The reason why it cannot be created.
    pub(super) fn get(&self) -> Result<&Node, String> {
        let made = self.made.get_or_init(|| {
            let options = ContextOptions::from_variables().map_err(|error| error.to_string())?;
            let context = Context::new(ContextOptions { handle_signals: false, ..options });
            let context = context.map_err(|error| error.to_string())?;
            let kind = if self.uses_sim_time { "clock_" } else { "" };
            let name = format!("_feros_launch_{kind}{}", std::process::id());
            // No executor spins this node, so it has no services: they would never answer, and a
            // program that asks all nodes, such as `feros view`, would wait for them.
            let options = NodeOptions::new(&name)
                .enable_rosout(false)
                .start_parameter_services(false)
                .start_parameter_event_publisher(false)
                .parameter_overrides([("start_type_description_service", false)]);
            let node = context.create_node_with(options.use_sim_time(self.uses_sim_time));
            node.map(|node| (context, node)).map_err(|error| error.to_string())
        });
        made.as_ref().map(|(_, node)| node).map_err(Clone::clone)
    }

    /// Waits for `what` by repeated calls of `wait`, each with a time limit.
    ///
    /// # Errors
    /// When the wait is cancelled, or fails.
    pub(super) fn wait(
        &self,
        what: &str,
        is_cancelled: &dyn Fn() -> bool,
        wait: impl Fn(Duration) -> Result<(), WaitError>,
    ) -> Result<(), String> {
        let mut since = Instant::now();
        loop {
            match wait(POLL_PERIOD) {
                Ok(()) => return Ok(()),
                Err(WaitError::Timeout { .. }) if is_cancelled() => {
                    return Err("it was cancelled".to_owned());
                }
                Err(WaitError::Timeout { .. }) => {
                    if since.elapsed() > REMINDER_PERIOD {
                        since = Instant::now();
                        crate::notices::warn(format!("waiting for {what}"));
                    }
                }
                Err(other) => return Err(other.to_string()),
            }
        }
    }
}
