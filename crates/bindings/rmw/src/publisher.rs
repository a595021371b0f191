//! Publishers: creates and destroys them, publishes messages, and reports their state.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

use feros_engine::{PublishMode, TypeHash, WaitForAckedError};
use feros_sync::Mutex;
use feros_trace::Outbound;
use feros_transport::{Loan, Publisher, PublisherOptions, SharedMemoryOptions};
use feros_typesupport::{EncodeError, MessageProgram};

use crate::arguments::{Out, given, text};
use crate::context::Context;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::events::{self, Events, Statuses};
use crate::ffi::{
    rmw_event_t, rmw_gid_t, rmw_node_t, rmw_publisher_options_t, rmw_publisher_t,
    rmw_qos_profile_t, rmw_ret_t, rmw_serialized_message_t, rmw_time_t,
    rosidl_message_type_support_t,
};
use crate::handle::{end, free_of_node, handle};
use crate::host_message::HostMessage;
use crate::identity::identifier;
use crate::lent_message::can_be_lent;
use crate::node::NodeEnd;
use crate::{features, info, names, programs, qos};

/// The object that the `data` field of an `rmw_publisher_t` points to.
pub(crate) struct PublisherEnd {
    pub(crate) context: Arc<Context>,
    pub(crate) program: Arc<MessageProgram>,
    pub(crate) publisher: Arc<Publisher>,
    /// The lent messages, by address.
    pub(crate) loans: Mutex<HashMap<usize, Loan>>,
    pub(crate) events: Events,
    topic: CString,
}

handle!(rmw_publisher_t => PublisherEnd);

/// Creates a publisher.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type throughout the call; the type
/// support lives as long as the publisher.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_publisher(
    node: *const rmw_node_t,
    type_support: *const rosidl_message_type_support_t,
    topic_name: *const c_char,
    qos_profile: *const rmw_qos_profile_t,
    publisher_options: *const rmw_publisher_options_t,
) -> *mut rmw_publisher_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the node is alive. [type supports] The type support outlives the
        // publisher. [strings] The name ends with NUL. [pointers] The profile and the options are
        // valid for the call.
        unsafe {
            let node = end(node)?;
            let program = programs::of_message(type_support)?;
            let topic = text(topic_name, "topic_name")?;
            let qos = given(qos_profile, "qos_profile")?;
            let options = given(publisher_options, "publisher_options")?;
            create(node, program, topic, qos, options)
        }
    })
}

fn create(
    node: &NodeEnd,
    program: Arc<MessageProgram>,
    topic: &str,
    profile: &rmw_qos_profile_t,
    options: &rmw_publisher_options_t,
) -> Result<*mut rmw_publisher_t, Failure> {
    let profile = qos::from_rmw(profile)?;
    names::check_endpoint(topic, &profile)?;
    features::check_network_flow("publisher", options.require_unique_network_flow_endpoints)?;
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
        // SAFETY: [handles] node and publisher are alive. [destruction] This is the last use of the
        // publisher.
        let end = unsafe { free_of_node(node, publisher) }?;
        Arc::clone(&end.context).end(end, |end| end.events.finish());
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
        // SAFETY: [handles] the publisher is alive. [messages] The message has the publisher's
        // type, and nobody writes it during the call.
        let (end, mut message) = unsafe {
            let end = end(publisher)?;
            given(ros_message, "ros_message")?;
            (end, HostMessage::new(&end.program, ros_message).map_err(|error| end.refuse(&error))?)
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
        // SAFETY: [handles] the publisher is alive. [bytes] The serialized message is initialized,
        // and nobody writes it during the call.
        let (end, bytes) =
            unsafe { (end(publisher)?, given(serialized_message, "serialized_message")?.bytes()) };
        end.publisher.publish_bytes(bytes, &mut trace).map_err(Failure::error)
    })
}

/// The number of subscriptions that match the publisher now.
///
/// # Safety
/// The publisher is null or valid; the count is null or points to memory for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publisher_count_matched_subscriptions(
    publisher: *const rmw_publisher_t,
    subscription_count: *mut usize,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the publisher is alive. [outputs] There is memory for the count.
        let (end, count) =
            unsafe { (end(publisher)?, Out::new(subscription_count, "subscription_count")?) };
        count.set(end.publisher.matched_subscriptions());
        Ok(())
    })
}

/// The policies with which the publisher was created.
///
/// # Safety
/// The publisher is null or valid; the profile is null or points to memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_publisher_get_actual_qos(
    publisher: *const rmw_publisher_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles] the publisher is alive. [outputs] There is memory for the profile.
    guarded(|| unsafe { qos::report(&end(publisher)?.publisher.qos(), profile) })
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
        // SAFETY: [handles] the publisher is null or alive.
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
        // SAFETY: [handles] the publisher is null or alive.
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
/// The publisher is null or valid; the gid is null or points to memory for a gid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_get_gid_for_publisher(
    publisher: *const rmw_publisher_t,
    gid_out: *mut rmw_gid_t,
) -> rmw_ret_t {
    // SAFETY: [handles] the publisher is alive. [outputs] There is memory for the gid.
    guarded(|| unsafe { info::report_gid(end(publisher)?.publisher.gid(), gid_out) })
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
    // SAFETY: [handles] the publisher is alive. [zero] The event is zero-initialized, and only this
    // call uses it.
    guarded(|| unsafe { events::init(rmw_event, &end(publisher)?.events, event_type) })
}
