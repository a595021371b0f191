//! Names, values and answers of hostile nodes, and text of bags and definitions: no terminal obeys
//! them, a pipe gets their bytes, and JSON uses `\u` for unseen characters.

use std::any::Any;

use feros::engine::{NodeId, NodeName, PublisherOptions, ServiceOptions};
use feros::msgs::composition_interfaces::srv::{
    ListNodes, ListNodes_Request, ListNodes_Response, LoadNode, LoadNode_Request,
    LoadNode_Response, UnloadNode, UnloadNode_Request, UnloadNode_Response,
};
use feros::msgs::lifecycle_msgs::msg::{State, Transition, TransitionDescription};
use feros::msgs::lifecycle_msgs::srv::{
    GetAvailableTransitions, GetAvailableTransitions_Request, GetAvailableTransitions_Response,
    GetState, GetState_Request, GetState_Response,
};
use feros::msgs::std_msgs::msg::String as Text;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{Context, Executor, Node, QosProfile};
use feros_bag::{BagTopic, BagWriter, Schema, TopicMetadata, WriterOptions};
use feros_test_support::Background;
use feros_wording::is_unseen;
use serde_json::json;
use tungstenite::Message;

use crate::process::{Finished, Running, context, eventually, feros, feros_on_terminal};

/// Sets the title of the terminal, sets a colour with one character, reverses the direction of
/// text, and adds a line that looks like an error of the command.
const HOSTILE: &str = "x\u{1b}]0;pwned\u{7}\u{9b}35m\u{202e}\u{2028}\r\nerror: forged\u{1b}[35m";

/// A participant that ignores all rules for names.
struct HostilePeer {
    context: Context,
    node: NodeId,
    kept: Vec<Box<dyn Any>>,
}

impl HostilePeer {
    fn start() -> Self {
        let context = context();
        let node = context.session().create_node(&NodeName::announced("/", HOSTILE)).unwrap();
        Self { context, node, kept: Vec::new() }
    }

    fn publishes(&mut self, topic: &str, type_name: &str, qos: QosProfile) {
        let options =
            PublisherOptions { qos, ..PublisherOptions::new(self.node, topic, type_name) };
        self.kept.push(Box::new(self.context.session().create_publisher(options).unwrap()));
    }

    fn serves(&mut self, service: &str, type_name: &str) {
        let options = ServiceOptions::new(self.node, service, type_name);
        self.kept.push(Box::new(self.context.session().create_service(options).unwrap()));
    }
}

impl Drop for HostilePeer {
    fn drop(&mut self) {
        self.kept.clear();
        self.context.session().remove_node(self.node);
    }
}

/// Spins a node until this is dropped.
fn spun(node: &Node) -> Background {
    let executor = Executor::new();
    executor.add_node(node).unwrap();
    let stopper = executor.stopper();
    Background::start("hostile", move || executor.spin().unwrap(), move || stopper.stop())
}

/// Fails if a terminal would obey anything but the command's own colours and line breaks.
fn is_harmless(line: &[&str], written: &str) {
    let own = anstream::adapter::strip_str(written).to_string();
    assert!(!written.contains("\u{1b}[35m"), "{line:?}: {written:?}");
    let obeyed = own.find(|c: char| is_unseen(c) && !matches!(c, '\n' | '\t'));
    assert_eq!(obeyed, None, "{line:?}: {written:?}");
    let is_forged = |line: &str| line.trim_end().starts_with("error: forged");
    assert!(!written.lines().any(is_forged), "{line:?}: {written:?}");
}

/// Runs a command until it shows [`HOSTILE`], through a pipe and on a terminal.
fn shows(line: &[&str]) {
    shows_text(line, HOSTILE);
}

/// Like [`shows`], for another hostile text.
fn shows_text(line: &[&str], hostile: &str) {
    let has_all = |finished: &Finished| finished.out.contains(hostile);
    eventually(|| feros(line), has_all);
    let written = eventually(|| feros_on_terminal(line), |written| written.contains("\\u{1b}]0;"));
    is_harmless(line, &written);
}

/// Like [`shows`], as JSON, which is the same on a pipe and on a terminal.
fn shows_json(line: &[&str]) {
    let has_all = |finished: &Finished| finished.out.contains("\\u001b]0;pwned\\u0007\\u009b35m");
    let piped = eventually(|| feros(line), has_all).success();
    assert!(!piped.trim_end().contains(is_unseen), "{piped:?}");
    let written = eventually(|| feros_on_terminal(line), |text| text.contains("\\u202e\\u2028"));
    is_harmless(line, &written);
}

#[test]
fn names_of_a_hostile_peer_are_written_out() {
    let mut peer = HostilePeer::start();
    let feedback = "example_interfaces/action/Fibonacci_FeedbackMessage";
    peer.publishes("/h_act/_action/feedback", feedback, QosProfile::default());
    let best_effort = QosProfile::default().best_effort();
    peer.publishes("/of_evil", "std_msgs/msg/String", best_effort);
    peer.serves("/served", "std_srvs/srv/SetBool");
    let node = peer.context.create_node("h_listener").unwrap();
    let _heard = node.create_subscription("/of_evil", 10, |_: Text| {}).unwrap();

    for line in [
        &["topic", "info", "-v", "/of_evil"][..],
        &["node", "list"],
        &["service", "info", "-v", "/served"],
        &["action", "info", "/h_act"],
        &["doctor", "--report", "--exclude-packages"],
    ] {
        shows(line);
    }
    for line in [
        &["topic", "info", "/of_evil", "--json"][..],
        &["node", "list", "--json"],
        &["service", "info", "/served", "--json"],
        &["doctor", "--report", "--exclude-packages", "--json"],
    ] {
        shows_json(line);
    }
    // In the screen that `top` draws, only names from the network are checked.
    let line = ["top", "--iterations", "1"];
    let written = eventually(|| feros_on_terminal(&line), |text| text.contains("\\u{1b}]0;"));
    assert!(!written.contains("\u{1b}]0;") && !written.contains('\u{202e}'), "{written:?}");
    // Standard error never contains untrusted bytes, wherever it goes.
    let line = ["topic", "info", "/of_evil"];
    let said = eventually(|| feros(&line).err, |said| said.contains("\\u{1b}]0;"));
    is_harmless(&line, &said);
}

#[test]
fn values_of_a_hostile_node_are_written_out() {
    let context = context();
    let node = context.create_node("h_values").unwrap();
    let latched = QosProfile::keep_last(1).transient_local();
    let publisher = node.create_publisher::<Text>("/h_text", latched).unwrap();
    publisher.publish(Text { data: HOSTILE.into() }).unwrap();
    node.declare_parameter("h_value", HOSTILE).unwrap();
    node.build_parameter("h_rate", 1).description(HOSTILE).declare().unwrap();
    let _spinning = spun(&node);

    let echo = ["topic", "echo", "/h_text", "--once", "--qos-durability", "transient_local"];
    let with = |more: &[&'static str]| [&echo[..], more].concat();
    shows(&with(&["--csv"]));
    shows(&["param", "get", "/h_values", "h_value"]);
    shows(&["param", "describe", "/h_values", "h_rate"]);
    shows_json(&with(&["--json"]));
    shows_json(&["param", "get", "/h_values", "h_value", "--json"]);
    // YAML itself escapes the characters that it regards as control characters.
    for line in [with(&[]), with(&["--field", "data"]), vec!["param", "dump", "/h_values"]] {
        is_harmless(&line, &feros_on_terminal(&line));
    }
}

#[test]
fn answers_of_a_hostile_server_are_written_out() {
    let context = context();
    let node = context.create_node("h_server").unwrap();
    let answer = |_: SetBool_Request| SetBool_Response { success: true, message: HOSTILE.into() };
    let _service = node.create_service::<SetBool, _>("/h_srv", answer).unwrap();
    let _spinning = spun(&node);
    let line = ["service", "call", "/h_srv", "std_srvs/srv/SetBool", "{data: true}"];
    is_harmless(&line, &feros_on_terminal(&line));
    shows_json(&[&line[..], &["--json"]].concat());
}

#[test]
fn answers_of_a_hostile_container_are_written_out() {
    let context = context();
    let node = context.create_node("h_container").unwrap();
    let load = |_: LoadNode_Request| LoadNode_Response {
        error_message: HOSTILE.into(),
        ..LoadNode_Response::default()
    };
    let unload = |_: UnloadNode_Request| UnloadNode_Response::default();
    let list = |_: ListNodes_Request| ListNodes_Response {
        full_node_names: vec![HOSTILE.into()],
        unique_ids: vec![1],
    };
    let _services = (
        node.create_service::<LoadNode, _>("~/_container/load_node", load).unwrap(),
        node.create_service::<UnloadNode, _>("~/_container/unload_node", unload).unwrap(),
        node.create_service::<ListNodes, _>("~/_container/list_nodes", list).unwrap(),
    );
    let _spinning = spun(&node);
    shows(&["component", "list", "/h_container"]);
    shows_json(&["component", "list", "/h_container", "--json"]);
    let line = ["component", "load", "/h_container", "demo", "demo::Talker"];
    let said = eventually(|| feros(&line).err, |said| said.contains("\\u{1b}]0;"));
    is_harmless(&line, &said);
}

#[test]
fn answers_of_a_hostile_managed_node_are_written_out() {
    fn state() -> State {
        State { id: 1, label: HOSTILE.into() }
    }
    let context = context();
    let node = context.create_node("h_managed").unwrap();
    let get_state = |_: GetState_Request| GetState_Response { current_state: state() };
    let get_transitions = |_: GetAvailableTransitions_Request| {
        let transition = Transition { id: 1, label: HOSTILE.into() };
        let described =
            TransitionDescription { transition, start_state: state(), goal_state: state() };
        GetAvailableTransitions_Response { available_transitions: vec![described] }
    };
    let transitions = "~/get_available_transitions";
    let _services = (
        node.create_service::<GetState, _>("~/get_state", get_state).unwrap(),
        node.create_service::<GetAvailableTransitions, _>(transitions, get_transitions).unwrap(),
    );
    let _spinning = spun(&node);
    for verb in ["get", "list"] {
        shows(&["lifecycle", verb, "/h_managed"]);
        shows_json(&["lifecycle", verb, "/h_managed", "--json"]);
    }
}

/// A line break would end a comment, so the text has no line breaks.
#[test]
fn comments_of_a_hostile_definition_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let messages = folder.path().join("evil_msgs/msg");
    std::fs::create_dir_all(&messages).unwrap();
    let comment = HOSTILE.replace("\r\n", " ");
    let text = format!("# {comment}\n\nstring data # {comment}\n");
    std::fs::write(messages.join("Evil.msg"), text).unwrap();
    let folder = folder.path().to_str().unwrap();
    shows_text(&["interface", "show", "evil_msgs/msg/Evil", "--interfaces", folder], &comment);
}

#[test]
fn the_log_of_the_view_is_written_out() {
    let mut view = Running::start(&["view", "--port", "0", "--no-open"]);
    let mut socket = crate::view::connect(&view.line().unwrap());
    // For this, the view subscribes reliably, and a best-effort publisher does not match.
    let watch = json!({ "op": "subscribeParameterUpdates", "parameterNames": ["/h.rate"] });
    socket.send(Message::text(watch.to_string())).unwrap();
    let mut peer = HostilePeer::start();
    let best_effort = QosProfile::default().best_effort();
    peer.publishes("/parameter_events", "rcl_interfaces/msg/ParameterEvent", best_effort);
    let said = view.error_with("\\u{1b}]0;");
    view.interrupt();
    let finished = view.finish();
    is_harmless(&["view"], &(said + &finished.err));
    finished.success();
}

#[test]
fn a_bag_of_others_is_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bag");
    let mut writer = BagWriter::create(&path, WriterOptions::default()).unwrap();
    let metadata = TopicMetadata::new(format!("/{HOSTILE}"), format!("evil_msgs/msg/{HOSTILE}"));
    writer.add_topic(BagTopic { metadata, schema: Schema::default() }).unwrap();
    writer.finish().unwrap();
    let bag = path.to_str().unwrap();
    shows(&["bag", "info", bag]);
    shows(&["bag", "info", "--topic-name", bag]);
    shows_json(&["bag", "info", "--json", bag]);
}
