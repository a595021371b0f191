//! Parameters: reading, setting, and the reports of changes.

use serde_json::{Value, json};

use crate::support::Fixture;

fn values(op: &Value) -> Vec<(&str, &Value)> {
    let list = op["parameters"].as_array().unwrap();
    list.iter().map(|entry| (entry["name"].as_str().unwrap(), &entry["value"])).collect()
}

fn declare(fixture: &Fixture) {
    fixture.robot.declare_parameter("rate", 15.0).unwrap();
    fixture.robot.declare_parameter("lens.name", "wide").unwrap();
    fixture.robot.declare_parameter("bytes", vec![1_u8, 2]).unwrap();
}

#[test]
fn parameters_are_asked_for_by_name_and_all_at_once() {
    let fixture = Fixture::new();
    declare(&fixture);
    let mut client = fixture.foxglove();
    client.channel("/rosout");
    let names = json!(["/robot.rate", "/robot.lens.name", "/robot.missing", "nonsense"]);
    client.send(json!({"op": "getParameters", "parameterNames": names, "id": "one"}));
    client.status("`nonsense` is not the name of a parameter");
    let op = client.op("parameterValues", |op| op["id"] == "one");
    assert_eq!(values(&op), [("/robot.lens.name", &json!("wide")), ("/robot.rate", &json!(15.0))]);
    assert_eq!(op["parameters"][1]["type"], "float64");
    client.send(json!({"op": "getParameters", "parameterNames": [], "id": "all"}));
    let op = client.op("parameterValues", |op| op["id"] == "all");
    assert!(values(&op).contains(&("/robot.bytes", &json!("AQI="))), "{op}");
    assert!(values(&op).contains(&("/robot.use_sim_time", &json!(false))), "{op}");
    client.send(json!({"op": "getParameters", "parameterNames": ["/none.a"], "id": "none"}));
    client.status("no server of /none/get_parameters");
}

#[test]
fn the_page_hears_each_node_at_once_though_another_does_not_answer() {
    let fixture = Fixture::new();
    // No executor spins this node.
    let _silent = fixture.contexts[0].create_node("silent").unwrap();
    declare(&fixture);
    let (mut page, mut client) = (fixture.page(), fixture.foxglove());
    for each in [&mut page, &mut client] {
        each.service("/silent/list_parameters");
        each.send(json!({"op": "getParameters", "parameterNames": [], "id": "all"}));
    }
    let heard = page.op("parameterValues", |op| op["id"].is_null());
    assert!(values(&heard).contains(&("/robot.rate", &json!(15.0))), "{heard}");
    page.status("/silent/list_parameters did not respond");
    let all = page.op("parameterValues", |_| true);
    assert_eq!((&all["id"], values(&all).len()), (&json!("all"), values(&heard).len()));
    let once = client.op("parameterValues", |_| true);
    assert_eq!(once, all, "as Foxglove has it");
}

#[test]
fn parameters_are_set_and_changes_are_sent_to_subscribed_clients() {
    let fixture = Fixture::with_changes();
    declare(&fixture);
    let mut watching = fixture.page();
    let names = json!(["/robot.rate"]);
    watching.send(json!({"op": "subscribeParameterUpdates", "parameterNames": names}));
    let mut client = fixture.foxglove();
    client.channel("/rosout");
    let set = |name: &str, value: Value, id: &str| {
        let parameter = json!({"name": name, "value": value, "type": "float64"});
        json!({"op": "setParameters", "parameters": [parameter], "id": id})
    };
    client.send(set("/robot.rate", json!(20), "one"));
    let op = client.op("parameterValues", |op| op["id"] == "one");
    assert_eq!(values(&op), [("/robot.rate", &json!(20.0))]);
    client.send(set("/robot.lens.name", json!(1), "two"));
    client.status("/robot.lens.name is not set");
    let op = client.op("parameterValues", |op| op["id"] == "two");
    assert_eq!(values(&op), [("/robot.lens.name", &json!("wide"))], "it is unchanged");
    client.send(set("/robot.rate", json!({"a": 1}), "three"));
    client.status("/robot.rate is not set");
    // The value changes until the watching client gets a report: the server's subscription may be
    // younger than the first changes.
    let mut rate = 30.0;
    let parameters = std::thread::scope(|scope| {
        let told = scope.spawn(move || watching.op("parameterValues", |_| true));
        while !told.is_finished() {
            rate += 1.0;
            client.send(set("/robot.rate", json!(rate), "more"));
            client.op("parameterValues", |op| op["id"] == "more");
        }
        told.join().unwrap()
    });
    assert_eq!(values(&parameters)[0].0, "/robot.rate");
}
