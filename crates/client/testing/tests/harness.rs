//! The harness as a test uses it: what it expects comes or is missed with a reason, and nodes of
//! two harnesses do not meet.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use feros::msgs::std_msgs::msg::{Int32, String as Text};
use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{Node, NodeOptions, NodeTimer, Publisher, QosProfile, Subscription, Time};
use feros_testing::{ExpectError, Harness};

/// Ends a test that hangs.
const LONG: Duration = Duration::from_secs(60);
/// The wait for something that does not come.
const SHORT: Duration = Duration::from_millis(20);

fn node(harness: &Harness, name: &str) -> Node {
    harness.create_node(NodeOptions::new(name)).unwrap()
}

fn text(data: &str) -> Text {
    Text { data: data.into() }
}

/// A node that answers each number with the double.
fn doubler(harness: &Harness) -> (Node, Subscription<Int32>) {
    let node = node(harness, "doubler");
    let doubled = node.create_publisher::<Int32>("doubled", 10).unwrap();
    let hear = move |number: Int32| {
        assert_ne!(number.data, 13, "the number 13 is not doubled");
        doubled.publish(Int32 { data: 2 * number.data }).unwrap();
    };
    let subscription = node.create_subscription("number", 10, hear).unwrap();
    (node, subscription)
}

#[test]
fn messages_are_expected_in_their_order() {
    let harness = Harness::new().unwrap();
    let _doubler = doubler(&harness);
    let doubled = harness.listen::<Int32>("doubled").unwrap();
    harness.wait_for_topic("number", 0, 1, LONG).unwrap();
    harness.wait_for_topic("doubled", 1, 0, LONG).unwrap();
    for data in 1..=4 {
        harness.publish("number", Int32 { data }, LONG).unwrap();
    }
    let first: Int32 = harness.expect_message("doubled", LONG).unwrap();
    assert_eq!(first.data, 2, "the same messages as those of `listen`");
    let third = doubled.expect_where(LONG, |number| number.data > 4).unwrap();
    assert_eq!(third.data, 6);
    harness.wait_until("all came", LONG, || doubled.count() == 4).unwrap();
    assert_eq!(doubled.take_all(), [Int32 { data: 8 }]);
    assert_eq!(doubled.dropped(), 0);
}

#[test]
fn harnesses_do_not_hear_each_other() {
    let (one, other) = (Harness::new().unwrap(), Harness::new().unwrap());
    assert_ne!(one.domain_id(), other.domain_id());
    let latched = QosProfile::keep_last(1).transient_local();
    let talkers = [(&one, "one"), (&other, "other")].map(|(harness, name)| {
        let node = node(harness, "talker");
        let publisher: Publisher<Text> = node.create_publisher("name", latched).unwrap();
        publisher.publish(text(name)).unwrap();
        (node, publisher)
    });
    for (harness, name) in [(&one, "one"), (&other, "other")] {
        let names = harness.listen::<Text>("name").unwrap();
        assert_eq!(names.expect(LONG).unwrap().data, name);
        assert_eq!(harness.node().publishers_info_by_topic("name").unwrap().len(), 1);
        assert_eq!(names.take_all(), []);
    }
    drop(talkers);
}

#[test]
fn what_was_sent_earlier_or_with_best_effort_is_heard() {
    let harness = Harness::new().unwrap();
    let node = node(&harness, "sensor");
    let latched = QosProfile::keep_last(1).transient_local();
    let map: Publisher<Text> = node.create_publisher("map", latched).unwrap();
    map.publish(text("of the house")).unwrap();
    assert_eq!(harness.expect_message::<Text>("map", LONG).unwrap().data, "of the house");

    // The test listens before there is a publisher.
    let scans = harness.listen::<Text>("scan").unwrap();
    let scan: Publisher<Text> = node.create_publisher("scan", QosProfile::sensor_data()).unwrap();
    let _timer: NodeTimer = node
        .create_wall_timer(Duration::from_millis(5), move || scan.publish(text("near")).unwrap())
        .unwrap();
    assert_eq!(scans.expect(LONG).unwrap().data, "near");
}

/// The text of the error of something that does not come.
fn missed<T>(result: Result<T, ExpectError>) -> String {
    match result {
        Ok(_) => panic!("it came"),
        Err(error) => {
            assert_eq!(format!("{error:?}"), error.to_string(), "tests print this form");
            error.to_string()
        }
    }
}

#[test]
fn what_does_not_come_is_missed_with_a_reason() {
    let harness = Harness::new().unwrap();
    let talker = node(&harness, "talker");
    let chatter: Publisher<Text> = talker.create_publisher("chatter", 10).unwrap();
    let like = missed(harness.expect_message::<Text>("chater", SHORT));
    let expected = "no message of /chater, which has no publisher; did you mean `/chatter`?, came \
                    within 20 ms";
    assert_eq!(like, expected);
    let other = missed(harness.expect_message::<Int32>("chatter", SHORT));
    assert!(other.contains("its publishers have the type std_msgs/msg/String"), "{other}");
    let silent = missed(harness.expect_message::<Text>("chatter", SHORT));
    let expected = "whose publishers are /talker (std_msgs/msg/String, Reliable, Volatile)";
    assert!(silent.contains(expected), "{silent}");

    let heard = harness.listen::<Text>("chatter").unwrap();
    harness.wait_until("the match", LONG, || chatter.subscription_count() > 0).unwrap();
    chatter.publish(text("no")).unwrap();
    harness.wait_until("the message", LONG, || heard.count() == 1).unwrap();
    let refused = missed(heard.expect_where(SHORT, |message| message.data == "yes"));
    assert!(refused.contains("was accepted: 1 came, the last was String"), "{refused}");

    let deaf = missed(harness.publish("nobody", text(""), SHORT));
    assert!(deaf.starts_with("/nobody had no subscription within"), "{deaf}");
    let few = missed(harness.wait_for_topic("chatter", 2, 0, SHORT));
    assert!(
        few.starts_with("/chatter had only /talker (") && few.contains("instead of 2"),
        "{few}"
    );
    let none = missed(harness.wait_for_service("enable", SHORT));
    assert!(none.starts_with("/enable had no server"), "{none}");
    let never = missed(harness.wait_until("the moon", SHORT, || false));
    assert_eq!(never, "the moon did not hold within 20 ms");
}

#[test]
fn services_are_awaited_and_nodes_call_each_other() {
    let harness = Harness::new().unwrap();
    let server = node(&harness, "server");
    let answer = |_: Trigger_Request| Trigger_Response { success: true, message: "done".into() };
    let _service = server.create_service::<Trigger, _>("start", answer).unwrap();
    harness.wait_for_service("start", LONG).unwrap();
    let client = harness.node().create_client::<Trigger>("start").unwrap();
    client.wait_for_service(LONG).unwrap();
    let response = client.call(&Trigger_Request::default()).unwrap().wait(LONG).unwrap();
    assert_eq!(response.message, "done");
}

#[test]
fn a_panic_of_a_callback_fails_the_wait_or_the_end() {
    let harness = Harness::new().unwrap();
    let _doubler = doubler(&harness);
    harness.publish("number", Int32 { data: 13 }, LONG).unwrap();
    let error = harness.expect_message::<Int32>("doubled", LONG).unwrap_err();
    assert!(matches!(&error, ExpectError::Panicked { node, .. } if node == "/doubler"), "{error}");
    assert!(error.to_string().contains("the number 13 is not doubled"), "{error}");
    drop(harness);

    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let harness = Harness::new().unwrap();
        let node = node(&harness, "broken");
        let (begun, has_begun) = std::sync::mpsc::sync_channel(1);
        let _timer = node.create_wall_timer(Duration::from_millis(1), move || {
            begun.send(()).unwrap();
            panic!("a timer's");
        });
        has_begun.recv().unwrap();
    }));
    let panic = panicked.unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("a callback of node /broken panicked: a timer's"), "{text}");
}

#[test]
fn simulated_time_passes_when_the_test_says_so() {
    let harness = Harness::new().unwrap();
    let time = harness.simulated_time().unwrap();
    assert_eq!(time.now(), Time::from_nanos(1_000_000_000));
    let simulated = |name: &str| NodeOptions::new(name).use_sim_time(true);
    let node = harness.create_node(simulated("planner")).unwrap();
    let ticks = node.create_publisher::<Text>("ticks", 10).unwrap();
    let heard = harness.listen::<Text>("ticks").unwrap();
    harness.wait_until("the match", LONG, || ticks.subscription_count() > 0).unwrap();
    time.set(Time::from_nanos(100_000_000_000)).unwrap();
    assert_eq!(node.now(), time.now());
    let _timer = node
        .create_timer(Duration::from_secs(10), move || ticks.publish(text("tick")).unwrap())
        .unwrap();
    for _ in 0..3 {
        time.step(Duration::from_secs(9)).unwrap();
        assert_eq!(heard.take_all(), [], "only the test lets time pass");
        time.step(Duration::from_secs(1)).unwrap();
        assert_eq!(heard.expect(LONG).unwrap().data, "tick");
    }
    assert_eq!(harness.simulated_time().unwrap().now(), Time::from_nanos(130_000_000_000));
    // A node that starts later gets the time without a step.
    assert_eq!(harness.create_node(simulated("late")).unwrap().now(), time.now());
}
