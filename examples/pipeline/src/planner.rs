//! The planner: plans a path towards the target's future position. The path ends short of that
//! position.

use feros::msgs::geometry_msgs::msg::{Pose, PoseStamped};
use feros::msgs::nav_msgs::msg::{Odometry, Path};
use feros::{Context, Error, Node, NodeOptions};
use feros_component::{Component, register};

use crate::input_report::ReportedInput;

/// The limit on the poses of a path, no matter how far away the target is.
const MOST_POSES: usize = 200;

/// Takes `target`; publishes `path`, a straight path from the robot, in the robot's frame.
pub struct Planner {
    node: Node,
    _targets: ReportedInput<Odometry>,
}

impl Component for Planner {
    fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
        let node = context.create_node_with(options.name("planner"))?;
        let length = |name, default, what| {
            node.build_parameter(name, default).description(what).range(0.0..=100.0).declare()
        };
        let horizon =
            length("horizon_s", 0.1, "Seconds ahead for which the target's position is predicted")?;
        let standoff = length("standoff", 0.2, "Metres to stay away from the target")?;
        let spacing = length("spacing", 0.05, "Metres between two poses")?;
        let paths = node.create_publisher::<Path>("path", 10)?;
        let targets = node.create_subscription("target", 10, move |target: Odometry| {
            let (position, velocity) = (&target.pose.pose.position, &target.twist.twist.linear);
            let ahead = horizon.get();
            let aim = (position.x + ahead * velocity.x, position.y + ahead * velocity.y);
            let poses = straight(aim, standoff.get(), spacing.get()).into_iter();
            let poses =
                poses.map(|pose| PoseStamped { header: target.header.clone(), pose }).collect();
            if let Err(error) = paths.publish(Path { header: target.header.clone(), poses }) {
                tracing::error!("{error}");
            }
        })?;
        Ok(Self { _targets: ReportedInput::new(&node, targets)?, node })
    }

    fn node(&self) -> &Node {
        &self.node
    }
}

/// Returns the poses from the robot towards an aim, all facing the aim; the last pose is `standoff`
/// short of the aim. Returns at least one pose, or no pose if the aim is not finite.
fn straight(aim: (f64, f64), standoff: f64, spacing: f64) -> Vec<Pose> {
    let distance = aim.0.hypot(aim.1);
    if !distance.is_finite() {
        return Vec::new();
    }
    let length = (distance - standoff).max(0.0);
    // The cast limits values that are too large, and turns 0/0 into 0.
    let steps = ((length / spacing).ceil() as usize).clamp(1, MOST_POSES);
    let heading = aim.1.atan2(aim.0);
    let pose = |step: usize| {
        let along = length * step as f64 / steps as f64;
        let mut pose = Pose::default();
        (pose.position.x, pose.position.y) = (along * heading.cos(), along * heading.sin());
        (pose.orientation.z, pose.orientation.w) = (heading / 2.0).sin_cos();
        pose
    };
    (0..=steps).map(pose).collect()
}

register!(Planner, "pipeline::Planner");

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_before_its_aim_and_looks_at_it() {
        let poses = straight((0.0, 1.0), 0.2, 0.1);
        assert_eq!(poses.len(), 9);
        let last = poses.last().unwrap();
        assert!(last.position.x.abs() < 1e-12 && (last.position.y - 0.8).abs() < 1e-12, "{last:?}");
        assert!(
            (last.orientation.z - 0.5_f64.sqrt()).abs() < 1e-12,
            "a quarter turn to the left: {last:?}"
        );
        assert_eq!(poses[0].position.x.hypot(poses[0].position.y), 0.0);
    }

    #[test]
    fn no_aim_and_no_spacing_asks_for_too_many_poses() {
        assert_eq!(straight((0.1, 0.0), 0.2, 0.1).len(), 2, "too near: the robot stays, but turns");
        assert_eq!(straight((1e300, 0.0), 0.0, 0.0).len(), MOST_POSES + 1);
        assert_eq!(straight((0.0, 0.0), 0.0, 0.0).len(), 2);
        assert!(straight((f64::NAN, 0.0), 0.2, 0.1).is_empty());
        assert!(straight((f64::INFINITY, 0.0), 0.2, 0.1).is_empty());
    }
}
