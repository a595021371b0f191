//! The thread that calls the listeners of host programs that never wait, such as the events
//! executors of rclcpp and rclpy. The thread starts when the first entity gets a listener, and ends
//! with the context. "News" means items or events that have not been reported to the listener yet.

use std::sync::{Arc, Weak};
use std::thread;

use feros_executor::{DoorbellMemory, GuardCondition, Ringer, WaitSet, Waitable};
use feros_sync::Mutex;

use crate::doorbell::WITHOUT_DOORBELL;
use crate::error::Failure;

/// An entity with a listener.
pub(crate) trait Told: Send + Sync {
    /// The ringer that rings when there may be news.
    fn ringer(&self) -> &Ringer;

    /// Whether the entity has news for its listener.
    fn has_news(&self) -> bool;

    /// Calls the listener with the number of new items.
    fn tell(&self);
}

/// An entity in the thread's wait set. It is ready only when it has news. Older items that still
/// wait to be taken do not make it ready.
struct News(Arc<dyn Told>);

impl Waitable for News {
    fn ringer(&self) -> &Ringer {
        self.0.ringer()
    }

    fn is_ready(&self) -> bool {
        self.0.has_news()
    }
}

/// The callback thread of a context; it may not have started yet.
pub(crate) struct CallbackThread {
    /// Triggered when an entity gets or loses its listener.
    changed: GuardCondition,
    doorbell: fn() -> Option<Arc<dyn DoorbellMemory>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    told: Vec<Arc<dyn Told>>,
    generation: u64,
    has_begun: bool,
}

impl CallbackThread {
    /// Makes the thread of a context, which has not started yet. When the thread starts, it calls
    /// `doorbell` once; other processes wake the thread with that doorbell.
    pub(crate) fn new(doorbell: fn() -> Option<Arc<dyn DoorbellMemory>>) -> Arc<Self> {
        let changed = GuardCondition::without_callback();
        Arc::new(Self { changed, doorbell, state: Mutex::default() })
    }

    /// Starts or stops reporting this entity's news to its listener. Earlier news is reported
    /// immediately.
    pub(crate) fn listen(
        self: &Arc<Self>,
        entity: Arc<dyn Told>,
        is_wanted: bool,
    ) -> Result<(), Failure> {
        if !is_wanted {
            self.remove(&entity);
            return Ok(());
        }
        if entity.has_news() {
            entity.tell();
        }
        self.add(entity)
    }

    fn add(self: &Arc<Self>, entity: Arc<dyn Told>) -> Result<(), Failure> {
        let mut state = self.state.lock();
        if !state.has_begun {
            let (thread, changed) = (Arc::downgrade(self), self.changed.clone());
            let doorbell = self.doorbell;
            thread::Builder::new()
                .name("feros-callbacks".into())
                .spawn(move || run(&thread, &changed, doorbell()))
                .map_err(|error| {
                    Failure::error(format!(
                        "cannot start the thread for callbacks: {error}; raise `ulimit -u`"
                    ))
                })?;
            state.has_begun = true;
        }
        if !state.told.iter().any(|known| Arc::ptr_eq(known, &entity)) {
            state.told.push(entity);
            state.generation += 1;
        }
        drop(state);
        self.changed.trigger();
        Ok(())
    }

    /// Stops reporting this entity's news to its listener.
    pub(crate) fn remove(&self, entity: &Arc<dyn Told>) {
        let mut state = self.state.lock();
        let index = state.told.iter().position(|known| Arc::ptr_eq(known, entity));
        let removed = index.map(|index| state.told.swap_remove(index));
        state.generation += u64::from(removed.is_some());
        drop(state);
        if removed.is_some() {
            self.changed.trigger();
        }
    }

    /// The entities with listeners; `None` if the set of entities has not changed since this
    /// generation.
    fn told_since(&self, generation: u64) -> Option<(u64, Vec<Arc<dyn Told>>)> {
        let state = self.state.lock();
        (state.generation != generation).then(|| (state.generation, state.told.clone()))
    }
}

impl Drop for CallbackThread {
    fn drop(&mut self) {
        self.changed.trigger(); // the thread finds that its owner has been dropped
    }
}

fn run(
    thread: &Weak<CallbackThread>,
    changed: &GuardCondition,
    doorbell: Option<Arc<dyn DoorbellMemory>>,
) {
    let mut wait_set = doorbell.map_or_else(WaitSet::new, WaitSet::with_doorbell);
    let most = (!wait_set.has_doorbell()).then_some(WITHOUT_DOORBELL);
    let (mut generation, mut told) = (0, Vec::new());
    loop {
        changed.take();
        let Some(owner) = thread.upgrade() else { return };
        if let Some((latest, entities)) = owner.told_since(generation) {
            (generation, told) = (latest, entities);
            wait_set.clear();
            wait_set.add(Arc::new(changed.clone()));
            for entity in &told {
                wait_set.add(Arc::new(News(Arc::clone(entity))));
            }
        }
        drop(owner);
        for index in wait_set.wait(most) {
            // The first entity of the wait set is `changed`.
            if let Some(entity) = index.checked_sub(1).and_then(|index| told.get(index)) {
                entity.tell();
            }
        }
    }
}
