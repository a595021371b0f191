//! The launch's own node, with which it asks containers and managed nodes.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use feros::{Context, ContextOptions, Node, NodeOptions, WaitError};

/// How often a wait checks whether it was cancelled.
pub(super) const POLL_PERIOD: Duration = Duration::from_millis(500);
/// How often a warning names what is not there yet.
const REMINDER_PERIOD: Duration = Duration::from_secs(10);

/// A node of the command, created when there is something to ask.
#[derive(Default)]
pub(super) struct RosNode {
    made: OnceLock<Result<(Context, Node), String>>,
}

impl RosNode {
    /// The node.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn get(&self) -> Result<&Node, String> {
        let made = self.made.get_or_init(|| {
            let options = ContextOptions::from_variables().map_err(|error| error.to_string())?;
            let context = Context::new(ContextOptions { handle_signals: false, ..options });
            let context = context.map_err(|error| error.to_string())?;
            let name = format!("_feros_launch_{}", std::process::id());
            let node = context.create_node_with(NodeOptions::new(&name).enable_rosout(false));
            node.map(|node| (context, node)).map_err(|error| error.to_string())
        });
        made.as_ref().map(|(_, node)| node).map_err(Clone::clone)
    }

    /// Waits for `what`, as `wait` does for a time.
    ///
    /// # Errors
    /// When it is cancelled, or there is no waiting for it.
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
