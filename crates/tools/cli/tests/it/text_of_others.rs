//! Names and values of a hostile peer, and of a bag: no terminal obeys them, a pipe gets their
//! bytes, and JSON uses `\u` for unseen characters.

use std::sync::Arc;

use feros::engine::{NodeId, NodeName, PublisherOptions};
use feros::msgs::std_msgs::msg::String as Text;
use feros::{Context, Executor, QosProfile};
use feros_bag::{BagTopic, BagWriter, Schema, TopicMetadata, WriterOptions};
use feros_wording::is_unseen;

use crate::process::{Finished, context, eventually, feros, feros_on_terminal, spawn};

/// Sets the title of the terminal, sets a colour with one character, reverses the direction of
/// text, and adds a line that looks like an error of the command.
const HOSTILE: &str = "x\u{1b}]0;pwned\u{7}\u{9b}35m\u{202e}\u{2028}\r\nerror: forged\u{1b}[35m";

/// A participant that ignores all rules for names.
struct HostilePeer {
    context: Context,
    node: NodeId,
    kept: Vec<Arc<dyn feros::engine::Publisher>>,
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
        self.kept.push(self.context.session().create_publisher(options).unwrap());
    }
}

impl Drop for HostilePeer {
    fn drop(&mut self) {
        self.kept.clear();
        self.context.session().remove_node(self.node);
    }
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

/// Runs a command until it shows the hostile text, through a pipe and on a terminal.
fn shows(line: &[&str]) {
    let has_all = |finished: &Finished| finished.out.contains(HOSTILE);
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
    let node = peer.context.create_node("h_listener").unwrap();
    let _heard = node.create_subscription("/of_evil", 10, |_: Text| {}).unwrap();

    for line in [
        &["topic", "info", "-v", "/of_evil"][..],
        &["node", "list"],
        &["action", "info", "/h_act"],
        &["doctor", "--report", "--exclude-packages"],
    ] {
        shows(line);
    }
    for line in [
        &["topic", "info", "/of_evil", "--json"][..],
        &["node", "list", "--json"],
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
    let executor = Arc::new(Executor::new());
    executor.add_node(&node).unwrap();
    let stopper = executor.stopper();
    let spinning = spawn("test-values", move || executor.spin().unwrap());

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
    stopper.stop();
    spinning.join().unwrap();
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
