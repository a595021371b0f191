//! The functions of rmw that this implementation does not support, with their error texts, and the
//! features that it reports as supported.

use std::ffi::{c_char, c_void};

use crate::error::{Failure, guarded};
use crate::ffi::{
    RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER,
    RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED, rcutils_allocator_t, rmw_message_info_t,
    rmw_publisher_t, rmw_ret_t, rmw_subscription_t, rosidl_message_type_support_t,
};

/// Whether a feature is supported. The only supported feature is the publication sequence number of
/// messages.
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

/// Not supported: preallocates memory for a publisher.
#[unsafe(no_mangle)]
extern "C" fn rmw_init_publisher_allocation(
    _: *const rosidl_message_type_support_t,
    _: *const c_void,
    _: *mut c_void,
) -> rmw_ret_t {
    without_allocations()
}

/// Not supported: frees preallocated memory.
#[unsafe(no_mangle)]
extern "C" fn rmw_fini_publisher_allocation(_: *mut c_void) -> rmw_ret_t {
    without_allocations()
}

/// Not supported: preallocates memory for a subscription.
#[unsafe(no_mangle)]
extern "C" fn rmw_init_subscription_allocation(
    _: *const rosidl_message_type_support_t,
    _: *const c_void,
    _: *mut c_void,
) -> rmw_ret_t {
    without_allocations()
}

/// Not supported: frees preallocated memory.
#[unsafe(no_mangle)]
extern "C" fn rmw_fini_subscription_allocation(_: *mut c_void) -> rmw_ret_t {
    without_allocations()
}

/// Not supported: the maximum serialized size of a message with these bounds.
#[unsafe(no_mangle)]
extern "C" fn rmw_get_serialized_message_size(
    _: *const rosidl_message_type_support_t,
    _: *const c_void,
    _: *mut usize,
) -> rmw_ret_t {
    guarded(|| {
        Err(Failure::unsupported(
            "rmw_feros does not know the serialized size of a type: rmw_serialize gives the size \
             of each message",
        ))
    })
}

/// Refuses an endpoint that strictly requires a network flow of its own.
pub(crate) fn check_network_flow(endpoint: &str, requirement: u32) -> Result<(), Failure> {
    if requirement == RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED {
        return Err(Failure::unsupported(format!(
            "a separate network flow per {endpoint} is strictly required, but rmw_feros does not \
             support it"
        )));
    }
    Ok(())
}

fn without_network_flows() -> rmw_ret_t {
    guarded(|| {
        Err(Failure::unsupported(
            "rmw_feros has no separate network flow per endpoint: the endpoints of a context \
             share its sockets",
        ))
    })
}

/// Not supported: the addresses from which a publisher sends.
#[unsafe(no_mangle)]
extern "C" fn rmw_publisher_get_network_flow_endpoints(
    _: *const rmw_publisher_t,
    _: *mut rcutils_allocator_t,
    _: *mut c_void,
) -> rmw_ret_t {
    without_network_flows()
}

/// Not supported: the addresses at which a subscription receives.
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

/// Not supported: takes a message whose type is only known at run time.
#[unsafe(no_mangle)]
extern "C" fn rmw_take_dynamic_message(
    _: *const rmw_subscription_t,
    _: *mut c_void,
    _: *mut bool,
    _: *mut c_void,
) -> rmw_ret_t {
    without_dynamic_messages()
}

/// Not supported: takes a message whose type is only known at run time, with its information.
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

/// Not supported: the serialization library for dynamic messages.
#[unsafe(no_mangle)]
extern "C" fn rmw_serialization_support_init(
    _: *const c_char,
    _: *mut rcutils_allocator_t,
    _: *mut c_void,
) -> rmw_ret_t {
    without_dynamic_messages()
}
