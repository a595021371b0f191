//! The tracker: smooths detections and estimates the spot's motion (an alpha-beta filter).

use feros::msgs::geometry_msgs::msg::PointStamped;
use feros::msgs::nav_msgs::msg::Odometry;
use feros::{Context, Error, Node, NodeOptions};
use feros_component::{Component, register};

use crate::input_report::ReportedInput;

/// Takes `detection`; publishes `target` with the position and the velocity.
pub struct Tracker {
    node: Node,
    _detections: ReportedInput<PointStamped>,
}

impl Component for Tracker {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("tracker"))?;
        let gain = |name, default, what| {
            node.build_parameter(name, default).description(what).range(0.0..=1.0).declare()
        };
        let alpha = gain("alpha", 0.6, "Weight of a new position")?;
        let beta = gain("beta", 0.2, "Weight of a new position for the velocity")?;
        let forget_after_s =
            node.build_parameter("forget_after_s", 0.5).range(0.0..=60.0).declare()?;
        let targets = node.create_publisher::<Odometry>("target", 10)?;
        let mut track = None::<Track>;
        let detections =
            node.create_subscription("detection", 10, move |detection: PointStamped| {
                let measured = [detection.point.x, detection.point.y];
                let nanos = detection.header.stamp.to_nanos();
                let seen = match track.take() {
                    Some(track) => track.follow(
                        measured,
                        nanos,
                        (alpha.get(), beta.get()),
                        forget_after_s.get(),
                    ),
                    None => Track::begin(measured, nanos),
                };
                let mut target = Odometry { header: detection.header, ..Odometry::default() };
                target.child_frame_id = "target".to_owned();
                let position = &mut target.pose.pose.position;
                [position.x, position.y] = seen.position;
                let velocity = &mut target.twist.twist.linear;
                [velocity.x, velocity.y] = seen.velocity;
                track = Some(seen);
                if let Err(error) = targets.publish(target) {
                    tracing::error!("{error}");
                }
            })?;
        Ok(Self { _detections: ReportedInput::new(&node, detections)?, node })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// The estimated state of the spot at a time: metres, and metres per second.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Track {
    nanos: i64,
    position: [f64; 2],
    velocity: [f64; 2],
}

impl Track {
    fn begin(position: [f64; 2], nanos: i64) -> Self {
        Self { nanos, position, velocity: [0.0; 2] }
    }

    /// Returns the track after one more measurement, or a new track after a gap or after time has
    /// jumped back.
    fn follow(
        self,
        measured: [f64; 2],
        nanos: i64,
        (alpha, beta): (f64, f64),
        forget_after_s: f64,
    ) -> Self {
        let seconds = nanos.saturating_sub(self.nanos) as f64 * 1e-9;
        if seconds <= 0.0 || seconds > forget_after_s {
            return Self::begin(measured, nanos);
        }
        let mut next = Self { nanos, ..self };
        for (axis, measured) in measured.into_iter().enumerate() {
            let expected = self.position[axis] + self.velocity[axis] * seconds;
            let surprise = measured - expected;
            next.position[axis] = expected + alpha * surprise;
            next.velocity[axis] = self.velocity[axis] + beta * surprise / seconds;
        }
        next
    }
}

register!(Tracker, "pipeline::Tracker");

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: i64 = 100_000_000;

    #[test]
    fn a_steady_motion_is_learnt() {
        let mut track = Track::begin([0.0, 0.0], 0);
        for step in 1..=200 {
            let seconds = f64::from(step) * 0.1;
            track =
                track.follow([seconds, -2.0 * seconds], i64::from(step) * STEP, (0.6, 0.2), 0.5);
        }
        let near = |value: f64, expected: f64| (value - expected).abs() < 1e-6;
        assert!(near(track.velocity[0], 1.0) && near(track.velocity[1], -2.0), "{track:?}");
        assert!(near(track.position[0], 20.0) && near(track.position[1], -40.0), "{track:?}");
    }

    #[test]
    fn after_a_gap_or_a_step_back_in_time_the_track_begins_anew() {
        let track = Track { nanos: STEP, position: [1.0, 1.0], velocity: [5.0, 5.0] };
        for nanos in [0, STEP, 20 * STEP, i64::MIN, i64::MAX] {
            assert_eq!(
                track.follow([3.0, 4.0], nanos, (0.6, 0.2), 0.5),
                Track::begin([3.0, 4.0], nanos)
            );
        }
    }
}
