//! Messages that are lent: built in the memory that they are sent from, read in the memory that
//! they came in. That needs a type whose struct is the body of its serialized message.

use std::ffi::c_void;
use std::sync::Arc;

use feros_rmw::Payload;
use feros_trace::Outbound;
use feros_transport::Received;
use feros_typesupport::{MessageProgram, PlainLayout};

use crate::arguments::{Out, given};
use crate::error::{Failure, guarded};
use crate::ffi::{
    rmw_message_info_t, rmw_publisher_t, rmw_ret_t, rmw_subscription_t,
    rosidl_message_type_support_t,
};
use crate::publisher::{self, PublisherEnd};
use crate::subscription::{self, SubscriptionEnd};

/// The header of a serialized message, in the byte order of this machine.
const HEADER: [u8; 4] = if cfg!(target_endian = "little") { [0, 1, 0, 0] } else { [0, 0, 0, 0] };
/// How bodies lie in memory of the transports.
const BODY_ALIGNMENT: usize = 8;

/// The layout of a type whose messages can be lent: the struct ends where its body does, so that
/// the message's memory is all that the struct uses.
fn layout(program: &MessageProgram) -> Option<PlainLayout> {
    let plain = program.plain()?;
    (plain.size == plain.body_len && plain.align <= BODY_ALIGNMENT).then_some(plain)
}

/// Whether messages of this type are lent.
pub(crate) fn are_possible(program: &MessageProgram) -> bool {
    layout(program).is_some()
}

/// A message that a subscription lent.
pub(crate) enum LentMessage {
    /// In the memory that it came in.
    InPlace(Payload),
    /// Decoded, where it came in another byte order or at another alignment, or has a `bool`: not
    /// every byte of others is one.
    Decoded(DecodedMessage),
}

/// A message in memory of this library.
pub(crate) struct DecodedMessage {
    /// Aligned as every body is.
    memory: Vec<u64>,
    program: Arc<MessageProgram>,
}

impl DecodedMessage {
    fn new(program: &Arc<MessageProgram>, bytes: &[u8]) -> Result<Self, Failure> {
        let words = program.size_of().div_ceil(size_of::<u64>()).max(1);
        let mut memory = vec![0_u64; words];
        // SAFETY: the memory has the size and the alignment of the type.
        unsafe { program.init(memory.as_mut_ptr().cast()) };
        let mut message = Self { memory, program: Arc::clone(program) };
        // SAFETY: the message was just initialized.
        let decoded = unsafe { program.decode(bytes, message.memory.as_mut_ptr().cast()) };
        decoded.map_err(Failure::error)?;
        Ok(message)
    }
}

impl Drop for DecodedMessage {
    fn drop(&mut self) {
        // SAFETY: the message was initialized, and nobody uses it any more.
        unsafe { self.program.fini(self.memory.as_mut_ptr().cast()) };
    }
}

impl LentMessage {
    fn new(end: &SubscriptionEnd, message: Received<Payload>) -> Result<Self, Failure> {
        let payload = message.into_object();
        let fits = layout(&end.program).is_some_and(|plain| {
            !plain.has_bools
                && payload.len() >= HEADER.len() + plain.body_len
                && payload[..2] == HEADER[..2]
                && payload.as_ptr().wrapping_add(HEADER.len()).addr().is_multiple_of(plain.align)
        });
        if fits {
            return Ok(Self::InPlace(payload));
        }
        Ok(Self::Decoded(DecodedMessage::new(&end.program, &payload)?))
    }

    fn pointer(&mut self) -> *mut c_void {
        match self {
            Self::InPlace(payload) => payload[HEADER.len()..].as_ptr().cast_mut().cast(),
            Self::Decoded(message) => message.memory.as_mut_ptr().cast(),
        }
    }
}

fn cannot_be_lent(program: &MessageProgram) -> Failure {
    Failure::unsupported(format!(
        "messages of {} cannot be lent: their struct is not their serialized form",
        program.ros_type_name()
    ))
}

fn was_not_lent() -> Failure {
    Failure::error("this message was not lent here, or was given back already")
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

/// Lends memory for a message, to be published or given back.
///
/// # Safety
/// Each pointer is null or points at what its name says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_borrow_loaned_message(
    publisher: *const rmw_publisher_t,
    type_support: *const rosidl_message_type_support_t,
    ros_message: *mut *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: as the caller promises.
        let end = unsafe { publisher::end(publisher) }?;
        let plain = end.check_loans()?;
        // SAFETY: as the caller promises.
        let (_, place) =
            unsafe { (given(type_support, "type_support")?, given(ros_message, "ros_message")?) };
        if !place.is_null() {
            return Err(Failure::invalid("`ros_message` points at a message already"));
        }
        let mut loan = end.publisher.lend(HEADER.len() + plain.body_len).map_err(Failure::error)?;
        let (header, body) = loan.bytes_mut().split_at_mut(HEADER.len());
        header.copy_from_slice(&HEADER);
        if !body.as_ptr().addr().is_multiple_of(plain.align) {
            return Err(Failure::error("the memory of the transport is not aligned for the type"));
        }
        let message: *mut c_void = body.as_mut_ptr().cast();
        end.loans.lock().insert(message.addr(), loan);
        // SAFETY: the place was checked.
        unsafe { ros_message.write(message) };
        Ok(())
    })
}

/// Gives back memory of a message that is not published.
///
/// # Safety
/// The publisher is null or one.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_return_loaned_message_from_publisher(
    publisher: *const rmw_publisher_t,
    loaned_message: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: as the caller promises.
        let loan = unsafe { publisher::end(publisher) }?.take_loan(loaned_message)?;
        drop(loan);
        Ok(())
    })
}

/// Publishes a message where it was built.
///
/// # Safety
/// The publisher is null or one; nobody writes the message any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publish_loaned_message(
    publisher: *const rmw_publisher_t,
    ros_message: *mut c_void,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        let mut trace = Outbound::publish();
        // SAFETY: as the caller promises.
        let end = unsafe { publisher::end(publisher) }?;
        let loan = end.take_loan(ros_message)?;
        end.publisher.publish_loan(loan, &mut trace).map_err(Failure::error)
    })
}

/// # Safety
/// As [`rmw_take_loaned_message`].
unsafe fn take_loaned(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut *mut c_void,
    taken: *mut bool,
) -> Result<Option<rmw_message_info_t>, Failure> {
    // SAFETY: as the caller promises.
    let end = unsafe { subscription::end(subscription) }?;
    if !are_possible(&end.program) {
        return Err(cannot_be_lent(&end.program));
    }
    // SAFETY: as the caller promises.
    let (place, taken) =
        unsafe { (given(loaned_message, "loaned_message")?, Out::new(taken, "taken")?) };
    if !place.is_null() {
        return Err(Failure::invalid("`loaned_message` points at a message already"));
    }
    taken.set(false);
    let lent = end.take_with(|message| LentMessage::new(end, message))?;
    let Some((mut message, info)) = lent else { return Ok(None) };
    let pointer = message.pointer();
    end.loans.lock().insert(pointer.addr(), message);
    // SAFETY: the place was checked.
    unsafe { loaned_message.write(pointer) };
    taken.set(true);
    Ok(Some(info))
}

/// Takes the next message without a copy, if there is one. It is read only.
///
/// # Safety
/// Each pointer is null or points at what its name says.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_loaned_message(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut *mut c_void,
    taken: *mut bool,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { take_loaned(subscription, loaned_message, taken) }.map(|_| ()))
}

/// As [`rmw_take_loaned_message`], with what is known of the message.
///
/// # Safety
/// As [`rmw_take_loaned_message`].
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_loaned_message_with_info(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut *mut c_void,
    taken: *mut bool,
    message_info: *mut rmw_message_info_t,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: as the caller promises.
        unsafe {
            subscription::end(subscription)?;
            let message_info = Out::new(message_info, "message_info")?;
            if let Some(info) = take_loaned(subscription, loaned_message, taken)? {
                message_info.set(info);
            }
        }
        Ok(())
    })
}

/// Gives back a message that was taken without a copy.
///
/// # Safety
/// The subscription is null or one; nobody reads the message any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_return_loaned_message_from_subscription(
    subscription: *const rmw_subscription_t,
    loaned_message: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: as the caller promises.
        let end = unsafe { subscription::end(subscription) }?;
        if !are_possible(&end.program) {
            return Err(cannot_be_lent(&end.program));
        }
        if loaned_message.is_null() {
            return Err(Failure::invalid("the argument `loaned_message` is null"));
        }
        let message = end.loans.lock().remove(&loaned_message.addr());
        message.map(drop).ok_or_else(was_not_lent)
    })
}
