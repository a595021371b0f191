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

/// Defines functions that refuse every call, with the reason.
macro_rules! unsupported {
    ($why:literal $($(#[$doc:meta])* $function:ident($($argument:ty),*);)*) => { $(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        extern "C" fn $function($(_: $argument),*) -> rmw_ret_t {
            guarded(|| Err(Failure::unsupported($why)))
        }
    )* };
}

unsupported! {
    "rmw_feros does not preallocate: publishers and subscriptions reuse their memory"

    /// Not supported: preallocates memory for a publisher.
    rmw_init_publisher_allocation(
        *const rosidl_message_type_support_t, *const c_void, *mut c_void
    );

    /// Not supported: frees preallocated memory.
    rmw_fini_publisher_allocation(*mut c_void);

    /// Not supported: preallocates memory for a subscription.
    rmw_init_subscription_allocation(
        *const rosidl_message_type_support_t, *const c_void, *mut c_void
    );

    /// Not supported: frees preallocated memory.
    rmw_fini_subscription_allocation(*mut c_void);
}

unsupported! {
    "rmw_feros does not know the serialized size of a type: rmw_serialize gives the size of each \
     message"

    /// Not supported: the maximum serialized size of a message with these bounds.
    rmw_get_serialized_message_size(
        *const rosidl_message_type_support_t, *const c_void, *mut usize
    );
}

unsupported! {
    "rmw_feros has no separate network flow per endpoint: the endpoints of a context share its \
     sockets"

    /// Not supported: the addresses from which a publisher sends.
    rmw_publisher_get_network_flow_endpoints(
        *const rmw_publisher_t, *mut rcutils_allocator_t, *mut c_void
    );

    /// Not supported: the addresses at which a subscription receives.
    rmw_subscription_get_network_flow_endpoints(
        *const rmw_subscription_t, *mut rcutils_allocator_t, *mut c_void
    );
}

unsupported! {
    "rmw_feros does not support messages of rosidl_dynamic_typesupport: take the message serialized"

    /// Not supported: takes a message whose type is only known at run time.
    rmw_take_dynamic_message(*const rmw_subscription_t, *mut c_void, *mut bool, *mut c_void);

    /// Not supported: takes a message whose type is only known at run time, with its information.
    rmw_take_dynamic_message_with_info(
        *const rmw_subscription_t, *mut c_void, *mut bool, *mut rmw_message_info_t, *mut c_void
    );

    /// Not supported: the serialization library for dynamic messages.
    rmw_serialization_support_init(*const c_char, *mut rcutils_allocator_t, *mut c_void);
}
