//! Takes messages from a subscription: into a struct of the host program, or serialized.
//!
//! A message that cannot be decoded is counted, logged and skipped, so that it does not end the
//! host program.

use std::ffi::c_void;

use feros_engine::Payload;
use feros_transport::Received;

use crate::arguments::{Out, given};
use crate::error::{Failure, guarded};
use crate::ffi::{
    rmw_message_info_sequence_t, rmw_message_info_t, rmw_message_sequence_t, rmw_ret_t,
    rmw_serialized_message_t, rmw_subscription_t,
};
use crate::subscription::{self, SubscriptionEnd};

impl SubscriptionEnd {
    /// Takes the next message, decoded by `decode`, with its information.
    pub(crate) fn take_with<T>(
        &self,
        mut decode: impl FnMut(Received<Payload>) -> Result<T, Failure>,
    ) -> Result<Option<(T, rmw_message_info_t)>, Failure> {
        while let Some(message) = self.entity.inbox.take()? {
            let (info, publisher, len) =
                (message.info(), message.publisher(), message.size_bytes());
            match decode(message) {
                Ok(decoded) => return Ok(Some((decoded, info.into()))),
                Err(failure) => {
                    if let Some(count) = self.malformed.count() {
                        tracing::error!(
                            "{}: refused {count} so far: a sample of {len} bytes from {publisher} \
                             is not a {}: {}. Check that both sides were built from the same \
                             definition",
                            self.topic.to_string_lossy(),
                            self.program.ros_type_name(),
                            failure.text,
                        );
                    }
                }
            }
        }
        Ok(None)
    }

    /// Takes the next message into a struct.
    ///
    /// # Safety
    /// The struct is an initialized message of this type.
    unsafe fn take(&self, ros_message: *mut c_void) -> Result<Option<rmw_message_info_t>, Failure> {
        let taken = self.take_with(|message| {
            // SAFETY: [messages] the struct is an initialized message of this type, and nobody else
            // uses it.
            let decoded = unsafe { self.program.decode(message.object(), ros_message) };
            decoded.map_err(Failure::error)
        })?;
        Ok(taken.map(|(_, info)| info))
    }
}

/// Takes the next message, if there is one.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type; the message has the subscription's
/// type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take(
    subscription: *const rmw_subscription_t,
    ros_message: *mut c_void,
    taken: *mut bool,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription lives. [messages] The message has the subscription's
        // type, and nobody else uses it. [outputs] There is memory for the flag.
        unsafe {
            let end = subscription::end(subscription)?;
            given(ros_message, "ros_message")?;
            let taken = Out::new(taken, "taken")?;
            taken.set(false);
            taken.set(end.take(ros_message)?.is_some());
        }
        Ok(())
    })
}

/// Takes the next message and its information, if there is one.
///
/// # Safety
/// The contract of [`rmw_take`].
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_with_info(
    subscription: *const rmw_subscription_t,
    ros_message: *mut c_void,
    taken: *mut bool,
    message_info: *mut rmw_message_info_t,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription lives. [messages] The message has the subscription's
        // type, and nobody else uses it. [outputs] There is memory for the flag and the
        // information.
        unsafe {
            let end = subscription::end(subscription)?;
            given(ros_message, "ros_message")?;
            let taken = Out::new(taken, "taken")?;
            let message_info = Out::new(message_info, "message_info")?;
            taken.set(false);
            if let Some(info) = end.take(ros_message)? {
                message_info.set(info);
                taken.set(true);
            }
        }
        Ok(())
    })
}

/// Takes the messages that have arrived, up to `count`.
///
/// # Safety
/// The contract of [`rmw_take`]; the sequences have as much room as they say, and each message has
/// the subscription's type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_sequence(
    subscription: *const rmw_subscription_t,
    count: usize,
    message_sequence: *mut rmw_message_sequence_t,
    message_info_sequence: *mut rmw_message_info_sequence_t,
    taken: *mut usize,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription lives. [arrays] The sequences have as much room as
        // they say. [messages] Each message has the subscription's type, and nobody else uses it.
        // [outputs] There is memory for the number.
        unsafe {
            let end = subscription::end(subscription)?;
            let messages = given(message_sequence, "message_sequence")?;
            let infos = given(message_info_sequence, "message_info_sequence")?;
            let taken = Out::new(taken, "taken")?;
            let room = messages.capacity.min(infos.capacity);
            if count == 0 || room < count || messages.data.is_null() || infos.data.is_null() {
                return Err(Failure::invalid(format!(
                    "{count} messages were requested, but the sequences have room for {room}"
                )));
            }
            taken.set(0);
            let mut number = 0;
            while number < count {
                let place = *messages.data.add(number);
                given(place, "message_sequence.data")?;
                let Some(info) = end.take(place)? else { break };
                infos.data.add(number).write(info);
                number += 1;
                taken.set(number);
            }
            (*message_sequence).size = number;
            (*message_info_sequence).size = number;
        }
        Ok(())
    })
}

/// # Safety
/// The contract of [`rmw_take`].
unsafe fn take_serialized(
    subscription: *const rmw_subscription_t,
    serialized_message: *mut rmw_serialized_message_t,
    taken: *mut bool,
) -> Result<Option<rmw_message_info_t>, Failure> {
    // SAFETY: [handles] the subscription lives. [bytes] The array is initialized, and nobody else
    // uses it. [outputs] There is memory for the flag.
    unsafe {
        let end = subscription::end(subscription)?;
        given(serialized_message, "serialized_message")?;
        let taken = Out::new(taken, "taken")?;
        taken.set(false);
        let Some(message) = end.entity.inbox.take()? else { return Ok(None) };
        let bytes: &[u8] = message.object();
        (*serialized_message).resize(bytes.len())?.copy_from_slice(bytes);
        taken.set(true);
        Ok(Some(message.info().into()))
    }
}

/// Takes the next message as bytes, if there is one.
///
/// # Safety
/// The contract of [`rmw_take`].
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_serialized_message(
    subscription: *const rmw_subscription_t,
    serialized_message: *mut rmw_serialized_message_t,
    taken: *mut bool,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    // SAFETY: [handles, bytes, outputs] `take_serialized` gets the arguments of this call.
    guarded(|| unsafe { take_serialized(subscription, serialized_message, taken) }.map(|_| ()))
}

/// Takes the next message as bytes, and its information, if there is one.
///
/// # Safety
/// The contract of [`rmw_take`].
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_serialized_message_with_info(
    subscription: *const rmw_subscription_t,
    serialized_message: *mut rmw_serialized_message_t,
    taken: *mut bool,
    message_info: *mut rmw_message_info_t,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription lives. [outputs] There is memory for the information.
        // [bytes, outputs] `take_serialized` gets the other arguments of this call.
        unsafe {
            subscription::end(subscription)?;
            let message_info = Out::new(message_info, "message_info")?;
            if let Some(info) = take_serialized(subscription, serialized_message, taken)? {
                message_info.set(info);
            }
        }
        Ok(())
    })
}
