//! Publishes `/clock` with the time of the bag, for nodes that follow simulated time.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::{Node, QosProfile, Time};

use super::PlayError;
use super::control::Control;

/// The publishing thread; the thread ends with the player.
pub(super) struct ClockThread {
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
}

impl ClockThread {
    pub(super) fn start(
        node: &Node,
        hertz: f64,
        control: &Arc<Control>,
    ) -> Result<Self, PlayError> {
        if !(hertz.is_finite() && hertz > 0.0) {
            return Err(PlayError::Rate { rate: hertz });
        }
        let publisher = node.create_publisher::<Clock>("/clock", QosProfile::keep_last(1))?;
        let period = Duration::from_secs_f64((1.0 / hertz).clamp(1e-6, 3600.0));
        let told = control.clone();
        let publish = move || {
            let mut next = Instant::now();
            while !told.is_stopped() && !told.has_ended() {
                // A failed publication does not matter: the next one comes soon.
                let _ = publisher.publish(Clock { clock: Time::from_nanos(told.now()).into() });
                next = (next + period).max(Instant::now());
                while let Some(left) = next.checked_duration_since(Instant::now())
                    && !left.is_zero()
                    && !told.is_stopped()
                    && !told.has_ended()
                {
                    told.wait(left);
                }
            }
        };
        let thread = std::thread::Builder::new().name("feros-bag-clock".into()).spawn(publish);
        let thread = thread.map_err(|error| PlayError::Thread { reason: error.to_string() })?;
        Ok(Self { control: control.clone(), thread: Some(thread) })
    }
}

impl Drop for ClockThread {
    fn drop(&mut self) {
        self.control.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
