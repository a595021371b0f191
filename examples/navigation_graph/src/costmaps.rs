//! Costmaps: the cells where the robot may not drive, in the whole room and around the robot.

use std::f64::consts::PI;

use example_composition::{ManagedParts, header, managed_component, send};
use feros::msgs::geometry_msgs::msg::{Point32, PolygonStamped};
use feros::msgs::nav_msgs::msg::{MapMetaData, OccupancyGrid, Odometry};
use feros::msgs::sensor_msgs::msg::LaserScan;
use feros::msgs::std_srvs::srv::{Empty, Empty_Request, Empty_Response};
use feros::{Clock, Error, QosProfile};

use crate::geometry::Pose2;

const LETHAL: i8 = 100;

/// The QoS policies of a map: late subscriptions also get the map.
pub(crate) fn map_qos() -> QosProfile {
    QosProfile::keep_last(1).transient_local()
}

managed_component!(
    /// The costmap of the whole room.
    GlobalCostmap, "global_costmap", "navigation_graph::GlobalCostmap", global_costmap
);

fn global_costmap(parts: &mut ManagedParts) -> Result<(), Error> {
    let map = parts.newest::<OccupancyGrid>("map", map_qos())?;
    let source = move |_: Pose2| map.read().map(|map| OccupancyGrid::clone(&map));
    costmap(parts, 1.0, "map", source)
}

managed_component!(
    /// The costmap of the three metres around the robot.
    LocalCostmap, "local_costmap", "navigation_graph::LocalCostmap", local_costmap
);

fn local_costmap(parts: &mut ManagedParts) -> Result<(), Error> {
    const CELLS: u32 = 60;
    const CELL_METRES: f64 = 0.05;
    let clock = parts.node().clock().clone();
    let source = move |robot: Pose2| {
        let half = f64::from(CELLS) * CELL_METRES / 2.0;
        Some(empty(&clock, "odom", CELLS, CELL_METRES, (robot.x - half, robot.y - half)))
    };
    costmap(parts, 5.0, "odom", source)
}

/// Adds a costmap. It starts with the grid that `source` returns, and marks the walls that the
/// laser sees.
fn costmap(
    parts: &mut ManagedParts,
    rate_hz: f64,
    frame: &'static str,
    mut source: impl FnMut(Pose2) -> Option<OccupancyGrid> + Send + 'static,
) -> Result<(), Error> {
    let name = parts.node().name().fully_qualified();
    let costmaps = parts.publisher::<OccupancyGrid>(&format!("{name}/costmap"), map_qos())?;
    let footprints =
        parts.publisher::<PolygonStamped>(&format!("{name}/published_footprint"), 10)?;
    let scan = parts.newest::<LaserScan>("scan", QosProfile::sensor_data())?;
    let odometry = parts.newest::<Odometry>("odom", QosProfile::sensor_data())?;
    let forgotten = scan.clone();
    parts.serve::<Empty, _>("~/clear_entirely", move |_: Empty_Request| {
        forgotten.take();
        Empty_Response::default()
    })?;
    let clock = parts.node().clock().clone();
    parts.at_rate(rate_hz, move || {
        let (Some(scan), Some(odometry)) = (scan.read(), odometry.read()) else { return };
        let robot = Pose2::of(&odometry.pose.pose);
        let Some(mut grid) = source(robot) else { return };
        mark(&mut grid, robot, &scan);
        grid.header = header(&clock, frame);
        send(&costmaps, grid);
        send(&footprints, footprint(&clock, frame, robot));
    })
}

/// Makes a grid of free cells; the corner of its first cell is at `corner`.
fn empty(
    clock: &Clock,
    frame: &str,
    cells: u32,
    cell_metres: f64,
    corner: (f64, f64),
) -> OccupancyGrid {
    let origin = Pose2 { x: corner.0, y: corner.1, heading: 0.0 }.to_message();
    let resolution = cell_metres as f32;
    OccupancyGrid {
        header: header(clock, frame),
        info: MapMetaData {
            resolution,
            width: cells,
            height: cells,
            origin,
            ..MapMetaData::default()
        },
        data: vec![0; cells as usize * cells as usize],
    }
}

/// A square room with walls of one cell.
pub(crate) fn room(clock: &Clock, frame: &str, cells: u32, cell_metres: f64) -> OccupancyGrid {
    let mut map = empty(clock, frame, cells, cell_metres, (0.0, 0.0));
    let last = cells as usize - 1;
    for (index, cell) in map.data.iter_mut().enumerate() {
        let (row, column) = (index / cells as usize, index % cells as usize);
        if [row, column].iter().any(|place| [0, last].contains(place)) {
            *cell = LETHAL;
        }
    }
    map
}

/// The index of the cell at a position; `None` if the position is outside the grid.
pub(crate) fn cell_at(grid: &OccupancyGrid, x: f64, y: f64) -> Option<usize> {
    let origin = &grid.info.origin.position;
    let resolution = f64::from(grid.info.resolution);
    let (column, row) =
        (((x - origin.x) / resolution).floor(), ((y - origin.y) / resolution).floor());
    let inside = |place: f64, cells: u32| place >= 0.0 && place < f64::from(cells);
    if !inside(column, grid.info.width) || !inside(row, grid.info.height) {
        return None;
    }
    let index = row as usize * grid.info.width as usize + column as usize;
    (index < grid.data.len()).then_some(index)
}

/// Whether the robot may be at a position.
pub(crate) fn is_free(grid: &OccupancyGrid, x: f64, y: f64) -> bool {
    cell_at(grid, x, y).is_some_and(|index| grid.data[index] < LETHAL)
}

fn mark(grid: &mut OccupancyGrid, robot: Pose2, scan: &LaserScan) {
    for (beam, range) in scan.ranges.iter().enumerate() {
        let angle = robot.heading
            + f64::from(scan.angle_min)
            + beam as f64 * f64::from(scan.angle_increment);
        let (sin, cos) = angle.sin_cos();
        let range = f64::from(*range);
        if let Some(index) = cell_at(grid, robot.x + range * cos, robot.y + range * sin) {
            grid.data[index] = LETHAL;
        }
    }
}

fn footprint(clock: &Clock, frame: &str, robot: Pose2) -> PolygonStamped {
    const RADIUS: f64 = 0.15;
    let corner = |number: u8| {
        let (sin, cos) = (robot.heading + PI / 8.0 * f64::from(number)).sin_cos();
        Point32 { x: (robot.x + RADIUS * cos) as f32, y: (robot.y + RADIUS * sin) as f32, z: 0.0 }
    };
    let mut footprint =
        PolygonStamped { header: header(clock, frame), ..PolygonStamped::default() };
    footprint.polygon.points = (0..16).map(corner).collect();
    footprint
}

#[cfg(test)]
mod tests {
    use feros::ClockType;

    use super::*;

    #[test]
    fn a_room_is_free_but_for_its_walls_and_nothing_is_outside() {
        let room = room(&Clock::new(ClockType::System), "map", 20, 0.5);
        assert_eq!(room.data.iter().filter(|cell| **cell == LETHAL).count(), 4 * 19);
        assert!(is_free(&room, 5.0, 5.0) && is_free(&room, 0.6, 9.4));
        for (x, y) in [(0.1, 5.0), (-0.1, 5.0), (5.0, 10.1), (f64::NAN, 5.0), (1e300, 5.0)] {
            assert!(!is_free(&room, x, y), "{x} {y}");
        }
    }

    #[test]
    fn obstacles_of_a_scan_are_marked_and_hostile_ranges_ignored() {
        let clock = Clock::new(ClockType::System);
        let mut grid = empty(&clock, "odom", 60, 0.05, (0.5, 0.5));
        let robot = Pose2 { x: 2.0, y: 2.0, heading: 0.0 };
        let ranges = vec![1.0, f32::NAN, f32::INFINITY, -1e30];
        let scan = LaserScan { ranges, angle_increment: 0.1, ..LaserScan::default() };
        mark(&mut grid, robot, &scan);
        assert!(!is_free(&grid, 3.0, 2.0) && is_free(&grid, 2.5, 2.0));
        assert_eq!(grid.data.iter().filter(|cell| **cell == LETHAL).count(), 1);
    }
}
