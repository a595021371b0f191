//! The handle with which an entity is made ready, for any executor or wait set.
//!
//! Engines and guard conditions get a [`Ringer`] when they are created, often long before the
//! entity belongs to an executor, or long after it has left the executor. So a ringer does not
//! refer to a doorbell. It refers to a cell that contains the entity's current executor and wait
//! sets.

use crate::flags::Slot;
use crate::listener::Listener;
use crate::ready_set::ReadySet;
use crate::routes::{Attachment, ObserverId, Place, Routes};
use feros_sync::{Arc, AtomicBool, AtomicUsize, Ordering, RwLock, fence};

/// Signals that an entity has work. All clones ring the same entity.
///
/// An entity belongs to at most one executor and to any number of wait sets at the same time. A
/// ring goes to all of them. Ringing is always allowed: a ring before the entity is added to an
/// executor is delivered when the entity is added, and a ring after the entity or its executor has
/// been dropped has no effect.
#[derive(Debug, Clone)]
pub struct Ringer {
    cell: Arc<Cell>,
}

#[derive(Debug)]
struct Cell {
    /// A ring holds the read lock, and a move to another executor holds the write lock. So a move
    /// either sees a ring, or happens before it. In the second case, the ring goes to the new
    /// executor. The lock is never held while a callback runs.
    routes: RwLock<Routes>,
    /// Whether the entity has been rung while it had no executor.
    pending: AtomicBool,
    /// The number of rings while the entity had neither an executor nor a listener.
    unreported: AtomicUsize,
    /// The number of wait sets, readable without the lock.
    wait_sets: AtomicUsize,
}

impl Ringer {
    /// Makes a ringer for an entity that does not exist yet.
    pub fn new() -> Self {
        Self {
            cell: Arc::new(Cell {
                routes: RwLock::new(Routes::default()),
                pending: AtomicBool::new(false),
                unreported: AtomicUsize::new(0),
                wait_sets: AtomicUsize::new(0),
            }),
        }
    }

    /// Marks the entity ready and wakes its executor and wait sets if they sleep. The entity's next
    /// execution sees everything that the caller has written before. An executor does not count
    /// rings: several rings before the next execution have the same effect as one ring.
    ///
    /// Allocates nothing, and waits only while another thread adds or removes this entity. May be
    /// called on any thread, but not in a signal handler (use [`ReadySet::ring`] there). Calls the
    /// [listener](Self::set_listener), if there is one.
    pub fn ring(&self) {
        let routes = self.cell.routes.read();
        match &routes.executor {
            Some(executor) => executor.ring(),
            None => {
                // The lock orders this store with `attach` and `detach`.
                self.cell.pending.store(true, Ordering::Relaxed);
                if routes.listener.is_none() {
                    self.cell.unreported.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        routes.wait_sets.iter().for_each(Attachment::ring);
        let listener = routes.listener.clone();
        drop(routes);
        if let Some(listener) = listener {
            listener.report(1);
        }
    }

    /// Makes `callback` the listener. Every ring calls the listener with the number of rings since
    /// the last call. It is called immediately if there have been rings that neither an executor
    /// nor a listener has received. The listener replaces the former listener, and does not affect
    /// the executor or the wait sets. This implements rmw's `set_on_new_message_callback`.
    ///
    /// The callback runs on threads that ring, one call at a time and with no lock held. It must
    /// not panic. If a call is running while the listener is replaced, the call continues.
    pub fn set_listener(&self, callback: impl Fn(usize) + Send + Sync + 'static) {
        let listener = std::sync::Arc::new(Listener::new(callback));
        let mut routes = self.cell.routes.write();
        let former = routes.listener.replace(std::sync::Arc::clone(&listener));
        let unreported = self.cell.unreported.swap(0, Ordering::Relaxed);
        drop(routes);
        drop(former);
        if unreported > 0 {
            listener.report(unreported);
        }
    }

    /// Removes the listener that [`set_listener`](Self::set_listener) has set.
    pub fn clear_listener(&self) {
        let former = self.cell.routes.write().listener.take();
        drop(former); // after the lock has been released
    }

    /// Calls `observer` with the entity's place, now and at each change, until the [`Observation`]
    /// is dropped. The place is the doorbell and the slot where other processes may ring for the
    /// entity. An entity may have several observers.
    ///
    /// The place is at the doorbell of the entity's executor. Without an executor, it is at the
    /// doorbell of the wait set to which the entity was attached last. The thread that finds a ring
    /// there [relays](Self::relay) the ring to the other wait sets.
    ///
    /// Observe an entity only while other processes need to ring it. An executor without observed
    /// entities ignores other processes, and so rings of its own process wake it sooner.
    ///
    /// # Ringing from other processes
    ///
    /// A thread of another process must make data available, then execute a sequentially consistent
    /// fence, and then read the place that the observer has published and ring there if there is a
    /// place. In this way, no wake-up is lost. Even data that was made available before the place
    /// was visible is found, because each move to an executor rings the entity once. At worst, a
    /// ring at a place that the entity has left executes another entity unnecessarily.
    ///
    /// # What an observer may do
    ///
    /// An observer stores the place somewhere. It runs under the locks that moves take, before the
    /// move has an effect. It must not panic or block, and must not use this ringer or the entity's
    /// executor. It should not own a clone of this ringer, because the ringer and the observer
    /// would then never be freed.
    pub fn on_move(
        &self,
        observer: impl FnMut(Option<Place>) + Send + Sync + 'static,
    ) -> Observation {
        let id = self.cell.routes.write().observe(Box::new(observer));
        Observation { cell: Arc::clone(&self.cell), id }
    }

    /// From now on, rings go to `slot` of an executor's ready set. This includes a pending ring.
    /// Returns false and does nothing if the entity already belongs to an executor.
    pub fn attach(&self, ready_set: &Arc<ReadySet>, slot: Slot) -> bool {
        let mut routes = self.cell.routes.write();
        if routes.executor.is_some() {
            return false;
        }
        ready_set.take(slot); // clears a late ring for the former owner of the slot
        if self.cell.pending.swap(false, Ordering::Relaxed) {
            ready_set.ring(slot);
        }
        self.cell.unreported.store(0, Ordering::Relaxed);
        let executor = Attachment { ready_set: Arc::clone(ready_set), slot };
        routes.move_place(true, |routes| routes.executor = Some(executor));
        true
    }

    /// Ends the attachment to the executor. If the flag is still set, the ring becomes pending
    /// again.
    pub fn detach(&self) {
        let mut routes = self.cell.routes.write();
        let executor = routes.move_place(true, |routes| routes.executor.take());
        if executor.is_some_and(|executor| executor.ready_set.take(executor.slot)) {
            self.cell.pending.store(true, Ordering::Relaxed);
        }
    }

    /// From now on, rings also go to `slot` of a wait set's ready set. Earlier rings do not,
    /// because a wait set checks its entities before it waits.
    pub fn attach_wait_set(&self, ready_set: &Arc<ReadySet>, slot: Slot) {
        let mut routes = self.cell.routes.write();
        routes.attach_wait_set(Attachment { ready_set: Arc::clone(ready_set), slot });
        self.cell.wait_sets.store(routes.wait_sets.len(), Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence in `relay`
    }

    /// Ends one attachment to this wait set's ready set.
    pub fn detach_wait_set(&self, ready_set: &Arc<ReadySet>) {
        let mut routes = self.cell.routes.write();
        routes.detach_wait_set(ready_set);
        self.cell.wait_sets.store(routes.wait_sets.len(), Ordering::Relaxed);
    }

    /// The number of wait sets to which the entity is attached at present.
    pub fn wait_sets(&self) -> usize {
        self.cell.wait_sets.load(Ordering::Relaxed)
    }

    /// A thread that finds a ring of another process in `from` must call this. Other processes ring
    /// at only one place, and this call passes the ring on to the entity's other wait sets.
    pub fn relay(&self, from: &Arc<ReadySet>) {
        // The other process has made its data available, and this thread reads the number of wait
        // sets. `attach_wait_set` writes the number, and the wait set checks the entity. Each side
        // has a fence between its two steps, so this thread finds the wait set, or the wait set
        // finds the data.
        fence(Ordering::SeqCst);
        if self.cell.wait_sets.load(Ordering::Relaxed) > 0 {
            let routes = self.cell.routes.read();
            let others = |to: &&Attachment| !Arc::ptr_eq(&to.ready_set, from);
            routes.wait_sets.iter().filter(others).for_each(Attachment::ring);
        }
    }
}

/// The observation of an entity's place (see [`Ringer::on_move`]).
///
/// When this value is dropped, the observer is called with `None` and then dropped.
#[must_use = "the observer is dropped with this"]
#[derive(Debug)]
pub struct Observation {
    cell: Arc<Cell>,
    id: ObserverId,
}

impl Drop for Observation {
    fn drop(&mut self) {
        let observer = self.cell.routes.write().end_observation(self.id);
        drop(observer); // after the lock has been released
    }
}

impl Default for Ringer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::sync::Mutex;

    fn taken(ready_set: &ReadySet, slot: Slot) -> bool {
        ready_set.take(slot)
    }

    #[test]
    fn a_ring_before_attaching_is_delivered_on_attaching() {
        let ready_set = Arc::new(ReadySet::private());
        let slot = Slot::new(5).unwrap();
        let ringer = Ringer::new();
        ringer.clone().ring();
        assert!(ringer.attach(&ready_set, slot));
        assert!(taken(&ready_set, slot));
        assert!(!taken(&ready_set, slot));
    }

    #[test]
    fn a_flag_moves_with_its_entity_to_another_doorbell() {
        let [first, second] = [(); 2].map(|()| Arc::new(ReadySet::private()));
        let (here, there) = (Slot::new(1).unwrap(), Slot::new(4000).unwrap());
        let ringer = Ringer::new();
        assert!(ringer.attach(&first, here));
        assert!(!ringer.attach(&second, there), "attached twice");
        ringer.ring();
        ringer.detach();
        assert!(!first.is_set(here));
        assert!(ringer.attach(&second, there));
        assert!(taken(&second, there));
        ringer.detach();
        ringer.ring();
        assert!(!first.is_set(here) && !second.is_set(there), "rings after detaching stay away");
    }

    #[test]
    fn rings_for_a_slots_former_owner_are_cleared_in_both_doorbells() {
        let memory = std::sync::Arc::new(crate::Doorbell::new());
        let ready_set = Arc::new(ReadySet::shared_at(memory.clone()));
        let slot = Slot::new(9).unwrap();
        ready_set.ring(slot);
        memory.ring(slot);
        assert!(Ringer::new().attach(&ready_set, slot));
        assert!(!ready_set.take(slot));
    }

    #[test]
    fn a_ring_of_another_process_moves_with_its_entity() {
        let memory = std::sync::Arc::new(crate::Doorbell::new());
        let first = Arc::new(ReadySet::shared_at(memory.clone()));
        let second = Arc::new(ReadySet::private());
        let (here, there) = (Slot::new(1).unwrap(), Slot::new(2).unwrap());
        let ringer = Ringer::new();
        assert!(ringer.attach(&first, here));
        memory.ring(here);
        ringer.detach();
        assert!(ringer.attach(&second, there));
        assert!(taken(&second, there));
    }

    #[test]
    fn observers_see_each_move_and_each_arrival_is_rung() {
        let ready_set = Arc::new(ReadySet::private());
        let slot = Slot::new(5).unwrap();
        let ringer = Ringer::new();
        let seen = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
        let observe = |index: usize| {
            let seen = Arc::clone(&seen[index]);
            ringer.on_move(move |place| seen.lock().unwrap().push(place))
        };
        let first = observe(0);
        assert!(ringer.attach(&ready_set, slot));
        assert!(taken(&ready_set, slot), "rung on arrival");
        let second = observe(1);
        assert!(taken(&ready_set, slot), "rung when observed in its place");
        drop(first);
        assert!(ready_set.is_shared(), "the second is still told");
        drop(second);
        assert!(!ready_set.is_shared(), "nobody listens to other processes");
        let _both = [observe(0), observe(1)];
        assert!(taken(&ready_set, slot));
        ringer.detach();
        assert!(!ready_set.is_set(slot) && !ready_set.is_shared());
        assert!(ringer.attach(&ready_set, slot));
        assert!(taken(&ready_set, slot) && ready_set.is_shared());
        let here = Some(Place { doorbell: None, slot });
        assert_eq!(*seen[0].lock().unwrap(), [None, here, None, here, None, here]);
        assert_eq!(*seen[1].lock().unwrap(), [here, None, here, None, here]);
    }

    #[test]
    fn wait_sets_are_rung_with_and_without_an_executor() {
        let [executor, first, second] = [(); 3].map(|()| Arc::new(ReadySet::private()));
        let slot = Slot::FIRST;
        let ringer = Ringer::new();
        ringer.attach_wait_set(&first, slot);
        ringer.attach_wait_set(&second, slot);
        ringer.ring();
        assert!(taken(&first, slot) && taken(&second, slot));
        assert!(ringer.attach(&executor, slot));
        assert!(taken(&executor, slot), "rings of wait sets are kept for the executor");
        ringer.ring();
        assert!([&executor, &first, &second].into_iter().all(|ready_set| taken(ready_set, slot)));
        ringer.detach_wait_set(&first);
        ringer.detach_wait_set(&first); // there is no attachment left
        ringer.ring();
        assert!(!taken(&first, slot) && taken(&second, slot));
    }

    #[test]
    fn other_processes_ring_the_executor_or_else_the_last_wait_set() {
        let [executor, first, second] = [(); 3].map(|()| Arc::new(ReadySet::private()));
        let ringer = Ringer::new();
        let place = Arc::new(Mutex::new(None));
        let told = Arc::clone(&place);
        let _observed = ringer
            .on_move(move |place| *told.lock().unwrap() = place.map(|place| place.slot.index()));
        let place = || *place.lock().unwrap();
        let [zero, one, two] = [0, 1, 2].map(|index| Slot::new(index).unwrap());
        ringer.attach_wait_set(&first, one);
        assert_eq!((place(), first.is_shared()), (Some(1), true));
        ringer.attach_wait_set(&second, two);
        assert_eq!((place(), first.is_shared(), second.is_shared()), (Some(2), false, true));
        assert!(ringer.attach(&executor, zero));
        assert_eq!((place(), executor.is_shared(), second.is_shared()), (Some(0), true, false));
        first.drain(drop);
        second.drain(drop);
        ringer.relay(&executor);
        assert!(taken(&first, one) && taken(&second, two));
        ringer.relay(&first);
        assert!(!taken(&first, one) && taken(&second, two));
        ringer.detach_wait_set(&second);
        assert_eq!(place(), Some(0));
        ringer.detach();
        assert_eq!(place(), Some(1));
        ringer.detach_wait_set(&first);
        assert_eq!((place(), first.is_shared()), (None, false));
    }

    #[test]
    fn a_listener_learns_the_number_of_rings() {
        let ringer = Ringer::new();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listen = |ringer: &Ringer| {
            let heard = Arc::clone(&heard);
            ringer.set_listener(move |rings| heard.lock().unwrap().push(rings));
        };
        ringer.ring();
        ringer.ring();
        listen(&ringer);
        ringer.ring();
        assert!(ringer.attach(&Arc::new(ReadySet::private()), Slot::FIRST));
        ringer.ring();
        ringer.clear_listener();
        ringer.ring(); // the executor receives this ring
        listen(&ringer);
        assert_eq!(*heard.lock().unwrap(), [2, 1, 1]);
    }

    /// If a listener rings its own entity, it gets that ring after it has returned.
    #[test]
    fn a_listener_may_ring() {
        let ringer = Ringer::new();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (own, seen) = (ringer.clone(), Arc::clone(&heard));
        ringer.set_listener(move |rings| {
            if seen.lock().unwrap().is_empty() {
                own.ring();
                own.ring();
            }
            seen.lock().unwrap().push(rings);
        });
        ringer.ring();
        assert_eq!(*heard.lock().unwrap(), [1, 2]);
        ringer.clear_listener(); // the callback owns a clone of the ringer
    }
}
