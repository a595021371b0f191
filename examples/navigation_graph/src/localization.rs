//! The map, and the robot's pose on it.

use example_composition::{Latest, ManagedParts, header, log_failure, managed_component, send};
use feros::msgs::geometry_msgs::msg::{PoseArray, PoseWithCovarianceStamped};
use feros::msgs::nav_msgs::msg::{OccupancyGrid, Odometry};
use feros::msgs::nav_msgs::srv::{GetMap, GetMap_Request, GetMap_Response};
use feros::msgs::sensor_msgs::msg::LaserScan;
use feros::{Error, QosProfile};
use feros_tf2::TransformBroadcaster;

use crate::ROOM_METRES;
use crate::costmaps::{map_qos, room};
use crate::geometry::Pose2;

managed_component!(
    /// Publishes the map of the room, which is free except for its walls.
    MapServer, "map_server", "navigation_graph::MapServer", map_server
);

fn map_server(parts: &mut ManagedParts) -> Result<(), Error> {
    const CELL_METRES: f64 = 0.05;
    let clock = parts.node().clock().clone();
    let map = room(&clock, "map", (ROOM_METRES / CELL_METRES) as u32, CELL_METRES);
    let maps = parts.publisher::<OccupancyGrid>("map", map_qos())?;
    let published = map.clone();
    parts.at_activation(move || send(&maps, &published));
    parts.serve::<GetMap, _>("~/map", move |_: GetMap_Request| GetMap_Response { map: map.clone() })
}

managed_component!(
    /// Publishes the robot's pose on the map, with a cloud of guesses around it.
    Amcl, "amcl", "navigation_graph::Amcl", amcl
);

fn amcl(parts: &mut ManagedParts) -> Result<(), Error> {
    const GUESSES: usize = 500;
    let node = parts.node().clone();
    let poses = parts.publisher::<PoseWithCovarianceStamped>("amcl_pose", map_qos())?;
    let clouds = parts.publisher::<PoseArray>("particle_cloud", QosProfile::sensor_data())?;
    let transforms = TransformBroadcaster::new(&node)?;
    let odometry = parts.newest::<Odometry>("odom", QosProfile::sensor_data())?;
    let map = parts.newest::<OccupancyGrid>("map", map_qos())?;
    let correction = Latest::<Pose2>::default();
    let (given, last) = (correction.clone(), odometry.clone());
    // An initial pose corrects the pose that comes from the wheels.
    parts.hear("/initialpose", 10, move |pose: PoseWithCovarianceStamped| {
        let Some(odometry) = last.read() else { return };
        let (said, at) = (Pose2::of(&pose.pose.pose), Pose2::of(&odometry.pose.pose));
        given.set(Pose2 { x: said.x - at.x, y: said.y - at.y, heading: 0.0 });
    })?;
    let (clock, activity) = (node.clock().clone(), parts.activity());
    parts.hear("scan", QosProfile::sensor_data(), move |_: LaserScan| {
        if !activity.is_active() {
            return; // transforms are sent in any state
        }
        let (Some(odometry), Some(_)) = (odometry.read(), map.read()) else { return };
        let correction = correction.read().unwrap_or_default();
        let at = Pose2::of(&odometry.pose.pose);
        let pose = Pose2 { x: at.x + correction.x, y: at.y + correction.y, heading: at.heading };
        let mut estimate =
            PoseWithCovarianceStamped { header: header(&clock, "map"), ..Default::default() };
        estimate.pose.pose = pose.to_message();
        send(&poses, estimate);
        let guess = |number: usize| {
            let (sin, cos) = (number as f64).sin_cos();
            let spread = 0.1 * number as f64 / GUESSES as f64;
            Pose2 { x: pose.x + spread * cos, y: pose.y + spread * sin, ..pose }.to_message()
        };
        send(
            &clouds,
            PoseArray { header: header(&clock, "map"), poses: (0..GUESSES).map(guess).collect() },
        );
        log_failure(transforms.send_transform(correction.transform(&clock, "map", "odom")));
    })
}
