//! Lent messages. The host program builds an outgoing message in the memory from which it is sent,
//! and reads an incoming message in the memory in which it arrived. The struct of the message type
//! must have the same bytes as the body of the serialized message.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;

use feros_trace::Outbound;
use feros_typesupport::{MessageProgram, PlainLayout};

use crate::arguments::given;
use crate::error::{Failure, guarded};
use crate::ffi::{
    rmw_message_info_t, rmw_publisher_t, rmw_ret_t, rmw_subscription_t,
    rosidl_message_type_support_t,
};
use crate::handle::end;
use crate::lent_message::{HEADER, LentMessage, can_be_lent, layout};
use crate::publisher::PublisherEnd;
use crate::subscription::SubscriptionEnd;
use crate::take::report;

fn cannot_be_lent(program: &MessageProgram) -> Failure {
    Failure::unsupported(format!(
        "messages of {} cannot be lent: the layout of their struct differs from their serialized \
         form",
        program.ros_type_name()
    ))
}

fn was_not_lent() -> Failure {
    Failure::error("this message was not lent by this endpoint, or was already returned")
}

impl PublisherEnd {
    fn check_loans(&self) -> Result<PlainLayout, Failure> {
        layout(&self.program).ok_or_else(|| cannot_be_lent(&self.program))
    }

    fn take_loan(&self, message: *mut c_void) -> Result<feros_transport::Loan, Failure> {
        self.check_loans()?;
        if message.is_null() {
            return Err(Failure::invalid("the argument `loaned_message` is null"));
        }
        self.loans.lock().remove(&message.addr()).ok_or_else(was_not_lent)
    }
}

/// Lends memory for a message. The host program then publishes the message or returns the memory.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_borrow_loaned_message(
    publisher: *const rmw_publisher_t,
    type_support: *const rosidl_message_type_support_t,
    ros_message: *mut *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the publisher is null or alive.
        let end = unsafe { end(publisher) }?;
        let plain = end.check_loans()?;
        // SAFETY: [type supports] the type support is null or valid. [zero] The pointer to the
        // message is null, and only this call uses it.
        let (_, place) =
            unsafe { (given(type_support, "type_support")?, given(ros_message, "ros_message")?) };
        if !place.is_null() {
            return Err(Failure::invalid("`ros_message` already points to a message"));
        }
        let mut loan = end.publisher.lend(HEADER.len() + plain.body_len).map_err(Failure::error)?;
        let (header, body) = loan.bytes_mut().split_at_mut(HEADER.len());
        header.copy_from_slice(&HEADER);
        if !body.as_ptr().addr().is_multiple_of(plain.align) {
            return Err(Failure::error("the memory of the transport is not aligned for the type"));
        }
        let message: *mut c_void = body.as_mut_ptr().cast();
        end.loans.lock().insert(message.addr(), loan);
        // SAFETY: the memory was checked.
        unsafe { ros_message.write(message) };
        Ok(())
    })
}

/// Takes back the memory of a lent message that was not published.
///
/// # Safety
/// The publisher is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_return_loaned_message_from_publisher(
    publisher: *const rmw_publisher_t,
    loaned_message: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the publisher is null or alive.
        let loan = unsafe { end(publisher) }?.take_loan(loaned_message)?;
        drop(loan);
        Ok(())
    })
}

/// Publishes a lent message from the memory where it was built.
///
/// # Safety
/// The publisher is null or valid; the message is not written afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publish_loaned_message(
    publisher: *const rmw_publisher_t,
    ros_message: *mut c_void,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        let mut trace = Outbound::publish();
        // SAFETY: [handles] the publisher is null or alive. [loans] The host program does not use
        // the message any longer.
        let end = unsafe { end(publisher) }?;
        let loan = end.take_loan(ros_message)?;
        end.publisher.publish_loan(loan, &mut trace).map_err(Failure::error)
    })
}

impl SubscriptionEnd {
    fn check_loans(&self) -> Result<(), Failure> {
        if can_be_lent(&self.program) { Ok(()) } else { Err(cannot_be_lent(&self.program)) }
    }

    /// Takes the next message without a copy.
    ///
    /// # Safety
    /// The pointer is null, or points to a valid pointer.
    unsafe fn take_loaned(
        &self,
        loaned_message: *mut *mut c_void,
    ) -> Result<Option<rmw_message_info_t>, Failure> {
        self.check_loans()?;
        // SAFETY: [zero] the pointer to the message is null, and only this call uses it.
        if !unsafe { given(loaned_message, "loaned_message") }?.is_null() {
            return Err(Failure::invalid("`loaned_message` already points to a message"));
        }
        let lent = self.take_with(|message| LentMessage::new(&self.program, message))?;
        let Some((mut message, info)) = lent else { return Ok(None) };
        let pointer = message.pointer();
        self.loans.lock().insert(pointer.addr(), message);
        // SAFETY: the memory was checked.
        unsafe { loaned_message.write(pointer) };
        Ok(Some(info))
    }
}

/// Takes the next message without a copy, if there is one. The message is read-only.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_loaned_message(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut *mut c_void,
    taken: *mut bool,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    // SAFETY: [handles] the subscription is alive. [zero] The pointer to the message is null, and
    // only this call uses it. [outputs] There is memory for the flag.
    guarded(|| unsafe { report(subscription, taken, None, |end| end.take_loaned(loaned_message)) })
}

/// The same as [`rmw_take_loaned_message`], with the message's information.
///
/// # Safety
/// The contract of [`rmw_take_loaned_message`].
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_loaned_message_with_info(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut *mut c_void,
    taken: *mut bool,
    message_info: *mut rmw_message_info_t,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    // SAFETY: [handles] the subscription is alive. [zero] The pointer to the message is null, and
    // only this call uses it. [outputs] There is memory for the flag and the information.
    guarded(|| unsafe {
        report(subscription, taken, Some(message_info), |end| end.take_loaned(loaned_message))
    })
}

/// Takes back a message that was taken without a copy.
///
/// # Safety
/// The subscription is null or valid; the message is not read afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_return_loaned_message_from_subscription(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription is null or alive. [loans] The host program does not
        // use the message any longer.
        let end = unsafe { end(subscription) }?;
        end.check_loans()?;
        if loaned_message.is_null() {
            return Err(Failure::invalid("the argument `loaned_message` is null"));
        }
        let message = end.loans.lock().remove(&loaned_message.addr());
        message.map(drop).ok_or_else(was_not_lent)
    })
}
