//! Takes messages from a subscription: into a struct of the host program, or serialized.
//!
//! A message that cannot be decoded is counted, logged and skipped, so that it does not end the
//! host program.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;

use feros_engine::{FailureCounters, Payload};
use feros_transport::Received;

use crate::arguments::{Out, given};
use crate::error::{Failure, guarded};
use crate::ffi::{
    rmw_message_info_sequence_t, rmw_message_info_t, rmw_message_sequence_t, rmw_ret_t,
    rmw_serialized_message_t, rmw_subscription_t,
};
use crate::handle;
use crate::subscription::SubscriptionEnd;

impl SubscriptionEnd {
    /// Takes the next message, decoded by `decode`, with its information. The messages that all
    /// subscriptions of the process to the topic have refused count together in the log.
    pub(crate) fn take_with<T>(
        &self,
        mut decode: impl FnMut(Received<Payload>) -> Result<T, Failure>,
    ) -> Result<Option<(T, rmw_message_info_t)>, Failure> {
        static REFUSED: FailureCounters = FailureCounters::new();
        while let Some(message) = self.entity.inbox.take()? {
            let (info, publisher, len) =
                (message.info(), message.publisher(), message.size_bytes());
            match decode(message) {
                Ok(decoded) => return Ok(Some((decoded, info.into()))),
                Err(failure) => {
                    let topic = self.topic.to_string_lossy();
                    if let Some(count) = REFUSED.count(&topic) {
                        tracing::error!(
                            "{topic}: {count} messages have been refused so far; the last, of \
                             {len} bytes from {publisher}, is not a {}: {}. Check that both sides \
                             were built from the same definition",
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
    /// `ros_message` is null or points to an initialized message of the subscription's type.
    unsafe fn take(&self, ros_message: *mut c_void) -> Result<Option<rmw_message_info_t>, Failure> {
        // SAFETY: [messages] the struct is null or an initialized message.
        unsafe { given(ros_message, "ros_message") }?;
        let taken = self.take_with(|message| {
            // SAFETY: [messages] the struct is an initialized message of the subscription's type,
            // and nobody else uses it.
            let decoded = unsafe { self.program.decode(message.object(), ros_message) };
            decoded.map_err(Failure::error)
        })?;
        Ok(taken.map(|(_, info)| info))
    }
}

/// Takes the next message by `take`. Writes whether there was one, and if it is wanted, the
/// information about the message.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
pub(crate) unsafe fn report(
    subscription: *const rmw_subscription_t,
    taken: *mut bool,
    message_info: Option<*mut rmw_message_info_t>,
    take: impl FnOnce(&SubscriptionEnd) -> Result<Option<rmw_message_info_t>, Failure>,
) -> Result<(), Failure> {
    // SAFETY: [handles] the subscription is alive. [outputs] There is memory for the flag and the
    // information.
    let (end, taken, message_info) = unsafe {
        let (end, taken) = (handle::end(subscription)?, Out::new(taken, "taken")?);
        let message_info = message_info.map(|info| Out::new(info, "message_info")).transpose()?;
        (end, taken, message_info)
    };
    taken.set(false);
    if let Some(info) = take(end)? {
        if let Some(message_info) = message_info {
            message_info.set(info);
        }
        taken.set(true);
    }
    Ok(())
}

/// Takes the next message, if there is one.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type; the message has the subscription's
/// type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take(
    subscription: *const rmw_subscription_t,
    ros_message: *mut c_void,
    taken: *mut bool,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    // SAFETY: [handles] the subscription is alive. [messages] The message has the subscription's
    // type, and nobody else uses it. [outputs] There is memory for the flag.
    guarded(|| unsafe { report(subscription, taken, None, |end| end.take(ros_message)) })
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
    // SAFETY: [handles] the subscription is alive. [messages] The message has the subscription's
    // type, and nobody else uses it. [outputs] There is memory for the flag and the information.
    guarded(|| unsafe {
        report(subscription, taken, Some(message_info), |end| end.take(ros_message))
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
        // SAFETY: [handles] the subscription is alive. [arrays] The sequences have as much room as
        // they say. [messages] Each message has the subscription's type, and nobody else uses it.
        // [outputs] There is memory for the number.
        unsafe {
            let end = handle::end(subscription)?;
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
                let Some(info) = end.take(*messages.data.add(number))? else { break };
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

impl SubscriptionEnd {
    /// Takes the next message as bytes.
    ///
    /// # Safety
    /// The array is null or valid.
    unsafe fn take_serialized(
        &self,
        serialized_message: *mut rmw_serialized_message_t,
    ) -> Result<Option<rmw_message_info_t>, Failure> {
        // SAFETY: [bytes] the array is initialized, and nobody else uses it.
        unsafe {
            given(serialized_message, "serialized_message")?;
            let Some(message) = self.entity.inbox.take()? else { return Ok(None) };
            let bytes: &[u8] = message.object();
            (*serialized_message).resize(bytes.len())?.copy_from_slice(bytes);
            Ok(Some(message.info().into()))
        }
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
    // SAFETY: [handles] the subscription is alive. [bytes] The array is initialized, and nobody
    // else uses it. [outputs] There is memory for the flag.
    guarded(|| unsafe {
        report(subscription, taken, None, |end| end.take_serialized(serialized_message))
    })
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
    // SAFETY: [handles] the subscription is alive. [bytes] The array is initialized, and nobody
    // else uses it. [outputs] There is memory for the flag and the information.
    guarded(|| unsafe {
        report(subscription, taken, Some(message_info), |end| {
            end.take_serialized(serialized_message)
        })
    })
}
