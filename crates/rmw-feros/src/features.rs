//! What this implementation does not have, said in words; and what it says that it has.

use std::ffi::{c_char, c_void};

use crate::error::{Failure, guarded};
use crate::ffi::{
    RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER, rcutils_allocator_t, rmw_message_info_t,
    rmw_publisher_t, rmw_ret_t, rmw_subscription_t, rosidl_message_type_support_t,
};

/// Whether messages carry what this names: the numbers that publishers count, and no others.
#[unsafe(no_mangle)]
extern "C" fn rmw_feature_supported(feature: u32) -> bool {
    feature == RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER
}

fn without_allocations() -> rmw_ret_t {
    guarded(|| {
        Err(Failure::unsupported(
            "rmw_feros allocates nothing ahead: publishers and subscriptions reuse their memory",
        ))
    })
}

/// Memory ahead for a publisher: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_init_publisher_allocation(
    _: *const rosidl_message_type_support_t,
    _: *const c_void,
    _: *mut c_void,
) -> rmw_ret_t {
    without_allocations()
}

/// The end of that memory: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_fini_publisher_allocation(_: *mut c_void) -> rmw_ret_t {
    without_allocations()
}

/// Memory ahead for a subscription: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_init_subscription_allocation(
    _: *const rosidl_message_type_support_t,
    _: *const c_void,
    _: *mut c_void,
) -> rmw_ret_t {
    without_allocations()
}

/// The end of that memory: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_fini_subscription_allocation(_: *mut c_void) -> rmw_ret_t {
    without_allocations()
}

/// The greatest size of a message with these bounds: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_get_serialized_message_size(
    _: *const rosidl_message_type_support_t,
    _: *const c_void,
    _: *mut usize,
) -> rmw_ret_t {
    guarded(|| {
        Err(Failure::unsupported(
            "rmw_feros tells the size of a message, which rmw_serialize gives, not of a type",
        ))
    })
}

fn without_network_flows() -> rmw_ret_t {
    guarded(|| {
        Err(Failure::unsupported(
            "rmw_feros has no network flow of its own per endpoint: the endpoints of a context \
             share its sockets",
        ))
    })
}

/// Addresses that a publisher sends from: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_publisher_get_network_flow_endpoints(
    _: *const rmw_publisher_t,
    _: *mut rcutils_allocator_t,
    _: *mut c_void,
) -> rmw_ret_t {
    without_network_flows()
}

/// Addresses at which a subscription receives: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_subscription_get_network_flow_endpoints(
    _: *const rmw_subscription_t,
    _: *mut rcutils_allocator_t,
    _: *mut c_void,
) -> rmw_ret_t {
    without_network_flows()
}

fn without_dynamic_messages() -> rmw_ret_t {
    guarded(|| {
        Err(Failure::unsupported(
            "rmw_feros takes no dynamic messages of rosidl_dynamic_typesupport: take the message \
             serialized",
        ))
    })
}

/// A message of a type known at run time: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_take_dynamic_message(
    _: *const rmw_subscription_t,
    _: *mut c_void,
    _: *mut bool,
    _: *mut c_void,
) -> rmw_ret_t {
    without_dynamic_messages()
}

/// The same with what is known of the message: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_take_dynamic_message_with_info(
    _: *const rmw_subscription_t,
    _: *mut c_void,
    _: *mut bool,
    _: *mut rmw_message_info_t,
    _: *mut c_void,
) -> rmw_ret_t {
    without_dynamic_messages()
}

/// A library that serializes dynamic messages: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_serialization_support_init(
    _: *const c_char,
    _: *mut rcutils_allocator_t,
    _: *mut c_void,
) -> rmw_ret_t {
    without_dynamic_messages()
}
