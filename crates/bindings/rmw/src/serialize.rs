//! Serializes and deserializes messages without an endpoint.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;

use crate::arguments::given;
use crate::error::{Failure, guarded};
use crate::ffi::{rmw_ret_t, rmw_serialized_message_t, rosidl_message_type_support_t};
use crate::programs;

/// Serializes a message into an array, which grows as needed.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type. `ros_message` points to a message
/// of the type that `type_support` describes.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_serialize(
    ros_message: *const c_void,
    type_support: *const rosidl_message_type_support_t,
    serialized_message: *mut rmw_serialized_message_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [messages] the message has the type of the type support, and nobody writes it.
        // [type supports] The type support is null or valid. [bytes] The array is initialized, and
        // only this call uses it.
        unsafe {
            given(ros_message, "ros_message")?;
            given(serialized_message, "serialized_message")?;
            let program = programs::of_message(type_support)?;
            let len = program.serialized_len(ros_message).map_err(Failure::error)?;
            let memory = (*serialized_message).resize(len)?;
            program.encode(ros_message, memory).map_err(Failure::error)?;
        }
        Ok(())
    })
}

/// Fills a message from serialized bytes.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type. `ros_message` points to a message
/// of the type that `type_support` describes.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_deserialize(
    serialized_message: *const rmw_serialized_message_t,
    type_support: *const rosidl_message_type_support_t,
    ros_message: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [bytes] the array is initialized, and nobody writes it. [type supports] The type
        // support is null or valid. [messages] The message has the type of the type support, and
        // only this call uses it.
        unsafe {
            let serialized = given(serialized_message, "serialized_message")?;
            given(ros_message, "ros_message")?;
            let program = programs::of_message(type_support)?;
            program.decode(serialized.bytes(), ros_message).map_err(Failure::error)
        }
    })
}
