//! The objects of rmw, with the layout of rmw's headers.

use std::ffi::{c_char, c_void};

use feros_typesupport::ffi::rosidl_type_hash_t;

use super::rcutils::{rcutils_allocator_t, rcutils_string_array_t};

/// The result of an rmw function.
pub(crate) type rmw_ret_t = i32;
pub(crate) const RMW_RET_OK: rmw_ret_t = 0;
pub(crate) const RMW_RET_ERROR: rmw_ret_t = 1;
pub(crate) const RMW_RET_TIMEOUT: rmw_ret_t = 2;
pub(crate) const RMW_RET_UNSUPPORTED: rmw_ret_t = 3;
pub(crate) const RMW_RET_BAD_ALLOC: rmw_ret_t = 10;
pub(crate) const RMW_RET_INVALID_ARGUMENT: rmw_ret_t = 11;
pub(crate) const RMW_RET_INCORRECT_RMW_IMPLEMENTATION: rmw_ret_t = 12;
pub(crate) const RMW_RET_NODE_NAME_NON_EXISTENT: rmw_ret_t = 203;

pub(crate) const RMW_DEFAULT_DOMAIN_ID: usize = usize::MAX;
pub(crate) const RMW_GID_STORAGE_SIZE: usize = 16;
/// The size of the buffer for the address of a static peer.
pub(crate) const STATIC_PEER_BYTES: usize = 256;

pub(crate) const RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET: u32 = 0;
pub(crate) const RMW_AUTOMATIC_DISCOVERY_RANGE_OFF: u32 = 1;
pub(crate) const RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST: u32 = 2;
pub(crate) const RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET: u32 = 3;
pub(crate) const RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT: u32 = 4;

pub(crate) const RMW_SECURITY_ENFORCEMENT_PERMISSIVE: u32 = 0;
pub(crate) const RMW_SECURITY_ENFORCEMENT_ENFORCE: u32 = 1;

pub(crate) const RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED: u32 = 1;

pub(crate) const RMW_ENDPOINT_PUBLISHER: u32 = 1;
pub(crate) const RMW_ENDPOINT_SUBSCRIPTION: u32 = 2;
/// Since Lyrical.
pub(crate) const RMW_ENDPOINT_CLIENT: u32 = 3;
/// Since Lyrical.
pub(crate) const RMW_ENDPOINT_SERVER: u32 = 4;

pub(crate) const RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER: u32 = 0;

/// The value that stands for a missing sequence number.
pub(crate) const SEQUENCE_NUMBER_UNSUPPORTED: u64 = u64::MAX;

/// A duration.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct rmw_time_t {
    pub(crate) sec: u64,
    pub(crate) nsec: u64,
}

/// The address of a static peer, which is a host that discovery looks for.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct rmw_peer_address_t {
    pub(crate) peer_address: [c_char; STATIC_PEER_BYTES],
}

/// The options of discovery: its range and the static peers.
#[repr(C)]
pub(crate) struct rmw_discovery_options_t {
    pub(crate) automatic_discovery_range: u32,
    pub(crate) static_peers: *mut rmw_peer_address_t,
    pub(crate) static_peers_count: usize,
    pub(crate) allocator: rcutils_allocator_t,
}

/// The security options: whether messages must be protected, and where the keys are.
#[repr(C)]
pub(crate) struct rmw_security_options_t {
    pub(crate) enforce_security: u32,
    pub(crate) security_root_path: *mut c_char,
}

/// The beginning of the options of a context, which all distributions share.
/// `distribution::InitOptions` has all of the fields.
#[repr(C)]
pub(crate) struct rmw_init_options_t {
    pub(crate) instance_id: u64,
    pub(crate) implementation_identifier: *const c_char,
}

/// The beginning of a context, which all distributions share. `distribution::ContextObject` has all
/// of the fields.
#[repr(C)]
pub(crate) struct rmw_context_t {
    pub(crate) instance_id: u64,
    pub(crate) implementation_identifier: *const c_char,
}

/// A node.
#[repr(C)]
pub(crate) struct rmw_node_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: *mut c_void,
    pub(crate) name: *const c_char,
    pub(crate) namespace_: *const c_char,
    pub(crate) context: *mut rmw_context_t,
}

/// The options of a publisher.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct rmw_publisher_options_t {
    pub(crate) rmw_specific_publisher_payload: *mut c_void,
    pub(crate) require_unique_network_flow_endpoints: u32,
}

/// A publisher.
#[repr(C)]
pub(crate) struct rmw_publisher_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: *mut c_void,
    pub(crate) topic_name: *const c_char,
    pub(crate) options: rmw_publisher_options_t,
    pub(crate) can_loan_messages: bool,
}

/// A content filter and its parameters.
#[repr(C)]
pub(crate) struct rmw_subscription_content_filter_options_t {
    pub(crate) filter_expression: *mut c_char,
    pub(crate) expression_parameters: rcutils_string_array_t,
}

/// The options of a subscription. In Lyrical another field follows, which this library does not
/// read (`distribution::WithBackends`).
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct rmw_subscription_options_t {
    pub(crate) rmw_specific_subscription_payload: *mut c_void,
    pub(crate) ignore_local_publications: bool,
    pub(crate) require_unique_network_flow_endpoints: u32,
    pub(crate) content_filter_options: *mut rmw_subscription_content_filter_options_t,
}

/// The beginning of a subscription, which all distributions share.
/// `distribution::SubscriptionObject` has all of the fields.
#[repr(C)]
pub(crate) struct rmw_subscription_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: *mut c_void,
    pub(crate) topic_name: *const c_char,
}

/// A service server.
#[repr(C)]
pub(crate) struct rmw_service_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: *mut c_void,
    pub(crate) service_name: *const c_char,
}

/// A service client.
#[repr(C)]
pub(crate) struct rmw_client_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: *mut c_void,
    pub(crate) service_name: *const c_char,
}

/// A guard condition.
#[repr(C)]
pub(crate) struct rmw_guard_condition_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: *mut c_void,
    pub(crate) context: *mut rmw_context_t,
}

/// A wait set.
#[repr(C)]
pub(crate) struct rmw_wait_set_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) guard_conditions: *mut rmw_entities_t,
    pub(crate) data: *mut c_void,
}

/// A counted array of entities to wait for: `rmw_subscriptions_t`, `rmw_services_t`,
/// `rmw_clients_t`, `rmw_events_t` and `rmw_guard_conditions_t` all have this form.
#[repr(C)]
pub(crate) struct rmw_entities_t {
    pub(crate) count: usize,
    pub(crate) entities: *mut *mut c_void,
}

/// An event of an endpoint.
#[repr(C)]
pub(crate) struct rmw_event_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: *mut c_void,
    pub(crate) event_type: u32,
}

/// A callback for new items; its arguments are the user data and the number of new items.
pub(crate) type rmw_event_callback_t =
    Option<unsafe extern "C" fn(user_data: *const c_void, number_of_events: usize)>;

/// The client that sent a request, and the request's number.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct rmw_request_id_t {
    pub(crate) writer_guid: [u8; RMW_GID_STORAGE_SIZE],
    pub(crate) sequence_number: i64,
}

/// The information about a request or response.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct rmw_service_info_t {
    pub(crate) source_timestamp: i64,
    pub(crate) received_timestamp: i64,
    pub(crate) request_id: rmw_request_id_t,
}

/// The policies of an endpoint.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct rmw_qos_profile_t {
    pub(crate) history: u32,
    pub(crate) depth: usize,
    pub(crate) reliability: u32,
    pub(crate) durability: u32,
    pub(crate) deadline: rmw_time_t,
    pub(crate) lifespan: rmw_time_t,
    pub(crate) liveliness: u32,
    pub(crate) liveliness_lease_duration: rmw_time_t,
    pub(crate) avoid_ros_namespace_conventions: bool,
}

/// The identity of an endpoint.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct rmw_gid_t {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: [u8; RMW_GID_STORAGE_SIZE],
}

/// The information about a message.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct rmw_message_info_t {
    pub(crate) source_timestamp: i64,
    pub(crate) received_timestamp: i64,
    pub(crate) publication_sequence_number: u64,
    pub(crate) reception_sequence_number: u64,
    pub(crate) publisher_gid: rmw_gid_t,
    pub(crate) from_intra_process: bool,
}

/// Memory for several messages.
#[repr(C)]
pub(crate) struct rmw_message_sequence_t {
    pub(crate) data: *mut *mut c_void,
    pub(crate) size: usize,
    pub(crate) capacity: usize,
    pub(crate) allocator: *mut rcutils_allocator_t,
}

/// Memory for the information about several messages.
#[repr(C)]
pub(crate) struct rmw_message_info_sequence_t {
    pub(crate) data: *mut rmw_message_info_t,
    pub(crate) size: usize,
    pub(crate) capacity: usize,
    pub(crate) allocator: *mut rcutils_allocator_t,
}

/// Names, with the types of each name.
#[repr(C)]
pub(crate) struct rmw_names_and_types_t {
    pub(crate) names: rcutils_string_array_t,
    pub(crate) types: *mut rcutils_string_array_t,
}

/// The information about an endpoint of a topic.
#[repr(C)]
pub(crate) struct rmw_topic_endpoint_info_t {
    pub(crate) node_name: *const c_char,
    pub(crate) node_namespace: *const c_char,
    pub(crate) topic_type: *const c_char,
    pub(crate) topic_type_hash: rosidl_type_hash_t,
    pub(crate) endpoint_type: u32,
    pub(crate) endpoint_gid: [u8; RMW_GID_STORAGE_SIZE],
    pub(crate) qos_profile: rmw_qos_profile_t,
}

/// The information about several endpoints.
#[repr(C)]
pub(crate) struct rmw_topic_endpoint_info_array_t {
    pub(crate) size: usize,
    pub(crate) info_array: *mut rmw_topic_endpoint_info_t,
}

/// The information about a client or server. Since Lyrical.
#[repr(C)]
pub(crate) struct rmw_service_endpoint_info_t {
    pub(crate) node_name: *const c_char,
    pub(crate) node_namespace: *const c_char,
    pub(crate) service_type: *const c_char,
    pub(crate) service_type_hash: rosidl_type_hash_t,
    pub(crate) endpoint_type: u32,
    /// The number of gids and profiles: 1 if a service is one endpoint of the middleware, 2 if it
    /// is a reader and a writer.
    pub(crate) endpoint_count: usize,
    pub(crate) endpoint_gids: *mut [u8; RMW_GID_STORAGE_SIZE],
    pub(crate) qos_profiles: *mut rmw_qos_profile_t,
}

/// The information about several clients or servers. Since Lyrical.
#[repr(C)]
pub(crate) struct rmw_service_endpoint_info_array_t {
    pub(crate) size: usize,
    pub(crate) info_array: *mut rmw_service_endpoint_info_t,
}
