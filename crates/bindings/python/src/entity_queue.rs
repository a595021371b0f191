//! Queues of items for the callbacks of `rclpy` entities. A queue notifies an executor when an item
//! waits. If possible, no other Python code runs between the arrival of a message and its callback,
//! since at low rates each Python function costs microseconds.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use feros::Stopper;
use feros_sync::Mutex;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyWeakrefMethods, PyWeakrefReference};

use crate::exclusive_group::{Exclusion, ExclusiveGroup};

/// The entities with waiting items, and the executor that waits for them.
pub(crate) struct Ready {
    entities: Mutex<VecDeque<(Py<PyAny>, Arc<Waiting>)>>,
    /// Whether an entity was added since `take_new`.
    has_new: AtomicBool,
    /// Whether `wake` was called since `take_wake`.
    is_woken: AtomicBool,
    /// The spinning thread, as [`this_thread`] identifies it; 0 if no thread spins.
    spinning: AtomicUsize,
    stopper: Stopper,
}

/// Returns a number that identifies the calling thread as long as the thread exists.
fn this_thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}

impl Ready {
    pub(crate) fn new(stopper: Stopper) -> Arc<Self> {
        Arc::new(Self {
            entities: Mutex::default(),
            has_new: AtomicBool::new(false),
            is_woken: AtomicBool::new(false),
            spinning: AtomicUsize::new(0),
            stopper,
        })
    }

    fn push(&self, entity: Py<PyAny>, queue: Arc<Waiting>) {
        self.entities.lock().push_back((entity, queue));
        self.has_new.store(true, Ordering::Release);
        self.ring();
    }

    /// Makes the spinning thread, or the next thread that spins, return to its caller to check its
    /// condition.
    pub(crate) fn wake(&self) {
        self.is_woken.store(true, Ordering::Release);
        self.ring();
    }

    fn ring(&self) {
        // If this is a callback on the spinning thread, that thread is awake, and checks the queue
        // after the callback.
        if self.spinning.load(Ordering::Acquire) != this_thread() {
            self.stopper.stop();
        }
    }

    /// Whether an entity was added or `wake` was called.
    pub(crate) fn is_due(&self) -> bool {
        self.has_new.load(Ordering::Acquire) || self.is_woken.load(Ordering::Acquire)
    }

    /// Whether `wake` was called since the last call.
    pub(crate) fn take_wake(&self) -> bool {
        self.is_woken.swap(false, Ordering::AcqRel)
    }

    /// Whether an entity was added since the last call.
    pub(crate) fn take_new(&self) -> bool {
        self.has_new.swap(false, Ordering::AcqRel)
    }

    /// Marks the calling thread as spinning while `spin` runs.
    pub(crate) fn while_spinning<T>(&self, spin: impl FnOnce() -> T) -> T {
        self.spinning.store(this_thread(), Ordering::Release);
        let outcome = spin();
        self.spinning.store(0, Ordering::Release);
        outcome
    }

    /// Runs the callback of the first entity whose callback group is free.
    ///
    /// # Errors
    /// Returns the exception of the callback.
    pub(crate) fn call_next(&self, py: Python<'_>) -> PyResult<Called> {
        let candidates = self.entities.lock().len();
        for _ in 0..candidates {
            let Some((entity, queue)) = self.entities.lock().pop_front() else { break };
            match queue.claim(py, &entity, self) {
                Claim::Python => return Ok(Called::Asks(entity)),
                Claim::Nothing => {}
                Claim::Busy => self.entities.lock().push_back((entity, queue)), // to be tried later
                Claim::Call { callback, item, group, has_more } => {
                    let called = call_with_first(py, &callback, &item);
                    if has_more {
                        self.entities.lock().push_back((entity.clone_ref(py), queue));
                    }
                    return match called {
                        Ok(awaitable) if !awaitable.is_none(py) => {
                            Ok(Called::Returned { entity, item, result: awaitable })
                        }
                        called => {
                            if let Some(group) = group {
                                group.end(token(&entity));
                            }
                            called.map(|_| Called::Ran)
                        }
                    };
                }
            }
        }
        Ok(Called::Nothing)
    }
}

/// The result of [`Ready::call_next`].
pub(crate) enum Called {
    Nothing,
    Ran,
    /// Python code has to ask this entity for its callback.
    Asks(Py<PyAny>),
    /// The callback of this entity returned a value other than `None`; the entity still occupies
    /// its callback group.
    Returned {
        entity: Py<PyAny>,
        item: Py<PyAny>,
        result: Py<PyAny>,
    },
}

fn call_with_first(py: Python<'_>, callback: &Py<PyAny>, item: &Py<PyAny>) -> PyResult<Py<PyAny>> {
    callback.call1(py, (item.bind(py).cast::<PyTuple>()?.get_item(0)?,))
}

/// The number that identifies an entity in an exclusive group.
fn token(entity: &Py<PyAny>) -> usize {
    entity.as_ptr().addr()
}

/// The interface for Python.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct ReadyQueue(pub(crate) Arc<Ready>);

#[pymethods]
impl ReadyQueue {
    /// The next entity, or `None`.
    fn pop(&self) -> Option<Py<PyAny>> {
        let next = self.0.entities.lock().pop_front();
        next.map(|(entity, _)| entity)
    }

    /// Adds an entity at the end of the queue, without waking the executor.
    fn put_back(&self, entity: Py<PyAny>, queue: &Bound<'_, EntityQueue>) {
        self.0.entities.lock().push_back((entity, queue.get().waiting()));
    }

    fn __len__(&self) -> usize {
        self.0.entities.lock().len()
    }
}

/// The recipient that is notified when an item waits.
enum Told {
    Nobody,
    Executor(Weak<Ready>),
    /// A Python function, which is called with the entity.
    Function(Py<PyAny>),
}

/// A callback that Rust calls without asking the entity.
struct Direct {
    /// The function, which is called with the first part of an item; items are tuples.
    callback: Py<PyAny>,
    /// The group that must be free for the callback to run, if there is one.
    group: Option<Arc<Exclusion>>,
}

struct State {
    items: VecDeque<Py<PyAny>>,
    /// The number of items so far.
    came: u64,
    /// The number of items that newer items have pushed out.
    pushed_out: u64,
    /// Whether the recipient has already queued the entity.
    is_queued: bool,
    is_closed: bool,
    told: Told,
    direct: Option<Direct>,
    /// Functions that are called with the number of new items: the user's listener, and a wait
    /// set's.
    listeners: [Option<Py<PyAny>>; 2],
}

enum Claim {
    /// Python code has to ask the entity for its callback.
    Python,
    Nothing,
    /// Another callback of the group is running.
    Busy,
    Call {
        callback: Py<PyAny>,
        item: Py<PyAny>,
        group: Option<Arc<Exclusion>>,
        has_more: bool,
    },
}

/// The queue of one entity, for the code that fills it.
pub(crate) struct Waiting {
    depth: usize,
    entity: Py<PyWeakrefReference>,
    state: Mutex<State>,
}

impl Waiting {
    /// Adds an item. If the queue is full, the oldest item is dropped and the entity is notified of
    /// the loss.
    ///
    /// # Errors
    /// Returns the exception of a notified Python function.
    pub(crate) fn push(self: &Arc<Self>, py: Python<'_>, item: Py<PyAny>) -> PyResult<()> {
        let mut state = self.state.lock();
        if state.is_closed {
            drop(state);
            return Ok(());
        }
        let oldest = if state.items.len() >= self.depth { state.items.pop_front() } else { None };
        state.pushed_out += u64::from(oldest.is_some());
        state.items.push_back(item);
        state.came += 1;
        let copy = |listener: &Option<Py<PyAny>>| listener.as_ref().map(|it| it.clone_ref(py));
        let listeners = state.listeners.each_ref().map(copy);
        drop(state);
        for listener in listeners.into_iter().flatten() {
            listener.call1(py, (1,))?;
        }
        if oldest.is_some()
            && let Some(entity) = self.entity.bind(py).upgrade()
        {
            entity.call_method0("_on_pushed_out")?;
        }
        self.announce(py)
    }

    fn announce(self: &Arc<Self>, py: Python<'_>) -> PyResult<()> {
        let Some(entity) = self.entity.bind(py).upgrade() else { return Ok(()) };
        let mut state = self.state.lock();
        if state.is_queued || state.items.is_empty() {
            return Ok(());
        }
        let told = match &state.told {
            Told::Nobody => return Ok(()),
            Told::Executor(ready) => Told::Executor(ready.clone()),
            Told::Function(function) => Told::Function(function.clone_ref(py)),
        };
        state.is_queued = true;
        drop(state);
        match told {
            Told::Nobody => {}
            Told::Executor(ready) => {
                if let Some(ready) = ready.upgrade() {
                    ready.push(entity.unbind(), self.clone());
                }
            }
            Told::Function(function) => drop(function.call1(py, (entity,))?),
        }
        Ok(())
    }

    fn claim(&self, py: Python<'_>, entity: &Py<PyAny>, ready: &Ready) -> Claim {
        let mut state = self.state.lock();
        let is_told =
            matches!(&state.told, Told::Executor(told) if std::ptr::eq(told.as_ptr(), ready));
        if !is_told {
            return Claim::Nothing; // the new recipient has queued the entity itself
        }
        if state.is_closed || state.items.is_empty() {
            state.is_queued = false;
            return Claim::Nothing;
        }
        let Some(direct) = &state.direct else { return Claim::Python };
        if direct.group.as_ref().is_some_and(|group| !group.begin(token(entity))) {
            return Claim::Busy;
        }
        let (callback, group) = (direct.callback.clone_ref(py), direct.group.clone());
        let Some(item) = state.items.pop_front() else { return Claim::Nothing };
        state.is_queued = !state.items.is_empty();
        Claim::Call { callback, item, group, has_more: state.is_queued }
    }
}

/// The items that wait for the callback of an entity.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct EntityQueue(Arc<Waiting>);

impl EntityQueue {
    pub(crate) fn waiting(&self) -> Arc<Waiting> {
        self.0.clone()
    }

    fn replace_listener(&self, index: usize, listener: Option<Py<PyAny>>) {
        let before = std::mem::replace(&mut self.0.state.lock().listeners[index], listener);
        drop(before); // this may drop a Python function
    }
}

#[pymethods]
impl EntityQueue {
    /// Makes a queue with room for `depth` items. The queue does not keep the entity alive.
    #[new]
    fn new(entity: &Bound<'_, PyAny>, depth: usize) -> PyResult<Self> {
        let state = State {
            items: VecDeque::new(),
            came: 0,
            pushed_out: 0,
            is_queued: false,
            is_closed: false,
            told: Told::Nobody,
            direct: None,
            listeners: [const { None }; 2],
        };
        let entity = PyWeakrefReference::new(entity)?.unbind();
        Ok(Self(Arc::new(Waiting { depth: depth.max(1), entity, state: Mutex::new(state) })))
    }

    /// Adds an item.
    fn push(&self, py: Python<'_>, item: Py<PyAny>) -> PyResult<()> {
        self.0.push(py, item)
    }

    /// Sets the recipient that is notified when an item waits: an executor (its `ReadyQueue`), a
    /// function, or nobody (`None`). Notifies the recipient immediately if an item waits.
    fn tell(&self, py: Python<'_>, told: Bound<'_, PyAny>) -> PyResult<()> {
        let told = match told.cast::<ReadyQueue>() {
            Ok(ready) => Told::Executor(Arc::downgrade(&ready.get().0)),
            Err(_) if told.is_none() => Told::Nobody,
            Err(_) => Told::Function(told.unbind()),
        };
        let mut state = self.0.state.lock();
        let before = std::mem::replace(&mut state.told, told);
        state.is_queued = false;
        drop(state);
        drop(before); // this may drop a Python function
        self.0.announce(py)
    }

    /// Makes executors call `callback` with the first part of an item without asking the entity.
    /// With `None`, executors ask the entity.
    fn call_directly(
        &self,
        callback: Option<Py<PyAny>>,
        group: Option<&Bound<'_, ExclusiveGroup>>,
    ) {
        let group = group.map(|group| group.get().exclusion());
        let direct = callback.map(|callback| Direct { callback, group });
        let before = std::mem::replace(&mut self.0.state.lock().direct, direct);
        drop(before);
    }

    /// Calls `listener(1)` for each new item, on the thread that receives the item; `None` stops
    /// that.
    fn listen(&self, listener: Option<Py<PyAny>>) {
        self.replace_listener(0, listener);
    }

    /// Like `listen`, for a second listener.
    fn watch(&self, watcher: Option<Py<PyAny>>) {
        self.replace_listener(1, watcher);
    }

    /// Notifies the recipient if items wait and the recipient has not been notified yet.
    fn announce(&self, py: Python<'_>) -> PyResult<()> {
        self.0.announce(py)
    }

    /// Marks the entity as no longer queued by the recipient.
    fn withdraw(&self) {
        self.0.state.lock().is_queued = false;
    }

    /// The oldest item, in a tuple, or `None`.
    fn take(&self) -> Option<(Py<PyAny>,)> {
        let item = self.0.state.lock().items.pop_front();
        item.map(|item| (item,))
    }

    /// For the recipient: takes the oldest item, and returns whether more items wait. If so, the
    /// recipient must queue the entity again. `None` if no item waits.
    fn take_queued(&self) -> Option<(Py<PyAny>, bool)> {
        let mut state = self.0.state.lock();
        let item = state.items.pop_front();
        state.is_queued = item.is_some() && !state.items.is_empty();
        let has_more = state.is_queued;
        drop(state);
        item.map(|item| (item, has_more))
    }

    /// Drops all waiting items.
    fn clear(&self) {
        let items = std::mem::take(&mut self.0.state.lock().items);
        drop(items);
    }

    /// Drops all waiting items, and ignores later items.
    fn close(&self) {
        let mut state = self.0.state.lock();
        state.is_closed = true;
        let direct = state.direct.take();
        let listeners = std::mem::take(&mut state.listeners);
        drop(state);
        drop((direct, listeners));
        self.clear();
    }

    fn __len__(&self) -> usize {
        self.0.state.lock().items.len()
    }

    /// The number of items so far.
    #[getter]
    fn came(&self) -> u64 {
        self.0.state.lock().came
    }

    /// The number of items that newer items have pushed out.
    #[getter]
    fn pushed_out(&self) -> u64 {
        self.0.state.lock().pushed_out
    }
}
