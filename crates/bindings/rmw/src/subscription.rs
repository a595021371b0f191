//! Subscriptions: creates and destroys them, and reports their state. The file `take` takes their
//! messages, and `events` has their events.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::sync::Arc;

use feros_engine::{
    FailureCounter, History, KEEP_ALL_LIMIT, Notify, Payload, Reliability, TypeHash,
};
use feros_executor::{Ringer, Waitable};
use feros_sync::Mutex;
use feros_transport::{Received, Receiver, Subscription, SubscriptionOptions};
use feros_typesupport::MessageProgram;

use crate::allocation::Allocator;
use crate::arguments::{Out, given, ours, text};
use crate::callback_thread::Told;
use crate::content_filter::Filter;
use crate::context::Context;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::events::{self, Events, Statuses};
use crate::ffi::{
    RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED, rcutils_allocator_t, rmw_event_callback_t,
    rmw_event_t, rmw_node_t, rmw_qos_profile_t, rmw_ret_t,
    rmw_subscription_content_filter_options_t, rmw_subscription_options_t, rmw_subscription_t,
    rosidl_message_type_support_t,
};
use crate::identity::identifier;
use crate::inbox::{Inbox, Source};
use crate::lent_message::{LentMessage, can_be_lent};
use crate::listener::Listener;
use crate::status::SubscriptionEvents;
use crate::{names, node, programs, qos};

/// The end object, at which `data` of a subscription points.
pub(crate) struct SubscriptionEnd {
    pub(crate) context: Arc<Context>,
    pub(crate) program: Arc<MessageProgram>,
    pub(crate) entity: Arc<SubscriptionEntity>,
    /// The entity, for wait sets.
    pub(crate) waitable: Arc<dyn Waitable>,
    pub(crate) subscription: Arc<Subscription>,
    pub(crate) filter: Arc<Filter>,
    /// The lent messages, by address.
    pub(crate) loans: Mutex<HashMap<usize, LentMessage>>,
    /// Counts the received messages that cannot be decoded as this type.
    pub(crate) malformed: FailureCounter,
    pub(crate) events: Events,
    pub(crate) topic: CString,
}

/// The part of a subscription that wait sets and the callback thread use. It outlives the
/// subscription while a thread waits for it.
pub(crate) struct SubscriptionEntity {
    ringer: Ringer,
    pub(crate) inbox: Inbox<Messages>,
    listener: Listener,
    /// Called after the inbox has pushed out messages.
    on_loss: Notify,
}

impl Waitable for SubscriptionEntity {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn is_ready(&self) -> bool {
        self.inbox.has_item()
    }
}

impl Told for SubscriptionEntity {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn has_news(&self) -> bool {
        self.listener.is_set() && self.inbox.has_news(|| (self.on_loss)())
    }

    fn tell(&self) {
        self.listener.tell(|| self.inbox.count_news());
    }
}

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

/// The end object of a subscription.
///
/// # Safety
/// The pointer is null or points at a living subscription.
pub(crate) unsafe fn end<'a>(
    subscription: *const rmw_subscription_t,
) -> Result<&'a SubscriptionEnd, Failure> {
    // SAFETY: [handles] the subscription is null or lives, and `data` of an object of this library
    // points at its end object until it is destroyed.
    unsafe { given(ours(subscription)?.data.cast::<SubscriptionEnd>(), "subscription") }
}

/// Creates a subscription.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type through the call; the type support
/// lives as long as the subscription.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_subscription(
    node: *const rmw_node_t,
    type_support: *const rosidl_message_type_support_t,
    topic_name: *const std::ffi::c_char,
    qos_policies: *const rmw_qos_profile_t,
    subscription_options: *const rmw_subscription_options_t,
) -> *mut rmw_subscription_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the node lives. [type supports] The type support outlives the
        // subscription. [strings] The name ends with NUL. [pointers] The profile and the options,
        // with their filter, are valid for the call.
        unsafe {
            let node = node::end(node)?;
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
    node: &node::NodeEnd,
    program: Arc<MessageProgram>,
    topic: &str,
    profile: &rmw_qos_profile_t,
    options: &rmw_subscription_options_t,
    filter: Filter,
) -> Result<*mut rmw_subscription_t, Failure> {
    let profile = qos::from_rmw(profile)?;
    names::check_endpoint(topic, &profile)?;
    if options.require_unique_network_flow_endpoints
        == RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED
    {
        return Err(Failure::unsupported(
            "rmw_feros has no separate network flow per subscription, which is strictly required",
        ));
    }
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
    let entity =
        Arc::new(SubscriptionEntity { ringer, inbox, listener: Listener::default(), on_loss });
    let inbox = Arc::clone(&entity);
    let eventful = SubscriptionEvents::new(&subscription, move || inbox.inbox.pushed_out());
    let events = statuses.of(Arc::new(eventful), &node.context.callbacks);
    let is_cft_enabled = filter.is_set();
    let can_loan_messages = can_be_lent(&program);
    let end = Box::new(SubscriptionEnd {
        context: Arc::clone(&node.context),
        program,
        waitable: entity.clone(),
        entity,
        subscription,
        filter,
        loans: Mutex::default(),
        malformed: FailureCounter::new(),
        events,
        topic: CString::new(topic).map_err(Failure::error)?,
    });
    let topic_name = end.topic.as_ptr();
    Ok(Box::into_raw(Box::new(rmw_subscription_t {
        implementation_identifier: identifier(),
        data: Box::into_raw(end).cast(),
        topic_name,
        // The filter options are left out: they belong to the host program, which may free them.
        options: rmw_subscription_options_t {
            content_filter_options: std::ptr::null_mut(),
            ..*options
        },
        can_loan_messages,
        is_cft_enabled,
    })))
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
        // SAFETY: [handles] node and subscription live, and the library made both boxes.
        // [destruction] This is the last use of the subscription.
        unsafe {
            node::end(node)?;
            end(subscription)?;
            let data = (*subscription).data.cast::<SubscriptionEnd>();
            drop(Box::from_raw(subscription));
            Box::from_raw(data).end();
        }
        Ok(())
    })
}

impl SubscriptionEnd {
    fn end(self: Box<Self>) {
        let context = Arc::clone(&self.context);
        if context.is_forked() {
            return context.end(self);
        }
        self.entity.listener.clear();
        context.callbacks.remove(&(self.entity.clone() as Arc<dyn Told>));
        self.events.finish();
        self.entity.inbox.close();
    }

    /// # Safety
    /// The contract of [`rmw_subscription_set_on_new_message_callback`].
    unsafe fn set_listener(
        &self,
        callback: rmw_event_callback_t,
        user_data: *const c_void,
    ) -> Result<(), Failure> {
        let told: Arc<dyn Told> = self.entity.clone();
        // SAFETY: [callbacks] the function may be called with its data until it is replaced.
        unsafe { self.entity.listener.set(callback, user_data) };
        self.context.callbacks.listen(told, callback.is_some())
    }
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
    // SAFETY: [handles] the subscription is null or lives. [callbacks] The function may be called
    // with its data until it is replaced.
    guarded(|| unsafe { end(subscription)?.set_listener(callback, user_data) })
}

/// The number of publishers that match the subscription now.
///
/// # Safety
/// The subscription is null or valid; the count is null or memory for a number.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_count_matched_publishers(
    subscription: *const rmw_subscription_t,
    publisher_count: *mut usize,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription lives. [outputs] There is memory for the count.
        let (end, count) =
            unsafe { (end(subscription)?, Out::new(publisher_count, "publisher_count")?) };
        count.set(end.subscription.matched_publishers());
        Ok(())
    })
}

/// The policies with which the subscription was created.
///
/// # Safety
/// The subscription is null or valid; the profile is null or memory for a profile.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_get_actual_qos(
    subscription: *const rmw_subscription_t,
    profile: *mut rmw_qos_profile_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription lives. [outputs] There is memory for the profile.
        let (end, profile) = unsafe { (end(subscription)?, Out::new(profile, "qos")?) };
        profile.set(qos::to_rmw(&end.subscription.qos()));
        Ok(())
    })
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
        // SAFETY: [handles] the subscription lives. [pointers, strings, arrays] The options are
        // valid for the call, with as many strings as they say. [exclusive] This call writes a flag
        // of the subscription, and no other call uses the subscription.
        unsafe {
            let end = end(subscription)?;
            end.filter.set(given(options, "options")?)?;
            (&raw mut (*subscription).is_cft_enabled).write(end.filter.is_set());
        }
        Ok(())
    })
}

/// The content filter of a subscription.
///
/// # Safety
/// Each pointer is null or points at a valid value of its type.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_subscription_get_content_filter(
    subscription: *const rmw_subscription_t,
    allocator: *mut rcutils_allocator_t,
    options: *mut rmw_subscription_content_filter_options_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the subscription lives. [allocators] The allocator is valid. [outputs]
        // There is memory for the options.
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
    // SAFETY: [handles] the subscription lives. [zero] The event is zero-initialized, and only this
    // call uses it.
    guarded(|| unsafe { events::init(rmw_event, &end(subscription)?.events, event_type) })
}
