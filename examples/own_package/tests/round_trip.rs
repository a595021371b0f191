//! The generated types of a custom package behave like those of the standard packages.
#![allow(clippy::unwrap_used)]

use feros::message::{
    Action, EncodeError, Message, Service, build, from_bytes, shaped_size, to_vec, view,
};
use feros::msgs::geometry_msgs::msg::Point;
use feros::msgs::std_msgs::msg::{Header, HeaderShape};
use own_package::robot_interfaces::action::{Dock, Dock_Feedback};
use own_package::robot_interfaces::msg::{
    ArmTargets, ArmTargetsShape, JointTarget, JointTargetShape,
};
use own_package::robot_interfaces::srv::{PlanPath, PlanPath_Request};

fn targets() -> ArmTargets {
    let joint =
        |name: &str| JointTarget { name: name.into(), position: 1.5, ..JointTarget::default() };
    ArmTargets {
        header: Header { frame_id: JointTarget::DEFAULT_FRAME.into(), ..Header::default() },
        joints: vec![joint("shoulder"), joint("elbow")],
        covariance: std::array::from_fn(|index| index as f64),
        waypoints: vec![Point { x: 1.0, y: 2.0, z: 3.0 }; 3],
    }
}

#[test]
fn a_message_survives_the_round_trip_owned_and_viewed() {
    let sent = targets();
    let bytes = to_vec(&sent).unwrap();
    assert_eq!(from_bytes::<ArmTargets>(&bytes).unwrap(), sent);

    let seen = view::<ArmTargets>(&bytes).unwrap();
    assert_eq!(seen.header.frame_id, "base_link");
    assert_eq!(
        seen.joints.iter().map(|joint| joint.name).collect::<Vec<_>>(),
        ["shoulder", "elbow"]
    );
    assert_eq!(seen.covariance, sent.covariance);
    assert_eq!(seen.waypoints.get(2), Some(Point { x: 1.0, y: 2.0, z: 3.0 }));
}

/// The shape has all parts of variable size: the strings, the elements of variable size, and the
/// number of elements of fixed size. All other values are written directly into the lent memory.
#[test]
fn a_message_built_in_place_is_the_one_that_is_encoded() {
    let shape = ArmTargetsShape {
        header: HeaderShape { frame_id: JointTarget::DEFAULT_FRAME },
        joints: &[JointTargetShape { name: "shoulder" }, JointTargetShape { name: "elbow" }],
        waypoints: 3,
    };
    let size = shaped_size::<ArmTargets>(&shape).unwrap();
    let mut memory = vec![0; size + 7];
    let start = memory[4..].as_ptr().align_offset(8);
    let lent = &mut memory[start..start + size];

    let mut targets_in_place = build::<ArmTargets>(&shape, lent).unwrap();
    for joint in targets_in_place.joints.iter_mut() {
        *joint.position = 1.5; // speed and type keep the defaults of the definition
    }
    *targets_in_place.covariance = std::array::from_fn(|index| index as f64);
    for mut point in targets_in_place.waypoints {
        point.set(&Point { x: 1.0, y: 2.0, z: 3.0 });
    }
    assert_eq!(lent, to_vec(&targets()).unwrap());
}

#[test]
fn defaults_and_constants_are_those_of_the_definition() {
    let target = JointTarget::default();
    assert_eq!((target.speed, target.r#type), (0.25, JointTarget::KIND_VELOCITY));
    assert_eq!(PlanPath_Request::default().tolerance, 0.1);
}

#[test]
fn bounds_are_kept() {
    let long = JointTarget { name: "x".repeat(33), ..JointTarget::default() };
    assert_eq!(
        to_vec(&long),
        Err(EncodeError::BoundExceeded { field: "name", len: 33, bound: 32 })
    );
    let many = ArmTargets { joints: vec![JointTarget::default(); 8], ..targets() };
    assert_eq!(
        to_vec(&many),
        Err(EncodeError::BoundExceeded { field: "joints", len: 8, bound: 7 })
    );
}

/// Stock ROS 2 (`rosidl_generator_type_description` of Kilted) computes these hashes from the same
/// definitions.
#[test]
fn hashes_are_those_of_stock_ros_2() {
    for (name, hash, expected) in [
        (JointTarget::TYPE_NAME, JointTarget::TYPE_HASH, include_str!("hashes/JointTarget")),
        (ArmTargets::TYPE_NAME, ArmTargets::TYPE_HASH, include_str!("hashes/ArmTargets")),
        (PlanPath::TYPE_NAME, PlanPath::TYPE_HASH, include_str!("hashes/PlanPath")),
        (Dock::TYPE_NAME, Dock::TYPE_HASH, include_str!("hashes/Dock")),
    ] {
        assert_eq!(hash.to_string(), expected.trim(), "{name}");
    }
}

#[test]
fn an_action_wraps_and_unwraps_its_messages() {
    let goal_id = [7; 16];
    let message = Dock::feedback_message(goal_id, Dock_Feedback { distance: 0.5 });
    let bytes = to_vec(&message).unwrap();
    let received = from_bytes(&bytes).unwrap();
    assert_eq!(Dock::open_feedback_message(received), (goal_id, Dock_Feedback { distance: 0.5 }));
    let response = Dock::send_goal_response(true, 5, 6);
    assert_eq!(Dock::open_send_goal_response(&response), (true, 5, 6));
    assert_eq!(<Dock as Action>::SendGoal::TYPE_NAME, "robot_interfaces/action/Dock_SendGoal");
}
