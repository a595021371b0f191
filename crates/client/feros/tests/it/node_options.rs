//! The effects of a node's options: names, remapping, parameter values and transports.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use feros::msgs::std_msgs::msg::String as Text;
use feros::{Arguments, CreateError, Executor, NodeOptions, Transport};

use crate::support::{context, context_with, spin_until};

fn arguments(line: &str) -> Arguments {
    Arguments::parse(line.split_whitespace().map(str::to_owned)).unwrap().0
}

#[test]
fn a_name_may_come_later_or_from_the_arguments() {
    let context = context_with("");
    let node =
        context.create_node_with(NodeOptions::default().namespace("/later").name("named")).unwrap();
    assert_eq!(node.name().fully_qualified(), "/later/named");
    let options = NodeOptions::new("original")
        .arguments(arguments("--ros-args -r __node:=new -r __ns:=/local"));
    assert_eq!(context.create_node_with(options).unwrap().name().fully_qualified(), "/local/new");
    let nameless = context.create_node_with(NodeOptions::default());
    assert!(matches!(nameless, Err(CreateError::Name(error)) if error.reason == "it is empty"));
}

#[test]
fn the_nodes_own_arguments_come_before_those_of_the_process() {
    let context = context_with("--ros-args -r __ns:=/global -r a:=global_a -r b:=global_b");
    let options = || NodeOptions::new("node").arguments(arguments("--ros-args -r a:=local_a"));
    let node = context.create_node_with(options()).unwrap();
    assert_eq!(node.resolve_topic_name("a", false).unwrap(), "/global/local_a");
    assert_eq!(node.resolve_topic_name("b", false).unwrap(), "/global/global_b");
    let alone = context.create_node_with(options().use_global_arguments(false)).unwrap();
    assert_eq!(alone.resolve_topic_name("a", false).unwrap(), "/local_a");
    assert_eq!(alone.resolve_topic_name("b", false).unwrap(), "/b");
}

#[test]
fn the_nearest_source_of_a_parameter_wins() {
    let context = context_with("--ros-args -r __ns:=/ns -p a:=1 -p b:=1 -p c:=1 -p other:a:=9");
    let options = || {
        let local = arguments("--ros-args -p b:=2 -p c:=2");
        NodeOptions::new("node").arguments(local).parameter_overrides([("c", 3)])
    };
    let values = |options| {
        let node = context.create_node_with(options).unwrap();
        let values: Vec<_> = node.parameter_overrides().clone().into_iter().collect();
        values
    };
    let expected = |values: &[(&str, i64)]| {
        values.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect::<Vec<_>>()
    };
    assert_eq!(values(options()), expected(&[("a", 1), ("b", 2), ("c", 3)]));
    assert_eq!(values(options().use_global_arguments(false)), expected(&[("b", 2), ("c", 3)]));
}

#[test]
fn a_parameter_file_that_cannot_be_used_makes_no_node() {
    let context = context();
    // No other test in this domain uses this name.
    let name = "without_its_parameter_file";
    let options =
        NodeOptions::new(name).arguments(arguments("--ros-args --params-file /nonexistent.yaml"));
    let refused = context.create_node_with(options).map(drop);
    assert!(matches!(refused, Err(CreateError::ParameterFile(_))), "{refused:?}");
    assert!(!context.graph().nodes.iter().any(|node| node.name.name() == name));
}

#[test]
fn without_intra_process_comms_messages_take_another_transport() {
    let context = context();
    for use_it in [true, false] {
        let options = NodeOptions::new(if use_it { "with" } else { "without" })
            .use_intra_process_comms(use_it);
        let node = context.create_node_with(options).unwrap();
        let executor = Executor::new();
        executor.add_node(&node).unwrap();
        let received = Arc::new(AtomicUsize::new(0));
        let count = received.clone();
        let topic = format!("intra_{use_it}");
        let callback = move |_: Text| {
            count.fetch_add(1, Ordering::Relaxed);
        };
        let _subscription = node.create_subscription::<Text, _>(&topic, 10, callback).unwrap();
        let publisher = node.create_publisher::<Text>(&topic, 10).unwrap();
        publisher.wait_for_subscriptions(1, crate::support::WATCHDOG).unwrap();
        publisher.publish(Text { data: "hello".into() }).unwrap();
        spin_until(&executor, || received.load(Ordering::Relaxed) == 1);
        let by_process = publisher
            .transports()
            .iter()
            .any(|found| found.transport == Some(Transport::IntraProcess));
        assert_eq!(by_process, use_it, "{:?}", publisher.transports());
        assert_eq!(node.transports().contains(Transport::IntraProcess), use_it);
    }
}
