//! Waits for entities: `rmw_wait` and its wait set.
//!
//! An rmw wait set holds only its context. Each wait takes a wait set of `feros-executor` from the
//! context's pool. If an earlier wait was for the same entities, the pool has a wait set with these
//! entities, and the wait costs only a check of each entity and one sleep. This works even if the
//! rmw wait set is a different one, as it is with rclpy. Entities are compared by address. An idle
//! wait set of the pool keeps ended entities in memory, without their endpoints, so that no new
//! entity gets the same address.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_executor::{PooledWaitSet, WaitSet, Waitable};

use crate::arguments::ours;
use crate::client::ClientEnd;
use crate::context::Context;
use crate::distribution::refuse_null;
use crate::doorbell::WITHOUT_DOORBELL;
use crate::error::{Failure, guarded, guarded_pointer};
use crate::events::EventEnd;
use crate::ffi::{
    rmw_context_t, rmw_entities_t, rmw_event_t, rmw_ret_t, rmw_time_t, rmw_wait_set_t,
};
use crate::guard_condition::GuardConditionEnd;
use crate::handle::{self, handle};
use crate::identity::identifier;
use crate::service::ServiceEnd;
use crate::subscription::SubscriptionEnd;

/// The object that the `data` field of an `rmw_wait_set_t` points to.
pub(crate) struct WaitSetEnd {
    context: Arc<Context>,
}

handle!(rmw_wait_set_t => WaitSetEnd);

/// The kind of entity in an array; it determines the type that the entries point to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Subscription,
    GuardCondition,
    Service,
    Client,
    Event,
}

/// An entry in one of the arrays that a host program passes to a wait.
#[derive(Clone, Copy)]
struct Entry {
    kind: Kind,
    /// The address of the entry, which is set to null unless the entity is ready.
    place: *mut *mut c_void,
}

impl Entry {
    /// The entity to wait for.
    ///
    /// # Safety
    /// The entry is not null, and its entity stays alive throughout the wait.
    unsafe fn waitable<'a>(self) -> &'a Arc<dyn Waitable> {
        // SAFETY: [waits] the entity stays alive throughout the wait, and each kind of entry points
        // to the type that the branch names.
        unsafe {
            let data = *self.place;
            match self.kind {
                Kind::Subscription => &(*data.cast::<SubscriptionEnd>()).waitable,
                Kind::GuardCondition => &(*data.cast::<GuardConditionEnd>()).waitable,
                Kind::Service => &(*data.cast::<ServiceEnd>()).waitable,
                Kind::Client => &(*data.cast::<ClientEnd>()).waitable,
                Kind::Event => &(*(*data.cast::<rmw_event_t>()).data.cast::<EventEnd>()).waitable,
            }
        }
    }

    /// Confirms that the entity is ready, after the wait set has found it ready. This resets a
    /// guard condition; if several threads wait for the guard condition, only one of them gets
    /// true.
    ///
    /// # Safety
    /// The contract of [`Entry::waitable`].
    unsafe fn confirm(self) -> bool {
        match self.kind {
            // SAFETY: [waits] the guard condition stays alive throughout the wait.
            Kind::GuardCondition => unsafe {
                (*(*self.place).cast::<GuardConditionEnd>()).condition.take()
            },
            _ => true,
        }
    }
}

/// The addresses of the entries of an array that are not null.
///
/// # Safety
/// The array is null, or has `count` entries.
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

/// The arrays that one wait gets; the array of events comes last.
struct Arrays([(Kind, *mut rmw_entities_t); 5]);

impl Arrays {
    /// The entries that are not null.
    ///
    /// # Safety
    /// Each array is null, or has `count` entries.
    unsafe fn entries(&self) -> impl Iterator<Item = Entry> {
        self.0.iter().flat_map(|&(kind, array)| {
            // SAFETY: [waits] the array is null or has `count` entries.
            unsafe { places(array) }.map(move |place| Entry { kind, place })
        })
    }

    /// Refuses events that were not initialized or that belong to another implementation.
    ///
    /// # Safety
    /// The contract of [`Arrays::entries`]; each event is valid.
    unsafe fn check_events(&self) -> Result<(), Failure> {
        let [.., events] = self.0;
        // SAFETY: [waits] the array of events is null or has `count` entries.
        for place in unsafe { places(events.1) } {
            // SAFETY: [waits] the entry points to an event that stays alive throughout the wait.
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
    /// The contract of [`Arrays::entries`], and the entities are alive.
    unsafe fn are_those_of(&self, wait_set: &WaitSet) -> bool {
        let mut known = wait_set.entities().iter();
        for &(kind, array) in &self.0 {
            // SAFETY: [waits] the array is null or has `count` entries.
            for place in unsafe { places(array) } {
                // SAFETY: [waits] the entity stays alive throughout the wait.
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

    /// Sets the entries whose indices are not in `ready` to null. The indices in `ready` are in
    /// ascending order.
    ///
    /// # Safety
    /// The contract of [`Arrays::entries`].
    unsafe fn report(&self, ready: &[usize]) {
        let mut ready = ready.iter().copied();
        let (mut next, mut index) = (ready.next(), 0);
        for &(_, array) in &self.0 {
            // SAFETY: [waits] the array is null or has `count` entries. An entry that was set to
            // null is not read again.
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

/// Creates a wait set.
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

/// Destroys a wait set.
///
/// # Safety
/// The wait set is null or was made by [`rmw_create_wait_set`], and no thread is waiting with it.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_destroy_wait_set(wait_set: *mut rmw_wait_set_t) -> rmw_ret_t {
    guarded(|| {
        refuse_null(wait_set, "wait set")?;
        // SAFETY: [handles] the wait set is alive. [destruction] This is its last use.
        let WaitSetEnd { context } = *unsafe { handle::free(wait_set) }?;
        context.clone().end(context, |_| ());
        Ok(())
    })
}

/// Waits until an entity is ready, and sets the entries of all entities that are not ready to null.
/// With a null timeout it waits forever; with a zero timeout it returns immediately.
///
/// # Safety
/// Each array is null or has `count` entries: the `data` of live entities, or live events. The wait
/// set and the timeout are null or valid.
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
        // SAFETY: [handles] the wait set is null or alive.
        let end = unsafe { handle::end(wait_set) }?;
        let arrays = Arrays([
            (Kind::Subscription, subscriptions),
            (Kind::GuardCondition, guard_conditions),
            (Kind::Service, services),
            (Kind::Client, clients),
            (Kind::Event, events),
        ]);
        // SAFETY: [waits] the array of events has `count` entries, and each points to a live event.
        unsafe { arrays.check_events() }?;
        // SAFETY: [pointers] the timeout is null or valid for the call.
        let timeout = unsafe { wait_timeout.as_ref() }.and_then(|timeout| timeout.finite());
        // SAFETY: [waits] the arrays have `count` entries, and the entities stay alive throughout
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
    // SAFETY: [waits] each array is null or has `count` entries, whose entities are alive.
    let mut wait_set = context.wait_sets.take_where(|known| unsafe { arrays.are_those_of(known) });
    if wait_set.is_empty() {
        // SAFETY: [waits] each array is null or has `count` entries.
        for entry in unsafe { arrays.entries() } {
            // SAFETY: [waits] the entity stays alive throughout the wait.
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
            // SAFETY: [waits] the entity stays alive throughout the wait.
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
