//! The parts of an rmw context: a session of the engine, the transports that the context's
//! endpoints may use, and the guard condition that wakes threads that wait for graph changes.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use feros_engine::{GraphChangeGuard, Session, SessionOptions};
use feros_executor::{GuardCondition, WaitSetPool};
use feros_shm::TransportSet;

use crate::callback_thread::CallbackThread;
use crate::distribution::initialized;
use crate::doorbell::doorbell;
use crate::error::Failure;
use crate::ffi::{rmw_context_t, rmw_guard_condition_t};
use crate::guard_condition;

/// A context. Its nodes and endpoints share this value, which is dropped with the last of them.
pub(crate) struct Context {
    pub(crate) session: Arc<dyn Session>,
    pub(crate) transports: TransportSet,
    /// Triggered when nodes, endpoints or the availability of services may have changed.
    pub(crate) graph_condition: GuardCondition,
    /// The same guard condition as an rmw object.
    graph_condition_object: guard_condition::Object,
    pub(crate) wait_sets: WaitSetPool,
    pub(crate) callbacks: Arc<CallbackThread>,
    is_shut_down: AtomicBool,
    /// The id of the process that made the context. A forked child lacks the threads of that
    /// process.
    process: u32,
    _graph_changes: GraphChangeGuard,
}

impl Context {
    pub(crate) fn open(options: &SessionOptions) -> Result<Arc<Self>, Failure> {
        feros_trace::enable_from_environment(|error| tracing::error!("{error}"))
            .map_err(Failure::error)?;
        let transports = TransportSet::from_env().map_err(|error| {
            Failure::error(format!("{}: {error}", TransportSet::ENVIRONMENT_VARIABLE))
        })?;
        let engine = feros_engine_list::engines().into_iter().next();
        let engine = engine.ok_or_else(|| Failure::error("the library has no engine"))?;
        let session = engine.open(options).map_err(Failure::error)?;
        let graph_condition = GuardCondition::without_callback();
        let changed = graph_condition.clone();
        let graph_changes = session.on_graph_change(Arc::new(move || changed.trigger()));
        Ok(Arc::new(Self {
            session,
            transports,
            graph_condition_object: guard_condition::Object::new(graph_condition.clone()),
            graph_condition,
            wait_sets: WaitSetPool::with_doorbells(doorbell),
            callbacks: CallbackThread::new(doorbell),
            is_shut_down: AtomicBool::new(false),
            process: std::process::id(),
            _graph_changes: graph_changes,
        }))
    }

    /// The context behind an rmw object; an error if the context was shut down.
    ///
    /// # Safety
    /// The pointer is null or points to a context.
    pub(crate) unsafe fn of(context: *const rmw_context_t) -> Result<Arc<Self>, Failure> {
        // SAFETY: [handles] the context is null, zero-initialized or valid.
        let found = unsafe { Self::even_shut_down(context) }?;
        if found.is_shut_down.load(Ordering::Acquire) {
            return Err(Failure::invalid("the context was shut down"));
        }
        Ok(found)
    }

    /// The context behind an rmw object, even after its shutdown.
    ///
    /// # Safety
    /// The contract of [`Context::of`].
    pub(crate) unsafe fn even_shut_down(
        context: *const rmw_context_t,
    ) -> Result<Arc<Self>, Failure> {
        // SAFETY: [handles] the context is null, zero-initialized or valid.
        let raw = unsafe { initialized(context) }?.cast::<Self>().cast_const();
        // SAFETY: in contexts of this library `impl_` is the result of `into_raw`, until
        // `rmw_context_fini` clears it.
        unsafe {
            Arc::increment_strong_count(raw);
            Ok(Arc::from_raw(raw))
        }
    }

    /// Converts the context into the pointer that `rmw_context_t` holds.
    pub(crate) fn into_raw(self: Arc<Self>) -> *mut c_void {
        Arc::into_raw(self).cast_mut().cast()
    }

    /// Shuts the context down: from now on, the creation of nodes fails, and the engine knows that
    /// the session will end.
    pub(crate) fn shut_down(&self) {
        self.session.ending().begin();
        if !self.is_shut_down.swap(true, Ordering::AcqRel)
            && let Err(error) = feros_trace::write()
        {
            tracing::error!("{error}");
        }
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        self.is_shut_down.load(Ordering::Acquire)
    }

    /// The guard condition for graph changes, which nodes return to the host program.
    pub(crate) fn graph_condition_object(&self) -> *const rmw_guard_condition_t {
        self.graph_condition_object.raw()
    }

    /// Whether this process is a forked child of the process that made the context. The session's
    /// threads do not exist in the child, so the child must not touch the session.
    pub(crate) fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    /// Calls `finish` with a value that uses the session, and drops the value; a forked child only
    /// leaks the value.
    pub(crate) fn end<T>(&self, what: T, finish: impl FnOnce(&T)) {
        if self.is_forked() {
            std::mem::forget(what);
        } else {
            finish(&what);
        }
    }
}
