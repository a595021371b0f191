//! Waits for entities: `rmw_wait` and its wait set.
//!
//! An rmw wait set holds only its context. Each wait takes one of the executor's wait sets from the
//! context's pool. If one already has the entities of this wait, from an earlier wait for the same
//! ones, the wait costs only a look at each entity and one sleep. The rmw object may differ, as
//! with rclpy. Addresses are compared: while an idle wait set has an entity that ended, the entity
//! stays known without its endpoint, so that no other one gets its address.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_executor::{PooledWaitSet, WaitSet, Waitable};

use crate::arguments::{given, ours};
use crate::client::ClientEnd;
use crate::context::Context;
use crate::doorbell::WITHOUT_DOORBELL;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::events::EventEnd;
use crate::ffi::{
    rmw_context_t, rmw_entities_t, rmw_event_t, rmw_ret_t, rmw_time_t, rmw_wait_set_t,
};
use crate::guard_condition;
use crate::identity::identifier;
use crate::service::ServiceEnd;
use crate::subscription::SubscriptionEnd;

/// The object that `data` of a wait set points at.
struct WaitSetEnd {
    context: Arc<Context>,
}

/// The type that the entries of an array point at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Subscription,
    GuardCondition,
    Service,
    Client,
    Event,
}

/// An entry of one of the arrays that a host program waits with.
#[derive(Clone, Copy)]
struct Entry {
    kind: Kind,
    /// The address of the pointer, which becomes null unless the entity is ready.
    place: *mut *mut c_void,
}

impl Entry {
    /// The entity to wait for.
    ///
    /// # Safety
    /// The entry is not null, and its entity lives through the wait.
    unsafe fn waitable<'a>(self) -> &'a Arc<dyn Waitable> {
        // SAFETY: [waits] the entity lives through the wait, and each kind of entry points at the
        // type below.
        unsafe {
            let data = *self.place;
            match self.kind {
                Kind::Subscription => &(*data.cast::<SubscriptionEnd>()).waitable,
                Kind::GuardCondition => &guard_condition::end(data).waitable,
                Kind::Service => &(*data.cast::<ServiceEnd>()).waitable,
                Kind::Client => &(*data.cast::<ClientEnd>()).waitable,
                Kind::Event => &(*(*data.cast::<rmw_event_t>()).data.cast::<EventEnd>()).waitable,
            }
        }
    }

    /// Confirms that the entity is ready, as its wait set found. This resets a guard condition; if
    /// several threads wait for it, only one gets true.
    ///
    /// # Safety
    /// The contract of [`Entry::waitable`].
    unsafe fn confirm(self) -> bool {
        match self.kind {
            // SAFETY: [waits] the guard condition lives through the wait.
            Kind::GuardCondition => unsafe { guard_condition::end(*self.place) }.condition.take(),
            _ => true,
        }
    }
}

/// The addresses of an array's pointers that are not null.
///
/// # Safety
/// The array is null, or has the number of entries that it says.
unsafe fn places(array: *mut rmw_entities_t) -> impl Iterator<Item = *mut *mut c_void> {
    // SAFETY: [waits] the array is null or valid for the whole call.
    let (count, entries) = match unsafe { array.as_ref() } {
        Some(array) if !array.entities.is_null() => (array.count, array.entities),
        _ => (0, ptr::null_mut()),
    };
    (0..count).filter_map(move |index| {
        // SAFETY: the array has `count` entries.
        let place = unsafe { entries.add(index) };
        // SAFETY: the address is in the array.
        (!unsafe { *place }.is_null()).then_some(place)
    })
}

/// The arrays of one wait; events come last.
struct Arrays([(Kind, *mut rmw_entities_t); 5]);

impl Arrays {
    /// The entries that are not null.
    ///
    /// # Safety
    /// Each array is null, or has the number of entries that it says.
    unsafe fn entries(&self) -> impl Iterator<Item = Entry> {
        self.0.iter().flat_map(|&(kind, array)| {
            // SAFETY: [waits] the array is null or has `count` entries.
            unsafe { places(array) }.map(move |place| Entry { kind, place })
        })
    }

    /// Refuses events that were not initialized or are another implementation's.
    ///
    /// # Safety
    /// The contract of [`Arrays::entries`]; each event is valid.
    unsafe fn check_events(&self) -> Result<(), Failure> {
        let [.., events] = self.0;
        // SAFETY: [waits] the array of events is null or has `count` entries.
        for place in unsafe { places(events.1) } {
            // SAFETY: [waits] the entry points at an event that lives through the wait.
            let event = unsafe { ours((*place).cast::<rmw_event_t>()) }?;
            if event.data.is_null() {
                return Err(Failure::invalid("the event was not initialized"));
            }
        }
        Ok(())
    }

    /// Whether a wait set has exactly these entities, in this order.
    ///
    /// # Safety
    /// The contract of [`Arrays::entries`], and the entities live.
    unsafe fn are_those_of(&self, wait_set: &WaitSet) -> bool {
        let mut known = wait_set.entities().iter();
        for &(kind, array) in &self.0 {
            // SAFETY: [waits] the array is null or has `count` entries.
            for place in unsafe { places(array) } {
                // SAFETY: [waits] the entity lives through the wait.
                let wanted = unsafe { Entry { kind, place }.waitable() };
                let wanted = Arc::as_ptr(wanted).cast::<()>();
                let is_known = known
                    .next()
                    .is_some_and(|known| ptr::eq(Arc::as_ptr(known).cast::<()>(), wanted));
                if !is_known {
                    return false;
                }
            }
        }
        known.next().is_none()
    }

    /// Sets the entries that are not in `ready` to null; `ready` has indices in rising order.
    ///
    /// # Safety
    /// The contract of [`Arrays::entries`].
    unsafe fn report(&self, ready: &[usize]) {
        let mut ready = ready.iter().copied();
        let (mut next, mut index) = (ready.next(), 0);
        for &(_, array) in &self.0 {
            // SAFETY: [waits] the array is null or has `count` entries. An entry that became null
            // is not looked at again.
            for place in unsafe { places(array) } {
                if next == Some(index) {
                    next = ready.next();
                } else {
                    // SAFETY: the address is in the host program's array.
                    unsafe { *place = ptr::null_mut() };
                }
                index += 1;
            }
        }
    }
}

/// Makes a wait set.
///
/// # Safety
/// The context is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_create_wait_set(
    context: *mut rmw_context_t,
    _max_conditions: usize,
) -> *mut rmw_wait_set_t {
    guarded_pointer(|| {
        // SAFETY: [handles] the context is null, zero-initialized or valid. A wait may follow the
        // shutdown of a context.
        let context = unsafe { Context::even_shut_down(context) }?;
        Ok(Box::into_raw(Box::new(rmw_wait_set_t {
            implementation_identifier: identifier(),
            guard_conditions: ptr::null_mut(),
            data: Box::into_raw(Box::new(WaitSetEnd { context })).cast(),
        })))
    })
}

/// Ends a wait set.
///
/// # Safety
/// The wait set is null or was made by [`rmw_create_wait_set`], and nobody waits with it.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_destroy_wait_set(wait_set: *mut rmw_wait_set_t) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the library made both boxes of the wait set. [destruction] This is its
        // last use.
        unsafe {
            let end = ours(wait_set)?.data.cast::<WaitSetEnd>();
            drop(Box::from_raw(wait_set));
            let WaitSetEnd { context } = *Box::from_raw(end);
            context.clone().end(context);
        }
        Ok(())
    })
}

/// Waits until an entity is ready, and sets the entries of others to null. A null timeout waits
/// forever; a zero timeout does not wait.
///
/// # Safety
/// Each array is null or has the number of entries that it says: the `data` of living entities, or
/// living events. The wait set and the timeout are null or what their names say.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_wait(
    subscriptions: *mut rmw_entities_t,
    guard_conditions: *mut rmw_entities_t,
    services: *mut rmw_entities_t,
    clients: *mut rmw_entities_t,
    events: *mut rmw_entities_t,
    wait_set: *mut rmw_wait_set_t,
    wait_timeout: *const rmw_time_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the wait set is null or lives, and `data` of ours is its end.
        let end = unsafe { given(ours(wait_set)?.data.cast::<WaitSetEnd>(), "wait_set") }?;
        let arrays = Arrays([
            (Kind::Subscription, subscriptions),
            (Kind::GuardCondition, guard_conditions),
            (Kind::Service, services),
            (Kind::Client, clients),
            (Kind::Event, events),
        ]);
        // SAFETY: [waits] the array of events has `count` entries, and each points at a living
        // event.
        unsafe { arrays.check_events() }?;
        // SAFETY: [pointers] the timeout is null or valid for the call.
        let timeout = unsafe { wait_timeout.as_ref() }.and_then(|timeout| timeout.finite());
        // SAFETY: [waits] the arrays have the entries that they say, whose entities live through
        // the wait.
        let count = unsafe { wait(&end.context, &arrays, timeout) };
        if count == 0 { Err(Failure::timeout()) } else { Ok(()) }
    })
}

/// Waits; returns the number of ready entities.
///
/// # Safety
/// The contract of [`rmw_wait`].
unsafe fn wait(context: &Context, arrays: &Arrays, timeout: Option<Duration>) -> usize {
    let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    // SAFETY: [waits] each array is null or has `count` entries, whose entities live.
    let mut wait_set = context.wait_sets.take_where(|known| unsafe { arrays.are_those_of(known) });
    if wait_set.is_empty() {
        // SAFETY: [waits] each array is null or has `count` entries.
        for entry in unsafe { arrays.entries() } {
            // SAFETY: [waits] the entity lives through the wait.
            wait_set.add(Arc::clone(unsafe { entry.waitable() }));
        }
    }
    let most = (!wait_set.has_doorbell()).then_some(WITHOUT_DOORBELL);
    let mut confirmed = Vec::new();
    loop {
        let rest = end.map(|end| end.saturating_duration_since(Instant::now()));
        let ready = wait_set.wait(most.into_iter().chain(rest).min());
        // SAFETY: [waits] each array is null or has `count` entries.
        let (mut entries, mut passed) = (unsafe { arrays.entries() }, 0);
        for &index in ready {
            let entry = entries.nth(index - passed);
            passed = index + 1;
            // SAFETY: [waits] the entity lives through the wait.
            if entry.is_some_and(|entry| unsafe { entry.confirm() }) {
                confirmed.push(index);
            }
        }
        let is_over = end.is_some_and(|end| Instant::now() >= end);
        if is_over || !confirmed.is_empty() {
            break;
        }
    }
    PooledWaitSet::keep(wait_set);
    // SAFETY: [waits] each array is null or has `count` entries, and only this call uses it.
    unsafe { arrays.report(&confirmed) };
    confirmed.len()
}
