//! Figures of the running system, and the checks of the machine.

use std::sync::Arc;
use std::time::Duration;

use feros::msgs::std_msgs::msg::{Bool, String as Text};
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{NodeOptions, QosProfile};
use feros_view::protocol::{Finding, Severity};
use serde_json::{Value, json};

use crate::support::{Fixture, spinning};

fn named<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    list.as_array().unwrap().iter().find(|entry| entry["name"] == name)
}

#[test]
fn figures_tell_topics_edges_nodes_and_services() {
    let fixture = Fixture::new();
    let listener = fixture.contexts[0].create_node_with(NodeOptions::new("listener")).unwrap();
    let _spinning = spinning(&listener);
    let publisher = fixture.robot.create_publisher::<Text>("/chatter", 10).unwrap();
    let _subscription = listener.create_subscription("/chatter", 10, |_: Text| ()).unwrap();
    let best_effort = QosProfile::keep_last(1).best_effort();
    let _offered = fixture.robot.create_publisher::<Bool>("/scan", best_effort).unwrap();
    let _asked = listener.create_subscription("/scan", 1, |_: Bool| ()).unwrap();
    let answer = |_: SetBool_Request| SetBool_Response::default();
    let _service = fixture.robot.create_service::<SetBool, _>("/enable", answer).unwrap();
    let _client = listener.create_client::<SetBool>("/enable").unwrap();
    let _timer = fixture.robot.create_wall_timer(Duration::from_millis(10), move || {
        publisher.publish(Text { data: "hello".into() }).unwrap();
    });
    let mut client = fixture.page();
    client.send(json!({"op": "measureTopics", "topics": ["/chatter", "/none"]}));
    client.send(json!({"op": "subscribeFigures"}));
    let figures = client.op("figures", |op| {
        let is_measured = |topic: &Value| topic["rateHz"].as_f64().is_some_and(|rate| rate > 0.0);
        let is_served = |service: &Value| service["clients"] == json!(["/listener"]);
        named(&op["topics"], "/chatter").is_some_and(is_measured)
            && named(&op["services"], "/enable").is_some_and(is_served)
            && named(&op["nodes"], "/robot").is_some_and(|node| node["cpu"].is_number())
    });
    let chatter = named(&figures["topics"], "/chatter").unwrap();
    assert_eq!((&chatter["publishers"], &chatter["subscriptions"]), (&json!(1), &json!(1)));
    assert_eq!(chatter["types"], json!(["std_msgs/msg/String"]));
    assert_eq!(chatter["transports"]["intraProcess"], 1);
    // The network transport, which may carry the first messages, pads 14 bytes to 16.
    assert!((14.0..=16.0).contains(&chatter["sizeBytes"].as_f64().unwrap().round()), "{chatter}");
    assert!(chatter["ageNanos"]["p99"].as_u64() >= chatter["ageNanos"]["p50"].as_u64());
    let scan = named(&figures["topics"], "/scan").unwrap();
    assert_eq!(scan["rateHz"], Value::Null, "nobody measures it");
    let mismatch = &scan["mismatches"][0];
    assert_eq!(
        (&mismatch["publisher"], &mismatch["subscription"]),
        (&json!("/robot"), &json!("/listener"))
    );
    assert!(mismatch["problem"].as_str().unwrap().contains("RELIABILITY"));
    let cure = mismatch["cure"].as_str().unwrap();
    assert!(cure.starts_with("Let /") && cure.contains(" publish reliably, or let /"), "{cure}");
    assert!(cure.ends_with(" request best effort."), "{cure}");
    let edges = figures["edges"].as_array().unwrap();
    let edge = edges.iter().find(|edge| edge["topic"] == "/chatter").unwrap();
    assert_eq!(
        (&edge["publisher"], &edge["subscription"]),
        (&json!("/robot"), &json!("/listener"))
    );
    assert_eq!(
        (&edge["transport"], &edge["reliability"]),
        (&json!("intraProcess"), &json!("reliable"))
    );
    let robot = named(&figures["nodes"], "/robot").unwrap();
    assert_eq!(robot["pid"], std::process::id());
    assert!(robot["pssBytes"].as_u64() > Some(100_000));
    assert_eq!((&robot["isLifecycle"], &robot["isContainer"]), (&json!(false), &json!(false)));
    assert_eq!(robot["distribution"], "Feros");
    let feros = named(&figures["distributions"], "Feros").unwrap();
    assert!(feros["participants"].as_u64() >= Some(1), "{figures}");
    let advice = figures["distributionAdvice"].as_array().unwrap();
    let of_feros = advice.iter().find(|one| one["text"].as_str().unwrap().contains("of Feros"));
    assert_eq!(of_feros.unwrap()["cure"], json!(null), "{figures}");
    assert!(named(&figures["nodes"], "/_view").is_none(), "the view does not watch itself");
    let enable = named(&figures["services"], "/enable").unwrap();
    assert_eq!(
        (&enable["type"], &enable["servers"]),
        (&json!("std_srvs/srv/SetBool"), &json!(["/robot"]))
    );
    assert_eq!(figures["connections"]["count"], 1);
    assert!(figures["timeNanos"].as_str().unwrap().parse::<u64>().is_ok());
}

#[test]
fn a_topic_is_measured_as_long_as_a_client_wants_it() {
    let fixture = Fixture::new();
    let publisher = fixture.robot.create_publisher::<Text>("/chatter", 10).unwrap();
    let mut client = fixture.page();
    client.send(json!({"op": "measureTopics", "topics": ["/chatter"]}));
    client.send(json!({"op": "subscribeFigures"}));
    publisher.wait_for_subscriptions(1, feros_test_support::WATCHDOG).unwrap();
    client.send(json!({"op": "measureTopics", "topics": []}));
    feros_test_support::until("nobody listens", || publisher.subscription_count() == 0);
    client.send(json!({"op": "measureTopics", "topics": ["/chatter"]}));
    publisher.wait_for_subscriptions(1, feros_test_support::WATCHDOG).unwrap();
    client.send(json!({"op": "unsubscribeFigures"}));
    feros_test_support::until("nobody listens", || publisher.subscription_count() == 0);
}

#[test]
fn the_doctor_is_asked_where_there_is_one() {
    let fixture = Fixture::with(|options| {
        let finding = Finding {
            area: "network".into(),
            level: Severity::Warning,
            text: "it is slow".into(),
            cure: Some("a cable".into()),
        };
        options.doctor = Some(Arc::new(move || vec![finding.clone()]));
    });
    let mut client = fixture.page();
    client.send(json!({"op": "doctor"}));
    let report = client.op("doctorReport", |_| true);
    let finding =
        json!({"area": "network", "level": "warning", "text": "it is slow", "cure": "a cable"});
    assert_eq!(report["findings"], json!([finding]));
    let fixture = Fixture::new();
    let mut client = fixture.page();
    client.send(json!({"op": "doctor"}));
    client.status("feros doctor");
}
