//! Executors of all kinds with nodes: groups, priorities, sequences and isolation. If a message is
//! lost, a test hangs until its watchdog ends it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use feros::msgs::std_msgs::msg::Int32;
use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{
    AddNodeError, CallbackGroupKind, CreateError, Executor, IsolatedExecutors, Node, Outcome,
    ServiceOptions, SubscriptionOptions, TimerOptions, policy,
};

use crate::support::{WATCHDOG, context, context_with, spin_until, spinning};

fn ready(node: &Node, topic: &str) {
    let seen = || !node.subscriptions_info_by_topic(topic).unwrap().is_empty();
    node.context().wait_for_graph(WATCHDOG, || topic, seen).unwrap();
}

#[test]
fn callbacks_of_a_node_never_overlap_by_default_and_those_of_two_nodes_do() {
    let context = context();
    let nodes = ["a", "b"].map(|name| context.create_node(name).unwrap());
    let executor = Executor::builder().threads(3).build();
    assert_eq!(executor.threads(), 3);
    let meeting = Arc::new(Barrier::new(2));
    let (met, meetings) = sync_channel(16);
    let mut kept = Vec::new();
    for node in &nodes {
        let inside = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let inside = inside.clone();
            let busy = move || {
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                std::thread::yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
            };
            kept.push(node.create_wall_timer(Duration::from_micros(50), busy).unwrap());
        }
    }
    let triggers = nodes.each_ref().map(|node| {
        let (meeting, met) = (meeting.clone(), met.clone());
        node.create_guard_condition(move || {
            meeting.wait();
            met.send(()).unwrap();
        })
        .unwrap()
    });
    nodes.iter().for_each(|node| executor.add_node(node).unwrap());
    let spinning = spinning(executor);
    for _ in 0..100 {
        triggers.iter().for_each(|trigger| trigger.trigger());
        meetings.recv().unwrap();
        meetings.recv().unwrap();
    }
    spinning.stop();
}

#[test]
fn subscriptions_of_a_reentrant_group_overlap() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let group = node.create_callback_group(CallbackGroupKind::Reentrant);
    let meeting = Arc::new(Barrier::new(2));
    let (met, meetings) = sync_channel(4);
    let subscriptions = ["left", "right"].map(|topic| {
        let (meeting, met) = (meeting.clone(), met.clone());
        let options = SubscriptionOptions::from(10).callback_group(&group);
        let deliver = move |number: Int32| {
            meeting.wait();
            met.send(number.data).unwrap();
        };
        node.create_subscription(topic, options, deliver).unwrap()
    });
    let publishers =
        ["left", "right"].map(|topic| node.create_publisher::<Int32>(topic, 10).unwrap());
    let executor = Executor::builder().threads(2).build();
    executor.add_node(&node).unwrap();
    subscriptions
        .iter()
        .for_each(|subscription| subscription.wait_for_publishers(1, WATCHDOG).unwrap());
    publishers.iter().for_each(|publisher| publisher.wait_for_subscriptions(1, WATCHDOG).unwrap());
    let spinning = spinning(executor);
    for data in 0..50 {
        publishers.iter().for_each(|publisher| publisher.publish(Int32 { data }).unwrap());
        assert_eq!([meetings.recv().unwrap(), meetings.recv().unwrap()], [data; 2]);
    }
    spinning.stop();
}

#[test]
fn a_callback_calls_a_service_of_its_own_node_in_another_group() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let group = node.create_callback_group(CallbackGroupKind::MutuallyExclusive);
    let answer = |_: Trigger_Request| Trigger_Response { success: true, message: "here".into() };
    let options = ServiceOptions::default().callback_group(&group);
    let _service = node.create_service_with::<Trigger, _>("serve", options, answer).unwrap();
    let client = node.create_client::<Trigger>("serve").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let (answered, answers) = sync_channel(1);
    let guard = node
        .create_guard_condition(move || {
            answered
                .send(client.call_and_wait(&Trigger_Request {}, WATCHDOG).unwrap().message)
                .unwrap();
        })
        .unwrap();
    let executor = Executor::builder().threads(2).policy(policy::Ros::default()).build();
    executor.add_node(&node).unwrap();
    guard.trigger();
    let outcome = executor.spin_until(Some(WATCHDOG), || answers.try_recv().is_ok());
    assert_eq!(outcome, Ok(Outcome::Completed(())));
}

/// Returns the order in which the callbacks of three subscriptions run after each has got one
/// message.
fn order_of(executor: &Executor, options: [SubscriptionOptions; 3]) -> Vec<i32> {
    let context = context();
    let node = context.create_node("node").unwrap();
    let order: Arc<Mutex<Vec<i32>>> = Arc::default();
    let mut number = 0;
    let subscriptions = options.map(|options| {
        number += 1;
        let (order, mine) = (order.clone(), number);
        let note = move |_: Int32| order.lock().unwrap().push(mine);
        node.create_subscription("numbers", options, note).unwrap()
    });
    let publisher = node.create_publisher::<Int32>("numbers", 10).unwrap();
    publisher.wait_for_subscriptions(3, WATCHDOG).unwrap();
    executor.add_node(&node).unwrap();
    // First run the callbacks that the new matches have made ready.
    subscriptions
        .iter()
        .for_each(|subscription| subscription.wait_for_publishers(1, WATCHDOG).unwrap());
    while executor.spin_all(Duration::MAX).unwrap() > 0 {}
    publisher.publish(Int32 { data: 1 }).unwrap();
    spin_until(executor, || order.lock().unwrap().len() == 3);
    order.lock().unwrap().clone()
}

#[test]
fn policies_go_by_the_options_of_endpoints() {
    let options = || SubscriptionOptions::from(10);
    let by_priority = [options().priority(1), options().priority(3), options().priority(2)];
    let executor = Executor::builder().policy(policy::Priority::default()).build();
    assert_eq!(order_of(&executor, by_priority), [2, 3, 1]);
    let by_deadline = [3, 1, 2].map(|seconds| options().deadline(Duration::from_secs(seconds)));
    let executor = Executor::builder().policy(policy::Deadline::default()).build();
    assert_eq!(order_of(&executor, by_deadline), [2, 3, 1]);
    let by_position = [2, 1, 0].map(|position| options().position(position));
    let executor = Executor::builder().policy(policy::Sequence::new(policy::Trigger::All)).build();
    assert_eq!(order_of(&executor, by_position), [3, 2, 1]);
}

/// The second callback sees the output of the first only in the next round, although it runs after
/// the first.
#[test]
fn with_let_outputs_are_seen_in_the_next_round() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let relay = node.create_publisher::<Int32>("relayed", 10).unwrap();
    let seen: Arc<Mutex<Vec<(char, i32)>>> = Arc::default();
    let (first, second) = (seen.clone(), seen.clone());
    let _first = node
        .create_subscription(
            "input",
            SubscriptionOptions::from(10).position(0),
            move |number: Int32| {
                first.lock().unwrap().push(('a', number.data));
                relay.publish(Int32 { data: number.data + 100 }).unwrap();
            },
        )
        .unwrap();
    let _second = node
        .create_subscription(
            "relayed",
            SubscriptionOptions::from(10).position(1),
            move |number: Int32| {
                second.lock().unwrap().push(('b', number.data));
            },
        )
        .unwrap();
    let input = node.create_publisher::<Int32>("input", 10).unwrap();
    let other = node.create_publisher::<Int32>("relayed", 10).unwrap();
    input.wait_for_subscriptions(1, WATCHDOG).unwrap();
    other.wait_for_subscriptions(1, WATCHDOG).unwrap();
    ready(&node, "relayed");
    let trigger = policy::Trigger::Custom(Box::new(|ready| ready.contains(1)));
    let executor =
        Executor::builder().policy(policy::Sequence::new(trigger).let_semantics()).build();
    executor.add_node(&node).unwrap();
    while executor.spin_all(Duration::MAX).unwrap() > 0 {}
    input.publish(Int32 { data: 1 }).unwrap();
    other.publish(Int32 { data: 0 }).unwrap();
    spin_until(&executor, || seen.lock().unwrap().len() == 3);
    assert_eq!(*seen.lock().unwrap(), [('a', 1), ('b', 0), ('b', 101)]);
}

#[test]
fn entities_that_do_not_fit_an_executor_are_refused() {
    let context = context();
    let (node, other) =
        (context.create_node("node").unwrap(), context.create_node("other").unwrap());
    let foreign = other.create_callback_group(CallbackGroupKind::Reentrant);
    let options = TimerOptions::wall(Duration::from_secs(1)).callback_group(&foreign);
    let refused = node.create_timer_with(options, || {}).err().unwrap();
    assert!(refused.to_string().contains("belongs to another node"), "{refused}");
    let executor = Executor::builder().frozen().build();
    executor.add_node(&node).unwrap();
    executor.spin_some(Duration::ZERO).unwrap();
    let refused = node.create_wall_timer(Duration::from_secs(1), || {}).err().unwrap();
    assert!(
        matches!(&refused, CreateError::Executor { reason, .. } if reason.contains("frozen")),
        "{refused}"
    );
    let _timer = other.create_wall_timer(Duration::from_secs(1), || {}).unwrap();
    assert!(matches!(executor.add_node(&other), Err(AddNodeError::Executor { .. })));
    assert_eq!(executor.add_callback_group(&foreign), Err(AddNodeError::GroupOfItsNode));
}

#[test]
fn a_separate_group_goes_to_an_executor_of_its_own() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let group = node.create_separate_callback_group(CallbackGroupKind::MutuallyExclusive);
    let ticks = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let [of_node, of_group] = ticks.clone().map(|ticks| {
        move || {
            ticks.fetch_add(1, Ordering::SeqCst);
        }
    });
    let period = Duration::from_millis(1);
    let _of_node = node.create_wall_timer(period, of_node);
    let options = TimerOptions::wall(period).callback_group(&group);
    let _of_group = node.create_timer_with(options, of_group);
    let counts = || ticks.each_ref().map(|ticks| ticks.load(Ordering::SeqCst));
    let [main, side] = [(); 2].map(|()| Executor::new());
    main.add_node(&node).unwrap();
    spin_until(&main, || counts()[0] >= 5);
    assert_eq!(counts()[1], 0, "its group is on no executor");
    side.add_callback_group(&group).unwrap();
    assert_eq!(main.add_callback_group(&group), Err(AddNodeError::GroupOnAnotherExecutor));
    let before = counts()[0];
    spin_until(&side, || counts()[1] >= 5);
    assert_eq!(counts()[0], before);
    side.remove_callback_group(&group);
    main.add_callback_group(&group).unwrap();
    let before = counts();
    spin_until(&main, || counts().iter().zip(before).all(|(now, before)| *now > before));
}

#[test]
fn an_executor_with_only_a_separate_group_ends_when_the_context_is_shut_down() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let group = node.create_separate_callback_group(CallbackGroupKind::MutuallyExclusive);
    let (ticked, ticks) = sync_channel(1);
    let tick = move || {
        let _ = ticked.try_send(()); // the first tick is enough
    };
    let options = TimerOptions::wall(Duration::from_millis(1)).callback_group(&group);
    let _timer = node.create_timer_with(options, tick).unwrap();
    let executor = Executor::new();
    executor.add_callback_group(&group).unwrap();
    let (ended, end) = sync_channel(1);
    let spinning = std::thread::Builder::new().name("spinning".into());
    let spinning = spinning.spawn(move || ended.send(executor.spin()).unwrap()).unwrap();
    ticks.recv_timeout(WATCHDOG).unwrap();
    context.shutdown();
    end.recv_timeout(WATCHDOG).expect("the executor spins on").unwrap();
    spinning.join().unwrap();
    // A group whose context is already shut down does not make an executor spin either.
    let late = Executor::new();
    late.add_callback_group(&group).unwrap();
    assert_eq!(late.spin_once(None).unwrap(), Outcome::Stopped);
}

#[test]
fn isolated_nodes_do_not_wait_for_each_other() {
    let context = context();
    let (stuck, free) =
        (context.create_node("stuck").unwrap(), context.create_node("free").unwrap());
    let executors = IsolatedExecutors::new();
    let (blocked, is_blocked) = sync_channel(1);
    let (go_on, may_go_on) = sync_channel::<()>(1);
    let guard = stuck
        .create_guard_condition(move || {
            blocked.send(std::thread::current().name().map(str::to_owned)).unwrap();
            let _ = may_go_on.recv();
        })
        .unwrap();
    let (ticked, ticks) = sync_channel(1);
    let _timer = free
        .create_wall_timer(Duration::from_millis(1), move || {
            let _ = ticked.try_send(());
        })
        .unwrap();
    executors.add_node(&stuck).unwrap();
    executors.add_node(&free).unwrap();
    assert!(matches!(executors.add_node(&free), Err(AddNodeError::OnAnotherExecutor { .. })));
    guard.trigger();
    assert_eq!(is_blocked.recv().unwrap().as_deref(), Some("stuck"));
    (0..20).for_each(|_| ticks.recv().unwrap());
    go_on.send(()).unwrap();
    assert!(executors.remove_node(&stuck) && !executors.remove_node(&stuck));
    assert_eq!(executors.len(), 1);
    // The node can now be added to another executor.
    let executor = Executor::new();
    executor.add_node(&stuck).unwrap();
    drop(go_on);
    guard.trigger();
    assert_eq!(executor.spin_once(Some(WATCHDOG)), Ok(Outcome::Completed(())));
    while ticks.try_recv().is_ok() {}
    // The thread of a dropped node ends when the next node is added or removed.
    let threads = || {
        std::fs::read_dir("/proc/self/task").unwrap().flatten().filter(|task| {
            std::fs::read_to_string(task.path().join("comm"))
                .is_ok_and(|name| name.trim() == "forgotten")
        })
    };
    executors.add_node(&context.create_node("forgotten").unwrap()).unwrap();
    while threads().count() == 0 {
        std::thread::yield_now();
    }
    assert!(!executors.remove_node(&stuck));
    while threads().count() > 0 {
        std::thread::yield_now(); // the kernel lists a thread for a short time after the join
    }
    assert_eq!(executors.len(), 1);
    drop(executors);
    while ticks.try_recv().is_ok() {}
    assert!(ticks.try_recv().is_err(), "its thread is gone");
    let executor = Executor::new();
    executor.add_node(&free).unwrap();
}

#[test]
fn a_panic_on_a_worker_thread_ends_only_its_node() {
    let context = context();
    let (bad, good) = (context.create_node("bad").unwrap(), context.create_node("good").unwrap());
    let (told, texts) = sync_channel(1);
    bad.on_panic(move |text| told.send(text.to_owned()).unwrap());
    let guard = bad.create_guard_condition(|| panic!("on some thread")).unwrap();
    let (ticked, ticks) = sync_channel(1);
    let _timer = good
        .create_wall_timer(Duration::from_millis(1), move || {
            let _ = ticked.try_send(());
        })
        .unwrap();
    let executor = Executor::builder().threads(2).build();
    executor.add_node(&bad).unwrap();
    executor.add_node(&good).unwrap();
    let spinning = spinning(executor);
    guard.trigger();
    assert_eq!(texts.recv().unwrap(), "on some thread");
    (0..10).for_each(|_| ticks.recv().unwrap());
    spinning.stop();
}

#[test]
fn simulated_time_is_followed_with_every_kind() {
    use feros::msgs::builtin_interfaces::msg::Time as TimeMessage;
    use feros::msgs::rosgraph_msgs::msg::Clock;
    let here = context();
    let simulator = here.create_node("simulator").unwrap();
    let publisher = simulator.create_publisher::<Clock>("/clock", 1).unwrap();
    let mut sec = 0;
    let executors: [fn() -> Executor; 6] = [
        Executor::new,
        || Executor::builder().threads(2).build(),
        || Executor::builder().policy(policy::Ros::default()).frozen().build(),
        || Executor::builder().policy(policy::Priority::default()).threads(2).build(),
        || Executor::builder().policy(policy::Deadline::default()).build(),
        || Executor::builder().policy(policy::Sequence::default()).build(),
    ];
    let there = context_with("--ros-args -p use_sim_time:=true");
    for (kind, make) in executors.into_iter().enumerate() {
        let node = there.create_node(&format!("node_{kind}")).unwrap();
        publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
        let (ticked, ticks) = sync_channel(100);
        let tick = move || ticked.send(()).unwrap();
        let _timer = node.create_timer(Duration::from_secs(10), tick).unwrap();
        let executor = make();
        executor.add_node(&node).unwrap();
        let spinning = spinning(executor);
        let mut count = 0;
        while count < 5 {
            // Publish until a message arrives, because the subscription may not match yet when the
            // first message is published.
            sec += 10;
            publisher.publish(Clock { clock: TimeMessage { sec, nanosec: 0 } }).unwrap();
            count += usize::from(ticks.recv_timeout(Duration::from_millis(100)).is_ok());
        }
        spinning.stop();
    }
}

#[test]
fn nodes_come_and_go_while_executors_of_every_kind_spin() {
    let context = context();
    let executors: [fn() -> Executor; 3] = [
        Executor::new,
        || Executor::builder().threads(3).build(),
        || Executor::builder().threads(2).policy(policy::Ros::default()).build(),
    ];
    for make in executors {
        let executor = Arc::new(make());
        let spinner = executor.clone();
        let thread = std::thread::Builder::new().name("spinning".into());
        let thread = thread.spawn(move || spinner.spin().unwrap()).unwrap();
        for round in 0..20 {
            let node = context.create_node(&format!("node_{round}")).unwrap();
            let (ticked, ticks) = sync_channel(1);
            let tick = move || {
                let _ = ticked.try_send(());
            };
            let _early = node.create_wall_timer(Duration::from_micros(100), tick.clone()).unwrap();
            executor.add_node(&node).unwrap();
            let _late = node.create_wall_timer(Duration::from_micros(100), tick).unwrap();
            (0..3).for_each(|_| ticks.recv().unwrap());
            executor.remove_node(&node);
            while ticks.try_recv().is_ok() {}
            assert!(ticks.try_recv().is_err(), "its callbacks have ended");
            if round % 2 == 0 {
                executor.add_node(&node).unwrap(); // the node is dropped while it is on the executor
                ticks.recv().unwrap();
            }
        }
        executor.stopper().stop();
        thread.join().unwrap();
    }
}

/// The callback of a timer takes longer than the period, so the timer is always ready again when
/// its callback ends. Even so, no other callback waits for more than one call of the timer.
fn nobody_starves_beside_a_late_timer(policy: impl feros::policy::Policy + 'static) {
    const MESSAGES: usize = 10;
    let context = context();
    let node = context.create_node("late").unwrap();
    let publisher = node.create_publisher::<Int32>("numbers", MESSAGES).unwrap();
    let timer_calls = Arc::new(AtomicUsize::new(0));
    let (calls, mut last) = (timer_calls.clone(), None);
    let longest_wait = Arc::new(AtomicUsize::new(0));
    let (longest, received) = (longest_wait.clone(), Arc::new(AtomicUsize::new(0)));
    let count = received.clone();
    let _subscription = node
        .create_subscription("numbers", MESSAGES, move |_: Int32| {
            let now = calls.load(Ordering::Relaxed);
            longest.fetch_max(now - last.replace(now).unwrap_or(now), Ordering::Relaxed);
            count.fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
    let _service = node
        .create_service::<Trigger, _>("answers", |_: Trigger_Request| Trigger_Response::default())
        .unwrap();
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    let calls = timer_calls.clone();
    let period = Duration::from_millis(1);
    let _timer = node
        .create_wall_timer(period, move || {
            if calls.fetch_add(1, Ordering::Relaxed) == 0 {
                (0..MESSAGES)
                    .for_each(|number| publisher.publish(Int32 { data: number as i32 }).unwrap());
            }
            std::thread::sleep(2 * period);
        })
        .unwrap();
    let executor = Executor::builder().policy(policy).build();
    executor.add_node(&node).unwrap();
    let spinning = spinning(executor);
    let others = context_with("");
    let caller = others.create_node("caller").unwrap();
    let client =
        caller.create_client::<Trigger>(&format!("{}/answers", node.name().namespace())).unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    while received.load(Ordering::Relaxed) < MESSAGES
        || timer_calls.load(Ordering::Relaxed) <= MESSAGES
    {
        client.call_and_wait(&Trigger_Request::default(), WATCHDOG).unwrap();
    }
    spinning.stop();
    assert_eq!(received.load(Ordering::Relaxed), MESSAGES);
    assert!(
        longest_wait.load(Ordering::Relaxed) <= 1,
        "{longest_wait:?} calls of the timer between two messages"
    );
    assert!(timer_calls.load(Ordering::Relaxed) > MESSAGES, "the timer was late all the time");
}

#[test]
fn nobody_starves_beside_a_late_timer_with_fair_turns() {
    nobody_starves_beside_a_late_timer(policy::Fair::default());
}

#[test]
fn nobody_starves_beside_a_late_timer_in_the_order_of_ros() {
    nobody_starves_beside_a_late_timer(policy::Ros::default());
}
