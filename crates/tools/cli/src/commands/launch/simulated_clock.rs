//! Waits in the time of `/clock`, for a `ros_timer` when nodes use simulated time.

use std::time::{Duration, Instant};

use feros::Time;
use feros_launch::SimulatedClock;

use super::ros_node::{REMINDER_PERIOD, RosNode};

/// How often to read the time.
const LOOK_PERIOD: Duration = Duration::from_millis(10);

/// Receives `/clock` with a node of its own.
pub(super) struct ClockListener {
    node: RosNode,
}

impl Default for ClockListener {
    fn default() -> Self {
        Self { node: RosNode::by_simulated_time() }
    }
}

impl SimulatedClock for ClockListener {
    fn wait(&self, delay: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<(), String> {
        let node = self.node.get()?;
        let mut begin: Option<Time> = None;
        let mut reminded = Instant::now();
        loop {
            let now = node.now();
            if now != Time::ZERO {
                // If the clock is set back, as when a recording loops, the wait starts anew.
                let since = begin.filter(|begin| *begin <= now).unwrap_or(now);
                begin = Some(since);
                if now.saturating_since(since) >= delay {
                    return Ok(());
                }
            } else if reminded.elapsed() > REMINDER_PERIOD {
                reminded = Instant::now();
                crate::notices::warn("waiting for the time on /clock");
            }
            if is_cancelled() {
                return Err("it was cancelled".to_owned());
            }
            std::thread::sleep(LOOK_PERIOD);
        }
    }
}
