//! The functions of rmw that this implementation does not support, with their error texts, and the
//! features that it reports as supported.

use std::ffi::{c_char, c_void};

use crate::error::{Failure, guarded};
use crate::ffi::{
    RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER, rcutils_allocator_t, rmw_message_info_t,
    rmw_publisher_t, rmw_ret_t, rmw_subscription_t, rosidl_message_type_support_t,
};

/// Whether messages have this number: they have only the number that their publisher gives them.
#[unsafe(no_mangle)]
extern "C" fn rmw_feature_supported(feature: u32) -> bool {
    feature == RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER
}

fn without_allocations() -> rmw_ret_t {
    guarded(|| {
        Err(Failure::unsupported(
            "rmw_feros does not preallocate: publishers and subscriptions reuse their memory",
        ))
    })
}

/// Preallocates memory for a publisher: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_init_publisher_allocation(
    _: *const rosidl_message_type_support_t,
    _: *const c_void,
    _: *mut c_void,
) -> rmw_ret_t {
    without_allocations()
}

/// Frees that memory: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_fini_publisher_allocation(_: *mut c_void) -> rmw_ret_t {
    without_allocations()
}

/// Preallocates memory for a subscription: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_init_subscription_allocation(
    _: *const rosidl_message_type_support_t,
    _: *const c_void,
    _: *mut c_void,
) -> rmw_ret_t {
    without_allocations()
}

/// Frees that memory: not supported.
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
            "rmw_feros knows the size of a message, from rmw_serialize, but not that of a type",
        ))
    })
}

fn without_network_flows() -> rmw_ret_t {
    guarded(|| {
        Err(Failure::unsupported(
            "rmw_feros has no separate network flow per endpoint: the endpoints of a context \
             share its sockets",
        ))
    })
}

/// The addresses that a publisher sends from: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_publisher_get_network_flow_endpoints(
    _: *const rmw_publisher_t,
    _: *mut rcutils_allocator_t,
    _: *mut c_void,
) -> rmw_ret_t {
    without_network_flows()
}

/// The addresses at which a subscription receives: not supported.
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
            "rmw_feros does not support messages of rosidl_dynamic_typesupport: take the message \
             serialized",
        ))
    })
}

/// Takes a message of a type known at run time: not supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_take_dynamic_message(
    _: *const rmw_subscription_t,
    _: *mut c_void,
    _: *mut bool,
    _: *mut c_void,
) -> rmw_ret_t {
    without_dynamic_messages()
}

/// The same with the message's information: not supported.
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
