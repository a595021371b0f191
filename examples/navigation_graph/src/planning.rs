//! Plans the path to the goal.

use std::sync::Arc;

use example_composition::{ManagedParts, header, log_failure, managed_component, send};
use feros::msgs::geometry_msgs::msg::PoseStamped;
use feros::msgs::nav_msgs::msg::{OccupancyGrid, Path};
use feros::{CancelResponse, Error, GoalId, GoalResponse, ServerGoalHandle};

use crate::costmaps::{is_free, map_qos};
use crate::geometry::Pose2;
use crate::navigation_interfaces::action::{ComputePath, ComputePath_Goal, ComputePath_Result};

/// The distance between two poses of a plan, in metres.
const SPACING: f64 = 0.05;

managed_component!(
    /// Plans a straight path from one pose to another; if there is no path, the goal is aborted.
    PlannerServer, "planner_server", "navigation_graph::PlannerServer", planner_server
);

fn planner_server(parts: &mut ManagedParts) -> Result<(), Error> {
    let plans = parts.publisher::<Path>("plan", 10)?;
    let costmap = parts.newest::<OccupancyGrid>("/global_costmap/costmap", map_qos())?;
    let (clock, activity) = (parts.node().clock().clone(), parts.activity());
    let known = costmap.clone();
    // Without a costmap, it is unknown whether there is a path; the client asks again.
    let decide = move |_: &GoalId, _: &ComputePath_Goal| {
        let is_possible = activity.is_active() && known.read().is_some();
        if is_possible { GoalResponse::AcceptAndExecute } else { GoalResponse::Reject }
    };
    let cancel = |_: &ServerGoalHandle<ComputePath>| CancelResponse::Reject;
    let compute = move |goal: ServerGoalHandle<ComputePath>| {
        let ComputePath_Goal { start, goal: aim } = goal.goal();
        let (start, aim) = (Pose2::of(&start.pose), Pose2::of(&aim.pose));
        let poses = costmap.read().map(|costmap| straight(&costmap, start, aim));
        let header = header(&clock, "map");
        let stamped = |pose: Pose2| PoseStamped { header: header.clone(), pose: pose.to_message() };
        let poses: Vec<_> = poses.unwrap_or_default().into_iter().map(stamped).collect();
        let (is_way, path) = (!poses.is_empty(), Path { header, poses });
        if is_way {
            send(&plans, &path);
            log_failure(goal.succeed(ComputePath_Result { path }));
        } else {
            log_failure(goal.abort(ComputePath_Result { path }));
        }
    };
    let callbacks = (decide, cancel, compute);
    let server = parts.node().create_action_server::<ComputePath, _>("compute_path", callbacks)?;
    parts.keep(server);
    Ok(())
}

/// Poses along the straight line, as long as all of them are free.
fn straight(costmap: &OccupancyGrid, start: Pose2, goal: Pose2) -> Vec<Pose2> {
    // Both ends are on the map, so the line is no longer than the map's diagonal.
    if !is_free(costmap, start.x, start.y) || !is_free(costmap, goal.x, goal.y) {
        return Vec::new();
    }
    let steps = (start.distance_to(goal) / SPACING).ceil().max(1.0);
    let heading = (goal.y - start.y).atan2(goal.x - start.x);
    let pose = |step: u32| {
        let part = f64::from(step) / steps;
        Pose2 {
            x: start.x + part * (goal.x - start.x),
            y: start.y + part * (goal.y - start.y),
            heading,
        }
    };
    let poses: Vec<_> = (0..=steps as u32).map(pose).collect();
    if poses.iter().all(|pose| is_free(costmap, pose.x, pose.y)) { poses } else { Vec::new() }
}

managed_component!(
    /// Rounds off the corners of a plan: each pose becomes the mean of its neighbours.
    SmootherServer, "smoother_server", "navigation_graph::SmootherServer", smoother_server
);

fn smoother_server(parts: &mut ManagedParts) -> Result<(), Error> {
    let smoothed = parts.publisher::<Path>("plan_smoothed", 10)?;
    parts.hear("plan", 10, move |plan: Arc<Path>| {
        let mut path = Path::clone(&plan);
        for (inner, around) in path.poses.iter_mut().skip(1).zip(plan.poses.windows(3)) {
            let mean = |of: fn(&PoseStamped) -> f64| around.iter().map(of).sum::<f64>() / 3.0;
            inner.pose.position.x = mean(|pose| pose.pose.position.x);
            inner.pose.position.y = mean(|pose| pose.pose.position.y);
        }
        send(&smoothed, path);
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use feros::{Clock, ClockType};

    use super::*;
    use crate::costmaps::room;

    #[test]
    fn plans_lead_to_the_goal_and_none_leads_through_a_wall() {
        let costmap = room(&Clock::new(ClockType::System), "map", 200, 0.05);
        let start = Pose2 { x: 2.0, y: 2.0, heading: 0.0 };
        let plan = straight(&costmap, start, Pose2 { x: 7.0, y: 6.0, heading: 0.0 });
        let last = plan.last().unwrap();
        assert!(last.distance_to(Pose2 { x: 7.0, y: 6.0, heading: 0.0 }) < 1e-9, "{last:?}");
        assert!(plan.windows(2).all(|pair| pair[0].distance_to(pair[1]) <= SPACING + 1e-9));
        for (x, y) in [(20.0, 5.0), (10.0, 5.0), (f64::NAN, 5.0), (1e300, -1e300)] {
            assert!(straight(&costmap, start, Pose2 { x, y, heading: 0.0 }).is_empty(), "{x} {y}");
        }
    }
}
