//! In every placement, the mobile base has all its entities, moves, stops and executes actions, and
//! leaves nothing behind.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::mpsc::sync_channel;

use feros::QosProfile;
use feros::action::{GoalStatus, SendGoalError};
use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Feedback, Fibonacci_Goal};
use feros::msgs::geometry_msgs::msg::Twist;
use feros::msgs::nav_msgs::msg::Odometry;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, Trigger, Trigger_Request};
use feros_placements::{Launched, Observer, Package, WATCHDOG};

const NODES: [&str; 10] = [
    "/robot_state",
    "/wheel_sensors",
    "/motion_sensors",
    "/hazard_sensors",
    "/kidnap_status",
    "/motion_control",
    "/docking",
    "/ui_mgr",
    "/power_manager",
    "/static_transform",
];

const ACTIONS: [&str; 10] = [
    "/drive_distance",
    "/drive_arc",
    "/rotate_angle",
    "/navigate_to_position",
    "/wall_follow",
    "/dock",
    "/undock",
    "/go_home",
    "/led_animation",
    "/audio_note_sequence",
];

#[test]
fn in_a_process_for_each_node() {
    works_and_ends("processes.launch.xml", &[], NODES.len());
}

#[test]
fn composed_by_hand() {
    works_and_ends("manual.launch.xml", &[], 1);
}

#[test]
fn in_a_container() {
    works_and_ends("composed.launch.yaml", &[], 1);
}

#[test]
fn in_a_container_with_a_process_for_each() {
    works_and_ends(
        "composed.launch.yaml",
        &["container:=component_container_process"],
        NODES.len() + 1,
    );
}

fn works_and_ends(file: &str, arguments: &[&str], processes: usize) {
    let package = Package::of_workspace("mobile_base", Path::new(env!("CARGO_MANIFEST_DIR")));
    let base = Launched::start(&package, file, arguments);
    works(&base, processes);
    base.end();
}

fn works(base: &Launched, processes: usize) {
    let observer = base.observer();
    has_its_entities(&observer);
    assert_eq!(base.processes().len(), processes, "{:#?}", base.processes());
    drives_and_stops(&observer);
    act(&observer);
}

/// Nodes, topics and services are counted in the graph that other nodes see.
fn has_its_entities(observer: &Observer) {
    let node = observer.node();
    observer.until("all nodes are there", || {
        let names: Vec<String> =
            node.node_names().iter().map(|name| name.fully_qualified()).collect();
        NODES.iter().all(|node| names.iter().any(|name| name == node))
    });
    observer.until("all topics are there", || topics(observer).len() > 30);
    observer.until("all services are there", || services(observer).len() == 10);
    let action_topics = || {
        node.topic_names_and_types().into_keys().filter(|name| name.contains("/_action/")).count()
    };
    observer.until("all topics of actions are there", || action_topics() == 2 * ACTIONS.len());
    for action in ACTIONS {
        for service in ["send_goal", "cancel_goal", "get_result"] {
            let name = format!("{action}/_action/{service}");
            observer.until(&name, || node.service_names_and_types().contains_key(&name));
        }
    }
}

/// The topics that the base publishes, except the topics of actions and the topics that every node
/// has.
fn topics(observer: &Observer) -> Vec<String> {
    let all = observer.node().topic_names_and_types().into_keys();
    all.filter(|name| {
        !name.contains("/_action/")
            && !["/rosout", "/parameter_events"].contains(&name.as_str())
            && !observer.node().publishers_info_by_topic(name).unwrap().is_empty()
    })
    .collect()
}

/// The services of the base, except those of actions, of parameters and of containers.
fn services(observer: &Observer) -> Vec<String> {
    let all = observer.node().service_names_and_types().into_iter();
    let own = all.filter(|(name, types)| {
        !name.contains("/_action/")
            && types.iter().any(|name| name.starts_with("std_srvs/"))
            && !name.contains("_container/")
    });
    own.map(|(name, _)| name).collect()
}

fn drives_and_stops(observer: &Observer) {
    let odometry = observer.hear::<Odometry>("/odom", QosProfile::sensor_data());
    let commands = observer.publisher::<Twist>("/cmd_vel");
    let mut command = Twist::default();
    command.linear.x = 1.0;
    observer.until("the base drives, but no faster than it may", || {
        commands.publish(&command).unwrap();
        odometry.newest().is_some_and(|odometry| {
            let speed = odometry.twist.twist.linear.x;
            assert!(speed <= 0.3, "{speed}");
            odometry.pose.pose.position.x > 0.01 && speed == 0.3
        })
    });
    observer.call::<SetBool>("/e_stop", &SetBool_Request { data: true });
    observer.until("it stops, whatever the commands are", || {
        commands.publish(&command).unwrap();
        odometry.newest().is_some_and(|odometry| odometry.twist.twist.linear.x == 0.0)
    });
    assert!(observer.call::<Trigger>("/reset_pose", &Trigger_Request::default()).success);
    observer.until("it is where it began", || {
        odometry.newest().is_some_and(|odometry| odometry.pose.pose.position.x == 0.0)
    });
}

/// Uses all servers at the same time: each server accepts a goal, sends feedback, and ends the goal
/// with its result. Another goal is canceled.
fn act(observer: &Observer) {
    // The goal lasts three seconds, so that feedback still comes once a server has found the
    // subscription to it.
    const ORDER: i32 = 30;
    let client = |action| observer.node().create_action_client::<Fibonacci>(action).unwrap();
    let clients = ACTIONS.map(client);
    let goals: Vec<_> = clients
        .iter()
        .map(|client| {
            client.wait_for_server(WATCHDOG).unwrap();
            let refused = client.send_goal_and_wait(Fibonacci_Goal { order: -1 }, WATCHDOG);
            assert!(matches!(refused, Err(SendGoalError::Rejected { .. })), "{refused:?}");
            let (sender, feedback) = sync_channel(100);
            let on_feedback = move |feedback: Fibonacci_Feedback| {
                sender.send(feedback.sequence).unwrap();
            };
            let goal = Fibonacci_Goal { order: ORDER };
            let sent = client.send_goal_with_feedback(goal, on_feedback).unwrap();
            (sent.wait(WATCHDOG).unwrap(), feedback)
        })
        .collect();
    for ((goal, feedback), action) in goals.iter().zip(ACTIONS) {
        observer.until(&format!("{action} sends feedback"), || {
            feedback.try_recv().is_ok_and(|sequence| !sequence.is_empty())
        });
        // The response to the goal does not say whether the goal executes; the status topic does.
        observer.until(&format!("{action} reports that it executes"), || {
            goal.status() >= GoalStatus::Executing
        });
        let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
        assert_eq!(outcome.status, GoalStatus::Succeeded, "{action}");
        assert_eq!(outcome.result.sequence[..7], [0, 1, 1, 2, 3, 5, 8], "{action}");
        assert_eq!(outcome.result.sequence.len(), 31, "{action}");
    }
    for client in &clients {
        let goal = Fibonacci_Goal { order: 45 };
        let goal = client.send_goal_and_wait(goal, WATCHDOG).unwrap();
        goal.cancel().unwrap().wait(WATCHDOG).unwrap();
        let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
        assert_eq!(outcome.status, GoalStatus::Canceled, "{}", client.action_name());
    }
}
