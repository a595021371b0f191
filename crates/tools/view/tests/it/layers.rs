//! Latencies by layer, from the traces of real running processes, each of which is this test
//! program.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use feros::msgs::std_msgs::msg::String as Text;
use serde_json::{Value, json};

use crate::support::{Fixture, context_in, spinning};

/// The variable that gives a child process its role.
const ROLE: &str = "FEROS_VIEW_TEST_ROLE";
/// The variable that gives a child process the domain of its test.
const DOMAIN: &str = "FEROS_VIEW_TEST_DOMAIN";

/// The code of the child processes, which is not a test itself. A child ends when its standard
/// input ends.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let context = context_in(std::env::var(DOMAIN).unwrap().parse().unwrap());
    let node = context.create_node(&role).unwrap();
    let _spinning = spinning(&node);
    let wait = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    if role == "talker" {
        let publisher = node.create_publisher::<Text>("/chatter", 10).unwrap();
        let publish = move || publisher.publish(Text { data: "hello".into() }).unwrap();
        let _timer = node.create_wall_timer(Duration::from_millis(5), publish).unwrap();
        wait();
    } else {
        let _subscription = node.create_subscription("/chatter", 10, |_: Text| ()).unwrap();
        wait();
    }
}

/// A process that ends when this value is dropped.
struct Program(Child);

impl Program {
    fn start(role: &str, domain: u32, folder: &Path) -> Self {
        let mut command = feros_test_support::this_program();
        command.args(["layers::child", "--exact", "--nocapture"]).env(ROLE, role);
        command.env(DOMAIN, domain.to_string()).env("FEROS_TRACE", folder);
        command.env("FEROS_TRACE_PERIOD", "50ms");
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait(); // a child that failed has made its test fail
    }
}

fn edge(figures: &Value) -> Option<&Value> {
    figures["edges"].as_array()?.iter().find(|edge| edge["topic"] == "/chatter")
}

#[test]
fn edges_between_real_processes_tell_their_layers() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::with(|options| options.traces = Some(folder.path().to_owned()));
    let domain = fixture.domain();
    let _programs = ["talker", "listener"].map(|role| Program::start(role, domain, folder.path()));
    let mut client = fixture.page();
    client.send(json!({"op": "subscribeFigures"}));
    let figures = client.op("figures", |op| edge(op).is_some());
    let traces = &figures["traces"];
    assert_eq!((&traces["folder"], &traces["programs"]), (&json!(folder.path()), &Value::Null));
    assert_eq!(edge(&figures).unwrap()["layers"], Value::Null, "nobody looks");
    client.send(json!({"op": "measureTopics", "topics": ["/chatter"]}));
    let figures = client.op("figures", |op| {
        let edge = edge(op).unwrap_or(&Value::Null);
        edge["transport"] == "sharedMemory" && edge["layers"]["messages"].as_u64() >= Some(100)
    });
    assert_eq!(
        (&figures["traces"]["programs"], &figures["traces"]["problems"]),
        (&json!(2), &json!([]))
    );
    let layers = &edge(&figures).unwrap()["layers"];
    let end_to_end = &layers["endToEndNanos"];
    assert!(end_to_end["p99"].as_u64() >= end_to_end["p50"].as_u64(), "{layers}");
    let layers = layers["layers"].as_array().unwrap();
    for name in ["client", "engine write", "notification", "queue", "take"] {
        let layer = layers.iter().find(|layer| layer["name"] == name);
        let nanos = &layer.unwrap_or_else(|| panic!("no {name} in {layers:?}"))["nanos"];
        assert!(nanos["p99"].as_u64() >= nanos["p50"].as_u64() && nanos["p99"].as_u64() > Some(0));
    }
    let shares: f64 = layers.iter().map(|layer| layer["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{layers:?}");
    client.send(json!({"op": "measureTopics", "topics": []}));
    client.op("figures", |op| op["traces"]["programs"].is_null());
}

#[test]
fn without_a_folder_no_traces_are_reported() {
    let fixture = Fixture::new();
    let mut client = fixture.page();
    client.send(json!({"op": "subscribeFigures"}));
    assert_eq!(client.op("figures", |_| true)["traces"], Value::Null);
}

#[test]
fn faults_of_the_trace_folder_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("1.ferostrace"), "something else").unwrap();
    let fixture = Fixture::with(|options| options.traces = Some(folder.path().to_owned()));
    let mut client = fixture.page();
    client.send(json!({"op": "subscribeFigures"}));
    client.send(json!({"op": "measureTopics", "topics": ["/chatter"]}));
    let figures = client.op("figures", |op| op["traces"]["programs"] == 0);
    let problem = figures["traces"]["problems"][0].as_str().unwrap_or_default();
    assert!(problem.contains("is not a trace of Feros"), "{figures}");
}
