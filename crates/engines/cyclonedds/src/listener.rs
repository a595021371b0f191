//! The listeners of writers and readers: C functions that the engine calls. Their argument is the
//! endpoint's [`ListenerState`].

use std::ffi::c_void;
use std::sync::Arc;

use feros_cyclonedds_sys as sys;
use feros_dds::listener;
use feros_dds::status::{ReaderStatus, Status, WriterStatus, policy_kind};

use crate::dds::Listener;
use crate::reception;
use crate::sample::{Taken, take};

/// The counters of an endpoint's listener, and the notifications that it calls.
pub(crate) type ListenerState<S> = listener::ListenerState<S, Taken>;

/// Returns the `ListenerState` that the listener was created with.
///
/// # Safety
/// `arg` must come from `Arc::as_ptr` of a `ListenerState<S>` that stays alive throughout the call.
/// This holds because the endpoint owns the state and drops its entity first, which waits for
/// running listeners.
unsafe fn listener_state<'a, S>(arg: *mut c_void) -> &'a ListenerState<S> {
    // SAFETY: guaranteed by the caller's contract.
    unsafe { &*arg.cast::<ListenerState<S>>() }
}

unsafe extern "C" fn matched<S: Status>(
    _: sys::dds_entity_t,
    status: sys::matched_status_t,
    arg: *mut c_void,
) {
    // SAFETY: the listener was created with this argument.
    let state = unsafe { listener_state::<S>(arg) };
    state.set_matched(status.current_count as usize);
    state.change(|all| all.shared().matched.set(status.total_count, status.current_count));
    state.notify_match();
}

unsafe extern "C" fn incompatible<S: Status>(
    _: sys::dds_entity_t,
    status: sys::incompatible_qos_status_t,
    arg: *mut c_void,
) {
    // SAFETY: the listener was created with this argument.
    let state = unsafe { listener_state::<S>(arg) };
    let last_policy = policy_kind(status.last_policy_id);
    state.change(|all| all.shared().incompatible_qos.set(status.total_count, last_policy));
}

unsafe extern "C" fn deadline<S: Status>(
    _: sys::dds_entity_t,
    status: sys::deadline_missed_status_t,
    arg: *mut c_void,
) {
    // SAFETY: the listener was created with this argument.
    unsafe { listener_state::<S>(arg) }
        .change(|all| all.shared().deadline_missed.total = status.total_count);
}

unsafe extern "C" fn liveliness_lost(
    _: sys::dds_entity_t,
    status: sys::dds_liveliness_lost_status_t,
    arg: *mut c_void,
) {
    // SAFETY: the listener was created with this argument.
    unsafe { listener_state::<WriterStatus>(arg) }
        .change(|all| all.liveliness_lost.total = status.total_count);
}

unsafe extern "C" fn liveliness_changed(
    _: sys::dds_entity_t,
    status: sys::dds_liveliness_changed_status_t,
    arg: *mut c_void,
) {
    // SAFETY: the listener was created with this argument.
    unsafe { listener_state::<ReaderStatus>(arg) }
        .change(|all| all.liveliness.set(status.alive_count, status.not_alive_count));
}

unsafe extern "C" fn data(reader: sys::dds_entity_t, arg: *mut c_void) {
    // SAFETY: the listener was created with this argument.
    let state = unsafe { listener_state::<ReaderStatus>(arg) };
    if feros_trace::is_on()
        && let Some(subscription) = state.traced.get()
    {
        reception::trace_latest(subscription);
    }
    state.hand_over(|| take(reader));
    state.notify_data();
}

/// The listener of a writer.
pub(crate) fn of_writer(state: &Arc<ListenerState<WriterStatus>>) -> Listener {
    let listener = Listener::new(Arc::as_ptr(state).cast());
    // SAFETY: the listener is alive, and the functions expect the argument that it was created
    // with.
    unsafe {
        sys::dds_lset_publication_matched(listener.as_ptr(), Some(matched::<WriterStatus>));
        sys::dds_lset_offered_incompatible_qos(
            listener.as_ptr(),
            Some(incompatible::<WriterStatus>),
        );
        sys::dds_lset_offered_deadline_missed(listener.as_ptr(), Some(deadline::<WriterStatus>));
        sys::dds_lset_liveliness_lost(listener.as_ptr(), Some(liveliness_lost));
    }
    listener
}

/// The listener of a reader.
pub(crate) fn of_reader(state: &Arc<ListenerState<ReaderStatus>>) -> Listener {
    let listener = Listener::new(Arc::as_ptr(state).cast());
    // SAFETY: the listener is alive, and the functions expect the argument that it was created
    // with.
    unsafe {
        sys::dds_lset_data_available(listener.as_ptr(), Some(data));
        sys::dds_lset_subscription_matched(listener.as_ptr(), Some(matched::<ReaderStatus>));
        sys::dds_lset_requested_incompatible_qos(
            listener.as_ptr(),
            Some(incompatible::<ReaderStatus>),
        );
        sys::dds_lset_requested_deadline_missed(listener.as_ptr(), Some(deadline::<ReaderStatus>));
        sys::dds_lset_liveliness_changed(listener.as_ptr(), Some(liveliness_changed));
    }
    listener
}
