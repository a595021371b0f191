//! Changes by clients: messages that they publish, and services that they call.

use std::sync::mpsc::sync_channel;

use feros::msgs::lifecycle_msgs::msg::State;
use feros::msgs::lifecycle_msgs::srv::{GetState, GetState_Request, GetState_Response};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros_test_support::WATCHDOG;
use serde_json::{Value, json};

use crate::client::Client;
use crate::support::Fixture;

fn message(channel: u32, data: &[u8]) -> Vec<u8> {
    [&[1][..], &channel.to_le_bytes(), data].concat()
}

fn request(service: &Value, call: u32, encoding: &str, data: &[u8]) -> Vec<u8> {
    let service = u32::try_from(service["id"].as_u64().unwrap()).unwrap();
    let length = u32::try_from(encoding.len()).unwrap();
    let numbers = [service, call, length].map(u32::to_le_bytes).concat();
    [&[2][..], &numbers, encoding.as_bytes(), data].concat()
}

fn advertise(client: &mut Client, id: u32, topic: &str, encoding: &str, schema_name: &str) {
    client.send(json!({"op": "advertise", "channels": [
        {"id": id, "topic": topic, "encoding": encoding, "schemaName": schema_name}]}));
}

#[test]
fn messages_of_a_client_arrive() {
    let fixture = Fixture::with_changes();
    let (sender, received) = sync_channel(8);
    let _listener = fixture.robot.create_subscription("/goal", 10, move |text: Text| {
        sender.send(text.data).unwrap();
    });
    let mut client = fixture.foxglove();
    assert!(
        client.server_info["capabilities"].as_array().unwrap().contains(&json!("clientPublish"))
    );
    assert_eq!(client.server_info["supportedEncodings"], json!(["cdr"]));
    client.channel("/goal");
    advertise(&mut client, 4, "/goal", "cdr", "std_msgs/msg/String");
    let goal = feros::message::to_vec(&Text { data: "home".into() }).unwrap();
    // Until the publisher has found the subscription, its messages reach nobody.
    let arrived = feros_test_support::eventually(|| {
        client.send_frame(message(4, &goal));
        received.recv_timeout(std::time::Duration::from_millis(100)).map_err(|_| "the message")
    });
    assert_eq!(arrived, "home");
    client.send(json!({"op": "unadvertise", "channelIds": [4]}));
    client.send_frame(message(4, &goal));
    client.status("not advertised channel 4");
}

#[test]
fn impossible_publications_are_refused_with_the_reason() {
    let fixture = Fixture::with_changes();
    let mut client = fixture.foxglove();
    advertise(&mut client, 1, "/a", "json", "std_msgs/msg/String");
    client.status("has the encoding `json`");
    advertise(&mut client, 1, "/a", "cdr", "no type");
    client.status("write the type as package/msg/Name");
    advertise(&mut client, 1, "no topic!", "cdr", "std_msgs/msg/String");
    client.status("no topic!");
    advertise(&mut client, 1, "/a", "cdr", "std_msgs/msg/String");
    advertise(&mut client, 1, "/b", "cdr", "std_msgs/msg/String");
    client.status("already advertised as /a");
    client.send_frame(message(1, &[9, 9]));
    client.status("/a");
    for id in 2..70 {
        advertise(&mut client, id, "/a", "cdr", "std_msgs/msg/String");
    }
    client.status("at most 64 topics");
}

#[test]
fn services_are_called() {
    let fixture = Fixture::with_changes();
    let answer = |request: SetBool_Request| SetBool_Response {
        success: request.data,
        message: "done".into(),
    };
    let service = fixture.robot.create_service::<SetBool, _>("/enable", answer).unwrap();
    let mut client = fixture.foxglove();
    let advertised = client.service("/enable");
    assert_eq!(advertised["type"], "std_srvs/srv/SetBool");
    assert_eq!(advertised["request"]["schema"], "bool data\n");
    assert_eq!(advertised["response"]["schemaName"], "std_srvs/srv/SetBool_Response");
    let data = feros::message::to_vec(&SetBool_Request { data: true }).unwrap();
    client.send_frame(request(&advertised, 5, "cdr", &data));
    let frame = client.frame(3);
    assert_eq!(frame[5..9], 5_u32.to_le_bytes());
    assert_eq!(&frame[13..16], b"cdr");
    let response = feros::message::from_bytes::<SetBool_Response>(&frame[16..]).unwrap();
    assert_eq!((response.success, &*response.message), (true, "done"));
    let failure = |client: &mut Client, call: u32| {
        let op = client.op("serviceCallFailure", |op| op["callId"] == call);
        op["message"].as_str().unwrap().to_owned()
    };
    client.send_frame(request(&advertised, 6, "json", b"{}"));
    assert!(failure(&mut client, 6).contains("`cdr`"));
    client.send_frame(request(&advertised, 7, "cdr", &[1]));
    assert!(failure(&mut client, 7).contains("/enable"));
    client.send_frame(request(&json!({"id": 999}), 8, "cdr", &data));
    assert!(failure(&mut client, 8).contains("no service 999"));
    drop(service);
    client.op("unadvertiseServices", |op| op["serviceIds"] == json!([advertised["id"]]));
}

#[test]
fn a_server_that_only_shows_changes_nothing() {
    let fixture = Fixture::new();
    let publisher = fixture.robot.create_publisher::<Text>("/a", 1).unwrap();
    let mut client = fixture.page();
    client.channel("/a");
    advertise(&mut client, 1, "/goal", "cdr", "std_msgs/msg/String");
    client.status("--allow-changes");
    client.send_frame(message(1, &[0, 1, 0, 0, 0]));
    client.status("--allow-changes");
    let parameter = json!({"name": "/robot.use_sim_time", "value": true});
    client.send(json!({"op": "setParameters", "parameters": [parameter]}));
    client.status("--allow-changes");
    assert!(publisher.wait_for_all_acked(WATCHDOG).is_ok());
}

#[test]
fn a_server_that_only_shows_lets_services_be_called_that_only_read() {
    let fixture = Fixture::new();
    let answer = |_: SetBool_Request| SetBool_Response { success: true, ..Default::default() };
    let _changing = fixture.robot.create_service::<SetBool, _>("/enable", answer).unwrap();
    let state = State { id: 3, label: "active".into() };
    let answer = move |_: GetState_Request| GetState_Response { current_state: state.clone() };
    let _reading = fixture.robot.create_service::<GetState, _>("/robot/get_state", answer).unwrap();
    let mut client = fixture.page();
    let reading = client.service("/robot/get_state");
    let data = feros::message::to_vec(&GetState_Request::default()).unwrap();
    client.send_frame(request(&reading, 1, "cdr", &data));
    let frame = client.frame(3);
    let response = feros::message::from_bytes::<GetState_Response>(&frame[16..]).unwrap();
    assert_eq!(response.current_state.label, "active");
    // A client that guesses the number of another service is refused.
    for id in 1..100_u32 {
        client.send_frame(request(&json!({"id": id}), id, "cdr", &data));
    }
    client.op("serviceCallFailure", |op| {
        op["message"].as_str().is_some_and(|text| text.contains("--allow-changes"))
    });
}
