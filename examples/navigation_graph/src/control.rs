//! Turns the plan into commands for the wheels, without jerks or collisions.

use example_composition::{Latest, ManagedParts, header, managed_component, send};
use feros::msgs::geometry_msgs::msg::{PoseStamped, Twist};
use feros::msgs::nav_msgs::msg::{OccupancyGrid, Odometry, Path};
use feros::msgs::sensor_msgs::msg::LaserScan;
use feros::{Error, Parameter, QosProfile};

use crate::costmaps::{is_free, map_qos};
use crate::geometry::Pose2;

const RATE_HZ: f64 = 20.0;

managed_component!(
    /// Follows the newest plan until its end.
    ControllerServer, "controller_server", "navigation_graph::ControllerServer", controller_server
);

/// The speed and the distances that limit a controller.
struct Limits {
    max_speed: Parameter<f64>,
    lookahead: Parameter<f64>,
    tolerance: Parameter<f64>,
}

fn controller_server(parts: &mut ManagedParts) -> Result<(), Error> {
    let node = parts.node().clone();
    let metres = |name, default, what| {
        node.build_parameter(name, default).description(what).range(0.01..=10.0).declare()
    };
    let limits = Limits {
        max_speed: metres("max_speed", 0.5, "Metres per second")?,
        lookahead: metres("lookahead", 0.4, "Metres to look ahead on the plan")?,
        tolerance: metres("goal_tolerance", 0.1, "Metres within which the goal is reached")?,
    };
    let commands = parts.publisher::<Twist>("cmd_vel_nav", 10)?;
    let local_plans = parts.publisher::<Path>("local_plan", 10)?;
    let odometry = parts.newest::<Odometry>("odom", QosProfile::sensor_data())?;
    let costmap = parts.newest::<OccupancyGrid>("/local_costmap/costmap", map_qos())?;
    let plan = parts.newest::<Path>("plan_smoothed", 10)?;
    let clock = node.clock().clone();
    parts.at_rate(RATE_HZ, move || {
        let (Some(following), Some(odometry)) = (plan.read(), odometry.read()) else { return };
        let robot = Pose2::of(&odometry.pose.pose);
        let ahead = ahead(&following, robot, limits.lookahead.get());
        let mut command = Twist::default();
        match ahead.first() {
            Some(&aim) if robot.distance_to(aim) > limits.tolerance.get() => {
                let is_blocked =
                    costmap.read().is_some_and(|costmap| !is_free(&costmap, robot.x, robot.y));
                let bearing = robot.bearing_to(aim);
                command.angular.z = 2.0 * bearing;
                if bearing.abs() < 1.0 && !is_blocked {
                    command.linear.x = (1.5 * robot.distance_to(aim)).min(limits.max_speed.get());
                }
            }
            _ => drop(plan.take()),
        }
        send(&commands, command);
        let stamped =
            |pose: Pose2| PoseStamped { header: header(&clock, "odom"), pose: pose.to_message() };
        let poses = ahead.into_iter().take(40).map(stamped).collect();
        send(&local_plans, Path { header: header(&clock, "odom"), poses });
    })
}

/// The part of a plan that lies ahead: it begins at the first pose that is at least `lookahead`
/// away from the robot, or consists only of the last pose.
fn ahead(plan: &Path, robot: Pose2, lookahead: f64) -> Vec<Pose2> {
    let poses: Vec<_> = plan.poses.iter().map(|pose| Pose2::of(&pose.pose)).collect();
    let nearest = |a: &(usize, &Pose2), b: &(usize, &Pose2)| {
        robot.distance_to(*a.1).total_cmp(&robot.distance_to(*b.1))
    };
    let Some((here, _)) = poses.iter().enumerate().min_by(nearest) else { return poses };
    let far = poses[here..].iter().position(|pose| robot.distance_to(*pose) >= lookahead);
    poses[far.map_or(poses.len() - 1, |far| here + far)..].to_vec()
}

managed_component!(
    /// Keeps accelerations within the limits of the wheels.
    VelocitySmoother, "velocity_smoother", "navigation_graph::VelocitySmoother", velocity_smoother
);

fn velocity_smoother(parts: &mut ManagedParts) -> Result<(), Error> {
    let parameter =
        |name, default| parts.node().build_parameter(name, default).range(0.1..=100.0).declare();
    let (acceleration, turn_acceleration) =
        (parameter("max_acceleration", 2.5)?, parameter("max_turn_acceleration", 6.0)?);
    let smoothed = parts.publisher::<Twist>("cmd_vel_smoothed", 10)?;
    let wanted = Latest::<Twist>::default();
    let inside = wanted.clone();
    parts.hear("cmd_vel_nav", 10, move |command: Twist| inside.set(command))?;
    let mut command = Twist::default();
    parts.at_rate(RATE_HZ, move || {
        let Some(wanted) = wanted.read() else { return };
        let toward = |now: f64, wanted: f64, limit: f64| now + (wanted - now).clamp(-limit, limit);
        command.linear.x = toward(command.linear.x, wanted.linear.x, acceleration.get() / RATE_HZ);
        command.angular.z =
            toward(command.angular.z, wanted.angular.z, turn_acceleration.get() / RATE_HZ);
        send(&smoothed, &command);
    })
}

managed_component!(
    /// Passes commands on as long as there is no obstacle close in front of the robot.
    CollisionMonitor, "collision_monitor", "navigation_graph::CollisionMonitor", collision_monitor
);

fn collision_monitor(parts: &mut ManagedParts) -> Result<(), Error> {
    let stop_distance =
        parts.node().build_parameter("stop_distance", 0.25).range(0.0..=5.0).declare()?;
    let commands = parts.publisher::<Twist>("cmd_vel", 10)?;
    let scan = parts.newest::<LaserScan>("scan", QosProfile::sensor_data())?;
    parts.hear("cmd_vel_smoothed", 10, move |mut command: Twist| {
        if scan.read().is_some_and(|scan| f64::from(nearest_before(&scan)) < stop_distance.get()) {
            command.linear.x = command.linear.x.min(0.0);
        }
        send(&commands, command);
    })
}

/// The smallest distance within an eighth of a turn to either side.
fn nearest_before(scan: &LaserScan) -> f32 {
    let side = scan.ranges.len() / 8;
    let (left, right) = (scan.ranges.iter().take(side), scan.ranges.iter().rev().take(side));
    left.chain(right)
        .copied()
        .filter(|range| *range >= scan.range_min)
        .fold(f32::INFINITY, f32::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controller_looks_ahead_and_in_the_end_at_the_goal() {
        let pose = |x: u8| PoseStamped {
            pose: Pose2 { x: f64::from(x), ..Pose2::default() }.to_message(),
            ..PoseStamped::default()
        };
        let plan = Path { poses: (0..10).map(pose).collect(), ..Path::default() };
        let xs = |x: f64| {
            ahead(&plan, Pose2 { x, ..Pose2::default() }, 2.0).first().map(|pose| pose.x.round())
        };
        assert_eq!((xs(0.0), xs(4.2), xs(8.9)), (Some(2.0), Some(7.0), Some(9.0)));
        assert!(ahead(&Path::default(), Pose2::default(), 2.0).is_empty());
    }

    #[test]
    fn only_what_is_before_the_robot_stops_it() {
        let mut scan =
            LaserScan { ranges: vec![5.0; 360], range_min: 0.05, ..LaserScan::default() };
        scan.ranges[180] = 0.1;
        scan.ranges[3] = 0.0;
        assert_eq!(nearest_before(&scan), 5.0);
        scan.ranges[350] = 0.2;
        assert_eq!(nearest_before(&scan), 0.2);
        assert_eq!(nearest_before(&LaserScan::default()), f32::INFINITY);
    }
}
