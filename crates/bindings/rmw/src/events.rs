//! Events of publishers and subscriptions, with their statuses. Host programs wait for each kind of
//! event of an endpoint, listen for it and take it separately.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use feros_engine::{FailureCounters, Notify};
use feros_executor::{Ringer, Waitable};
use feros_sync::Mutex;

use crate::arguments::{Out, given};
use crate::callback_thread::{CallbackThread, Told};
use crate::distribution;
use crate::error::{Failure, guarded};
use crate::ffi::{
    RMW_EVENT_INVALID, RMW_EVENT_PUBLICATION_MATCHED, rmw_event_callback_t, rmw_event_t, rmw_ret_t,
};
use crate::handle::{end, handle};
use crate::identity::identifier;
use crate::listener::Listener;
use crate::status::{Eventful, Status};

/// Counts how many times the endpoint has reported events. The counter exists before the endpoint,
/// because the endpoint is created with the function that it calls to report.
struct News {
    ringer: Ringer,
    /// The number of reports.
    told: AtomicU64,
}

impl News {
    fn new() -> (Arc<Self>, Notify) {
        let news = Arc::new(Self { ringer: Ringer::new(), told: AtomicU64::new(0) });
        let told = Arc::clone(&news);
        (news, Arc::new(move || told.announce()))
    }

    fn announce(&self) {
        self.told.fetch_add(1, Ordering::AcqRel);
        self.ringer.ring();
    }
}

/// The events of an endpoint that is about to be created.
pub(crate) struct Statuses(Arc<News>);

impl Statuses {
    /// Also returns the function that the endpoint calls to report events.
    pub(crate) fn new() -> (Self, Notify) {
        let (news, notify) = News::new();
        (Self(news), notify)
    }

    /// Attaches the events to their endpoint.
    pub(crate) fn of(self, endpoint: Arc<dyn Eventful>, thread: &Arc<CallbackThread>) -> Events {
        Events::new(self.0, endpoint, thread)
    }
}

/// The events of one endpoint, with an object for each kind of event that the host program has
/// requested.
pub(crate) struct Events {
    news: Arc<News>,
    endpoint: Arc<dyn Eventful>,
    thread: Weak<CallbackThread>,
    /// The objects that `data` of rmw events points to.
    asked_for: Mutex<Vec<Arc<EventEnd>>>,
}

impl Events {
    fn new(news: Arc<News>, endpoint: Arc<dyn Eventful>, thread: &Arc<CallbackThread>) -> Self {
        Self { news, endpoint, thread: Arc::downgrade(thread), asked_for: Mutex::default() }
    }

    /// The object for one kind of event, which lives as long as the endpoint. `None` if the
    /// endpoint has no events of this kind.
    fn end(&self, kind: u32) -> Option<*const EventEnd> {
        let status = self.endpoint.kind(kind)?;
        let mut asked_for = self.asked_for.lock();
        let known = asked_for.iter().find(|end| end.entity.kind == kind);
        if let Some(known) = known {
            return Some(Arc::as_ptr(known));
        }
        let entity = Arc::new(EventEntity {
            kind,
            news: Arc::clone(&self.news),
            endpoint: Arc::downgrade(&self.endpoint),
            thread: Weak::clone(&self.thread),
            state: Mutex::new(State { seen: 0, count: 0, taken: 0, told: 0, status }),
            listener: Listener::default(),
        });
        let waitable: Arc<dyn Waitable> = entity.clone();
        let end = Arc::new(EventEnd { entity, waitable });
        let pointer = Arc::as_ptr(&end);
        asked_for.push(end);
        Some(pointer)
    }

    /// Stops reporting events to the listeners.
    pub(crate) fn finish(&self) {
        let asked_for: Vec<_> =
            self.asked_for.lock().iter().map(|end| Arc::clone(&end.entity)).collect();
        for entity in asked_for {
            entity.listener.clear();
            if let Some(thread) = entity.thread.upgrade() {
                thread.remove(&(entity as Arc<dyn Told>));
            }
        }
    }
}

/// The object that the `data` field of an `rmw_event_t` points to.
pub(crate) struct EventEnd {
    entity: Arc<EventEntity>,
    pub(crate) waitable: Arc<dyn Waitable>,
}

handle!(rmw_event_t => EventEnd);

/// One kind of event of one endpoint. It may outlive the endpoint.
struct EventEntity {
    /// The kind, as `ffi` numbers the kinds.
    kind: u32,
    news: Arc<News>,
    endpoint: Weak<dyn Eventful>,
    thread: Weak<CallbackThread>,
    state: Mutex<State>,
    listener: Listener,
}

struct State {
    /// The number of reports when the events were last counted.
    seen: u64,
    /// The number of events at that time.
    count: u64,
    /// The number of these events whose status has been taken.
    taken: u64,
    /// The number of these events that the listener has been told about.
    told: u64,
    /// The status that was last taken.
    status: Status,
}

impl EventEntity {
    /// Counts the events again if the endpoint has reported any since the last count, and then
    /// calls `read` with the state.
    fn look<T>(&self, read: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock();
        let told = self.news.told.load(Ordering::Acquire);
        if state.seen != told
            && let Some(endpoint) = self.endpoint.upgrade()
        {
            match endpoint.count(self.kind) {
                Ok(count) => (state.seen, state.count) = (told, count),
                Err(failure) => {
                    // The text names the topic or service, so its endpoints count together.
                    static UNCOUNTED: FailureCounters = FailureCounters::new();
                    if let Some(so_far) = UNCOUNTED.so_far(&failure.text) {
                        tracing::error!("{}{so_far}", failure.text);
                    }
                }
            }
        }
        read(&mut state)
    }

    /// The status now, with the changes since the last call.
    fn take(&self) -> Result<Status, Failure> {
        let endpoint = self.endpoint.upgrade();
        let endpoint = endpoint.ok_or_else(|| Failure::invalid("the endpoint has ended"))?;
        self.look(|state| {
            state.taken = state.count;
            if let Some(news) = endpoint.take(self.kind)? {
                state.status = news;
                return Ok(news);
            }
            Ok(state.status.without_changes())
        })
    }
}

impl Waitable for EventEntity {
    fn ringer(&self) -> &Ringer {
        &self.news.ringer
    }

    fn is_ready(&self) -> bool {
        self.look(|state| state.count != state.taken)
    }
}

impl Told for EventEntity {
    fn ringer(&self) -> &Ringer {
        &self.news.ringer
    }

    fn has_news(&self) -> bool {
        self.listener.is_set() && self.look(|state| state.count != state.told)
    }

    fn tell(&self) {
        self.listener.tell(|| {
            self.look(|state| {
                let news = state.count.saturating_sub(state.told);
                state.told = state.count;
                usize::try_from(news).unwrap_or(usize::MAX)
            })
        });
    }
}

/// Initializes an event of an endpoint. `event_type` is the number of its kind in the host program.
///
/// # Safety
/// The event is null or valid, and it is zero-initialized or has been finalized.
pub(crate) unsafe fn init(
    event: *mut rmw_event_t,
    events: &Events,
    event_type: u32,
) -> Result<(), Failure> {
    // SAFETY: [zero] the event is null or zero-initialized.
    let before = unsafe { given(event, "rmw_event") }?;
    if !before.implementation_identifier.is_null() {
        return Err(Failure::invalid("the event was already initialized"));
    }
    let end = events.end(distribution::loaded()?.event_kind(event_type)).ok_or_else(|| {
        Failure::unsupported(format!("the endpoint has no events of kind {event_type}"))
    })?;
    let data = end.cast_mut().cast();
    // SAFETY: the event is valid, as checked above.
    unsafe {
        event.write(rmw_event_t { implementation_identifier: identifier(), data, event_type });
    }
    Ok(())
}

/// Whether this kind of event is supported.
#[unsafe(no_mangle)]
extern "C" fn rmw_event_type_is_supported(event_type: u32) -> bool {
    let known = RMW_EVENT_INVALID + 1..=RMW_EVENT_PUBLICATION_MATCHED;
    distribution::loaded().is_ok_and(|loaded| known.contains(&loaded.event_kind(event_type)))
}

/// # Safety
/// The event is null or valid, and its endpoint is alive.
unsafe fn entity<'a>(event: *const rmw_event_t) -> Result<&'a Arc<EventEntity>, Failure> {
    // SAFETY: [handles] the event is null, zero-initialized or ours. [owners] Its endpoint is
    // alive, and owns the object that `data` points to.
    Ok(&unsafe { end(event) }?.entity)
}

/// The status of an event, with the changes since it was last taken.
///
/// # Safety
/// The event is null or valid, and its endpoint is alive; `event_info` is null or points to memory
/// for its status.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_take_event(
    event_handle: *const rmw_event_t,
    event_info: *mut c_void,
    taken: *mut bool,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles, owners] the event and its endpoint are alive. [outputs] There is memory
        // for the flag, and for the status of this kind of event.
        unsafe {
            let entity = entity(event_handle)?;
            given(event_info, "event_info")?;
            let taken = Out::new(taken, "taken")?;
            taken.set(false);
            entity.take()?.write(event_info);
            taken.set(true);
        }
        Ok(())
    })
}

/// Sets or clears the callback. A thread of this library calls it with the number of new events of
/// this kind.
///
/// # Safety
/// The event is null or valid, and its endpoint is alive. The callback may be called with the data
/// on any thread until another callback is set.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_event_set_callback(
    event: *mut rmw_event_t,
    callback: rmw_event_callback_t,
    user_data: *const c_void,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles, owners] the event and its endpoint are alive.
        let entity = unsafe { entity(event) }?;
        let told: Arc<dyn Told> = entity.clone();
        // SAFETY: [callbacks] the function may be called with its data until it is replaced.
        unsafe { entity.listener.set(callback, user_data) };
        let Some(thread) = entity.thread.upgrade() else { return Ok(()) };
        thread.listen(told, callback.is_some())
    })
}
