//! `feros topic info`: the type of a topic, and its publishers and subscriptions.

use feros::{Reason, transports_of_topic};
use feros_engine::{EndpointKind, GraphSnapshot};
use serde_json::json;

use super::super::endpoint;
use super::watch::no_such_topic;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::notices;
use crate::output::{self, foreign};

/// Show the type of a topic, and its publishers and subscriptions
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros topic info -v /scan")]
pub(crate) struct Args {
    /// Name of the topic
    topic: String,
    /// Print each endpoint with its node, its type's hash and its QoS, and the transport of each
    /// match
    #[arg(short, long)]
    verbose: bool,
    /// Print a JSON object with name, types, publishers and subscriptions
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let name = connection.topic_name(&args.topic)?;
    let with_nodes = args.verbose || args.json;
    let graph = if with_nodes {
        connection.discover_nodes(&args.discovery)?
    } else {
        connection.discover(&args.discovery)?
    };
    if !graph.topics().contains_key(&name) {
        return Err(no_such_topic(&graph, &name));
    }
    if args.json {
        output::print_json(&object(&graph, &name))?
    } else {
        output::print(&text(&graph, &name, args.verbose))?
    }
    for mismatch in graph.mismatches(&name) {
        notices::warn(mismatch);
    }
    Ok(())
}

fn object(graph: &GraphSnapshot, topic: &str) -> serde_json::Value {
    let found = transports_of_topic(graph, topic);
    json!({
        "name": topic,
        "types": graph.topics().get(topic),
        "publishers": endpoint::to_json(graph, EndpointKind::Publisher, topic),
        "subscriptions": endpoint::to_json(graph, EndpointKind::Subscription, topic),
        "transports":
            endpoint::transports_to_json(&found, ["publisher", "subscription"], Reason::to_string),
    })
}

/// The text of `ros2 topic info`, and with `-v` the transport of each match after it.
fn text(graph: &GraphSnapshot, topic: &str, verbose: bool) -> String {
    let types: Vec<String> = graph.topics().remove(topic).into_iter().flatten().collect();
    let types = match types.as_slice() {
        [one] => one.clone(),
        // A list as Python prints it.
        several => format!("['{}']", several.join("', '")),
    };
    let types = foreign(&types);
    let end = if verbose { "\n\n" } else { "\n" };
    let mut text = format!("Type: {types}{end}");
    for side in
        [("Publisher", EndpointKind::Publisher), ("Subscription", EndpointKind::Subscription)]
    {
        text.push_str(&endpoint::text(graph, side, topic, verbose));
    }
    if verbose {
        let found = transports_of_topic(graph, topic);
        text.push_str(&endpoint::transports(&found, Reason::to_string));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros_engine::graph::EndpointNode;
    use feros_engine::{BufferBackend, EndpointInfo, Gid, NodeName, QosProfile, TypeHash};
    use std::time::Duration;

    fn graph() -> GraphSnapshot {
        let publisher = EndpointInfo {
            kind: EndpointKind::Publisher,
            name: "/chatter".into(),
            type_name: "std_msgs/msg/String".into(),
            type_hash: Some(TypeHash([0xab; 32])),
            gid: Gid([1, 15, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 18, 3]),
            node: EndpointNode::Named(NodeName::new("/robot", "talker").unwrap()),
            qos: QosProfile::keep_last(7)
                .with_system_defaults_resolved()
                .deadline(Duration::from_millis(100)),
            is_ros: true,
            announcement: None,
            buffer_backends: None,
        };
        let subscription = EndpointInfo {
            kind: EndpointKind::Subscription,
            type_hash: None,
            node: EndpointNode::NotRos,
            qos: QosProfile::keep_all().best_effort().with_system_defaults_resolved(),
            ..publisher.clone()
        };
        GraphSnapshot { endpoints: vec![publisher, subscription], ..GraphSnapshot::default() }
    }

    #[test]
    fn short_text_is_that_of_ros2() {
        let expected = "Type: std_msgs/msg/String\nPublisher count: 1\nSubscription count: 1\n";
        assert_eq!(text(&graph(), "/chatter", false), expected);
    }

    #[test]
    fn verbose_text_is_that_of_ros2() {
        let hash = "ab".repeat(32);
        let expected = format!(
            "Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: talker\nNode namespace: /robot\nTopic type: \
             std_msgs/msg/String\nTopic type hash: RIHS01_{hash}\nEndpoint type: PUBLISHER\nGID: \
             01.0f.02.03.04.05.06.07.08.09.0a.0b.00.00.12.03\nQoS profile:\n  Reliability: RELIABLE\n  History (Depth): \
             KEEP_LAST (7)\n  Durability: VOLATILE\n  Lifespan: Infinite\n  Deadline: 100000000 nanoseconds\n  \
             Liveliness: AUTOMATIC\n  Liveliness lease duration: Infinite\n\nSubscription count: 1\n\nNode name: \
             _CREATED_BY_BARE_DDS_APP_\nNode namespace: _CREATED_BY_BARE_DDS_APP_\nTopic type: \
             std_msgs/msg/String\nTopic type hash: INVALID\nEndpoint type: SUBSCRIPTION\nGID: \
             01.0f.02.03.04.05.06.07.08.09.0a.0b.00.00.12.03\nQoS profile:\n  Reliability: BEST_EFFORT\n  History \
             (Depth): KEEP_ALL\n  Durability: VOLATILE\n  Lifespan: Infinite\n  Deadline: Infinite\n  \
             Liveliness: AUTOMATIC\n  Liveliness lease duration: Infinite\n\n"
        );
        let text = text(&graph(), "/chatter", true);
        let (stock, _ours) = text.split_once("Transports:\n").unwrap();
        assert_eq!(stock, expected);
    }

    #[test]
    fn transports_of_matches_have_their_reasons() {
        let mut graph = graph();
        graph.endpoints[1].qos = QosProfile::keep_last(1);
        graph.endpoints[0].qos = QosProfile::keep_last(1);
        let text = text(&graph, "/chatter", true);
        let line = "Transports:\n  /robot/talker -> 01.0f.02.03.04.05.06.07.08.09.0a.0b.00.00.12.03: network, because the \
                    publisher is not a Feros endpoint\n";
        assert!(text.ends_with(line), "{text}");
        let object = object(&graph, "/chatter");
        assert_eq!(object["transports"][0]["transport"], "network");
        assert!(
            object["transports"][0]["reason"].as_str().unwrap().contains("not a Feros endpoint")
        );
    }

    #[test]
    fn buffer_backends_are_shown_where_an_endpoint_has_any() {
        let mut graph = graph();
        graph.endpoints[0].buffer_backends =
            BufferBackend::read(["cpu:", "cuda:0"].into_iter(), |text| Some(text.to_owned()));
        let text = text(&graph, "/chatter", true);
        let hash = format!("Topic type hash: RIHS01_{}", "ab".repeat(32));
        assert!(text.contains(&format!("{hash}\nBuffer backends: cpu, cuda(0)\n")), "{text}");
        assert_eq!(text.matches("Buffer backends").count(), 1);
        let object = object(&graph, "/chatter");
        let backends = |side: &str| object[side][0]["buffer_backends"].clone();
        let cuda = json!({ "name": "cuda", "data": "0" });
        assert_eq!(backends("publishers"), json!([{ "name": "cpu", "data": "" }, cuda]));
        assert_eq!(backends("subscriptions"), json!([]));
    }

    #[test]
    fn json_has_both_sides() {
        let object = object(&graph(), "/chatter");
        assert_eq!(object["types"], json!(["std_msgs/msg/String"]));
        assert_eq!(object["publishers"][0]["node_name"], "talker");
        assert_eq!(object["publishers"][0]["qos"]["deadline_nanos"], 100_000_000);
        assert_eq!(object["subscriptions"][0]["topic_type_hash"], serde_json::Value::Null);
        assert_eq!(object["subscriptions"][0]["qos"]["depth"], serde_json::Value::Null);
    }
}
