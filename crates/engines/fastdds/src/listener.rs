//! The listener of a writer or reader, with the matching endpoints.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use feros_dds::library::Taken as _;
use feros_dds::listener::{ListenerState, Notifications};
use feros_dds::status::{ReaderStatus, Status, WriterStatus, policy_kind};
use feros_engine::dds::user_data::EndpointData;
use feros_engine::{Gid, Liveliness, Match};
use feros_fastdds_sys as sys;
use feros_sync::Mutex;

use crate::liveness::{self, Liveness};
use crate::participant::Participant;
use crate::sample::Taken;

/// The listener of a writer or reader, which the shim passes to [`on_status`].
pub(crate) struct Listener<S> {
    pub(crate) state: Arc<ListenerState<S, Taken>>,
    /// The endpoints that match now.
    matched: Mutex<Vec<Gid>>,
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

/// The statuses of liveliness: one that only readers have, and one that only writers have.
pub(crate) trait LivelinessStatus: Status {
    const IS_READER: bool;
    fn set_liveliness(&mut self, _alive: u32, _not_alive: u32) {}
    fn set_liveliness_lost(&mut self, _total: u32) {}
}

fn count(total: i32) -> u32 {
    u32::try_from(total).unwrap_or(0)
}

impl LivelinessStatus for WriterStatus {
    const IS_READER: bool = false;

    fn set_liveliness_lost(&mut self, total: u32) {
        self.liveliness_lost.total = total;
    }
}

impl LivelinessStatus for ReaderStatus {
    const IS_READER: bool = true;

    fn set_liveliness(&mut self, alive: u32, not_alive: u32) {
        self.liveliness.set(alive, not_alive);
    }
}

impl<S: LivelinessStatus> Listener<S> {
    pub(crate) fn new(
        participant: &Arc<Participant>,
        notifications: Notifications<Taken>,
        ignores_local: bool,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            state: ListenerState::new(notifications),
            matched: Mutex::default(),
            ignores_local,
            participant: participant.clone(),
            reader: AtomicPtr::new(std::ptr::null_mut()),
            refused: AtomicU64::new(0),
            liveliness: Mutex::default(),
            some_expire: AtomicBool::new(false),
            this: this.clone(),
        })
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
                self.state.status().shared().matched.add();
            } else {
                let Some(at) = matched.iter().position(|gid| *gid == other) else { return };
                matched.remove(at);
                self.state.status().shared().matched.remove();
            }
            self.state.set_matched(matched.len());
        }
        if S::IS_READER {
            self.publisher_changed(other, change > 0);
        }
        self.state.notify_event();
        self.state.notify_match();
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
            let this = self.this.clone();
            liveness::after(lease, move || {
                if let Some(this) = this.upgrade() {
                    this.change_liveliness(|all| all.never_shown(publisher));
                    this.state.notify_event();
                }
            });
        }
    }

    fn change_liveliness(&self, change: impl FnOnce(&mut Liveness)) {
        let mut liveliness = self.liveliness.lock();
        change(&mut liveliness);
        let (alive, not_alive) = liveliness.counts();
        self.state.status().set_liveliness(alive, not_alive);
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

    pub(crate) fn shim(&self) -> &'static sys::Shim {
        self.participant.shim
    }

    /// The gids of the endpoints that match now.
    pub(crate) fn matched_gids(&self) -> Vec<Gid> {
        self.matched.lock().clone()
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
        if !reader.is_null() {
            self.state.hand_over(|| self.take(reader));
        }
    }
}

pub(crate) unsafe extern "C" fn on_status<S: LivelinessStatus>(
    context: *mut c_void,
    status: *const sys::status,
) {
    // SAFETY: the context is the endpoint's `Listener`, which lives until the endpoint's drop has
    // waited for callbacks; the status stays alive throughout the call.
    let (listener, status) = unsafe { (&*context.cast::<Listener<S>>(), &*status) };
    let (state, total, change) = (&listener.state, count(status.total), status.change);
    match status.kind {
        sys::DATA => {
            listener.hand_over();
            state.notify_data();
        }
        sys::MATCHED => listener.matches_changed(Gid(status.guid), change),
        sys::LIVELINESS => {
            let (publisher, is_alive) = (Gid(status.guid), status.total > 0);
            if is_alive || change > 0 {
                listener.change_liveliness(|all| all.reported(publisher, is_alive));
                state.notify_event();
            }
        }
        sys::INCOMPATIBLE_QOS => {
            let last_policy = policy_kind(count(change));
            state.change(|all| all.shared().incompatible_qos.set(total, last_policy));
        }
        sys::DEADLINE => state.change(|all| all.shared().deadline_missed.total = total),
        sys::LIVELINESS_LOST => state.change(|all| all.set_liveliness_lost(total)),
        _ => state.notify_event(),
    }
}
