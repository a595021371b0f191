//! The listener of a writer or reader: its counters, its notifications, and the matching endpoints.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use feros_dds::graph::IncompatibleType;
use feros_dds::library::{Notifications, Taken as _};
use feros_dds::status::{ReaderStatus, WriterStatus};
use feros_engine::dds::user_data::EndpointData;
use feros_engine::{FailureCounter, Gid, Liveliness, Match, Notify};
use feros_fastdds_sys as sys;
use feros_sync::Mutex;

use crate::liveness::{self, Liveness};
use crate::participant::Participant;
use crate::sample::Taken;

/// The counters of an endpoint's listener, and the notifications that it calls.
pub(crate) struct ListenerState<S> {
    pub(crate) status: Mutex<S>,
    /// The endpoints that match now.
    matched: Mutex<Vec<Gid>>,
    pub(crate) matched_count: AtomicUsize,
    /// This is incremented with each change of the matches.
    match_generation: AtomicU64,
    notifications: Notifications<Taken>,
    /// Whether the endpoint is a reader that ignores samples from its own session.
    ignores_local: bool,
    participant: Arc<Participant>,
    /// The reader, after it has been created. From then on, a listener with `on_sample` takes
    /// samples.
    pub(crate) reader: AtomicPtr<sys::reader>,
    pub(crate) refused: AtomicU64,
    /// The publishers that match a reader, with their liveliness.
    liveliness: Mutex<Liveness>,
    /// Whether the endpoint is a reader and at least one of its publishers has a lifespan.
    some_expire: AtomicBool,
    this: Weak<Self>,
}

fn wake(notify: Option<&Notify>) {
    if let Some(notify) = notify {
        notify();
    }
}

/// The operations that the statuses of writers and of readers have in common.
pub(crate) trait Status: Default + Send + 'static {
    const IS_READER: bool;
    fn set_liveliness(&mut self, alive: u32, not_alive: u32);
    fn matched(&mut self) -> &mut feros_dds::status::Matched;
    fn other(&mut self, status: &sys::status);
    fn incompatible_type(&mut self);
}

fn count(total: i32) -> u32 {
    u32::try_from(total).unwrap_or(0)
}

impl Status for WriterStatus {
    const IS_READER: bool = false;

    fn set_liveliness(&mut self, _: u32, _: u32) {}

    fn matched(&mut self) -> &mut feros_dds::status::Matched {
        &mut self.matched
    }

    fn other(&mut self, status: &sys::status) {
        match status.kind {
            sys::INCOMPATIBLE_QOS => {
                self.incompatible_qos.set(count(status.total), count(status.change));
            }
            sys::DEADLINE => self.deadline_missed.total = count(status.total),
            sys::LIVELINESS_LOST => self.liveliness_lost.total = count(status.total),
            _ => {}
        }
    }

    fn incompatible_type(&mut self) {
        self.incompatible_type.total += 1;
    }
}

impl Status for ReaderStatus {
    const IS_READER: bool = true;

    fn set_liveliness(&mut self, alive: u32, not_alive: u32) {
        self.liveliness.set(alive, not_alive);
    }

    fn matched(&mut self) -> &mut feros_dds::status::Matched {
        &mut self.matched
    }

    fn other(&mut self, status: &sys::status) {
        match status.kind {
            sys::INCOMPATIBLE_QOS => {
                self.incompatible_qos.set(count(status.total), count(status.change));
            }
            sys::DEADLINE => self.deadline_missed.total = count(status.total),
            _ => {}
        }
    }

    fn incompatible_type(&mut self) {
        self.incompatible_type.total += 1;
    }
}

impl<S: Status> ListenerState<S> {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        notifications: Notifications<Taken>,
        ignores_local: bool,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            status: Mutex::default(),
            matched: Mutex::default(),
            matched_count: AtomicUsize::new(0),
            match_generation: AtomicU64::new(0),
            notifications,
            ignores_local,
            participant: participant.clone(),
            reader: AtomicPtr::new(std::ptr::null_mut()),
            refused: AtomicU64::new(0),
            liveliness: Mutex::default(),
            some_expire: AtomicBool::new(false),
            this: this.clone(),
        })
    }

    /// Changes the status, releases the lock, and then calls the notifications.
    pub(crate) fn change(&self, change: impl FnOnce(&mut S)) {
        change(&mut self.status.lock());
        wake(self.notifications.on_event.as_ref());
    }

    fn matches_changed(&self, other: Gid, change: i32) {
        let discovered = &self.participant.discovered;
        {
            let mut matched = self.matched.lock();
            // A reader that ignores its own session matches no endpoints of that session.
            if change > 0 {
                let is_ignored = discovered.is_own(other)
                    && (self.ignores_local || discovered.is_ignoring(other));
                if is_ignored || matched.contains(&other) {
                    return;
                }
                matched.push(other);
                self.status.lock().matched().add();
            } else {
                let Some(at) = matched.iter().position(|gid| *gid == other) else { return };
                matched.remove(at);
                self.status.lock().matched().remove();
            }
            self.matched_count.store(matched.len(), Ordering::Release);
            self.match_generation.fetch_add(1, Ordering::Release);
        }
        if S::IS_READER {
            self.publisher_changed(other, change > 0);
        }
        wake(self.notifications.on_event.as_ref());
        wake(self.notifications.on_match.as_ref());
    }

    /// Updates the liveliness of a publisher that has started or stopped matching.
    fn publisher_changed(&self, publisher: Gid, is_there: bool) {
        if !is_there {
            return self.change_liveliness(|all| all.left(publisher));
        }
        let endpoint = self.participant.discovered.graph.endpoint(publisher);
        let qos = endpoint.map(|endpoint| endpoint.qos);
        if qos.is_some_and(|qos| qos.lifespan.finite().is_some()) {
            self.some_expire.store(true, Ordering::Relaxed);
        }
        let lease = qos
            .filter(|qos| qos.liveliness == Liveliness::ManualByTopic)
            .and_then(|qos| qos.liveliness_lease_duration.finite());
        self.change_liveliness(|all| all.came(publisher, lease.is_some()));
        if let Some(lease) = lease {
            let state = self.this.clone();
            liveness::after(lease, move || {
                if let Some(state) = state.upgrade() {
                    state.change_liveliness(|all| all.never_shown(publisher));
                    wake(state.notifications.on_event.as_ref());
                }
            });
        }
    }

    fn change_liveliness(&self, change: impl FnOnce(&mut Liveness)) {
        let mut liveliness = self.liveliness.lock();
        change(&mut liveliness);
        let (alive, not_alive) = liveliness.counts();
        self.status.lock().set_liveliness(alive, not_alive);
    }

    /// Whether a sample is older than its publisher's lifespan. Fast DDS removes such samples
    /// itself, but on a busy machine it may do so too late.
    pub(crate) fn is_expired(&self, taken: &Taken) -> bool {
        if !self.some_expire.load(Ordering::Relaxed) {
            return false;
        }
        let endpoint = self.participant.discovered.graph.endpoint(taken.writer());
        let lifespan = endpoint.and_then(|endpoint| endpoint.qos.lifespan.finite());
        let age = taken.stamp().to_system_time().and_then(|stamp| stamp.elapsed().ok());
        lifespan.zip(age).is_some_and(|(lifespan, age)| age > lifespan)
    }

    /// The gids of the endpoints that match now.
    pub(crate) fn matched_gids(&self) -> Vec<Gid> {
        self.matched.lock().clone()
    }

    /// A number that changes whenever the matches change.
    pub(crate) fn match_generation(&self) -> u64 {
        self.match_generation.load(Ordering::Acquire)
    }

    pub(crate) fn matches_any(&self, is_wanted: impl Fn(Gid) -> bool) -> bool {
        self.matched.lock().iter().any(|gid| is_wanted(*gid))
    }

    pub(crate) fn is_matched(&self, gid: Gid) -> bool {
        self.matched.lock().contains(&gid)
    }

    /// Returns the endpoints that match now, each as a [`Match`] for users.
    pub(crate) fn matches(&self) -> Vec<Match> {
        let graph = &self.participant.discovered.graph;
        let known = self.matched_gids().into_iter().filter_map(|gid| graph.endpoint(gid));
        known.map(|e| Match { gid: e.gid, announcement: e.data.announcement, qos: e.qos }).collect()
    }

    /// The endpoints that match now, with their USER_DATA.
    pub(crate) fn matched_data(&self) -> Vec<(Gid, EndpointData)> {
        let graph = &self.participant.discovered.graph;
        let known = self.matched_gids().into_iter().filter_map(|gid| graph.endpoint(gid));
        known.map(|endpoint| (endpoint.gid, endpoint.data)).collect()
    }

    /// Takes the oldest valid sample of a reader and counts malformed samples. The reader must be
    /// alive.
    pub(crate) fn take(&self, reader: *mut sys::reader) -> Result<Option<Taken>, i32> {
        loop {
            let mut sample = std::mem::MaybeUninit::uninit();
            // SAFETY: the reader is alive. If the result is 1, the shim has filled the sample.
            let taken = unsafe {
                match (self.participant.shim.take)(reader, sample.as_mut_ptr()) {
                    1 => Taken::from_shim(sample.assume_init_ref()),
                    0 => return Ok(None),
                    code => return Err(-code),
                }
            };
            match taken {
                Some(taken) => return Ok(Some(taken)),
                None => self.refused.fetch_add(1, Ordering::Relaxed),
            };
        }
    }

    /// Passes each sample that can be taken to `on_sample`.
    pub(crate) fn hand_over(&self) {
        let reader = self.reader.load(Ordering::Acquire);
        let Some(on_sample) = &self.notifications.on_sample else { return };
        if reader.is_null() {
            return;
        }
        loop {
            match self.take(reader) {
                Ok(Some(sample)) => on_sample(sample),
                Ok(None) => return,
                Err(code) => {
                    static UNTAKEN: FailureCounter = FailureCounter::new();
                    if let Some(so_far) = UNTAKEN.so_far() {
                        tracing::error!("received samples cannot be taken: {code}{so_far}");
                    }
                    return;
                }
            }
        }
    }
}

impl<S: Status> IncompatibleType for ListenerState<S> {
    fn incompatible_type(&self) {
        self.change(S::incompatible_type);
    }
}

pub(crate) unsafe extern "C" fn on_status<S: Status>(
    context: *mut c_void,
    status: *const sys::status,
) {
    // SAFETY: the context is the endpoint's `ListenerState`, which exists until the endpoint's drop
    // has waited for callbacks. The status exists during the call.
    let (state, status) = unsafe { (&*context.cast::<ListenerState<S>>(), &*status) };
    match status.kind {
        sys::DATA => {
            state.hand_over();
            wake(state.notifications.on_data.as_ref());
        }
        sys::MATCHED => state.matches_changed(Gid(status.guid), status.change),
        sys::LIVELINESS => {
            let (publisher, is_alive) = (Gid(status.guid), status.total > 0);
            if is_alive || status.change > 0 {
                state.change_liveliness(|all| all.reported(publisher, is_alive));
                wake(state.notifications.on_event.as_ref());
            }
        }
        _ => state.change(|all| all.other(status)),
    }
}
