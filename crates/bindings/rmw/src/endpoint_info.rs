//! The information about the publishers and subscriptions of a topic.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_char;
use std::ptr;

use feros_engine::dds::names as wire;
use feros_engine::{EndpointInfo, EndpointKind};

use crate::allocation::Allocator;
use crate::arguments::{Out, given, text};
use crate::error::{Failure, guarded};
use crate::ffi::{
    RMW_ENDPOINT_PUBLISHER, RMW_ENDPOINT_SUBSCRIPTION, rcutils_allocator_t, rmw_node_t, rmw_ret_t,
    rmw_topic_endpoint_info_array_t, rmw_topic_endpoint_info_t, rosidl_type_hash_t,
};
use crate::graph::names_of;
use crate::{handle, qos};

/// The version of type hashes: RIHS01.
const HASH_VERSION: u8 = 1;

/// A type hash that is not known.
pub(crate) const NO_HASH: rosidl_type_hash_t = rosidl_type_hash_t { version: 0, value: [0; 32] };

/// Copies the name and the namespace of an endpoint's node, and the name of its type.
pub(crate) fn texts(
    endpoint: &EndpointInfo,
    type_name: &str,
    allocator: &Allocator,
) -> Result<[*const c_char; 3], Failure> {
    let (name, namespace) = names_of(&endpoint.node);
    let mut made = [ptr::null_mut::<c_char>(); 3];
    for (place, text) in made.iter_mut().zip([name, namespace, type_name]) {
        match allocator.text(text) {
            Ok(copy) => *place = copy,
            Err(failure) => {
                // SAFETY: this function allocated the strings.
                made.into_iter().for_each(|copy| unsafe { allocator.free(copy) });
                return Err(failure);
            }
        }
    }
    Ok(made.map(<*mut c_char>::cast_const))
}

/// Converts the information about one endpoint into the form of rmw.
fn fill(
    endpoint: &EndpointInfo,
    allocator: &Allocator,
    is_on_the_wire: bool,
) -> Result<rmw_topic_endpoint_info_t, Failure> {
    let on_the_wire = wire::type_name(&endpoint.type_name, "").ok();
    let type_name = on_the_wire.filter(|_| is_on_the_wire && endpoint.is_ros);
    let type_name = type_name.as_deref().unwrap_or(&endpoint.type_name);
    let [node_name, node_namespace, topic_type] = texts(endpoint, type_name, allocator)?;
    Ok(rmw_topic_endpoint_info_t {
        node_name,
        node_namespace,
        topic_type,
        topic_type_hash: endpoint
            .type_hash
            .map_or(NO_HASH, |hash| rosidl_type_hash_t { version: HASH_VERSION, value: hash.0 }),
        endpoint_type: match endpoint.kind {
            EndpointKind::Publisher => RMW_ENDPOINT_PUBLISHER,
            _ => RMW_ENDPOINT_SUBSCRIPTION,
        },
        endpoint_gid: endpoint.gid.0,
        qos_profile: qos::to_rmw(&endpoint.qos),
    })
}

/// # Safety
/// [`fill`] made the strings with this allocator.
unsafe fn free(info: &rmw_topic_endpoint_info_t, allocator: &Allocator) {
    for text in [info.node_name, info.node_namespace, info.topic_type] {
        // SAFETY: [allocators] this allocator made the strings, which are not used afterwards.
        unsafe { allocator.free(text.cast_mut()) };
    }
}

fn fill_all(
    found: &[&EndpointInfo],
    allocator: &Allocator,
    is_on_the_wire: bool,
) -> Result<rmw_topic_endpoint_info_array_t, Failure> {
    let fill = |endpoint: &&EndpointInfo| fill(endpoint, allocator, is_on_the_wire);
    // SAFETY: `fill` made the information with this allocator.
    let free = |info| unsafe { free(&info, allocator) };
    let info_array = allocator.filled(found.iter(), fill, free)?;
    Ok(rmw_topic_endpoint_info_array_t { size: found.len(), info_array })
}

/// # Safety
/// Each pointer is null or points to a valid value of its type.
unsafe fn of_topic(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    topic_name: *const c_char,
    no_mangle: bool,
    kind: EndpointKind,
    infos: *mut rmw_topic_endpoint_info_array_t,
) -> Result<(), Failure> {
    // SAFETY: [handles] the node is alive. [allocators] The allocator is valid. [strings] The name
    // ends with NUL. [zero] The array is zero-initialized, and only this call uses it.
    let (graph, allocator, topic, out) = unsafe {
        let graph = handle::end(node)?.context.session.graph();
        let allocator = Allocator::at(allocator)?;
        let topic = text(topic_name, "topic_name")?;
        let before = given(infos, "endpoint_infos")?;
        if before.size != 0 || !before.info_array.is_null() {
            return Err(Failure::invalid("the array of endpoints is not empty"));
        }
        (graph, allocator, topic, Out::new(infos, "endpoint_infos")?)
    };
    let has_name = |endpoint: &EndpointInfo| {
        if no_mangle {
            wire::topic(&endpoint.name, !endpoint.is_ros) == topic
        } else {
            endpoint.name == topic && endpoint.is_ros
        }
    };
    let found: Vec<&EndpointInfo> = graph
        .endpoints
        .iter()
        .filter(|endpoint| endpoint.kind == kind && has_name(endpoint))
        .collect();
    out.set(fill_all(&found, &allocator, no_mangle)?);
    Ok(())
}

/// The information about the publishers of a topic.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_publishers_info_by_topic(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    topic_name: *const c_char,
    no_mangle: bool,
    infos: *mut rmw_topic_endpoint_info_array_t,
) -> rmw_ret_t {
    let kind = EndpointKind::Publisher;
    // SAFETY: [handles, allocators, strings, zero] `of_topic` gets the arguments of this call.
    guarded(|| unsafe { of_topic(node, allocator, topic_name, no_mangle, kind, infos) })
}

/// The information about the subscriptions of a topic.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_subscriptions_info_by_topic(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    topic_name: *const c_char,
    no_mangle: bool,
    infos: *mut rmw_topic_endpoint_info_array_t,
) -> rmw_ret_t {
    let kind = EndpointKind::Subscription;
    // SAFETY: [handles, allocators, strings, zero] `of_topic` gets the arguments of this call.
    guarded(|| unsafe { of_topic(node, allocator, topic_name, no_mangle, kind, infos) })
}
