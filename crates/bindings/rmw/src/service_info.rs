//! The information about the clients and servers of a service, for which Lyrical asks. Earlier
//! distributions do not call these functions.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_char;
use std::ptr;

use feros_engine::{EndpointInfo, EndpointKind};

use crate::allocation::Allocator;
use crate::arguments::{Out, given, text};
use crate::endpoint_info::{NO_HASH, texts};
use crate::error::{Failure, guarded};
use crate::ffi::{
    RMW_ENDPOINT_CLIENT, RMW_ENDPOINT_SERVER, RMW_GID_STORAGE_SIZE, rcutils_allocator_t,
    rmw_node_t, rmw_qos_profile_t, rmw_ret_t, rmw_service_endpoint_info_array_t,
    rmw_service_endpoint_info_t,
};
use crate::{handle, qos};

/// Converts the information about one client or server into the form of rmw.
///
/// A client or server is one endpoint of the graph, so it has one gid and one profile. Its type
/// hash is left out, since announcements have the hash of the request's type and not of the
/// service's.
fn fill(
    endpoint: &EndpointInfo,
    allocator: &Allocator,
) -> Result<rmw_service_endpoint_info_t, Failure> {
    let [node_name, node_namespace, service_type] =
        texts(endpoint, &endpoint.type_name, allocator)?;
    let mut info = rmw_service_endpoint_info_t {
        node_name,
        node_namespace,
        service_type,
        service_type_hash: NO_HASH,
        endpoint_type: match endpoint.kind {
            EndpointKind::Client => RMW_ENDPOINT_CLIENT,
            _ => RMW_ENDPOINT_SERVER,
        },
        endpoint_count: 1,
        endpoint_gids: ptr::null_mut(),
        qos_profiles: ptr::null_mut(),
    };
    let mut allocate = || {
        info.endpoint_gids = allocator.array::<[u8; RMW_GID_STORAGE_SIZE]>(1)?;
        info.qos_profiles = allocator.array::<rmw_qos_profile_t>(1)?;
        Ok::<(), Failure>(())
    };
    if let Err(failure) = allocate() {
        // SAFETY: this function allocated all of the memory.
        unsafe { free(&info, allocator) };
        return Err(failure);
    }
    // SAFETY: there is room for one gid and one profile.
    unsafe {
        info.endpoint_gids.write(endpoint.gid.0);
        info.qos_profiles.write(qos::to_rmw(&endpoint.qos));
    }
    Ok(info)
}

/// # Safety
/// [`fill`] allocated the memory with this allocator.
unsafe fn free(info: &rmw_service_endpoint_info_t, allocator: &Allocator) {
    // SAFETY: [allocators] this allocator allocated the memory, which is not used afterwards.
    unsafe {
        for text in [info.node_name, info.node_namespace, info.service_type] {
            allocator.free(text.cast_mut());
        }
        allocator.free(info.endpoint_gids);
        allocator.free(info.qos_profiles);
    }
}

fn fill_all(
    found: &[&EndpointInfo],
    allocator: &Allocator,
) -> Result<rmw_service_endpoint_info_array_t, Failure> {
    let fill = |endpoint: &&EndpointInfo| fill(endpoint, allocator);
    // SAFETY: `fill` made the information with this allocator.
    let free = |info| unsafe { free(&info, allocator) };
    let info_array = allocator.filled(found.iter(), fill, free)?;
    Ok(rmw_service_endpoint_info_array_t { size: found.len(), info_array })
}

/// # Safety
/// Each pointer is null or points to a valid value of its type.
unsafe fn of_service(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    service_name: *const c_char,
    no_mangle: bool,
    kind: EndpointKind,
    infos: *mut rmw_service_endpoint_info_array_t,
) -> Result<(), Failure> {
    // SAFETY: [handles] the node is alive. [allocators] The allocator is valid. [strings] The name
    // ends with NUL. [zero] The array is zero-initialized, and only this call uses it.
    let (graph, allocator, service, out) = unsafe {
        let graph = handle::end(node)?.context.session.graph();
        let allocator = Allocator::at(allocator)?;
        let service = text(service_name, "service_name")?;
        let before = given(infos, "endpoint_infos")?;
        if before.size != 0 || !before.info_array.is_null() {
            return Err(Failure::invalid("the array of endpoints is not empty"));
        }
        (graph, allocator, service, Out::new(infos, "endpoint_infos")?)
    };
    if no_mangle {
        return Err(Failure::unsupported(
            "a service has no single name on the wire: ask for its name in ROS, or for the \
             publishers and subscriptions of its topics",
        ));
    }
    let found: Vec<&EndpointInfo> = graph
        .endpoints
        .iter()
        .filter(|endpoint| endpoint.kind == kind && endpoint.is_ros && endpoint.name == service)
        .collect();
    out.set(fill_all(&found, &allocator)?);
    Ok(())
}

/// The information about the clients of a service.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_clients_info_by_service(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    service_name: *const c_char,
    no_mangle: bool,
    infos: *mut rmw_service_endpoint_info_array_t,
) -> rmw_ret_t {
    let kind = EndpointKind::Client;
    // SAFETY: [handles, allocators, strings, zero] `of_service` gets the arguments of this call.
    guarded(|| unsafe { of_service(node, allocator, service_name, no_mangle, kind, infos) })
}

/// The information about the servers of a service.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_servers_info_by_service(
    node: *const rmw_node_t,
    allocator: *mut rcutils_allocator_t,
    service_name: *const c_char,
    no_mangle: bool,
    infos: *mut rmw_service_endpoint_info_array_t,
) -> rmw_ret_t {
    let kind = EndpointKind::Service;
    // SAFETY: [handles, allocators, strings, zero] `of_service` gets the arguments of this call.
    guarded(|| unsafe { of_service(node, allocator, service_name, no_mangle, kind, infos) })
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use feros_engine::graph::EndpointNode;
    use feros_engine::{Gid, NodeName, QosProfile};

    use super::*;

    #[test]
    fn a_client_has_the_names_the_gid_and_the_policies_of_its_endpoint() {
        let endpoint = |kind| EndpointInfo {
            kind,
            name: "/set".into(),
            type_name: "std_srvs/srv/SetBool".into(),
            type_hash: None,
            gid: Gid([7; 16]),
            node: EndpointNode::Named(NodeName::new("/a", "x").expect("valid")),
            qos: QosProfile::default().deadline(std::time::Duration::from_secs(2)),
            is_ros: true,
            announcement: None,
            buffer_backends: None,
        };
        let allocator = Allocator::of_c();
        let kinds = [
            (EndpointKind::Client, RMW_ENDPOINT_CLIENT),
            (EndpointKind::Service, RMW_ENDPOINT_SERVER),
        ];
        for (kind, number) in kinds {
            let endpoint = endpoint(kind);
            let made = fill_all(&[&endpoint], &allocator).expect("there is enough memory");
            assert_eq!(made.size, 1);
            // SAFETY: the array was just made, and this test frees it.
            unsafe {
                let info = &*made.info_array;
                let read = |text| CStr::from_ptr(text).to_str().expect("UTF-8");
                let texts = [info.node_name, info.node_namespace, info.service_type].map(read);
                assert_eq!(texts, ["x", "/a", "std_srvs/srv/SetBool"]);
                assert_eq!((info.endpoint_type, info.endpoint_count), (number, 1));
                assert_eq!(*info.endpoint_gids, [7; 16]);
                assert_eq!(*info.qos_profiles, qos::to_rmw(&endpoint.qos));
                free(info, &allocator);
                allocator.free(made.info_array);
            }
        }
    }
}
