//! Queries of the graph: its nodes, and the names and types in use.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_char;
use std::sync::Arc;

use feros_engine::dds::names as wire;
use feros_engine::graph::{EndpointNode, NamesAndTypes};
use feros_engine::{EndpointInfo, EndpointKind, GraphSnapshot};

use crate::allocation::Allocator;
use crate::arguments::{Out, given, text};
use crate::error::{Failure, guarded};
use crate::ffi::{
    rcutils_allocator_t, rcutils_string_array_t, rmw_names_and_types_t, rmw_node_t, rmw_ret_t,
};
use crate::{handle, names};

/// A snapshot of the graph that the context of a node sees.
///
/// # Safety
/// The node is null or valid.
unsafe fn graph(node: *const rmw_node_t) -> Result<Arc<GraphSnapshot>, Failure> {
    // SAFETY: [handles] the node is null or alive.
    Ok(unsafe { handle::end(node) }?.context.session.graph())
}

/// The memory for an array. Fails unless the array is empty.
///
/// # Safety
/// The pointer is null or points to an array.
unsafe fn empty_array(
    pointer: *mut rcutils_string_array_t,
    what: &str,
) -> Result<Out<rcutils_string_array_t>, Failure> {
    // SAFETY: [zero] the array is null or zero-initialized, and only this call uses it.
    unsafe {
        if !given(pointer, what)?.is_zero() {
            return Err(Failure::invalid(format!("the array `{what}` is not empty")));
        }
        Out::new(pointer, what)
    }
}

/// The memory for names and types. Fails unless it is empty.
///
/// # Safety
/// The pointer is null or points to names and types.
unsafe fn empty_names(
    pointer: *mut rmw_names_and_types_t,
) -> Result<Out<rmw_names_and_types_t>, Failure> {
    // SAFETY: [zero] the value is null or zero-initialized, and only this call uses it.
    unsafe {
        let before = given(pointer, "names_and_types")?;
        if !before.names.is_zero() || !before.types.is_null() {
            return Err(Failure::invalid("the argument `names_and_types` is not empty"));
        }
        Out::new(pointer, "names_and_types")
    }
}

/// # Safety
/// The node and each array are null or valid.
unsafe fn node_names(
    node: *const rmw_node_t,
    names: *mut rcutils_string_array_t,
    namespaces: *mut rcutils_string_array_t,
    enclaves: Option<*mut rcutils_string_array_t>,
) -> Result<(), Failure> {
    // SAFETY: [handles] the node is alive. [zero] The arrays are zero-initialized, and only this
    // call uses them.
    let (graph, names, namespaces, enclaves) = unsafe {
        let graph = graph(node)?;
        let names = empty_array(names, "node_names")?;
        let namespaces = empty_array(namespaces, "node_namespaces")?;
        let enclaves = enclaves.map(|enclaves| empty_array(enclaves, "enclaves")).transpose()?;
        (graph, names, namespaces, enclaves)
    };
    let allocator = Allocator::of_c();
    let texts =
        |of: fn(&feros_engine::NodeInfo) -> &str| allocator.texts(graph.nodes.iter().map(of));
    // The earlier arrays are not freed if a later array fails: a process in which the C allocator
    // fails cannot continue anyway.
    let of_names = texts(|node| node.name.name())?;
    let of_namespaces = texts(|node| node.name.namespace())?;
    if let Some(enclaves) = enclaves {
        enclaves.set(texts(|node| &node.enclave)?);
    }
    names.set(of_names);
    namespaces.set(of_namespaces);
    Ok(())
}

/// The names and namespaces of all nodes.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_node_names(
    node: *const rmw_node_t,
    names: *mut rcutils_string_array_t,
    namespaces: *mut rcutils_string_array_t,
) -> rmw_ret_t {
    // SAFETY: [handles, zero] `node_names` gets the arguments of this call.
    guarded(|| unsafe { node_names(node, names, namespaces, None) })
}

/// The names, namespaces and enclaves of all nodes.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_node_names_with_enclaves(
    node: *const rmw_node_t,
    names: *mut rcutils_string_array_t,
    namespaces: *mut rcutils_string_array_t,
    enclaves: *mut rcutils_string_array_t,
) -> rmw_ret_t {
    // SAFETY: [handles, zero] `node_names` gets the arguments of this call.
    guarded(|| unsafe { node_names(node, names, namespaces, Some(enclaves)) })
}

/// Counts the endpoints of one kind with this name.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
unsafe fn count(
    node: *const rmw_node_t,
    kind: EndpointKind,
    name: *const c_char,
    count: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: [handles] the node is alive. [strings] The name ends with NUL. [outputs] There is
    // memory for the count.
    unsafe {
        let end = handle::end(node)?;
        let name = text(name, "name")?;
        names::check_topic(name)?;
        let count = Out::new(count, "count")?;
        count.set(end.context.session.graph().count(kind, name));
    }
    Ok(())
}

/// The number of publishers on a topic.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_count_publishers(
    node: *const rmw_node_t,
    topic_name: *const c_char,
    count_out: *mut usize,
) -> rmw_ret_t {
    // SAFETY: [handles, strings, outputs] `count` gets the arguments of this call.
    guarded(|| unsafe { count(node, EndpointKind::Publisher, topic_name, count_out) })
}

/// The number of subscriptions on a topic.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_count_subscribers(
    node: *const rmw_node_t,
    topic_name: *const c_char,
    count_out: *mut usize,
) -> rmw_ret_t {
    // SAFETY: [handles, strings, outputs] `count` gets the arguments of this call.
    guarded(|| unsafe { count(node, EndpointKind::Subscription, topic_name, count_out) })
}

/// The number of clients of a service.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_count_clients(
    node: *const rmw_node_t,
    service_name: *const c_char,
    count_out: *mut usize,
) -> rmw_ret_t {
    // SAFETY: [handles, strings, outputs] `count` gets the arguments of this call.
    guarded(|| unsafe { count(node, EndpointKind::Client, service_name, count_out) })
}

/// The number of servers of a service.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_count_services(
    node: *const rmw_node_t,
    service_name: *const c_char,
    count_out: *mut usize,
) -> rmw_ret_t {
    // SAFETY: [handles, strings, outputs] `count` gets the arguments of this call.
    guarded(|| unsafe { count(node, EndpointKind::Service, service_name, count_out) })
}

/// The DDS topics that an endpoint publishes or receives, with their DDS types.
fn on_the_wire(endpoint: &EndpointInfo) -> Vec<(EndpointKind, String, String)> {
    use EndpointKind::{Client, Publisher, Service, Subscription};
    let type_name = |suffix| {
        let known = wire::type_name(&endpoint.type_name, suffix);
        known.unwrap_or_else(|_| endpoint.type_name.clone())
    };
    let of_service = |of_requests, of_responses| {
        let (request, response) = wire::service_topics(&endpoint.name);
        vec![
            (of_requests, request, type_name("_Request")),
            (of_responses, response, type_name("_Response")),
        ]
    };
    match endpoint.kind {
        _ if !endpoint.is_ros => {
            vec![(endpoint.kind, endpoint.name.clone(), endpoint.type_name.clone())]
        }
        Service => of_service(Subscription, Publisher),
        Client => of_service(Publisher, Subscription),
        Publisher | Subscription => {
            vec![(endpoint.kind, wire::topic(&endpoint.name, false), type_name(""))]
        }
    }
}

/// The DDS topics of the wanted endpoints, with their DDS types.
fn topics_on_the_wire(
    graph: &GraphSnapshot,
    kind: Option<EndpointKind>,
    wanted: impl Fn(&EndpointInfo) -> bool,
) -> NamesAndTypes {
    let mut found = NamesAndTypes::new();
    for endpoint in graph.endpoints.iter().filter(|endpoint| wanted(endpoint)) {
        for (of, name, type_name) in on_the_wire(endpoint) {
            if kind.is_none_or(|kind| kind == of) {
                found.entry(name).or_default().insert(type_name);
            }
        }
    }
    found
}

/// All topics with their types.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_topic_names_and_types(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    no_demangle: bool,
    topic_names_and_types: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the node is alive. [allocators] The allocator is valid. [zero] The
        // result is zero-initialized, and only this call uses it.
        let (graph, allocator, out) = unsafe {
            (graph(node)?, Allocator::at(allocator)?, empty_names(topic_names_and_types)?)
        };
        let found =
            if no_demangle { topics_on_the_wire(&graph, None, |_| true) } else { graph.topics() };
        out.set(allocator.names_and_types(&found)?);
        Ok(())
    })
}

/// All services with their types.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_service_names_and_types(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    service_names_and_types: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the node is alive. [allocators] The allocator is valid. [zero] The
        // result is zero-initialized, and only this call uses it.
        let (graph, allocator, out) = unsafe {
            (graph(node)?, Allocator::at(allocator)?, empty_names(service_names_and_types)?)
        };
        out.set(allocator.names_and_types(&graph.services())?);
        Ok(())
    })
}

/// The names and types of the endpoints of one kind on one node.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
unsafe fn of_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    name: *const c_char,
    namespace: *const c_char,
    (kind, no_demangle): (EndpointKind, bool),
    out: *mut rmw_names_and_types_t,
) -> Result<(), Failure> {
    // SAFETY: [handles] the node is alive. [allocators] The allocator is valid. [strings] The name
    // and the namespace end with NUL. [zero] The result is zero-initialized, and only this call
    // uses it.
    let (graph, allocator, name, out) = unsafe {
        let graph = graph(node)?;
        let allocator = Allocator::at(allocator)?;
        let (name, namespace) = (text(name, "node_name")?, text(namespace, "node_namespace")?);
        (graph, allocator, names::node_name(namespace, name)?, empty_names(out)?)
    };
    if !graph.nodes.iter().any(|known| known.name == name) {
        return Err(Failure::no_node(&name.fully_qualified()));
    }
    let found = if no_demangle {
        topics_on_the_wire(&graph, Some(kind), |endpoint| endpoint.node.name() == Some(&name))
    } else {
        graph.of_node(&name, kind)
    };
    out.set(allocator.names_and_types(&found)?);
    Ok(())
}

/// The topics to which a node subscribes.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_subscriber_names_and_types_by_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    name: *const c_char,
    namespace: *const c_char,
    no_demangle: bool,
    out: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    let what = (EndpointKind::Subscription, no_demangle);
    // SAFETY: [handles, allocators, strings, zero] `of_node` gets the arguments of this call.
    guarded(|| unsafe { of_node(node, allocator, name, namespace, what, out) })
}

/// The topics to which a node publishes.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_publisher_names_and_types_by_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    name: *const c_char,
    namespace: *const c_char,
    no_demangle: bool,
    out: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    let what = (EndpointKind::Publisher, no_demangle);
    // SAFETY: [handles, allocators, strings, zero] `of_node` gets the arguments of this call.
    guarded(|| unsafe { of_node(node, allocator, name, namespace, what, out) })
}

/// The services that a node offers.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_service_names_and_types_by_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    name: *const c_char,
    namespace: *const c_char,
    out: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    let what = (EndpointKind::Service, false);
    // SAFETY: [handles, allocators, strings, zero] `of_node` gets the arguments of this call.
    guarded(|| unsafe { of_node(node, allocator, name, namespace, what, out) })
}

/// The services that a node calls.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_client_names_and_types_by_node(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    name: *const c_char,
    namespace: *const c_char,
    out: *mut rmw_names_and_types_t,
) -> rmw_ret_t {
    let what = (EndpointKind::Client, false);
    // SAFETY: [handles, allocators, strings, zero] `of_node` gets the arguments of this call.
    guarded(|| unsafe { of_node(node, allocator, name, namespace, what, out) })
}

/// The name and the namespace of an endpoint's node, or stock ROS 2's placeholders for an unknown
/// node.
pub(crate) fn names_of(node: &EndpointNode) -> (&str, &str) {
    match node {
        EndpointNode::Named(name) => (name.name(), name.namespace()),
        EndpointNode::Unknown => ("_NODE_NAME_UNKNOWN_", "_NODE_NAMESPACE_UNKNOWN_"),
        EndpointNode::NotRos => ("_CREATED_BY_BARE_DDS_APP_", "_CREATED_BY_BARE_DDS_APP_"),
    }
}

#[cfg(test)]
mod tests {
    use feros_engine::{Gid, NodeName, QosProfile};

    use super::*;

    fn endpoint(kind: EndpointKind, name: &str, type_name: &str, is_ros: bool) -> EndpointInfo {
        EndpointInfo {
            kind,
            name: name.into(),
            type_name: type_name.into(),
            type_hash: None,
            gid: Gid::default(),
            node: EndpointNode::Named(NodeName::new("/", "x").expect("valid")),
            qos: QosProfile::default(),
            is_ros,
            announcement: None,
            buffer_backends: None,
        }
    }

    #[test]
    fn endpoints_have_their_names_on_the_wire() {
        let topic = endpoint(EndpointKind::Publisher, "/a", "std_msgs/msg/String", true);
        let expected = ("rt/a".to_owned(), "std_msgs::msg::dds_::String_".to_owned());
        assert_eq!(on_the_wire(&topic), [(EndpointKind::Publisher, expected.0, expected.1)]);
        let server = endpoint(EndpointKind::Service, "/s", "std_srvs/srv/Empty", true);
        let found = on_the_wire(&server);
        assert_eq!(found[0].0, EndpointKind::Subscription);
        assert_eq!(found[0].1, "rq/sRequest");
        assert_eq!(found[0].2, "std_srvs::srv::dds_::Empty_Request_");
        assert_eq!(found[1].1, "rr/sReply");
        let bare = endpoint(EndpointKind::Subscription, "plain", "a::B", false);
        assert_eq!(on_the_wire(&bare), [(bare.kind, "plain".into(), "a::B".into())]);
    }
}
