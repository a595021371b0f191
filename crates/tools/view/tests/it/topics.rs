//! Topics: advertisements, and messages as they were published.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::msgs::sensor_msgs::msg::Image;
use feros::msgs::std_msgs::msg::{Bool, String as Text};
use feros::{QosProfile, TypeIdentity};
use feros_message::Schema;
use feros_test_support::{WATCHDOG, until};
use serde_json::json;

use crate::client::Incoming;
use crate::support::Fixture;

fn text(number: usize) -> Text {
    Text { data: format!("message {number}") }
}

#[test]
fn messages_are_sent_as_they_were_published() {
    let fixture = Fixture::new();
    let publisher = fixture.robot.create_publisher::<Text>("/chatter", 10).unwrap();
    let mut client = fixture.foxglove();
    let channel = client.subscribe("/chatter", 7);
    assert_eq!(channel["schemaName"], "std_msgs/msg/String");
    assert_eq!(channel["schema"], "string data\n");
    assert_eq!(
        (&channel["encoding"], &channel["schemaEncoding"]),
        (&json!("cdr"), &json!("ros2msg"))
    );
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    publisher.publish(text(1)).unwrap();
    let frame = client.frame(1);
    assert_eq!(frame[1..5], 7_u32.to_le_bytes());
    assert_eq!(frame[13..], feros::message::to_vec(&text(1)).unwrap());
    let nanos = u64::from_le_bytes(frame[5..13].try_into().unwrap());
    assert!(nanos > 1_600_000_000_000_000_000, "{nanos}");
    client.send(json!({"op": "unsubscribe", "subscriptionIds": [7]}));
    until("nobody listens", || publisher.subscription_count() == 0);
    drop(publisher);
    client.op("unadvertise", |op| op["channelIds"] == json!([channel["id"]]));
}

#[test]
fn a_schema_has_all_that_it_refers_to() {
    let fixture = Fixture::new();
    let _publisher = fixture.robot.create_publisher::<Image>("/image", 1).unwrap();
    let channel = fixture.page().channel("/image");
    let expected = Schema::of_type(feros_interface::shipped(), "sensor_msgs/msg/Image", None);
    assert_eq!(channel["schema"], expected.unwrap().text);
    assert!(channel["schema"].as_str().unwrap().contains("MSG: builtin_interfaces/Time"));
}

#[test]
fn a_topic_is_subscribed_to_once_for_all_clients() {
    let fixture = Fixture::new();
    let publisher = fixture.robot.create_publisher::<Text>("/chatter", 10).unwrap();
    let mut clients = [fixture.page(), fixture.foxglove()];
    for (id, client) in (0..).zip(&mut clients) {
        client.subscribe("/chatter", id);
        publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    }
    // The answer to this question comes after the subscription was made.
    clients[1].send(json!({"op": "subscribeConnectionGraph"}));
    clients[1].op("connectionGraphUpdate", |_| true);
    assert_eq!(publisher.subscription_count(), 1);
    publisher.publish(text(1)).unwrap();
    for (id, client) in (0_u32..).zip(&mut clients) {
        assert_eq!(client.frame(1)[1..5], id.to_le_bytes());
    }
    let [first, second] = clients;
    drop(first);
    until("one has left", || fixture.server.connection_count() == 1);
    assert_eq!(publisher.subscription_count(), 1);
    drop(second);
    until("nobody listens", || publisher.subscription_count() == 0);
}

#[test]
fn each_client_gets_what_publishers_keep() {
    let fixture = Fixture::new();
    let latched = QosProfile::keep_last(1).transient_local();
    let publisher = fixture.robot.create_publisher::<Text>("/map", latched).unwrap();
    publisher.publish(text(1)).unwrap();
    let mut clients = [fixture.page(), fixture.foxglove()];
    for client in &mut clients {
        client.subscribe("/map", 1);
        assert_eq!(client.frame(1)[13..], feros::message::to_vec(&text(1)).unwrap());
    }
}

#[test]
fn messages_too_often_are_left_out_and_the_latest_is_sent() {
    let fixture = Fixture::new();
    let publisher = fixture.robot.create_publisher::<Text>("/fast", 100).unwrap();
    let mut client = fixture.page();
    let channel = client.channel("/fast");
    let subscription = json!({"id": 1, "channelId": channel["id"], "maxRateHz": 0.5});
    client.send(json!({"op": "subscribe", "subscriptions": [subscription]}));
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    for number in 0..20 {
        publisher.publish(text(number)).unwrap();
    }
    let mut received = Vec::new();
    while received.last() != Some(&text(19).data) {
        let frame = client.frame(1);
        received.push(feros::message::from_bytes::<Text>(&frame[13..]).unwrap().data);
    }
    assert_eq!(received[0], text(0).data);
    assert!(received.len() < 20, "{received:?}");
    for rate in ["0", "-1", "1e999"] {
        let op = format!(
            "{{\"op\":\"subscribe\",\"subscriptions\":[{{\"id\":2,\"channelId\":1,\"maxRateHz\":{rate}}}]}}"
        );
        client.socket.send(tungstenite::Message::text(op)).unwrap();
        client.op("status", |op| op["level"] == 2);
    }
}

#[test]
fn a_topic_with_two_types_is_two_channels_and_a_warning() {
    let fixture = Fixture::new();
    let _text = fixture.robot.create_publisher::<Text>("/both", 1).unwrap();
    let _bool = fixture.robot.create_publisher::<Bool>("/both", 1).unwrap();
    let mut client = fixture.foxglove();
    let (mut types, mut warned) = (Vec::new(), false);
    client.find(|incoming| {
        let Incoming::Op(op) = incoming else { return None };
        warned |=
            op["message"].as_str().is_some_and(|text| text.contains("/both is used with several"));
        for channel in op["channels"].as_array().into_iter().flatten() {
            if channel["topic"] == "/both" {
                types.push(channel["schemaName"].as_str().unwrap().to_owned());
            }
        }
        (types.len() == 2 && warned).then_some(())
    });
    types.sort();
    assert_eq!(types, ["std_msgs/msg/Bool", "std_msgs/msg/String"]);
}

#[test]
fn unknown_types_are_looked_for_and_reported() {
    let identity = TypeIdentity { name: "mine/msg/Mine".into(), hash: None };
    let other = TypeIdentity { name: "mine/msg/Other".into(), hash: None };
    let fixture = Fixture::with(|options| {
        options.describe = Some(std::sync::Arc::new(|topic: &str, name: &str, _| {
            assert_eq!(topic.starts_with("/mine"), name == "mine/msg/Mine");
            let schema = Schema { encoding: "ros2msg".into(), text: "int8 a\n".into() };
            (name == "mine/msg/Mine").then_some(schema)
        }));
    });
    let _mine = fixture.robot.create_generic_publisher("/mine", &identity, 1).unwrap();
    let mut client = fixture.foxglove();
    assert_eq!(client.channel("/mine")["schema"], "int8 a\n");
    let publisher = fixture.robot.create_generic_publisher("/other", &other, 1).unwrap();
    let channel = client.subscribe("/other", 3);
    assert_eq!((&channel["schema"], channel.get("schemaEncoding")), (&json!(""), None));
    client.status("mine/msg/Other");
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    publisher.publish_serialized(&[0, 1, 0, 0, 42]).unwrap();
    assert_eq!(client.frame(1)[13..], [0, 1, 0, 0, 42], "its messages are sent all the same");
}

#[test]
fn types_without_a_definition_do_not_delay_others() {
    // Seven nodes do not answer until the type of the eighth topic is known.
    let (describing, is_known) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let fixture = Fixture::with({
        let (describing, is_known) = (describing.clone(), is_known.clone());
        move |options| {
            options.describe = Some(Arc::new(move |topic: &str, _: &str, _| {
                describing.fetch_add(1, Ordering::SeqCst);
                let answers = topic == "/slow_7";
                let may_answer = || answers && describing.load(Ordering::SeqCst) == 8;
                while !may_answer() && !is_known.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                answers.then(|| Schema { encoding: "ros2msg".into(), text: "int8 a\n".into() })
            }));
        }
    });
    // This value is dropped before the fixture, which can end only after that.
    let ended = Ended(is_known);
    let publishers = (0..8).map(|number| {
        let identity = TypeIdentity { name: format!("mine/msg/Mine{number}"), hash: None };
        let topic = format!("/slow_{number}");
        fixture.robot.create_generic_publisher(&topic, &identity, 1).unwrap()
    });
    let publishers: Vec<_> = publishers.collect();
    let mut client = fixture.foxglove();
    assert_eq!(client.channel("/slow_7")["schema"], "int8 a\n");
    assert_eq!(describing.load(Ordering::SeqCst), 8);
    drop((ended, publishers));
}

/// Lets waiting threads end, however the test ends.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn hidden_topics_are_for_the_page() {
    let fixture = Fixture::new();
    let _hidden = fixture.robot.create_publisher::<Text>("/_hidden", 1).unwrap();
    let _shown = fixture.robot.create_publisher::<Text>("/z_shown", 1).unwrap();
    fixture.page().channel("/_hidden");
    let mut foxglove = fixture.foxglove();
    let mut seen = Vec::new();
    foxglove.find(|incoming| {
        let Incoming::Op(op) = incoming else { return None };
        for channel in op["channels"].as_array().into_iter().flatten() {
            seen.push(channel["topic"].as_str().unwrap().to_owned());
        }
        seen.contains(&"/z_shown".to_owned()).then_some(())
    });
    assert!(!seen.contains(&"/_hidden".to_owned()), "{seen:?}");
}

#[test]
fn the_connection_graph_and_its_changes_are_sent() {
    let fixture = Fixture::new();
    let publisher = fixture.robot.create_publisher::<Text>("/chatter", 1).unwrap();
    let mut client = fixture.foxglove();
    client.channel("/chatter");
    client.send(json!({"op": "subscribeConnectionGraph"}));
    let has = |op: &serde_json::Value, list: &str, entry: serde_json::Value| {
        op[list].as_array().unwrap().contains(&entry)
    };
    let published = json!({"name": "/chatter", "publisherIds": ["/robot"]});
    client.op("connectionGraphUpdate", |op| has(op, "publishedTopics", published.clone()));
    let listener = fixture.robot.create_subscription("/chatter", 1, |_: Text| ()).unwrap();
    let subscribed = json!({"name": "/chatter", "subscriberIds": ["/robot"]});
    client.op("connectionGraphUpdate", |op| has(op, "subscribedTopics", subscribed.clone()));
    drop((publisher, listener));
    client.op("connectionGraphUpdate", |op| has(op, "removedTopics", json!("/chatter")));
}

#[test]
fn simulated_time_is_sent() {
    let fixture = Fixture::new();
    let mut client = fixture.foxglove();
    assert!(!client.server_info["capabilities"].as_array().unwrap().contains(&json!("time")));
    let clock = fixture.robot.create_publisher::<Clock>("/clock", QosProfile::clock()).unwrap();
    let has_time =
        |op: &serde_json::Value| op["capabilities"].as_array().unwrap().contains(&json!("time"));
    client.op("serverInfo", has_time);
    clock.wait_for_subscriptions(1, WATCHDOG).unwrap();
    let mut time = Clock::default();
    (time.clock.sec, time.clock.nanosec) = (12, 5);
    clock.publish(time).unwrap();
    assert_eq!(client.frame(2)[1..], 12_000_000_005_u64.to_le_bytes());
    drop(clock);
    client.op("serverInfo", |op| !has_time(op));
}
