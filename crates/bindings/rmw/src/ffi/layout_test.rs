//! Compares the structures of this crate with those of the real headers: a C program is compiled
//! against the headers and prints every size and offset.

use std::fmt::Write as _;
use std::mem::offset_of;
use std::process::Command;

use feros_interop::prefix_of_ros2;

use super::description;
use super::*;

/// A structure: its name in the headers, and its size and the offsets of its fields in this crate.
struct Believed {
    name: &'static str,
    size: usize,
    fields: Vec<(&'static str, usize)>,
}

macro_rules! believed {
    ($($name:literal => $rust:ty { $($field:ident $(= $c_field:literal)?),+ $(,)? })+) => {
        vec![$(Believed {
            name: $name,
            size: size_of::<$rust>(),
            fields: vec![$((field_name!($field $(= $c_field)?), offset_of!($rust, $field))),+],
        }),+]
    };
}

macro_rules! field_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident = $c_field:literal) => {
        $c_field
    };
}

fn objects() -> Vec<Believed> {
    believed! {
        "rcutils_allocator_t" => rcutils_allocator_t {
            allocate, deallocate, reallocate, zero_allocate, state,
        }
        "rcutils_string_array_t" => rcutils_string_array_t { size, data, allocator }
        "rcutils_uint8_array_t" => rcutils_uint8_array_t {
            buffer, buffer_length, buffer_capacity, allocator,
        }
        "rmw_time_t" => rmw_time_t { sec, nsec }
        "rmw_peer_address_t" => rmw_peer_address_t { peer_address }
        "rmw_discovery_options_t" => rmw_discovery_options_t {
            automatic_discovery_range, static_peers, static_peers_count, allocator,
        }
        "rmw_security_options_t" => rmw_security_options_t { enforce_security, security_root_path }
        "rmw_init_options_t" => rmw_init_options_t {
            instance_id, implementation_identifier, domain_id, security_options, discovery_options,
            enclave, allocator, impl_ = "impl",
        }
        "rmw_context_t" => rmw_context_t {
            instance_id, implementation_identifier, options, actual_domain_id, impl_ = "impl",
        }
        "rmw_node_t" => rmw_node_t { implementation_identifier, data, name, namespace_, context }
        "rmw_publisher_options_t" => rmw_publisher_options_t {
            rmw_specific_publisher_payload, require_unique_network_flow_endpoints,
        }
        "rmw_publisher_t" => rmw_publisher_t {
            implementation_identifier, data, topic_name, options, can_loan_messages,
        }
        "rmw_subscription_content_filter_options_t" => rmw_subscription_content_filter_options_t {
            filter_expression, expression_parameters,
        }
        "rmw_subscription_options_t" => rmw_subscription_options_t {
            rmw_specific_subscription_payload, ignore_local_publications,
            require_unique_network_flow_endpoints, content_filter_options,
        }
        "rmw_subscription_t" => rmw_subscription_t {
            implementation_identifier, data, topic_name, options, can_loan_messages, is_cft_enabled,
        }
        "rmw_service_t" => rmw_service_t { implementation_identifier, data, service_name }
        "rmw_client_t" => rmw_client_t { implementation_identifier, data, service_name }
        "rmw_guard_condition_t" => rmw_guard_condition_t { implementation_identifier, data, context }
        "rmw_wait_set_t" => rmw_wait_set_t { implementation_identifier, guard_conditions, data }
        "rmw_event_t" => rmw_event_t { implementation_identifier, data, event_type }
    }
}

fn values() -> Vec<Believed> {
    believed! {
        "rmw_subscriptions_t" => rmw_entities_t {
            count = "subscriber_count", entities = "subscribers",
        }
        "rmw_services_t" => rmw_entities_t { count = "service_count", entities = "services" }
        "rmw_clients_t" => rmw_entities_t { count = "client_count", entities = "clients" }
        "rmw_events_t" => rmw_entities_t { count = "event_count", entities = "events" }
        "rmw_guard_conditions_t" => rmw_entities_t {
            count = "guard_condition_count", entities = "guard_conditions",
        }
        "rmw_request_id_t" => rmw_request_id_t { writer_guid, sequence_number }
        "rmw_service_info_t" => rmw_service_info_t {
            source_timestamp, received_timestamp, request_id,
        }
        "rmw_qos_profile_t" => rmw_qos_profile_t {
            history, depth, reliability, durability, deadline, lifespan, liveliness,
            liveliness_lease_duration, avoid_ros_namespace_conventions,
        }
        "rmw_gid_t" => rmw_gid_t { implementation_identifier, data }
        "rmw_message_info_t" => rmw_message_info_t {
            source_timestamp, received_timestamp, publication_sequence_number,
            reception_sequence_number, publisher_gid, from_intra_process,
        }
        "rmw_message_sequence_t" => rmw_message_sequence_t { data, size, capacity, allocator }
        "rmw_message_info_sequence_t" => rmw_message_info_sequence_t {
            data, size, capacity, allocator,
        }
        "rmw_names_and_types_t" => rmw_names_and_types_t { names, types }
        "rosidl_type_hash_t" => rosidl_type_hash_t { version, value }
        "rmw_topic_endpoint_info_t" => rmw_topic_endpoint_info_t {
            node_name, node_namespace, topic_type, topic_type_hash, endpoint_type, endpoint_gid,
            qos_profile,
        }
        "rmw_topic_endpoint_info_array_t" => rmw_topic_endpoint_info_array_t { size, info_array }
    }
}

fn statuses() -> Vec<Believed> {
    believed! {
        "rmw_matched_status_t" => rmw_matched_status_t {
            total_count, total_count_change, current_count, current_count_change,
        }
        "rmw_message_lost_status_t" => rmw_message_lost_status_t { total_count, total_count_change }
        "rmw_liveliness_changed_status_t" => rmw_liveliness_changed_status_t {
            alive_count, not_alive_count, alive_count_change, not_alive_count_change,
        }
        "rmw_qos_incompatible_event_status_t" => rmw_qos_incompatible_event_status_t {
            total_count, total_count_change, last_policy_kind,
        }
        "rmw_liveliness_lost_status_t" => rmw_counted_status_t { total_count, total_count_change }
        "rmw_offered_deadline_missed_status_t" => rmw_counted_status_t {
            total_count, total_count_change,
        }
        "rmw_requested_deadline_missed_status_t" => rmw_counted_status_t {
            total_count, total_count_change,
        }
        "rmw_incompatible_type_status_t" => rmw_counted_status_t { total_count, total_count_change }
        "rosidl_runtime_c__String" => description::Text { data, size, capacity }
        "rosidl_runtime_c__type_description__FieldType" => description::FieldType {
            type_id, capacity, string_capacity, nested_type_name,
        }
        "rosidl_runtime_c__type_description__Field" => description::Field {
            name, type_ = "type", default_value,
        }
        "rosidl_runtime_c__type_description__IndividualTypeDescription" =>
            description::IndividualTypeDescription { type_name, fields }
        "rosidl_runtime_c__type_description__TypeDescription" => description::TypeDescription {
            type_description, referenced_type_descriptions,
        }
    }
}

/// Constants of the headers, with their values in this crate.
fn constants() -> Vec<(&'static str, i64)> {
    macro_rules! constants {
        ($($name:ident),* $(,)?) => { vec![$((stringify!($name), $name as i64)),*] };
    }
    constants![
        RMW_RET_OK,
        RMW_RET_ERROR,
        RMW_RET_TIMEOUT,
        RMW_RET_UNSUPPORTED,
        RMW_RET_BAD_ALLOC,
        RMW_RET_INVALID_ARGUMENT,
        RMW_RET_INCORRECT_RMW_IMPLEMENTATION,
        RMW_RET_NODE_NAME_NON_EXISTENT,
        RMW_DEFAULT_DOMAIN_ID,
        RMW_GID_STORAGE_SIZE,
        RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET,
        RMW_AUTOMATIC_DISCOVERY_RANGE_OFF,
        RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST,
        RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET,
        RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT,
        RMW_SECURITY_ENFORCEMENT_PERMISSIVE,
        RMW_SECURITY_ENFORCEMENT_ENFORCE,
        RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED,
        RMW_ENDPOINT_PUBLISHER,
        RMW_ENDPOINT_SUBSCRIPTION,
        RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER,
        RMW_EVENT_INVALID,
        RMW_EVENT_LIVELINESS_CHANGED,
        RMW_EVENT_REQUESTED_DEADLINE_MISSED,
        RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE,
        RMW_EVENT_MESSAGE_LOST,
        RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE,
        RMW_EVENT_SUBSCRIPTION_MATCHED,
        RMW_EVENT_LIVELINESS_LOST,
        RMW_EVENT_OFFERED_DEADLINE_MISSED,
        RMW_EVENT_OFFERED_QOS_INCOMPATIBLE,
        RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE,
        RMW_EVENT_PUBLICATION_MATCHED,
        RMW_QOS_POLICY_INVALID,
        RMW_QOS_POLICY_DURABILITY,
        RMW_QOS_POLICY_DEADLINE,
        RMW_QOS_POLICY_LIVELINESS,
        RMW_QOS_POLICY_RELIABILITY,
        RMW_QOS_POLICY_HISTORY,
        RMW_QOS_POLICY_LIFESPAN,
    ]
}

/// A C program that prints the layouts of the headers, and the output that it should have.
fn program(structures: &[Believed]) -> (String, String) {
    let mut source = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include \"rmw/rmw.h\"\n\
         #include \"rmw/events_statuses/events_statuses.h\"\n#include \"rmw/features.h\"\n\
         #include \"rmw/message_sequence.h\"\n#include \"rmw/names_and_types.h\"\n#include \"rmw/topic_endpoint_info_array.h\"\n\
         #include \"rosidl_runtime_c/type_description/type_description__struct.h\"\n\
         int main(void) {\n",
    );
    let mut expected = String::new();
    for Believed { name, size, fields } in structures {
        let _ = writeln!(source, "printf(\"{name} %zu\\n\", sizeof({name}));");
        let _ = writeln!(expected, "{name} {size}");
        for (field, offset) in fields {
            let line = format!("printf(\"{name}.{field} %zu\\n\", offsetof({name}, {field}));");
            let _ = writeln!(source, "{line}");
            let _ = writeln!(expected, "{name}.{field} {offset}");
        }
    }
    for (name, value) in constants() {
        let _ = writeln!(source, "printf(\"{name} %lld\\n\", (long long)({name}));");
        let _ = writeln!(expected, "{name} {value}");
    }
    source.push_str("return 0;\n}\n");
    (source, expected)
}

#[test]
fn structures_are_those_of_the_headers() {
    let Some(prefix) = prefix_of_ros2() else { return };
    let headers = prefix.join("include");
    let structures: Vec<Believed> =
        objects().into_iter().chain(values()).chain(statuses()).collect();
    let (source, expected) = program(&structures);
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("layout.c"), folder.path().join("layout"));
    std::fs::write(&file, source).expect("the source is written");
    let mut compiler = Command::new("cc");
    for package in std::fs::read_dir(&headers).expect("the headers").flatten() {
        compiler.arg("-I").arg(package.path());
    }
    let compiled = compiler.arg("-o").arg(&binary).arg(&file).output().expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = Command::new(&binary).output().expect("the program runs").stdout;
    assert_eq!(String::from_utf8_lossy(&printed), expected);
}
