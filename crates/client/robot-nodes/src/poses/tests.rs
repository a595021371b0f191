//! Joint states of a small arm, whose transforms are known by hand.

use std::f64::consts::FRAC_PI_2;

use feros::msgs::builtin_interfaces::msg::Time as Stamp;
use feros_tf2::Transform;
use feros_tf2::glam::DVec3;

use super::*;

const SECOND: i64 = 1_000_000_000;
const MS: i64 = 1_000_000;

/// A base with a fixed laser, an arm that turns about y at the height of 1 m, a slide along x that
/// mimics the arm, and a finger that mimics the slide.
fn robot() -> Robot {
    let joint = |name: &str, kind: &str, parent: &str, child: &str, more: &str| {
        format!(
            "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/>\
             <child link=\"{child}\"/>{more}</joint>"
        )
    };
    let text = String::from("<robot name=\"r\">")
        + "<link name=\"base\"/><link name=\"laser\"/><link name=\"arm\"/><link name=\"slide\"/>\
           <link name=\"finger\"/><link name=\"free\"/>"
        + &joint("mount", "fixed", "base", "laser", "<origin xyz=\"0.5 0 0\"/>")
        + &joint("turn", "revolute", "base", "arm", "<origin xyz=\"0 0 1\"/><axis xyz=\"0 1 0\"/>")
        + &joint(
            "grip",
            "prismatic",
            "slide",
            "finger",
            "<mimic joint=\"push\" multiplier=\"-1\"/>",
        )
        + &joint(
            "push",
            "prismatic",
            "arm",
            "slide",
            "<mimic joint=\"turn\" multiplier=\"2\" offset=\"0.25\"/>",
        )
        + &joint("float", "floating", "base", "free", "")
        + "</robot>";
    text.parse().unwrap()
}

fn state(stamp: i64, values: &[(&str, f64)]) -> JointState {
    let mut state = JointState::default();
    state.header.stamp = Stamp::from_nanos(stamp);
    state.name = values.iter().map(|(name, _)| (*name).to_owned()).collect();
    state.position = values.iter().map(|(_, position)| *position).collect();
    state
}

fn rules() -> Rules {
    Rules::new(20.0, false)
}

/// The parents, children and transforms that an update publishes.
fn published(update: &Update<'_>) -> Vec<(String, String, Transform)> {
    let transforms = update.transforms.iter().flat_map(|message| &message.transforms);
    transforms
        .map(|stamped| {
            let transform = Transform::from(&stamped.transform);
            (stamped.header.frame_id.clone(), stamped.child_frame_id.clone(), transform)
        })
        .collect()
}

#[test]
fn mimicking_joints_follow_through_other_joints() {
    let mut poses = Poses::new(robot(), "left/");
    let now = Time::from_nanos(10 * SECOND);
    let state = state(10 * SECOND, &[("turn", FRAC_PI_2)]);
    let update = poses.update(&state, now, rules());
    assert_eq!(update.notes, []);
    let [turn, grip, push] = &published(&update)[..] else { panic!("three: {update:?}") };
    assert_eq!((turn.0.as_str(), turn.1.as_str()), ("left/base", "left/arm"));
    // A quarter about y takes x to -z.
    let end = turn.2.transform_point(DVec3::X);
    assert!((end - DVec3::new(0.0, 0.0, 0.0)).length() < 1e-12, "{end}");
    assert_eq!((push.0.as_str(), push.1.as_str()), ("left/arm", "left/slide"));
    let pushed = 2.0 * FRAC_PI_2 + 0.25;
    assert!((push.2.translation - DVec3::new(pushed, 0.0, 0.0)).length() < 1e-12);
    assert!((grip.2.translation - DVec3::new(-pushed, 0.0, 0.0)).length() < 1e-12);
    let stamps = update.transforms.as_ref().unwrap().transforms.iter();
    let stamps: Vec<i64> = stamps.map(|transform| transform.header.stamp.to_nanos()).collect();
    assert_eq!(stamps, [10 * SECOND; 3]);
}

#[test]
fn a_position_of_the_message_takes_precedence_over_mimicking() {
    let mut poses = Poses::new(robot(), "");
    let now = Time::from_nanos(SECOND);
    let update = poses.update(&state(SECOND, &[("push", 0.5), ("push", 9.0)]), now, rules());
    let [grip, push] = &published(&update)[..] else { panic!("two: {update:?}") };
    assert_eq!((push.2.translation.x, grip.2.translation.x), (0.5, -0.5), "the first value counts");
}

#[test]
fn the_frequency_limits_what_is_published_by_the_stamps() {
    let mut poses = Poses::new(robot(), "");
    let mut sent = |stamp: i64, joint: &str| {
        let update =
            poses.update(&state(stamp, &[(joint, 0.0)]), Time::from_nanos(9 * SECOND), rules());
        assert_eq!(update.notes, []);
        update.transforms.is_some()
    };
    assert!(sent(SECOND, "turn"));
    assert!(!sent(SECOND + 49 * MS, "turn"));
    assert!(sent(SECOND + 50 * MS, "turn"));
    assert!(sent(SECOND + 50 * MS, "grip"), "another joint has its own time");
    assert!(!sent(SECOND + 99 * MS, "turn"));
    assert!(!sent(SECOND - 1, "turn"), "an older message");
    // Intervals have whole milliseconds.
    assert_eq!(Rules::new(30.0, false).interval, Duration::from_millis(33));
    assert_eq!(Rules::new(0.0, false).interval, Duration::ZERO);
    assert!(Rules::new(f64::MIN_POSITIVE, false).interval > Duration::from_secs(1_000_000));
}

#[test]
fn a_message_with_a_joint_that_is_due_is_published_whole() {
    let mut poses = Poses::new(robot(), "");
    let now = Time::from_nanos(SECOND);
    assert!(poses.update(&state(SECOND, &[("turn", 0.0)]), now, rules()).transforms.is_some());
    let both = state(SECOND + MS, &[("turn", 0.0), ("push", 0.0)]);
    let update = poses.update(&both, now, rules());
    assert_eq!(published(&update).len(), 3, "turn, push, and grip that mimics push");
}

#[test]
fn stamps_may_be_ignored_and_missing_ones_are_reported() {
    let mut poses = Poses::new(robot(), "");
    let now = Time::from_nanos(SECOND);
    let unstamped = state(0, &[("turn", 0.0)]);
    let update = poses.update(&unstamped, now, rules());
    assert_eq!((update.transforms.is_some(), update.notes), (false, vec![Note::NoStamp]));
    assert_eq!(poses.update(&unstamped, now, rules()).notes, [], "once");
    let ignoring = Rules::new(20.0, true);
    for _ in 0..3 {
        assert!(poses.update(&unstamped, now, ignoring).transforms.is_some());
    }
}

#[test]
fn after_the_clock_went_back_all_joints_are_published_again() {
    let mut poses = Poses::new(robot(), "");
    let mut sent = |stamp: i64| {
        let update =
            poses.update(&state(stamp, &[("turn", 0.0)]), Time::from_nanos(stamp), rules());
        (update.transforms.is_some(), update.notes)
    };
    assert_eq!(sent(100 * SECOND), (true, vec![]));
    assert_eq!(sent(SECOND), (true, vec![Note::MovedBack]));
    assert_eq!(sent(SECOND + MS), (false, vec![]));
    assert_eq!(sent(SECOND + 60 * MS), (true, vec![]));
}

#[test]
fn a_stamp_from_the_future_does_not_stop_later_messages() {
    let mut poses = Poses::new(robot(), "");
    let mut sent = |stamp: i64, now: i64| {
        let update = poses.update(&state(stamp, &[("turn", 0.0)]), Time::from_nanos(now), rules());
        update.transforms.is_some()
    };
    assert!(sent(1_000_000 * SECOND, SECOND));
    assert!(sent(SECOND + 100 * MS, SECOND + 100 * MS));
    assert!(!sent(SECOND + 110 * MS, SECOND + 110 * MS), "the limit holds again");
    assert!(sent(i64::from(i32::MAX) * SECOND, SECOND + 120 * MS));
    assert!(sent(i64::from(i32::MIN) * SECOND, SECOND + 130 * MS));
}

#[test]
fn unknown_joints_are_reported_once_and_not_remembered_without_bound() {
    let mut poses = Poses::new(robot(), "");
    let now = Time::from_nanos(SECOND);
    let update = poses.update(&state(SECOND, &[("wheel", 1.0), ("turn", 0.0)]), now, rules());
    assert_eq!(published(&update).len(), 3);
    let [Note::Unknown { joints, is_last: false }] = &update.notes[..] else { panic!("a note") };
    assert_eq!(joints, &["wheel"]);
    let update = poses.update(&state(2 * SECOND, &[("wheel", 1.0)]), now, rules());
    assert!(update.transforms.is_none() && update.notes.is_empty(), "{update:?}");
    let mut notes = 0;
    for number in 0..1000 {
        let name = format!("{number}{}", "x".repeat(200));
        let update = poses.update(&state(SECOND, &[(&name, 1.0)]), now, rules());
        notes += update.notes.len();
    }
    assert_eq!(notes, MOST_UNKNOWN - 1);
    assert!(poses.selections.len() <= MOST_SELECTIONS && poses.unknown.len() <= MOST_UNKNOWN);
}

#[test]
fn malformed_messages_are_ignored_and_reported_once() {
    let mut poses = Poses::new(robot(), "");
    let now = Time::from_nanos(SECOND);
    let mut message = state(SECOND, &[("turn", 0.0), ("push", 0.0)]);
    message.position.pop();
    let update = poses.update(&message, now, rules());
    assert_eq!(update.notes, [Note::Lengths { names: 2, positions: 1 }]);
    assert!(update.transforms.is_none());
    assert_eq!(poses.update(&message, now, rules()).notes, []);
    message.position.clear();
    let update = poses.update(&message, now, rules());
    assert_eq!(update.notes, [Note::NoPositions { joint: "turn".into() }]);
    message.name.clear();
    let update = poses.update(&message, now, rules());
    assert!(update.transforms.is_none() && update.notes.is_empty(), "an empty message is nothing");
}

#[test]
fn positions_that_are_no_numbers_are_left_out() {
    let mut poses = Poses::new(robot(), "");
    let now = Time::from_nanos(SECOND);
    let update = poses.update(&state(SECOND, &[("turn", f64::NAN)]), now, rules());
    assert!(update.transforms.is_none());
    assert_eq!(update.notes, [Note::NotFinite { joint: "turn".into() }]);
    let mixed = state(2 * SECOND, &[("push", f64::INFINITY), ("turn", 0.5)]);
    let update = poses.update(&mixed, now, rules());
    let [turn] = &published(&update)[..] else { panic!("push and grip are left out: {update:?}") };
    assert_eq!(turn.1, "arm");
    let again = state(3 * SECOND, &[("push", 1.0), ("turn", 0.5)]);
    assert_eq!(published(&poses.update(&again, now, rules())).len(), 3);
    let large = state(4 * SECOND, &[("push", f64::MAX), ("turn", f64::MAX)]);
    let update = poses.update(&large, now, rules());
    let is_finite = |pose: &Transform| pose.translation.is_finite() && pose.rotation.is_finite();
    assert!(published(&update).iter().all(|(.., pose)| is_finite(pose)), "{update:?}");
}

#[test]
fn a_joint_may_mimic_a_joint_of_another_robot() {
    let text = r#"<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="prismatic">
        <parent link="a"/><child link="b"/><mimic joint="leader"/></joint></robot>"#;
    let mut poses = Poses::new(text.parse().unwrap(), "");
    let now = Time::from_nanos(SECOND);
    let update = poses.update(&state(SECOND, &[("leader", 0.5)]), now, rules());
    assert_eq!(update.notes, []);
    assert_eq!(published(&update)[0].2.translation.x, 0.5);
    let soon = poses.update(&state(SECOND + MS, &[("leader", 0.5)]), now, rules());
    assert!(soon.transforms.is_none(), "the frequency limits it as well");
}

#[test]
fn fixed_joints_have_static_transforms() {
    let message = fixed_transforms(&robot(), "p_", Time::from_nanos(5 * SECOND));
    let [mount] = &message.transforms[..] else { panic!("one: {message:?}") };
    assert_eq!(
        (mount.header.frame_id.as_str(), mount.child_frame_id.as_str()),
        ("p_base", "p_laser")
    );
    assert_eq!(mount.transform.translation.x, 0.5);
    assert_eq!(mount.header.stamp.to_nanos(), 5 * SECOND);
}
