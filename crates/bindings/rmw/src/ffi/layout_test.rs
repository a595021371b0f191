//! Compares the structures of this crate with those of the real headers: a C program is compiled
//! against the headers of each distribution for which wheels exist, and prints every size and
//! offset. Lyrical has no wheels; its structures are compared with numbers from its public headers.

use std::fmt::Write as _;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use feros_interop::environment;

use super::description;
use super::*;
use crate::distribution::{
    Absent, ContextObject, Distribution, InitOptions, RMW_LOCALHOST_ONLY_DEFAULT,
    RMW_LOCALHOST_ONLY_ENABLED, SubscriptionObject, WithBackends,
};

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
        "rmw_subscription_t" => SubscriptionObject {
            implementation_identifier, data, topic_name, options, can_loan_messages, is_cft_enabled,
        }
        "rmw_service_t" => rmw_service_t { implementation_identifier, data, service_name }
        "rmw_client_t" => rmw_client_t { implementation_identifier, data, service_name }
        "rmw_guard_condition_t" => rmw_guard_condition_t { implementation_identifier, data, context }
        "rmw_wait_set_t" => rmw_wait_set_t { implementation_identifier, guard_conditions, data }
        "rmw_event_t" => rmw_event_t { implementation_identifier, data, event_type }
    }
}

/// Init options and contexts, which differ between Jazzy and later distributions.
fn options(of: &Distribution) -> Vec<Believed> {
    if of.name == "jazzy" {
        return believed! {
            "rmw_init_options_t" => InitOptions {
                instance_id, implementation_identifier, domain_id, security_options,
                localhost_only, discovery_options, enclave, allocator, impl_ = "impl",
            }
            "rmw_context_t" => ContextObject {
                instance_id, implementation_identifier, options, actual_domain_id, impl_ = "impl",
            }
        };
    }
    believed! {
        "rmw_init_options_t" => InitOptions<Absent> {
            instance_id, implementation_identifier, domain_id, security_options, discovery_options,
            enclave, allocator, impl_ = "impl",
        }
        "rmw_context_t" => ContextObject<Absent> {
            instance_id, implementation_identifier, options, actual_domain_id, impl_ = "impl",
        }
    }
}

/// The structures that Lyrical added or changed.
fn added_by_lyrical() -> Vec<Believed> {
    believed! {
        "rmw_subscription_options_t" => WithBackends { options, acceptable_buffer_backends }
        "rmw_subscription_t" => SubscriptionObject<WithBackends> {
            implementation_identifier, data, topic_name, options, can_loan_messages, is_cft_enabled,
            is_cft_supported,
        }
        "rmw_service_endpoint_info_t" => rmw_service_endpoint_info_t {
            node_name, node_namespace, service_type, service_type_hash, endpoint_type,
            endpoint_count, endpoint_gids, qos_profiles,
        }
        "rmw_service_endpoint_info_array_t" => rmw_service_endpoint_info_array_t {
            size, info_array,
        }
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

macro_rules! named {
    ($($name:ident),* $(,)?) => { vec![$((stringify!($name), $name as i64)),*] };
}

/// The kinds of event. In this crate they have the numbers of Kilted.
fn kinds() -> Vec<(&'static str, i64)> {
    named![
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
    ]
}

/// Constants that only some distributions have.
fn of_distribution(of: &Distribution) -> Vec<(&'static str, i64)> {
    match of.name {
        "jazzy" => named![RMW_LOCALHOST_ONLY_DEFAULT, RMW_LOCALHOST_ONLY_ENABLED],
        _ => named![RMW_EVENT_INVALID],
    }
}

/// Constants of the headers, with their values in this crate.
fn constants() -> Vec<(&'static str, i64)> {
    named![
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
        RMW_QOS_POLICY_INVALID,
        RMW_QOS_POLICY_DURABILITY,
        RMW_QOS_POLICY_DEADLINE,
        RMW_QOS_POLICY_LIVELINESS,
        RMW_QOS_POLICY_RELIABILITY,
        RMW_QOS_POLICY_HISTORY,
        RMW_QOS_POLICY_LIFESPAN,
    ]
}

/// The lines that the C program must print if the structures match.
fn lines(structures: &[Believed]) -> String {
    let mut lines = String::new();
    for Believed { name, size, fields } in structures {
        let _ = writeln!(lines, "{name} {size}");
        for (field, offset) in fields {
            let _ = writeln!(lines, "{name}.{field} {offset}");
        }
    }
    lines
}

/// A C program that prints the layouts and constants of the headers. The kinds of event are printed
/// last.
fn source(structures: &[Believed], constants: &[&'static str]) -> String {
    let mut source = String::from(
        "#include <stddef.h>\n#include <stdio.h>\n#include \"rmw/rmw.h\"\n\
         #include \"rmw/events_statuses/events_statuses.h\"\n#include \"rmw/features.h\"\n\
         #include \"rmw/message_sequence.h\"\n#include \"rmw/names_and_types.h\"\n#include \"rmw/topic_endpoint_info_array.h\"\n\
         #include \"rosidl_runtime_c/type_description/type_description__struct.h\"\n\
         int main(void) {\n",
    );
    for Believed { name, fields, .. } in structures {
        let _ = writeln!(source, "printf(\"{name} %zu\\n\", sizeof({name}));");
        for (field, _) in fields {
            let line = format!("printf(\"{name}.{field} %zu\\n\", offsetof({name}, {field}));");
            let _ = writeln!(source, "{line}");
        }
    }
    for name in constants {
        let _ = writeln!(source, "printf(\"{name} %lld\\n\", (long long)({name}));");
    }
    source.push_str("return 0;\n}\n");
    source
}

/// Compiles a program against the headers of an installation, and returns what it prints.
fn printed(prefix: &Path, source: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("layout.c"), folder.path().join("layout"));
    std::fs::write(&file, source).expect("the source is written");
    let mut compiler = Command::new("cc");
    for package in std::fs::read_dir(prefix.join("include")).expect("the headers").flatten() {
        compiler.arg("-I").arg(package.path());
    }
    let compiled = compiler.arg("-o").arg(&binary).arg(&file).output().expect("a C compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let printed = Command::new(&binary).output().expect("the program runs").stdout;
    String::from_utf8_lossy(&printed).into_owned()
}

fn is_like_the_headers(name: &str, prefix: &Path) {
    let of = Distribution::named(name).expect("the library serves it");
    let structures: Vec<Believed> =
        options(of).into_iter().chain(objects()).chain(values()).chain(statuses()).collect();
    let constants: Vec<_> = constants().into_iter().chain(of_distribution(of)).collect();
    let names = constants.iter().chain(&kinds()).map(|(name, _)| *name).collect::<Vec<_>>();
    let printed = printed(prefix, &source(&structures, &names));
    let mut expected = lines(&structures);
    for (name, value) in &constants {
        let _ = writeln!(expected, "{name} {value}");
    }
    let (same, of_events) = printed.split_at(expected.len().min(printed.len()));
    assert_eq!(same, expected);
    let mut of_events = of_events.lines();
    for (name, kind) in kinds() {
        let (printed_name, number) =
            of_events.next().and_then(|line| line.split_once(' ')).expect("a kind of event");
        assert_eq!(printed_name, name);
        let number: u32 = number.parse().expect("a number");
        assert_eq!(i64::from(of.event_kind(number)), kind, "{name}");
    }
    assert_eq!(of_events.next(), None);
}

#[test]
fn structures_are_those_of_the_headers_of_kilted() {
    let Some(prefix) = environment(feros_interop::Distribution::Kilted) else { return };
    is_like_the_headers("kilted", &prefix);
}

#[test]
fn structures_are_those_of_the_headers_of_jazzy() {
    let Some(prefix) = environment(feros_interop::Distribution::Jazzy) else { return };
    is_like_the_headers("jazzy", &prefix);
}

/// The numbers are those that a C compiler printed for the public headers of rmw 7.10.1. Everything
/// else that the library uses is the same as in the headers of Kilted.
#[test]
fn structures_are_those_of_the_public_headers_of_lyrical() {
    let lyrical = Distribution::named("lyrical").expect("the library serves it");
    let expected = "rmw_init_options_t 160\nrmw_init_options_t.instance_id 0\n\
                    rmw_init_options_t.implementation_identifier 8\n\
                    rmw_init_options_t.domain_id 16\nrmw_init_options_t.security_options 24\n\
                    rmw_init_options_t.discovery_options 40\nrmw_init_options_t.enclave 104\n\
                    rmw_init_options_t.allocator 112\nrmw_init_options_t.impl 152\n\
                    rmw_context_t 192\nrmw_context_t.instance_id 0\n\
                    rmw_context_t.implementation_identifier 8\nrmw_context_t.options 16\n\
                    rmw_context_t.actual_domain_id 176\nrmw_context_t.impl 184\n";
    assert_eq!(lines(&options(lyrical)), expected);
    let expected = "rmw_subscription_options_t 32\nrmw_subscription_options_t.options 0\n\
                    rmw_subscription_options_t.acceptable_buffer_backends 24\n\
                    rmw_subscription_t 64\nrmw_subscription_t.implementation_identifier 0\n\
                    rmw_subscription_t.data 8\nrmw_subscription_t.topic_name 16\n\
                    rmw_subscription_t.options 24\nrmw_subscription_t.can_loan_messages 56\n\
                    rmw_subscription_t.is_cft_enabled 57\n\
                    rmw_subscription_t.is_cft_supported 58\n\
                    rmw_service_endpoint_info_t 88\nrmw_service_endpoint_info_t.node_name 0\n\
                    rmw_service_endpoint_info_t.node_namespace 8\n\
                    rmw_service_endpoint_info_t.service_type 16\n\
                    rmw_service_endpoint_info_t.service_type_hash 24\n\
                    rmw_service_endpoint_info_t.endpoint_type 60\n\
                    rmw_service_endpoint_info_t.endpoint_count 64\n\
                    rmw_service_endpoint_info_t.endpoint_gids 72\n\
                    rmw_service_endpoint_info_t.qos_profiles 80\n\
                    rmw_service_endpoint_info_array_t 16\n\
                    rmw_service_endpoint_info_array_t.size 0\n\
                    rmw_service_endpoint_info_array_t.info_array 8\n";
    assert_eq!(lines(&added_by_lyrical()), expected);
    assert_eq!((RMW_ENDPOINT_CLIENT, RMW_ENDPOINT_SERVER), (3, 4));
    assert_eq!(lyrical.event_kind(1), RMW_EVENT_LIVELINESS_CHANGED);
}
