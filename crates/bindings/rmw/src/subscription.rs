//! Subscriptions: creates and destroys them, and reports their state. The file `take` takes their
//! messages, and `events` has their events.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::Arc;

use feros_engine::{History, KEEP_ALL_LIMIT, Payload, Reliability, TypeHash};
use feros_executor::{Ringer, Waitable};
use feros_sync::Mutex;
use feros_transport::{Received, Receiver, Subscription, SubscriptionOptions};
use feros_typesupport::MessageProgram;

use crate::allocation::Allocator;
use crate::arguments::{Out, given, text};
use crate::content_filter::Filter;
use crate::context::Context;
use crate::distribution::{self, SubscriptionMemory, SubscriptionObject};
use crate::entity::Entity;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::events::{self, Events, Statuses};
use crate::ffi::{
    rcutils_allocator_t, rmw_event_callback_t, rmw_event_t, rmw_node_t, rmw_qos_profile_t,
    rmw_ret_t, rmw_subscription_content_filter_options_t, rmw_subscription_options_t,
    rmw_subscription_t, rosidl_message_type_support_t,
};
use crate::handle::{end, free_of_node, handle};
use crate::identity::identifier;
use crate::inbox::{Inbox, Source};
use crate::lent_message::{LentMessage, can_be_lent};
use crate::node::NodeEnd;
use crate::status::SubscriptionEvents;
use crate::{features, names, programs, qos};

/// The object that the `data` field of an `rmw_subscription_t` points to.
pub(crate) struct SubscriptionEnd {
    pub(crate) context: Arc<Context>,
    pub(crate) program: Arc<MessageProgram>,
    pub(crate) entity: Arc<Entity<Messages>>,
    /// The entity, for wait sets.
    pub(crate) waitable: Arc<dyn Waitable>,
    pub(crate) subscription: Arc<Subscription>,
    pub(crate) filter: Arc<Filter>,
    /// The lent messages, by address.
    pub(crate) loans: Mutex<HashMap<usize, LentMessage>>,
    pub(crate) events: Events,
    pub(crate) topic: CString,
}

handle!(rmw_subscription_t, SubscriptionMemory => SubscriptionEnd);

/// The source of the messages that pass the subscription's filter.
pub(crate) struct Messages {
    receiver: Receiver<Payload>,
    filter: Arc<Filter>,
}

impl Source for Messages {
    type Item = Received<Payload>;

    fn next(&mut self) -> Result<Option<Received<Payload>>, Failure> {
        loop {
            let message = self.receiver.take().map_err(Failure::error)?;
            if message.as_ref().is_none_or(|message| self.filter.wants(message.object())) {
                return Ok(message);
            }
        }
    }
}

/// Creates a subscription.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type throughout the call; the type
/// support lives as long as the subscription.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_subscription(
    node: *const rmw_node_t,
    type_support: *const rosidl_message_type_support_t,
    topic_name: *const std::ffi::c_char,
    qos_policies: *const rmw_qos_profile_t,
    subscription_options: *const rmw_subscription_options_t,
) -> *mut rmw_subscription_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the node is alive. [type supports] The type support outlives the
        // subscription. [strings] The name ends with NUL. [pointers] The profile and the options,
        // with their filter, are valid for the call.
        unsafe {
            let node = end(node)?;
            let program = programs::of_message(type_support)?;
            let topic = text(topic_name, "topic_name")?;
            let qos = given(qos_policies, "qos_policies")?;
            let options = given(subscription_options, "subscription_options")?;
            // SAFETY: the type support lives as long as the subscription, and therefore as long as
            // the filter.
            let filter = Filter::new(type_support);
            create(node, program, topic, qos, options, filter)
        }
    })
}

/// # Safety
/// The content filter of the options is null or valid.
unsafe fn create(
    node: &NodeEnd,
    program: Arc<MessageProgram>,
    topic: &str,
    profile: &rmw_qos_profile_t,
    options: &rmw_subscription_options_t,
    filter: Filter,
) -> Result<*mut rmw_subscription_t, Failure> {
    let profile = qos::from_rmw(profile)?;
    names::check_endpoint(topic, &profile)?;
    features::check_network_flow("subscription", options.require_unique_network_flow_endpoints)?;
    let filter = Arc::new(filter);
    // SAFETY: [pointers] the filter options are null or valid for the call.
    if let Some(wanted) = unsafe { options.content_filter_options.as_ref() } {
        // SAFETY: [strings, arrays] the filter options have as many strings as they say, and each
        // ends with NUL.
        unsafe { filter.set(wanted) }?;
    }
    let ringer = Ringer::new();
    let (statuses, on_event) = Statuses::new();
    let on_loss = Arc::clone(&on_event);
    let (subscription, receiver) = Subscription::new::<Payload>(
        &*node.context.session,
        SubscriptionOptions {
            node: node.id,
            topic,
            type_name: program.ros_type_name(),
            type_hash: program.type_hash().map(TypeHash),
            qos: profile,
            wish: (),
            ignore_local_publications: options.ignore_local_publications,
            transports: node.context.transports,
            ringer: &ringer,
            on_event,
        },
    )
    .map_err(Failure::error)?;
    let subscription = Arc::new(subscription);
    let kept = subscription.qos();
    let keeps_all = kept.history == History::KeepAll;
    let limit = if keeps_all { KEEP_ALL_LIMIT } else { kept.depth };
    let messages = Messages { receiver, filter: Arc::clone(&filter) };
    let is_lossless = keeps_all && kept.reliability == Reliability::Reliable;
    let inbox = Inbox::new(messages, limit, is_lossless, &ringer);
    let entity = Entity::new(inbox, ringer, on_loss);
    let inbox = Arc::clone(&entity);
    let eventful = SubscriptionEvents::new(&subscription, move || inbox.inbox.pushed_out());
    let events = statuses.of(Arc::new(eventful), &node.context.callbacks);
    let end = SubscriptionEnd {
        context: Arc::clone(&node.context),
        program,
        waitable: entity.clone(),
        entity,
        subscription,
        filter,
        loans: Mutex::default(),
        events,
        topic: CString::new(topic).map_err(Failure::error)?,
    };
    object(end, options)
}

/// Makes the rmw object of a subscription, in the memory of the host program's distribution.
fn object(
    end: SubscriptionEnd,
    options: &rmw_subscription_options_t,
) -> Result<*mut rmw_subscription_t, Failure> {
    let distribution = distribution::loaded()?;
    let object = SubscriptionObject {
        implementation_identifier: identifier(),
        topic_name: end.topic.as_ptr(),
        // The filter options are left out: they belong to the host program, which may free them.
        options: rmw_subscription_options_t {
            content_filter_options: std::ptr::null_mut(),
            ..*options
        },
        can_loan_messages: can_be_lent(&end.program),
        is_cft_enabled: end.filter.is_set(),
        is_cft_supported: true,
        data: Box::into_raw(Box::new(end)).cast(),
    };
    Ok(object.into_raw(distribution))
}

/// Destroys a subscription.
///
/// # Safety
/// Node and subscription are null or valid; the subscription is not used afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_destroy_subscription(
    node: *mut rmw_node_t,
    subscription: *mut rmw_subscription_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] node and subscription are alive. [destruction] This is the last use of
        // the subscription.
        let end = unsafe { free_of_node(node, subscription) }?;
        let context = Arc::clone(&end.context);
        context.end(end, |end| {
            end.events.finish();
            end.entity.close(&context.callbacks);
        });
        Ok(())
    })
}

/// Sets or clears the callback. A thread of this library calls it with the number of new messages.
///
/// # Safety
/// The subscription is null or valid. The callback may be called with the data on any thread until
/// another callback is set.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_set_on_new_message_callback(
    subscription: *mut rmw_subscription_t,
    callback: rmw_event_callback_t,
    user_data: *const c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription is alive. [callbacks] The function may be called with
        // its data until it is replaced.
        unsafe {
            let end = end(subscription)?;
            end.entity.listen(&end.context.callbacks, callback, user_data)
        }
    })
}

/// The number of publishers that match the subscription now.
///
/// # Safety
/// The subscription is null or valid; the count is null or points to memory for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_count_matched_publishers(
    subscription: *const rmw_subscription_t,
    publisher_count: *mut usize,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription is alive. [outputs] There is memory for the count.
        let (end, count) =
            unsafe { (end(subscription)?, Out::new(publisher_count, "publisher_count")?) };
        count.set(end.subscription.matched_publishers());
        Ok(())
    })
}

/// The policies with which the subscription was created.
///
/// # Safety
/// The subscription is null or valid; the profile is null or points to memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_get_actual_qos(
    subscription: *const rmw_subscription_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    // SAFETY: [handles] the subscription is alive. [outputs] There is memory for the profile.
    guarded(|| unsafe { qos::report(&end(subscription)?.subscription.qos(), profile) })
}

/// Replaces the content filter of a subscription. An empty expression removes the filter.
///
/// # Safety
/// Subscription and options are null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_set_content_filter(
    subscription: *mut rmw_subscription_t,
    options: *const rmw_subscription_content_filter_options_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription is alive. [pointers, strings, arrays] The options are
        // valid for the call, with as many strings as they say. [exclusive] This call writes a flag
        // of the subscription, and no other call uses the subscription.
        unsafe {
            let end = end(subscription)?;
            end.filter.set(given(options, "options")?)?;
            let is_set = end.filter.is_set();
            SubscriptionObject::set_cft_enabled(distribution::loaded()?, subscription, is_set);
        }
        Ok(())
    })
}

/// The content filter of a subscription.
///
/// # Safety
/// Each pointer is null or points to a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_get_content_filter(
    subscription: *const rmw_subscription_t,
    allocator: *mut rcutils_allocator_t,
    options: *mut rmw_subscription_content_filter_options_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription is alive. [allocators] The allocator is valid.
        // [outputs] There is memory for the options.
        let (end, allocator, out) = unsafe {
            let end = end(subscription)?;
            (end, Allocator::at(allocator)?, Out::new(options, "options")?)
        };
        out.set(end.filter.options(&allocator)?);
        Ok(())
    })
}

/// Initializes an event of one kind of a subscription.
///
/// # Safety
/// The event is null or zero-initialized; the subscription is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_event_init(
    rmw_event: *mut rmw_event_t,
    subscription: *const rmw_subscription_t,
    event_type: u32,
) -> rmw_ret_t {
    // SAFETY: [handles] the subscription is alive. [zero] The event is zero-initialized, and only
    // this call uses it.
    guarded(|| unsafe { events::init(rmw_event, &end(subscription)?.events, event_type) })
}
