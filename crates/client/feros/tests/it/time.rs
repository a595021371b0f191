//! Sleeps, rates and jumps with the system's time and with simulated time, and waits for single
//! messages.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use feros::msgs::builtin_interfaces::msg::Time as Stamp;
use feros::msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use feros::msgs::std_msgs::msg::String as Text;
use feros::{
    Clock, ClockChange, ClockType, Context, Error, Executor, JumpThreshold, Node, Outcome,
    Publisher, QosProfile, Rate, Time, TimeJump, WaitError,
};
use feros_test_support::{Background, eventually};

use crate::support::{WATCHDOG, context, context_with, publish_patiently, spinning_node};

/// Runs a wait on a separate thread.
fn waiting<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::Builder::new().name("waiting".into()).spawn(wait).unwrap()
}

const SECOND: Duration = Duration::from_secs(1);

fn seconds(seconds: i64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}

/// Publishes simulated time on a topic of the test.
struct Simulator {
    clock: Publisher<ClockMessage>,
    _node: Node,
}

impl Simulator {
    /// Starts a simulator, and a node that follows its time.
    fn start(topic: &str) -> (Self, Node) {
        let follow = context_with(&format!("--ros-args -p use_sim_time:=true -r /clock:={topic}"));
        let node = follow.create_node("follower").unwrap();
        let simulating = context().create_node("simulator").unwrap();
        let clock = simulating.create_publisher(topic, QosProfile::keep_last(10)).unwrap();
        let simulator = Self { clock, _node: simulating };
        // The time is published repeatedly, because one endpoint may find the match before the
        // other, and `/clock` is best effort.
        eventually(|| {
            simulator.set(1);
            if node.now() == seconds(1) { Ok(()) } else { Err("the node follows nobody") }
        });
        (simulator, node)
    }

    fn set(&self, sec: i32) {
        publish_patiently(&self.clock, &ClockMessage { clock: Stamp { sec, nanosec: 0 } });
    }

    /// Sets the time, and waits until the node shows it.
    fn set_and_wait(&self, sec: i32, node: &Node) {
        self.set(sec);
        while node.now() != seconds(sec.into()) {
            std::thread::yield_now();
        }
    }
}

#[test]
fn stamps_and_times_are_the_same() {
    let stamp = Stamp { sec: 7, nanosec: 5 };
    let time = Time::from(&stamp);
    assert_eq!((time, Stamp::from(time)), (Time::from_nanos(7_000_000_005), stamp));
    let node = context().create_node("node").unwrap();
    let (before, now) = (Clock::new(ClockType::System).now(), node.now());
    assert!(now >= before && now.as_secs_f64() > 1e9);
}

#[test]
fn sleeping_ends_with_its_time_or_the_context() {
    let context = context();
    for clock in [ClockType::Steady, ClockType::System, ClockType::Ros].map(Clock::new) {
        let until = clock.now() + Duration::from_millis(5);
        assert!(clock.sleep_until(until, &context) && clock.now() >= until);
        assert!(clock.sleep_for(Duration::ZERO, &context));
    }
    let sleeper = context.clone();
    let sleeping = waiting(move || {
        Clock::new(ClockType::Steady).sleep_for(Duration::from_secs(3600), &sleeper)
    });
    context.shutdown();
    assert!(!sleeping.join().unwrap());
    assert!(!Clock::new(ClockType::Steady).sleep_for(SECOND, &context));
}

#[test]
fn simulated_sleepers_wake_when_their_time_comes_or_its_source_changes() {
    let (simulator, node) = Simulator::start("/simulated/sleepers/clock");
    simulator.set_and_wait(10, &node);
    let sleep = |until: i64| {
        let node = node.clone();
        waiting(move || node.clock().sleep_until(seconds(until), node.context()))
    };
    // The second time lies in the future for the system's clock too, because the sleeping thread
    // may start with either clock.
    let (first, second) = (sleep(20), sleep(8_000_000_000));
    simulator.set_and_wait(15, &node);
    simulator.set_and_wait(20, &node);
    assert!(first.join().unwrap());
    while !second.is_finished() {
        node.set_parameter("use_sim_time", false).unwrap();
        node.set_parameter("use_sim_time", true).unwrap();
    }
    assert!(!second.join().unwrap(), "the clock that it slept by was another one");
}

#[test]
fn a_rate_paces_a_loop() {
    let (simulator, node) = Simulator::start("/rate/clock");
    simulator.set_and_wait(100, &node);
    let mut rate = Rate::new(&node, 10 * SECOND);
    simulator.set_and_wait(115, &node);
    assert!(!rate.sleep(), "the round ended at 110");
    rate.reset();
    let sleeping = waiting(move || rate.sleep());
    let mut sec = 115;
    while !sleeping.is_finished() {
        sec += 1;
        simulator.set_and_wait(sec, &node);
    }
    sleeping.join().unwrap();
    assert!(sec >= 125, "it slept until {sec}");
    let context = context();
    let mut wall = Rate::wall(&context, Duration::from_millis(1));
    assert!((0..3).any(|_| wall.sleep()) && wall.period() == Duration::from_millis(1));
}

#[test]
fn jumps_are_reported_before_and_after() {
    let (simulator, node) = Simulator::start("/jumps/clock");
    simulator.set_and_wait(10, &node);
    /// The name of the callback, the jump, and the clock's time during the call.
    type Heard = (&'static str, TimeJump, Time);
    let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
    let listen = |what: &'static str| {
        let (heard, clock) = (heard.clone(), node.clock().clone());
        move |jump: &TimeJump| heard.lock().unwrap().push((what, *jump, clock.now()))
    };
    let threshold = JumpThreshold {
        on_clock_change: true,
        min_forward: Some(5 * SECOND),
        min_backward: Some(SECOND),
    };
    let guard = node.clock().create_jump_callback(threshold, listen("before"), listen("after"));
    simulator.set_and_wait(14, &node);
    simulator.set_and_wait(19, &node);
    simulator.set_and_wait(3, &node);
    node.set_parameter("use_sim_time", false).unwrap();
    eventually(|| match heard.lock().unwrap().len() {
        6 => Ok(()),
        count => Err(format!("{count} calls")),
    });
    let heard_so_far = std::mem::take(&mut *heard.lock().unwrap());
    let jump = |before, after| TimeJump {
        clock_change: ClockChange::None,
        before: seconds(before),
        after: seconds(after),
    };
    assert_eq!(
        heard_so_far[..4],
        [
            ("before", jump(14, 19), seconds(14)),
            ("after", jump(14, 19), seconds(19)),
            ("before", jump(19, 3), seconds(19)),
            ("after", jump(19, 3), seconds(3)),
        ]
    );
    assert_eq!(jump(19, 3).delta_nanos(), -16_000_000_000);
    for (_, jump, _) in &heard_so_far[4..] {
        assert_eq!((jump.clock_change, jump.delta_nanos()), (ClockChange::SimulatedTimeOff, 0));
    }
    drop(guard);
    node.set_parameter("use_sim_time", true).unwrap();
    assert!(heard.lock().unwrap().is_empty());
}

/// Publishes a text periodically until the returned values are dropped.
fn talking(context: &Context, topic: &str) -> (Node, feros::NodeTimer, Background) {
    let node = context.create_node("talker").unwrap();
    let publisher = node.create_publisher::<Text>(topic, 10).unwrap();
    let timer = node
        .create_wall_timer(Duration::from_millis(5), move || {
            let _ = publisher.publish(Text { data: "hello".into() });
        })
        .unwrap();
    let spinning = spinning_node(&node);
    (node, timer, spinning)
}

#[test]
fn one_message_is_waited_for_in_place_even_inside_a_callback() {
    let (here, there) = (context(), context());
    let _talking = talking(&here, "words");
    let listener = there.create_node("listener").unwrap();
    let text = listener.wait_for_message::<Text>("words", 10, WATCHDOG).unwrap();
    assert_eq!(text.data, "hello");

    let (sender, receiver) = sync_channel(1);
    let inner = listener.clone();
    let _timer = listener
        .create_wall_timer(Duration::from_millis(1), move || {
            let text = inner.wait_for_message::<Text>("words", 10, WATCHDOG).unwrap();
            let _ = sender.try_send(text.data);
        })
        .unwrap();
    let _spinning = spinning_node(&listener);
    assert_eq!(receiver.recv_timeout(WATCHDOG).unwrap(), "hello");
}

#[test]
fn waiting_for_a_message_ends_with_its_time_or_the_context() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let soon = Duration::from_millis(20);
    let error = node.wait_for_message::<Text>("silence", 10, soon).unwrap_err();
    assert!(matches!(error, Error::Wait(WaitError::Timeout { .. })), "{error}");
    let blocked = {
        let node = node.clone();
        waiting(move || node.wait_for_message::<Text>("silence", 10, WATCHDOG))
    };
    let future = node.next_message::<Text>("silence", 10).unwrap();
    context.shutdown();
    let error = blocked.join().unwrap().unwrap_err();
    assert!(matches!(error, Error::Wait(WaitError::Shutdown { .. })), "{error}");
    let executor = Executor::new();
    match executor.spin_until_complete(Some(WATCHDOG), future).unwrap() {
        Outcome::Completed(ended) => {
            assert!(matches!(ended.unwrap_err(), WaitError::Shutdown { .. }));
        }
        other => panic!("the watchdog bit: {other:?}"),
    }
}

#[test]
fn one_message_is_awaited_while_the_node_is_spun() {
    let (here, there) = (context(), context());
    let _talking = talking(&here, "words");
    let listener = there.create_node("listener").unwrap();
    let message = listener.next_message::<Text>("words", 10).unwrap();
    let executor = Executor::new();
    executor.add_node(&listener).unwrap();
    match executor.spin_until_complete(Some(WATCHDOG), message).unwrap() {
        Outcome::Completed(text) => assert_eq!(text.unwrap().data, "hello"),
        other => panic!("the watchdog bit: {other:?}"),
    }
}
