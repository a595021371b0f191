//! The listener and the broadcasters on the real engine, over loopback.
#![allow(clippy::unwrap_used)]

use feros::engine::SessionOptions;
use feros::msgs::geometry_msgs::msg::TransformStamped;
use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::msgs::tf2_msgs::msg::TFMessage;
use feros::{
    Arguments, Context, ContextOptions, Durability, Executor, Node, NodeOptions, QosProfile,
    Reliability,
};
use feros_test_support::{Background, WATCHDOG, eventually, until};
use feros_tf2::glam::DVec3;
use feros_tf2::{
    Buffer, ListenerOptions, StaticTransformBroadcaster, Time, Transform, TransformBroadcaster,
    TransformListener, WaitError,
};

/// A context on loopback for one test. The topics of tf2 are absolute, so each test remaps them.
fn context() -> Context {
    let test = std::thread::current().name().unwrap().replace("::", "_");
    let line = format!(
        "--ros-args -r /tf:=/{test}/tf -r /tf_static:=/{test}/tf_static -r /clock:=/{test}/clock"
    );
    let (arguments, _) = Arguments::parse(line.split_whitespace().map(str::to_owned)).unwrap();
    Context::new(ContextOptions {
        arguments,
        ..ContextOptions::new(SessionOptions::localhost(feros_test_support::own_domain()))
    })
    .unwrap()
}

fn spinning(node: &Node) -> Background {
    let executor = Executor::new();
    executor.add_node(node).unwrap();
    let stopper = executor.stopper();
    Background::start("spinning", move || executor.spin().unwrap(), move || stopper.stop())
}

fn at(parent: &str, child: &str, x: f64, seconds: i64) -> TransformStamped {
    let stamp = Time::from_nanos(seconds * 1_000_000_000);
    Transform::from_translation(DVec3::new(x, 0.0, 0.0)).to_stamped(parent, child, stamp)
}

#[test]
fn transforms_of_one_context_are_known_in_another() {
    let (there, here) = (context(), context());
    let robot = there.create_node("robot").unwrap();
    let moving = TransformBroadcaster::new(&robot).unwrap();
    let fixed = StaticTransformBroadcaster::new(&robot).unwrap();
    fixed.send_transform(at("base", "laser", 0.25, 0)).unwrap();
    fixed.send_transform(at("base", "camera", 0.5, 0)).unwrap();

    let node = here.create_node("listener").unwrap();
    let buffer = Buffer::new();
    let listener = TransformListener::new(&node, &buffer).unwrap();
    // No executor spins the node, since the listener has a thread. Earlier static transforms are
    // known as well.
    let waits = buffer.wait_for_transform("laser", "camera", Time::ZERO);
    assert_eq!(waits.wait(WATCHDOG).unwrap().transform.translation.x, 0.25);

    moving.publisher().wait_for_subscriptions(1, WATCHDOG).unwrap();
    let waits = buffer.wait_for_transform("odom", "camera", Time::from_nanos(10_500_000_000));
    moving.send_transforms(vec![at("odom", "base", 1.0, 10)]).unwrap();
    moving.send_transform(at("odom", "base", 2.0, 11)).unwrap();
    assert_eq!(waits.wait(WATCHDOG).unwrap().transform.translation.x, 2.0);
    until("the publisher has a name", || {
        moving.send_transform(at("odom", "base", 2.0, 11)).unwrap();
        buffer.frames()["base"].authority == "/robot"
    });
    let qos = listener.subscriptions()[0].qos();
    assert_eq!(
        (qos.durability, qos.reliability),
        (Durability::TransientLocal, Reliability::Reliable)
    );
    assert_eq!(listener.subscriptions()[1].qos().durability, Durability::Volatile);
}

#[test]
fn a_callback_may_wait_for_transforms_that_come_on_the_listeners_thread() {
    let context = context();
    let node = context.create_node("waiting").unwrap();
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&node, &buffer).unwrap();
    let moving = TransformBroadcaster::new(&node).unwrap();
    moving.publisher().wait_for_subscriptions(1, WATCHDOG).unwrap();
    let (sender, found) = std::sync::mpsc::sync_channel(1);
    let _timer = node
        .create_wall_timer(std::time::Duration::from_millis(1), move || {
            moving.send_transform(at("odom", "base", 1.0, 10)).unwrap();
            let waits = buffer.wait_for_transform("odom", "base", Time::ZERO);
            let _ = sender.try_send(waits.wait(WATCHDOG)); // the first result is enough
        })
        .unwrap();
    let _spinning = spinning(&node);
    assert!(found.recv().unwrap().is_ok());
}

#[test]
fn without_a_thread_the_nodes_executor_fills_the_buffer() {
    let context = context();
    let node = context.create_node("spun").unwrap();
    let buffer = Buffer::new();
    let options = ListenerOptions::default().dedicated_thread(false);
    let _listener = TransformListener::with(&node, &buffer, options).unwrap();
    let fixed = StaticTransformBroadcaster::new(&node).unwrap();
    fixed.send_transform(at("base", "laser", 0.25, 0)).unwrap();
    let waits = buffer.wait_for_transform("base", "laser", Time::ZERO);
    let error = waits.wait(std::time::Duration::from_millis(1)).unwrap_err();
    assert!(matches!(error, WaitError::Timeout { changes: 0, .. }), "{error}");
    let _spinning = spinning(&node);
    let waits = buffer.wait_for_transform("base", "laser", Time::ZERO);
    assert!(waits.wait(WATCHDOG).is_ok());
}

#[test]
fn refused_transforms_are_counted_and_do_not_block_others() {
    let context = context();
    let node = context.create_node("refusing").unwrap();
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&node, &buffer).unwrap();
    let raw = node.create_publisher::<TFMessage>("/tf", 100).unwrap();
    raw.wait_for_subscriptions(1, WATCHDOG).unwrap();
    let transforms = vec![at("a", "a", 0.0, 1), at("", "b", 0.0, 1), at("a", "b", 0.0, 1)];
    raw.publish(TFMessage { transforms }).unwrap();
    until("all were heard", || buffer.counts().set == 1);
    let refused = buffer.counts().refused;
    assert_eq!((refused.self_transform, refused.no_frame_id), (1, 1));
}

#[test]
fn the_buffer_is_cleared_when_simulated_time_jumps_back() {
    let context = context();
    let node = context.create_node_with(NodeOptions::new("simulated").use_sim_time(true)).unwrap();
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&node, &buffer).unwrap();
    let moving = TransformBroadcaster::new(&node).unwrap();
    let fixed = StaticTransformBroadcaster::new(&node).unwrap();
    let clock = node.create_publisher::<Clock>("/clock", QosProfile::clock()).unwrap();
    let tell = |sec: i32| {
        eventually(|| {
            let mut message = Clock::default();
            message.clock.sec = sec;
            clock.publish(message).unwrap();
            let now = node.clock().now().as_nanos();
            if now == i64::from(sec) * 1_000_000_000 { Ok(()) } else { Err(format!("{now}")) }
        });
    };
    tell(20);
    moving.publisher().wait_for_subscriptions(1, WATCHDOG).unwrap();
    moving.send_transform(at("odom", "base", 1.0, 20)).unwrap();
    fixed.send_transform(at("base", "laser", 0.5, 0)).unwrap();
    assert!(buffer.wait_for_transform("odom", "laser", Time::ZERO).wait(WATCHDOG).is_ok());
    tell(5);
    until("the buffer was cleared", || !buffer.can_transform("odom", "base", Time::ZERO));
    assert!(buffer.can_transform("base", "laser", Time::ZERO), "static transforms stay");
    // A transform that would have been too old before the jump is now the newest.
    moving.send_transform(at("odom", "base", 3.0, 5)).unwrap();
    let found = buffer.wait_for_transform("odom", "base", Time::ZERO).wait(WATCHDOG).unwrap();
    assert_eq!(found.transform.translation.x, 3.0);
}

#[test]
fn waiting_ends_with_the_context() {
    let context = context();
    let node = context.create_node("ending").unwrap();
    let buffer = Buffer::new();
    let _listener = TransformListener::new(&node, &buffer).unwrap();
    let waits = buffer.wait_for_transform("odom", "base", Time::ZERO);
    let waiter = feros_test_support::spawn("waiter", move || waits.wait(WATCHDOG));
    context.shutdown();
    let error = waiter.join().unwrap().unwrap_err();
    assert!(matches!(error, WaitError::Closed(_)), "{error}");
}
