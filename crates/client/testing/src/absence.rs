//! Describes in words what a test found in the graph instead of the expected endpoints.

use feros::Node;
use feros::engine::graph::NamesAndTypes;
use feros::engine::{EndpointInfo, EndpointKind};
use feros_wording::{did_you_mean, harmless};

/// The endpoints of a kind that do not belong to the harness's own node.
pub(crate) fn of_others(node: &Node, kind: EndpointKind, name: &str) -> Vec<EndpointInfo> {
    let graph = node.context().graph();
    let others = graph.endpoints_of(kind, name).filter(|one| one.node.name() != Some(node.name()));
    others.cloned().collect()
}

/// Why a message of a topic does not come.
pub(crate) fn of_message(node: &Node, topic: &str, type_name: &str) -> String {
    let publishers = of_others(node, EndpointKind::Publisher, topic);
    let known = node.topic_names_and_types();
    if publishers.is_empty() {
        return format!("{topic}, which has no publisher{},", similar(topic, &known));
    }
    if publishers.iter().all(|publisher| publisher.type_name != type_name) {
        let types = publishers.iter().map(|publisher| harmless(&publisher.type_name));
        let types = types.collect::<Vec<_>>().join(", ");
        return format!("{topic} of the type {type_name}: its publishers have the type {types},");
    }
    format!("{topic}, whose publishers are {},", described(&publishers))
}

/// Endpoints with their nodes, types and policies.
pub(crate) fn described(endpoints: &[EndpointInfo]) -> String {
    let words = endpoints.iter().map(|one| {
        let node =
            one.node.name().map_or_else(|| "an unknown node".into(), |n| n.fully_qualified());
        let (node, kind) = (harmless(&node).into_owned(), harmless(&one.type_name).into_owned());
        format!("{node} ({kind}, {:?}, {:?})", one.qos.reliability, one.qos.durability)
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A hint at a name that is similar to a missing name.
pub(crate) fn similar(name: &str, known: &NamesAndTypes) -> String {
    did_you_mean(name, known.keys().map(String::as_str).filter(|other| *other != name))
}
