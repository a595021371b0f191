//! More than one master: a master that replaces another, and two at once.

use std::sync::mpsc::{Receiver, sync_channel};

use feros::msgs::std_msgs::msg::{Int32, String as Text};
use feros::{QosProfile, Subscription};
use feros_test_support::{WATCHDOG, eventually};
use serde_json::json;

use crate::peers::{Ros1Node, Ros2, World};

const STRING: &str = "std_msgs/String";
const CHATTER: [&str; 3] = ["--bridge-all-topics", "--topics", "/chatter"];

fn subscribe(ros2: &Ros2, topic: &str) -> (Subscription<Text>, Receiver<String>) {
    let (sender, heard) = sync_channel(10_000);
    let hear = move |message: Text| {
        let _ = sender.send(message.data);
    };
    let subscription = ros2.node.create_subscription(topic, QosProfile::keep_last(1000), hear);
    (subscription.unwrap(), heard)
}

/// A node of rospy that publishes `/chatter` and subscribes to it.
fn talker(world: &World, name: &str) -> Ros1Node {
    let mut node = world.node(name);
    node.run(json!({"do": "advertise", "topic": "/chatter", "type": STRING}));
    node.run(json!({"do": "subscribe", "topic": "/chatter", "type": STRING}));
    node
}

fn say(node: &mut Ros1Node, text: &str) {
    node.run(json!({"do": "publish", "topic": "/chatter", "fields": {"data": text}}));
}

/// Texts up to and including the last one.
fn texts_until(mut next: impl FnMut() -> String, last: &str) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.last().is_none_or(|text| text != last) {
        texts.push(next());
    }
    texts
}

fn heard_until(node: &mut Ros1Node, last: &str) -> Vec<String> {
    let next = || node.heard("/chatter")["message"]["data"].as_str().unwrap().to_owned();
    texts_until(next, last)
}

/// The number of times that a text was received.
fn times(texts: &[String], text: &str) -> usize {
    texts.iter().filter(|heard| *heard == text).count()
}

/// Publishes a text repeatedly until another node has received it.
fn say_until(from: &mut Ros1Node, text: &str, mut is_heard: impl FnMut() -> bool) {
    eventually(|| {
        say(from, text);
        if is_heard() { Ok(()) } else { Err(format!("{text} was not heard")) }
    });
}

fn hears(node: &mut Ros1Node, text: &str) -> bool {
    node.run(json!({"do": "get_parameter", "name": "/nothing"}));
    node.heard_any("/chatter", text)
}

/// Another master at the same address knows other nodes and other types: the bridge serves them,
/// and leaves those of the former master.
#[test]
fn a_master_that_takes_the_place_of_another_has_the_bridge() {
    let Some(mut world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let (_texts, heard) = subscribe(&ros2, "/chatter");
    let (sender, numbers) = sync_channel(10_000);
    let hear = move |message: Int32| {
        let _ = sender.send(message.data);
    };
    let _numbers = ros2.node.create_subscription("/changed", QosProfile::default(), hear).unwrap();
    let mut old = world.node("old");
    for topic in ["/chatter", "/changed"] {
        old.run(json!({"do": "advertise", "topic": topic, "type": STRING}));
    }
    old.publish("/chatter", &json!({"data": "old"}));
    assert_eq!(heard.recv_timeout(WATCHDOG).unwrap(), "old");
    bridge.line(|line| line.contains("/changed is not bridged"));
    // The node of the former master goes on, and knows nothing of the new one.
    world.kill_master();
    world.start_master();
    let mut new = world.node("new");
    new.run(json!({"do": "advertise", "topic": "/chatter", "type": STRING}));
    new.run(json!({"do": "advertise", "topic": "/changed", "type": "std_msgs/Int32"}));
    new.publish("/chatter", &json!({"data": "new"}));
    assert_eq!(heard.recv_timeout(WATCHDOG).unwrap(), "new");
    new.publish("/changed", &json!({"data": 7}));
    assert_eq!(numbers.recv_timeout(WATCHDOG).unwrap(), 7);
    eventually(|| {
        let operation =
            json!({"do": "publish_now", "topic": "/chatter", "fields": {"data": "ghost"}});
        if old.run(operation) == json!(false) { Ok(()) } else { Err("the bridge hears it") }
    });
    let _ = heard.try_iter().count();
    new.publish("/chatter", &json!({"data": "last"}));
    assert_eq!(heard.recv_timeout(WATCHDOG).unwrap(), "last");
}

/// One bridge for each master, one domain: the nodes of the other master and of ROS 2 receive each
/// message of a node once.
#[test]
fn two_masters_are_joined_by_one_domain() {
    let Some((a, b)) = World::two() else { return };
    let uri = b.uri();
    let _bridges = [a.bridge(&CHATTER), a.bridge(&[&CHATTER[..], &["--master", &uri]].concat())];
    let ros2 = a.ros2();
    let (_subscription, heard) = subscribe(&ros2, "/chatter");
    let (mut one, mut two) = (talker(&a, "one"), talker(&b, "two"));
    say_until(&mut one, "to two", || hears(&mut two, "to two"));
    say_until(&mut two, "to one", || hears(&mut one, "to one"));
    for number in 0..20 {
        say(&mut one, &format!("one {number}"));
        say(&mut two, &format!("two {number}"));
    }
    say(&mut one, "end of one");
    let at_two = heard_until(&mut two, "end of one");
    // Anything that came back would have arrived before this message.
    say(&mut two, "end of two");
    let mut at_one = heard_until(&mut one, "end of two");
    say(&mut one, "last");
    at_one.extend(heard_until(&mut one, "last"));
    let at_two = [at_two, heard_until(&mut two, "last")].concat();
    let in_ros2 = texts_until(|| heard.recv_timeout(WATCHDOG).unwrap(), "last");
    for (place, texts) in [("one", &at_one), ("two", &at_two), ("ROS 2", &in_ros2)] {
        for text in (0..20).flat_map(|number| ["one", "two"].map(|who| format!("{who} {number}"))) {
            assert_eq!(times(texts, &text), 1, "{text} at {place}: {texts:#?}");
        }
    }
}

/// Without `--bridge-all-1to2-topics` two bridges wait for each other: the bridge whose master has
/// the publishers reports that once, with the topics and the cure. The cure works.
#[test]
fn bridges_that_wait_for_each_other_say_so() {
    const WAITS: &str = "subscribed to under that of another bridge";
    let Some((a, b)) = World::two() else { return };
    let uri = b.uri();
    let mut at_a = a.bridge(&[]);
    let mut at_b = a.bridge(&["--master", &uri]);
    let (mut talker, mut listener) = (a.node("talker"), b.node("listener"));
    for topic in ["/chatter", "/alone"] {
        talker.run(json!({"do": "advertise", "topic": topic, "type": STRING}));
    }
    listener.run(json!({"do": "subscribe", "topic": "/chatter", "type": STRING}));
    let said = at_a.line(|line| line.contains(WAITS));
    assert!(said.contains(": /chatter; ") && said.contains("--bridge-all-1to2-topics"), "{said}");
    // A second topic and a later check cause no further report.
    talker.run(json!({"do": "advertise", "topic": "/second", "type": STRING}));
    listener.run(json!({"do": "subscribe", "topic": "/second", "type": STRING}));
    let ros2 = a.ros2();
    let (_own, own) = subscribe(&ros2, "/alone");
    talker.publish("/alone", &json!({"data": "to ROS 2"}));
    assert_eq!(own.recv_timeout(WATCHDOG).unwrap(), "to ROS 2");
    assert_eq!((at_a.count(WAITS), at_b.count(WAITS)), (1, 0));
    drop(at_a);
    let mut at_a = a.bridge(&["--bridge-all-1to2-topics"]);
    say_until(&mut talker, "cured", || hears(&mut listener, "cured"));
    assert_eq!(at_a.count(WAITS), 0);
}

/// Two bridges under one master do not wait, because the master's nodes reach each other.
#[test]
fn bridges_of_one_master_do_not_wait_for_each_other() {
    const WAITS: &str = "subscribed to under that of another bridge";
    let Some(world) = World::new() else { return };
    // The bridges call the master by different names of its host.
    let uri = format!("http://localhost:{}", world.port);
    let mut one = world.bridge(&[]);
    let mut two = world.bridge(&["--name", "second_bridge", "--master", &uri]);
    let mut node = talker(&world, "node");
    eventually(|| {
        say(&mut node, "to myself");
        if hears(&mut node, "to myself") { Ok(()) } else { Err("not yet") }
    });
    let ros2 = world.ros2();
    for (bridge, topic) in [(&mut one, "/in_one"), (&mut two, "/in_two")] {
        // Once the bridge has this topic, its checks that found `/chatter` are over.
        let (_subscription, _heard) = subscribe(&ros2, topic);
        node.run(json!({"do": "advertise", "topic": topic, "type": STRING}));
        bridge.line(|line| line.contains(&format!("bridged: topic {topic}")));
        assert_eq!(bridge.count(WAITS), 0);
    }
}

/// One master with a bridge into each of two domains. Each domain receives the messages of the
/// master's nodes once, the master's nodes receive those of both domains once, and nothing passes
/// through the master from domain to domain.
#[test]
fn two_domains_are_not_joined_by_a_master() {
    let Some((a, b)) = World::two() else { return };
    let uri = a.uri();
    let second = ["--master", &uri, "--name", "second_bridge"];
    let mut bridges = [a.bridge(&CHATTER), b.bridge(&[&CHATTER[..], &second].concat())];
    let (in_a, in_b) = (a.ros2(), b.ros2());
    let (_one, heard_a) = subscribe(&in_a, "/chatter");
    let (_two, heard_b) = subscribe(&in_b, "/chatter");
    let [from_a, from_b] = [&in_a, &in_b].map(|ros2| {
        ros2.node.create_publisher::<Text>("/chatter", QosProfile::keep_last(1000)).unwrap()
    });
    let mut node = talker(&a, "node");
    for (publisher, text) in
        [(&from_a, "are you there, from a"), (&from_b, "are you there, from b")]
    {
        eventually(|| {
            publisher.publish(Text { data: text.to_owned() }).unwrap();
            if hears(&mut node, text) { Ok(()) } else { Err("not yet") }
        });
    }
    for heard in [&heard_a, &heard_b] {
        let mut is_heard = || heard.try_iter().any(|text| text == "from the master");
        say_until(&mut node, "from the master", &mut is_heard);
    }
    for number in 0..20 {
        from_a.publish(Text { data: format!("a {number}") }).unwrap();
        from_b.publish(Text { data: format!("b {number}") }).unwrap();
        say(&mut node, &format!("master {number}"));
    }
    // Each of the three has sent its last message, so anything that circulates has arrived.
    // Messages of different publishers come in any order.
    from_a.publish(Text { data: "end of a".to_owned() }).unwrap();
    from_b.publish(Text { data: "end of b".to_owned() }).unwrap();
    let mut at_master = Vec::new();
    for last in ["end of a", "end of b", "master 19"] {
        if times(&at_master, last) == 0 {
            at_master.extend(heard_until(&mut node, last));
        }
    }
    say(&mut node, "last");
    let at_a = texts_until(|| heard_a.recv_timeout(WATCHDOG).unwrap(), "last");
    let at_b = texts_until(|| heard_b.recv_timeout(WATCHDOG).unwrap(), "last");
    for number in 0..20 {
        let said = ["a", "b", "master"].map(|who| format!("{who} {number}"));
        assert_eq!(
            said.each_ref().map(|text| times(&at_master, text)),
            [1, 1, 1],
            "{at_master:#?}"
        );
        assert_eq!(said.each_ref().map(|text| times(&at_a, text)), [1, 0, 1], "{at_a:#?}");
        assert_eq!(said.each_ref().map(|text| times(&at_b, text)), [0, 1, 1], "{at_b:#?}");
    }
    bridges.iter_mut().for_each(|bridge| {
        bridge.line(|line| line.contains("it comes from another bridge"));
    });
}
