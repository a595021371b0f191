//! In every placement, the navigation graph brings its robot to the goal and leaves nothing behind.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::mpsc::sync_channel;

use feros::action::SendGoalError;
use feros::msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use feros::msgs::geometry_msgs::msg::PoseStamped;
use feros::msgs::nav_msgs::msg::Odometry;
use feros::msgs::nav_msgs::srv::{GetMap, GetMap_Request};
use feros::msgs::std_msgs::msg::String as Text;
use feros::{GoalStatus, QosProfile};
use feros_placements::{Launched, Observer, Package, WATCHDOG};
use navigation_graph::navigation_interfaces::action::{
    ComputePath, ComputePath_Goal, NavigateToPose, NavigateToPose_Feedback, NavigateToPose_Goal,
    Spin, Spin_Goal,
};

const NODES: usize = 15;

#[test]
fn in_a_process_for_each_node() {
    drives_and_ends("processes.launch.xml", &[], NODES);
}

#[test]
fn composed_by_hand() {
    drives_and_ends("manual.launch.xml", &[], 1);
}

#[test]
fn in_a_container_with_a_thread_for_each() {
    drives_and_ends("composed.launch.yaml", &["container:=component_container_isolated"], 1);
}

#[test]
fn in_a_container_with_a_process_for_each() {
    drives_and_ends("composed.launch.yaml", &["container:=component_container_process"], NODES + 1);
}

fn drives_and_ends(file: &str, arguments: &[&str], processes: usize) {
    let package = Package::of_workspace("navigation_graph", Path::new(env!("CARGO_MANIFEST_DIR")));
    let graph = Launched::start(&package, file, arguments);
    drives(&graph, processes);
    graph.end();
}

fn drives(graph: &Launched, processes: usize) {
    let observer = graph.observer();
    let states =
        observer.hear::<Text>("/navigation_state", QosProfile::keep_last(10).transient_local());
    let odometry = observer.hear::<Odometry>("/odom", QosProfile::sensor_data());
    // This comes before any request to the planner, because the controller follows every plan, even
    // a plan that the observer has requested.
    observer.until("the robot is somewhere", || odometry.newest().is_some());
    let start = odometry.newest().unwrap().pose.pose.position;
    assert!((start.x - 2.0).abs() < 0.01 && (start.y - 2.0).abs() < 0.01, "{start:?}");
    let servers_are_active = all_servers_are_active(&observer);
    assert_eq!(servers_are_active, 11);
    assert_eq!(graph.processes().len(), processes, "{:#?}", graph.processes());
    has_its_nodes(&observer);

    let map = observer.call::<GetMap>("/map_server/map", &GetMap_Request::default()).map;
    assert_eq!((map.info.width, map.info.height, map.data.len()), (200, 200, 40_000));
    observer.set_parameters("/controller_server", [("max_speed", 2.0)]);

    let goals = observer.publisher::<PoseStamped>("/goal_pose");
    goals.publish(goal(20.0, 5.0)).unwrap();
    observer.until("there is no way through the wall", || {
        states.newest().is_some_and(|state| state.data == "no way")
    });
    arrives(&observer);
    observer.until("the robot has arrived", || {
        states.newest().is_some_and(|state| state.data == "arrived")
    });
    let said: Vec<String> = states.all().into_iter().map(|state| state.data).collect();
    assert!(said.windows(2).any(|two| two == ["driving", "arrived"]), "{said:?}");
    let is_there = || {
        let at = odometry.newest().unwrap().pose.pose.position;
        (at.x - 5.0).hypot(at.y - 4.0) < 0.2
    };
    observer.until("its odometry agrees", is_there);
    spins(&observer);
}

/// Sends the robot to a pose, and receives the remaining distance on the way.
fn arrives(observer: &Observer) {
    let client = observer.node().create_action_client::<NavigateToPose>("/navigate_to_pose");
    let client = client.unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let (sender, feedback) = sync_channel(10_000);
    let on_feedback = move |feedback: NavigateToPose_Feedback| {
        sender.send(feedback.distance_remaining).unwrap();
    };
    let aim = NavigateToPose_Goal { pose: goal(5.0, 4.0) };
    let sent = client.send_goal_with_feedback(aim, on_feedback).unwrap();
    let driving = sent.wait(WATCHDOG).unwrap();
    observer.until("the robot comes nearer", || {
        feedback.try_recv().is_ok_and(|distance| distance < 3.0)
    });
    let outcome = driving.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Succeeded);
    assert!(outcome.result.distance_remaining < 0.15, "{outcome:?}");
    let nowhere = NavigateToPose_Goal { pose: goal(-1.0, 4.0) };
    let outside = client.send_goal_and_wait(nowhere, WATCHDOG).unwrap();
    let outcome = outside.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Aborted, "there is no way through the wall");
    let here = NavigateToPose_Goal { pose: goal(5.0, 4.0) };
    let again = client.send_goal_and_wait(here, WATCHDOG).unwrap();
    let outcome = again.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Succeeded, "it is there");
}

/// Turns the robot, and cancels the turn.
fn spins(observer: &Observer) {
    let client = observer.node().create_action_client::<Spin>("/spin").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let spin = |target_yaw| client.send_goal_and_wait(Spin_Goal { target_yaw }, WATCHDOG);
    assert!(matches!(spin(f64::NAN), Err(SendGoalError::Rejected { .. })));
    let outcome = spin(0.3).unwrap().get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Succeeded);
    assert!((0.3..0.5).contains(&outcome.result.turned), "{outcome:?}");
    let long = spin(6.0).unwrap();
    long.cancel().unwrap().wait(WATCHDOG).unwrap();
    let outcome = long.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Canceled);
    assert!(outcome.result.turned < 6.0, "{outcome:?}");
}

fn goal(x: f64, y: f64) -> PoseStamped {
    let mut goal = PoseStamped::default();
    goal.header.frame_id = "map".to_owned();
    (goal.pose.position.x, goal.pose.position.y) = (x, y);
    goal
}

/// Waits until the lifecycle manager has responses from all its servers, and until the planner has
/// its costmap.
fn all_servers_are_active(observer: &Observer) -> usize {
    let reports = observer.hear::<DiagnosticArray>("/diagnostics", QosProfile::keep_last(10));
    let active = || {
        let newest = reports.newest()?;
        let all_are = newest.status.iter().all(|status| status.level == DiagnosticStatus::OK);
        all_are.then_some(newest.status.len())
    };
    observer.until("all servers are active", || active().is_some());
    let planner = observer.node().create_action_client::<ComputePath>("/compute_path").unwrap();
    planner.wait_for_server(WATCHDOG).unwrap();
    observer.until("the planner has its costmap", || {
        let (start, goal) = (goal(2.0, 2.0), goal(3.0, 2.0));
        match planner.send_goal_and_wait(ComputePath_Goal { start, goal }, WATCHDOG) {
            Err(SendGoalError::Rejected { .. }) => false,
            Err(error) => panic!("{error}"),
            Ok(planned) => {
                let outcome = planned.get_result().unwrap().wait(WATCHDOG).unwrap();
                outcome.result.path.poses.len() == 21
            }
        }
    });
    active().unwrap_or_default()
}

fn has_its_nodes(observer: &Observer) {
    const HARDWARE: [&str; 4] =
        ["/laser_driver", "/base_driver", "/robot_state_publisher", "/lifecycle_manager"];
    for name in HARDWARE {
        observer.until(&format!("{name} is there"), || {
            observer.node().node_names().iter().any(|known| known.fully_qualified() == name)
        });
    }
}
