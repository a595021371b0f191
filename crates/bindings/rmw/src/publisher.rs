//! Publishers: creates and destroys them, publishes messages, and reports their state.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

use feros_engine::{FillAborted, PublishMode, TypeHash, WaitForAckedError};
use feros_sync::Mutex;
use feros_trace::Outbound;
use feros_transport::{
    Delivery, IntraProcessRoute, Loan, Outgoing, Publisher, PublisherOptions, SharedMemoryOptions,
};
use feros_typesupport::{EncodeError, MessageProgram};

use crate::arguments::{Out, given, ours, text};
use crate::context::Context;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::events::{self, Events, Statuses};
use crate::ffi::{
    RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED, rmw_event_t, rmw_gid_t, rmw_node_t,
    rmw_publisher_options_t, rmw_publisher_t, rmw_qos_profile_t, rmw_ret_t,
    rmw_serialized_message_t, rmw_time_t, rosidl_message_type_support_t,
};
use crate::identity::identifier;
use crate::lent_message::can_be_lent;
use crate::{info, names, node, programs, qos};

/// The end object, at which `data` of a publisher points.
pub(crate) struct PublisherEnd {
    pub(crate) context: Arc<Context>,
    pub(crate) program: Arc<MessageProgram>,
    pub(crate) publisher: Arc<Publisher>,
    /// The lent messages, by address.
    pub(crate) loans: Mutex<HashMap<usize, Loan>>,
    pub(crate) events: Events,
    topic: CString,
}

/// An outgoing message of the host program. The message is encoded once, into the memory from which
/// it is sent. Subscriptions of this process share the encoded bytes.
struct Message<'a> {
    program: &'a MessageProgram,
    message: *const c_void,
    size_bytes: usize,
    failure: Option<EncodeError>,
}

impl<'a> Message<'a> {
    /// # Safety
    /// `message` is an initialized message of this type, and nobody writes it as long as this value
    /// lives.
    unsafe fn new(
        program: &'a MessageProgram,
        message: *const c_void,
    ) -> Result<Self, EncodeError> {
        // SAFETY: [messages] the message has this type, and nobody writes it as long as this value
        // lives.
        let size_bytes = unsafe { program.serialized_len(message) }?;
        Ok(Self { program, message, size_bytes, failure: None })
    }
}

impl Outgoing for Message<'_> {
    fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted> {
        // SAFETY: [messages] the message has this type, and nobody writes it as long as `self`
        // lives.
        let encoded = unsafe { self.program.encode(self.message, memory) };
        encoded.map(|_| ()).map_err(|error| {
            self.failure = Some(error);
            FillAborted
        })
    }

    fn wants_bytes(&self, routes: &[IntraProcessRoute]) -> bool {
        !routes.is_empty()
    }

    fn deliver(&mut self, delivery: &Delivery<'_>) {
        delivery.routes().iter().for_each(|route| delivery.put_bytes(route));
    }
}

/// The end object of a publisher.
///
/// # Safety
/// The pointer is null or points at a living publisher.
pub(crate) unsafe fn end<'a>(
    publisher: *const rmw_publisher_t,
) -> Result<&'a PublisherEnd, Failure> {
    // SAFETY: [handles] the publisher is null or lives, and `data` of an object of this library
    // points at its end object until it is destroyed.
    unsafe { given(ours(publisher)?.data.cast::<PublisherEnd>(), "publisher") }
}

/// Creates a publisher.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type through the call; the type support
/// lives as long as the publisher.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_publisher(
    node: *const rmw_node_t,
    type_support: *const rosidl_message_type_support_t,
    topic_name: *const c_char,
    qos_profile: *const rmw_qos_profile_t,
    publisher_options: *const rmw_publisher_options_t,
) -> *mut rmw_publisher_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the node lives. [type supports] The type support outlives the
        // publisher. [strings] The name ends with NUL. [pointers] The profile and the options are
        // valid for the call.
        unsafe {
            let node = node::end(node)?;
            let program = programs::of_message(type_support)?;
            let topic = text(topic_name, "topic_name")?;
            let qos = given(qos_profile, "qos_profile")?;
            let options = given(publisher_options, "publisher_options")?;
            create(node, program, topic, qos, options)
        }
    })
}

fn create(
    node: &node::NodeEnd,
    program: Arc<MessageProgram>,
    topic: &str,
    profile: &rmw_qos_profile_t,
    options: &rmw_publisher_options_t,
) -> Result<*mut rmw_publisher_t, Failure> {
    let profile = qos::from_rmw(profile)?;
    names::check_endpoint(topic, &profile)?;
    if options.require_unique_network_flow_endpoints
        == RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED
    {
        return Err(Failure::unsupported(
            "rmw_feros has no separate network flow per publisher, which is strictly required",
        ));
    }
    let (statuses, on_event) = Statuses::new();
    let publisher = Publisher::new(
        &*node.context.session,
        PublisherOptions {
            node: node.id,
            topic,
            type_name: program.ros_type_name(),
            type_hash: program.type_hash().map(TypeHash),
            qos: profile,
            mode: PublishMode::Synchronous,
            transports: node.context.transports,
            shared_memory: &SharedMemoryOptions::default(),
            on_event,
        },
    )
    .map_err(Failure::error)?;
    let publisher = Arc::new(publisher);
    let events = statuses.of(publisher.clone(), &node.context.callbacks);
    let can_loan_messages = can_be_lent(&program);
    let end = Box::new(PublisherEnd {
        context: Arc::clone(&node.context),
        program,
        publisher,
        loans: Mutex::default(),
        events,
        topic: CString::new(topic).map_err(Failure::error)?,
    });
    let topic_name = end.topic.as_ptr();
    Ok(Box::into_raw(Box::new(rmw_publisher_t {
        implementation_identifier: identifier(),
        data: Box::into_raw(end).cast(),
        topic_name,
        options: *options,
        can_loan_messages,
    })))
}

/// Destroys a publisher.
///
/// # Safety
/// Node and publisher are null or valid; the publisher is not used afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_destroy_publisher(
    node: *mut rmw_node_t,
    publisher: *mut rmw_publisher_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] node and publisher live, and the library made both boxes. [destruction]
        // This is the last use of the publisher.
        unsafe {
            node::end(node)?;
            end(publisher)?;
            let data = (*publisher).data.cast::<PublisherEnd>();
            drop(Box::from_raw(publisher));
            let end = Box::from_raw(data);
            let context = Arc::clone(&end.context);
            if !context.is_forked() {
                end.events.finish();
            }
            context.end(end);
        }
        Ok(())
    })
}

/// Publishes a message.
///
/// # Safety
/// Publisher and message are null or valid; the message has the publisher's type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publish(
    publisher: *const rmw_publisher_t,
    ros_message: *const c_void,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        let mut trace = Outbound::publish();
        // SAFETY: [handles] the publisher lives. [messages] The message has the publisher's type,
        // and nobody writes it during the call.
        let (end, mut message) = unsafe {
            let end = end(publisher)?;
            given(ros_message, "ros_message")?;
            (end, Message::new(&end.program, ros_message).map_err(|error| end.refuse(&error))?)
        };
        end.publisher.publish(&mut message, &mut trace).map_err(|error| match message.failure {
            Some(error) => end.refuse(&error),
            None => Failure::error(error),
        })
    })
}

impl PublisherEnd {
    fn refuse(&self, error: &EncodeError) -> Failure {
        let topic = self.topic.to_string_lossy();
        Failure::error(format!("nothing was published on {topic}: {error}"))
    }
}

/// Publishes a message that is already serialized.
///
/// # Safety
/// Publisher and message are null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publish_serialized_message(
    publisher: *const rmw_publisher_t,
    serialized_message: *const rmw_serialized_message_t,
    _allocation: *mut c_void,
) -> rmw_ret_t {
    guarded(|| {
        let mut trace = Outbound::publish();
        // SAFETY: [handles] the publisher lives. [bytes] The serialized message is initialized, and
        // nobody writes it during the call.
        let (end, bytes) =
            unsafe { (end(publisher)?, given(serialized_message, "serialized_message")?.bytes()) };
        end.publisher.publish_bytes(bytes, &mut trace).map_err(Failure::error)
    })
}

/// The number of subscriptions that match the publisher now.
///
/// # Safety
/// The publisher is null or valid; the count is null or memory for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publisher_count_matched_subscriptions(
    publisher: *const rmw_publisher_t,
    subscription_count: *mut usize,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the publisher lives. [outputs] There is memory for the count.
        let (end, count) =
            unsafe { (end(publisher)?, Out::new(subscription_count, "subscription_count")?) };
        count.set(end.publisher.matched_subscriptions());
        Ok(())
    })
}

/// The policies with which the publisher was created.
///
/// # Safety
/// The publisher is null or valid; the profile is null or memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publisher_get_actual_qos(
    publisher: *const rmw_publisher_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the publisher lives. [outputs] There is memory for the profile.
        let (end, profile) = unsafe { (end(publisher)?, Out::new(profile, "qos")?) };
        profile.set(qos::to_rmw(&end.publisher.qos()));
        Ok(())
    })
}

/// Asserts the liveliness of the publisher.
///
/// # Safety
/// The publisher is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publisher_assert_liveliness(
    publisher: *const rmw_publisher_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the publisher is null or lives.
        unsafe { end(publisher) }?.publisher.assert_liveliness().map_err(Failure::error)
    })
}

/// Waits until all matched reliable subscriptions have acknowledged all published messages.
///
/// # Safety
/// The publisher is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publisher_wait_for_all_acked(
    publisher: *const rmw_publisher_t,
    wait_timeout: rmw_time_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the publisher is null or lives.
        let end = unsafe { end(publisher) }?;
        let timeout = wait_timeout.finite().unwrap_or(Duration::MAX);
        end.publisher.wait_for_all_acked(timeout).map_err(|error| match error {
            WaitForAckedError::Timeout { .. } => Failure::timeout(),
            other => Failure::error(other),
        })
    })
}

/// The identity of a publisher.
///
/// # Safety
/// The publisher is null or valid; the gid is null or memory for a gid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_gid_for_publisher(
    publisher: *const rmw_publisher_t,
    gid_out: *mut rmw_gid_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the publisher lives. [outputs] There is memory for the gid.
        let (end, out) = unsafe { (end(publisher)?, Out::new(gid_out, "gid")?) };
        out.set(info::gid(end.publisher.gid()));
        Ok(())
    })
}

/// Initializes an event of one kind of a publisher.
///
/// # Safety
/// The event is null or zero-initialized; the publisher is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publisher_event_init(
    rmw_event: *mut rmw_event_t,
    publisher: *const rmw_publisher_t,
    event_type: u32,
) -> rmw_ret_t {
    // SAFETY: [handles] the publisher lives. [zero] The event is zero-initialized, and only this
    // call uses it.
    guarded(|| unsafe { events::init(rmw_event, &end(publisher)?.events, event_type) })
}
