//! The answers of a buffer, its errors and their messages, and waiting for unknown transforms.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use feros_msgs::geometry_msgs::msg::{PointStamped, PoseStamped, TransformStamped};
use feros_msgs::sensor_msgs::msg::PointCloud2;
use feros_test_support::{WATCHDOG, spawn};
use feros_tf2::glam::{DQuat, DVec3};
use feros_tf2::{
    Buffer, BufferWatcher, InsertError, LookupError, Readiness, Time, Transform, TransformError,
    WaitError,
};

fn seconds(seconds: f64) -> Time {
    Time::from_nanos((seconds * 1e9).round() as i64)
}

fn at(parent: &str, child: &str, x: f64, time: f64) -> TransformStamped {
    Transform::from_translation(DVec3::new(x, 0.0, 0.0)).to_stamped(parent, child, seconds(time))
}

fn buffer(transforms: &[TransformStamped]) -> Buffer {
    let buffer = Buffer::new();
    buffer.set_transforms(transforms, "test", false, |error| panic!("{error}"));
    buffer
}

fn robot() -> Buffer {
    let buffer = buffer(&[
        at("map", "odom", 1.0, 10.0),
        at("map", "odom", 1.0, 12.0),
        at("odom", "base", 0.0, 10.0),
        at("odom", "base", 2.0, 11.0),
    ]);
    buffer.set_transform(&at("base", "camera", 0.5, 0.0), "test", true).unwrap();
    buffer
}

fn x(buffer: &Buffer, target: &str, source: &str, time: f64) -> f64 {
    let transform = buffer.lookup_transform(target, source, seconds(time)).unwrap();
    assert_eq!((&*transform.header.frame_id, &*transform.child_frame_id), (target, source));
    transform.transform.translation.x
}

fn error(buffer: &Buffer, target: &str, source: &str, time: f64) -> String {
    buffer.lookup_transform(target, source, seconds(time)).unwrap_err().to_string()
}

#[test]
fn chains_are_followed_up_and_down_and_interpolated() {
    let buffer = robot();
    assert_eq!(x(&buffer, "map", "camera", 10.0), 1.5);
    assert_eq!(x(&buffer, "map", "camera", 10.5), 2.5);
    assert_eq!(x(&buffer, "camera", "map", 10.5), -2.5);
    assert_eq!(x(&buffer, "odom", "base", 11.0), 2.0);
    assert_eq!(x(&buffer, "base", "base", 99.0), 0.0);
    let chain = buffer.chain("camera", "map", seconds(10.0)).unwrap();
    assert_eq!(chain, ["map", "odom", "base", "camera"]);
}

#[test]
fn time_zero_is_the_newest_that_all_of_the_chain_is_known_at() {
    let buffer = robot();
    let newest = buffer.lookup_transform("map", "camera", Time::ZERO).unwrap();
    assert_eq!((newest.header.stamp.sec, newest.transform.translation.x), (11, 3.5));
    let fixed = buffer.lookup_transform("base", "camera", Time::ZERO).unwrap();
    assert_eq!(fixed.header.stamp.to_nanos(), 0, "all of the chain is static");
    assert_eq!(buffer.latest_common_time("odom", "map"), Ok(seconds(12.0)));
}

#[test]
fn a_frame_that_stands_still_joins_two_times() {
    let buffer = robot();
    // This is the camera at 10 s, seen from the base at 11 s. The base has moved on by 2 m by then.
    let found = buffer
        .lookup_transform_full(("base", seconds(11.0)), ("camera", seconds(10.0)), "odom")
        .unwrap();
    assert_eq!((found.transform.translation.x, found.header.stamp.sec), (-1.5, 11));
}

#[test]
fn errors_name_frames_and_times() {
    let buffer = robot();
    buffer.set_transform(&at("other", "tree", 0.0, 10.0), "test", false).unwrap();
    for ((target, source, time), words) in [
        (
            ("map", "camera", 11.5),
            "Lookup would require extrapolation into the future. Requested time 11.500000000 but \
             the latest data of frame [base] is at time 11.000000000, when looking up transform \
             from frame [camera] to frame [map]",
        ),
        (
            ("map", "camera", 9.0),
            "Lookup would require extrapolation into the past. Requested time 9.000000000 but the \
             earliest data of frame [base] is at time 10.000000000, when looking up transform from \
             frame [camera] to frame [map]",
        ),
        (
            ("other", "tree", 11.0),
            "Lookup would require extrapolation at time 11.000000000, but only time 10.000000000 \
             of frame [tree] is in the buffer, when looking up transform from frame [tree] to \
             frame [other]",
        ),
        (
            ("map", "tree", 10.0),
            "Could not find a connection between 'map' and 'tree' because they are not part of the \
             same tree: the root of 'map' is 'map', that of 'tree' is 'other'. A node has to \
             publish the transform from one root to a frame of the other tree",
        ),
        (
            ("map", "camra", 10.0),
            "\"camra\" passed to lookupTransform argument source_frame does not exist; did you \
             mean \"camera\"?",
        ),
        (
            ("", "camera", 10.0),
            "Invalid argument \"\" passed to lookupTransform argument target_frame - in tf2 \
             frame_ids cannot be empty",
        ),
        (
            ("/map", "camera", 10.0),
            "Invalid argument \"/map\" passed to lookupTransform argument target_frame - in tf2 \
             frame_ids cannot start with a '/'",
        ),
    ] {
        assert_eq!(error(&buffer, target, source, time), words);
        assert!(!buffer.can_transform(target, source, seconds(time)));
    }
}

#[test]
fn impossible_transforms_are_refused_with_a_reason_and_counted() {
    let buffer = robot();
    let frames = buffer.frames();
    let refused = |transform: &TransformStamped| {
        buffer.set_transform(transform, "a broken driver", false).unwrap_err().to_string()
    };
    let mut nan = at("map", "gps", 0.0, 10.0);
    nan.transform.translation.y = f64::NAN;
    let mut stretched = at("map", "gps", 0.0, 10.0);
    stretched.transform.rotation.w = 2.0;
    let cases = [
        (at("base", "/base", 0.0, 11.0), "TF_SELF_TRANSFORM"),
        (at("base", "", 0.0, 11.0), "TF_NO_CHILD_FRAME_ID"),
        (at("/", "arm", 0.0, 11.0), "TF_NO_FRAME_ID"),
        (nan, "TF_NAN_INPUT"),
        (stretched, "TF_DENORMALIZED_QUATERNION"),
        (at("odom", "base", 0.0, 0.5), "TF_OLD_DATA"),
        (at("camera", "odom", 0.0, 13.0), "form a loop: odom -> camera -> base -> odom"),
    ];
    for (transform, words) in &cases {
        let error = refused(transform);
        assert!(error.contains(words) && error.contains("a broken driver"), "{error}");
    }
    assert_eq!(buffer.frames(), frames, "a refused transform left a trace");
    let counts = buffer.counts().refused;
    assert_eq!(counts.total(), cases.len() as u64);
    let each = [
        counts.self_transform,
        counts.no_frame_id,
        counts.not_finite,
        counts.denormalized_quaternion,
        counts.old_data,
        counts.closes_loop,
    ];
    assert_eq!(each, [1, 2, 1, 1, 1, 1], "{counts:?}");
}

#[test]
fn a_frame_may_change_its_parent_and_an_expired_tree_may_turn_round() {
    let buffer = buffer(&[at("left", "cup", 1.0, 10.0), at("right", "cup", 2.0, 11.0)]);
    assert_eq!(x(&buffer, "left", "cup", 10.5), 1.0, "between two parents the older one holds");
    assert_eq!(x(&buffer, "right", "cup", 11.0), 2.0);
    let too_early = buffer.set_transform(&at("cup", "right", 0.0, 12.0), "test", false);
    assert!(matches!(too_early, Err(InsertError::Loop { .. })), "{too_early:?}");
    buffer.set_transform(&at("cup", "right", 5.0, 30.0), "test", false).unwrap();
    assert_eq!(buffer.counts().forgotten, 1);
    assert_eq!(x(&buffer, "cup", "right", 30.0), 5.0);
}

#[test]
fn parents_that_go_round_at_a_past_time_are_reported_as_a_loop() {
    let buffer = buffer(&[
        at("b", "a", 0.0, 10.0),
        at("c", "a", 0.0, 12.0),
        at("a", "b", 0.0, 12.0),
        at("c", "b", 0.0, 13.0),
    ]);
    // This late transform makes the frames form a loop at 10 s.
    buffer.set_transform(&at("a", "b", 0.0, 10.0), "late", false).unwrap();
    let text = error(&buffer, "c", "a", 10.0);
    assert!(text.contains("contains a loop at time 10.000000000: a -> b -> a"), "{text}");
}

#[test]
fn clearing_forgets_what_moves_and_keeps_what_is_static() {
    let buffer = robot();
    buffer.clear();
    assert_eq!(x(&buffer, "base", "camera", 77.0), 0.5);
    let text = error(&buffer, "map", "camera", 10.0);
    assert!(text.contains("that of 'camera' is 'base'"), "{text}");
    assert!(buffer.has_frame("odom"), "frames stay known");
    buffer.set_transform(&at("odom", "base", 0.0, 1.0), "test", false).unwrap();
    assert_eq!(x(&buffer, "odom", "base", 1.0), 0.0, "time began anew");
}

#[test]
fn messages_are_said_in_other_frames() {
    let buffer = robot();
    let mut point = PointStamped::default();
    point.header.frame_id = "camera".into();
    point.header.stamp.sec = 10;
    let found = buffer.transform(&point, "map").unwrap();
    assert_eq!((found.point.x, &*found.header.frame_id, found.header.stamp.sec), (1.5, "map", 10));
    let mut pose = PoseStamped { header: point.header.clone(), ..PoseStamped::default() };
    pose.pose.position.x = 1.0;
    assert_eq!(buffer.transform(&pose, "odom").unwrap().pose.position.x, 1.5);
    point.header.stamp.sec = 20;
    let error = buffer.transform(&point, "map").unwrap_err();
    assert!(matches!(error, TransformError::Lookup(LookupError::Future { .. })), "{error}");
    let mut cloud = PointCloud2 { header: pose.header, width: 1, height: 1, ..Default::default() };
    (cloud.point_step, cloud.row_step, cloud.data) = (4, 4, vec![0; 4]);
    let error = buffer.transform(&cloud, "map").unwrap_err();
    assert!(error.to_string().contains("no field \"x\""), "{error}");
}

#[test]
fn frames_are_listed_as_tf2_lists_them() {
    let buffer = robot();
    let text = buffer.all_frames_as_string();
    assert!(text.contains("Frame camera exists with parent base.\n"), "{text}");
    let yaml = buffer.all_frames_as_yaml(seconds(13.0));
    assert!(yaml.contains("'base':\n  parent: 'odom'\n  broadcaster: 'test'\n"), "{yaml}");
    assert!(yaml.contains("transform_delay: 2.000000000\n  buffer_length: 1.000"), "{yaml}");
    let odom = &buffer.frames()["odom"];
    assert_eq!((odom.rate_hz(), odom.samples, odom.is_static), (Some(0.5), 2, false));
    assert_eq!(Buffer::new().all_frames_as_yaml(Time::ZERO), "{}\n");
}

#[test]
fn a_thread_waits_until_the_transform_comes() {
    let buffer = robot();
    let future = buffer.wait_for_transform("map", "base", seconds(11.5));
    let waiter = spawn("waiter", move || future.wait(WATCHDOG));
    buffer.set_transform(&at("odom", "base", 3.0, 12.0), "test", false).unwrap();
    let found = waiter.join().unwrap().unwrap();
    assert_eq!(found.transform.translation.x, 3.5);
}

#[test]
fn waiting_in_vain_says_why_and_what_came_meanwhile() {
    let buffer = robot();
    let wait = |time: f64, timeout| {
        buffer.wait_for_transform("map", "base", seconds(time)).wait(timeout).unwrap_err()
    };
    let error = wait(20.0, Duration::from_millis(1));
    assert!(matches!(error, WaitError::Timeout { changes: 0, .. }), "{error}");
    assert!(error.to_string().contains("Nothing at all came"), "{error}");
    buffer.set_transform(&at("odom", "base", 3.0, 25.0), "test", false).unwrap();
    let error = wait(10.0, WATCHDOG);
    assert!(matches!(error, WaitError::Hopeless(_)), "{error}");
    assert_eq!(buffer.readiness("map", "base", seconds(10.0)), Readiness::Never);
    assert_eq!(buffer.readiness("map", "gripper", seconds(10.0)), Readiness::NotYet);
    buffer.close();
    let error = wait(40.0, WATCHDOG);
    assert!(matches!(error, WaitError::Closed(_)), "{error}");
}

#[test]
fn nobody_waits_for_a_name_that_no_frame_can_have() {
    let buffer = robot();
    for (target, source) in [("unknown", "/base"), ("", "unknown"), ("unknown", "")] {
        let error = buffer.wait_for_transform(target, source, Time::ZERO).wait(WATCHDOG);
        assert!(matches!(error, Err(WaitError::Hopeless(_))), "{error:?}");
        assert_eq!(buffer.readiness(target, source, Time::ZERO), Readiness::Never);
    }
}

#[test]
fn the_newest_time_is_worth_waiting_for_however_far_apart_the_frames_are() {
    let buffer = buffer(&[
        at("map", "odom", 0.0, 10.0),
        at("odom", "base", 0.0, 100.0),
        at("odom", "base", 0.0, 101.0),
    ]);
    let text = error(&buffer, "map", "base", 0.0);
    assert!(text.contains("Requested time 10.000000000 but the earliest"), "{text}");
    assert_eq!(buffer.readiness("map", "base", Time::ZERO), Readiness::NotYet);
    assert_eq!(buffer.readiness("map", "base", seconds(10.0)), Readiness::Never);
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_task_is_woken_by_what_comes_and_forgotten_when_it_gives_up() {
    let buffer = robot();
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = Box::pin(buffer.wait_for_transform("map", "base", seconds(11.5)));
    let given_up = Box::pin(buffer.wait_for_transform("map", "base", seconds(11.5)));
    let mut given_up = given_up;
    assert!(future.as_mut().poll(&mut context).is_pending());
    assert!(given_up.as_mut().poll(&mut context).is_pending());
    drop(given_up);
    buffer.set_transform(&at("odom", "arm", 0.0, 1.0), "test", false).unwrap();
    assert_eq!(woken.0.load(Ordering::SeqCst), 1, "of another frame, but it has to look");
    assert!(future.as_mut().poll(&mut context).is_pending());
    buffer.set_transform(&at("odom", "base", 3.0, 12.0), "test", false).unwrap();
    assert_eq!(woken.0.load(Ordering::SeqCst), 2);
    assert!(matches!(future.as_mut().poll(&mut context), Poll::Ready(Ok(_))));
}

#[test]
fn watchers_are_notified_once_per_message_while_they_live() {
    #[derive(Default)]
    struct Watcher {
        came: AtomicUsize,
        cleared: AtomicUsize,
    }
    impl BufferWatcher for Watcher {
        fn transforms_came(&self) {
            self.came.fetch_add(1, Ordering::SeqCst);
        }
        fn buffer_cleared(&self) {
            self.cleared.fetch_add(1, Ordering::SeqCst);
        }
    }
    let buffer = Buffer::new();
    let watcher = Arc::new(Watcher::default());
    buffer.watch(Arc::downgrade(&watcher) as Weak<dyn BufferWatcher>);
    let message = [at("a", "b", 0.0, 1.0), at("a", "c", 0.0, 1.0)];
    buffer.set_transforms(&message, "test", false, |error| panic!("{error}"));
    buffer.set_transforms(&[at("a", "a", 0.0, 1.0)], "test", false, drop);
    buffer.clear();
    let told = (watcher.came.load(Ordering::SeqCst), watcher.cleared.load(Ordering::SeqCst));
    assert_eq!(told, (1, 1));
}

#[test]
fn rotations_of_a_chain_are_joined_in_order() {
    let turn = |angle: f64| DQuat::from_rotation_z(angle.to_radians());
    let buffer = Buffer::new();
    for (parent, child) in [("a", "b"), ("b", "c")] {
        let step = Transform::new(DVec3::X, turn(90.0));
        buffer.set_transform(&step.to_stamped(parent, child, seconds(1.0)), "test", true).unwrap();
    }
    let (found, _) = buffer.lookup("a", "c", Time::ZERO).unwrap();
    assert!((found.translation - DVec3::new(1.0, 1.0, 0.0)).length() < 1e-12, "{found:?}");
    assert!((found.rotation.dot(turn(180.0)).abs() - 1.0).abs() < 1e-12, "{found:?}");
}
