//! The deadlines of an executor's timers: one queue per clock, because the times of different
//! clocks cannot be compared.

use crate::clock::{Clock, Time, TimeChange, TimeWatcher};
use crate::deadlines::Deadlines;
use crate::timer_core::{Caller, DeadlineQueue, TimerCore};
use feros_doorbell::ReadySet;
use feros_doorbell::Slot;
use feros_sync::{Arc, AtomicBool, AtomicUsize, Mutex, Ordering};
use std::sync::Weak;
use std::time::Duration;

/// The queues of all clocks in use by one executor.
pub(crate) struct TimerQueues {
    ready_set: Arc<ReadySet>,
    control: Slot,
    queues: Mutex<Vec<Arc<TimerQueue>>>,
    /// The number of timers. It is stored so that an executor without timers only pays one load per
    /// turn.
    count: AtomicUsize,
    /// Whether a deadline may have become the earliest since the last check.
    is_new: Arc<AtomicBool>,
}

impl TimerQueues {
    /// `control` is the slot that is rung when the executor has to compute the length of its sleep
    /// again.
    pub(crate) fn new(ready_set: Arc<ReadySet>, control: Slot) -> Self {
        let (queues, is_new) = (Mutex::new(Vec::new()), Arc::new(AtomicBool::new(false)));
        Self { ready_set, control, queues, count: AtomicUsize::new(0), is_new }
    }

    /// Adds the timer of the entity in `slot`.
    pub(crate) fn add(&self, slot: Slot, timer: &Arc<TimerCore>) {
        let mut queues = self.queues.lock();
        let known = queues.iter().find(|queue| Arc::ptr_eq(&queue.clock, &timer.clock)).cloned();
        let is_new = known.is_none();
        let queue = known.unwrap_or_else(|| {
            let queue = Arc::new(TimerQueue {
                clock: Arc::clone(&timer.clock),
                ready_set: Arc::clone(&self.ready_set),
                control: self.control,
                is_new: Arc::clone(&self.is_new),
                entries: Mutex::default(),
            });
            queues.push(Arc::clone(&queue));
            queue
        });
        queue.insert(slot, timer);
        self.count.fetch_add(1, Ordering::Relaxed);
        drop(queues);
        if is_new {
            let watcher = Arc::downgrade(&queue) as Weak<dyn TimeWatcher>;
            queue.clock.watch(watcher);
        }
        let deadlines = Arc::downgrade(&queue) as Weak<dyn DeadlineQueue>;
        timer.set_queue(Some((deadlines, slot)));
        queue.update(slot, Caller::Anybody); // for changes that came before the registration
    }

    pub(crate) fn remove(&self, slot: Slot, timer: &TimerCore) {
        timer.set_queue(None);
        let mut emptied = None;
        let mut queues = self.queues.lock();
        let place = queues.iter().position(|queue| Arc::ptr_eq(&queue.clock, &timer.clock));
        if let Some(place) = place {
            self.count.fetch_sub(1, Ordering::Relaxed);
            if queues[place].remove(slot) {
                emptied = Some(queues.swap_remove(place));
            }
        }
        drop(queues);
        drop(emptied); // may drop the clock, whose code must not run under a lock
    }

    /// Whether there are no timers.
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    /// Calls `each` with the slot of every timer whose deadline has come.
    pub(crate) fn expire(&self, mut each: impl FnMut(Slot)) {
        if self.is_empty() {
            return;
        }
        for queue in self.queues.lock().iter() {
            queue.expire(&mut each);
        }
    }

    /// Whether there may be an earliest deadline that [`timeout`](Self::timeout) has not returned
    /// yet.
    pub(crate) fn take_new(&self) -> bool {
        // The flag is read first, so that a turn usually needs no read-modify-write operation.
        self.is_new.load(Ordering::Relaxed) && self.is_new.swap(false, Ordering::Acquire)
    }

    /// The longest time to sleep. `None` if no timer becomes due through the passing of time alone.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        if self.is_empty() {
            return None;
        }
        self.queues.lock().iter().filter_map(|queue| queue.timeout()).min()
    }
}

/// The timers of one executor on one clock.
pub(crate) struct TimerQueue {
    clock: Arc<dyn Clock>,
    ready_set: Arc<ReadySet>,
    control: Slot,
    is_new: Arc<AtomicBool>,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    /// The timers by slot number.
    timers: Vec<Option<Arc<TimerCore>>>,
    deadlines: Deadlines,
}

impl Entries {
    fn timers(&self) -> impl Iterator<Item = &Arc<TimerCore>> {
        self.timers.iter().flatten()
    }

    fn is_due(&self, now: Time) -> Option<Slot> {
        self.deadlines.earliest().filter(|(deadline, _)| *deadline <= now).map(|(_, slot)| slot)
    }
}

impl TimerQueue {
    fn insert(&self, slot: Slot, timer: &Arc<TimerCore>) {
        let mut entries = self.entries.lock();
        if entries.timers.len() <= slot.index() {
            entries.timers.resize(slot.index() + 1, None);
        }
        entries.deadlines.reserve(slot);
        entries.timers[slot.index()] = Some(Arc::clone(timer));
    }

    /// Removes the timer in `slot`; returns true if no timer is left.
    fn remove(&self, slot: Slot) -> bool {
        let mut entries = self.entries.lock();
        entries.deadlines.set(slot, None);
        if let Some(entry) = entries.timers.get_mut(slot.index()) {
            *entry = None;
        }
        entries.timers().next().is_none()
    }

    fn expire(&self, each: &mut impl FnMut(Slot)) {
        let mut entries = self.entries.lock();
        if entries.deadlines.earliest().is_none() {
            return;
        }
        let now = self.clock.now();
        while let Some(slot) = entries.is_due(now) {
            // The timer stays out of the heap until its body has run and has passed its next
            // deadline.
            entries.deadlines.set(slot, None);
            each(slot);
        }
    }

    fn timeout(&self) -> Option<Duration> {
        let (deadline, _) = self.entries.lock().deadlines.earliest()?;
        let wait = deadline.saturating_since(self.clock.now());
        // A simulated clock notifies its watchers when a deadline has come, so there is no time to
        // wait for. But the deadline may be due already, if the clock was set after `expire`.
        (!self.clock.is_simulated() || wait.is_zero()).then_some(wait)
    }
}

impl DeadlineQueue for TimerQueue {
    /// Wakes the executor if the deadline is now the earliest.
    fn update(&self, slot: Slot, caller: Caller) {
        let mut entries = self.entries.lock();
        let Some(timer) = entries.timers.get(slot.index()).and_then(Option::as_ref) else { return };
        let next = timer.next();
        entries.deadlines.set(slot, next);
        let is_earliest =
            entries.deadlines.earliest().is_some_and(|(_, earliest)| earliest == slot);
        drop(entries);
        if is_earliest {
            self.is_new.store(true, Ordering::Release);
            if caller == Caller::Anybody {
                self.ready_set.ring(self.control);
            }
        }
    }
}

impl TimeWatcher for TimerQueue {
    fn time_changed(&self, change: &TimeChange) {
        let mut entries = self.entries.lock();
        // If the deadlines stay, only the earliest one is checked.
        if change.moves_deadlines() {
            entries.timers().for_each(|timer| timer.adapt_to(change));
            let Entries { timers, deadlines } = &mut *entries;
            for (index, timer) in timers.iter().enumerate() {
                if let (Some(slot), Some(timer)) = (Slot::new(index), timer) {
                    deadlines.set(slot, timer.next());
                }
            }
        }
        let wakes = change.source_changed || entries.is_due(change.after).is_some();
        drop(entries);
        if wakes {
            self.is_new.store(true, Ordering::Release);
            self.ready_set.ring(self.control);
        }
    }
}
