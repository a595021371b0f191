//! Waits for the responses of a client without an executor. Each waiting thread sleeps on its own
//! ready set, and servers of other processes can ring that ready set.

use std::sync::Arc;
use std::time::Duration;

use feros_doorbell::{DoorbellMemory, ReadySet, Ringer, Slot};
use feros_shm::ProcessSegment;
use feros_sync::Mutex;

/// The slot of a ready set that all rings use. One slot is enough, because the thread checks
/// everything whenever it wakes up.
const SLOT: Slot = Slot::FIRST;

/// The limit on the number of unused ready sets of each kind that are kept for later waits.
const MOST_IDLE: usize = 16;

/// The unused ready sets: first the sets for waits that only this process can end, then the sets
/// for waits that other processes can also end.
static IDLE: [Mutex<Vec<Arc<ReadySet>>>; 2] = [const { Mutex::new(Vec::new()) }; 2];

/// The interval at which a waiting thread checks if other processes cannot ring it because all
/// doorbells are in use.
const WITHOUT_DOORBELL: Duration = Duration::from_millis(1);

/// Makes a ready set. Other processes can ring it if a doorbell of this process is free.
pub(crate) fn ready_set() -> Arc<ReadySet> {
    let doorbell = ProcessSegment::of_this_process().ok().and_then(|own| own.doorbell().ok());
    let set = match doorbell {
        Some(doorbell) => ReadySet::shared_at(Arc::new(doorbell) as Arc<dyn DoorbellMemory>),
        None => ReadySet::private(),
    };
    Arc::new(set)
}

/// Sleeps until a ring, for at most `timeout`.
pub(crate) fn sleep(ready_set: &ReadySet, is_rung_by_others: bool, timeout: Option<Duration>) {
    let is_deaf = is_rung_by_others && ready_set.number().is_none();
    let slice = is_deaf.then_some(WITHOUT_DOORBELL);
    ready_set.wait(timeout.into_iter().chain(slice).min());
}

/// A thread's wait for responses. It begins before the thread's last check for responses, and ends
/// when this value is dropped.
pub struct ResponseWait {
    ringer: Ringer,
    /// This is present until the wait ends.
    ready_set: Option<Arc<ReadySet>>,
    may_be_rung_by_others: bool,
}

impl ResponseWait {
    /// Begins a wait. `may_be_rung_by_others` tells whether other processes may learn where to ring
    /// during the wait. Until they do, the thread sleeps as if only its own process could ring.
    pub(crate) fn begin(ringer: &Ringer, may_be_rung_by_others: bool) -> Self {
        let idle = IDLE[usize::from(may_be_rung_by_others)].lock().pop();
        let make =
            || if may_be_rung_by_others { ready_set() } else { Arc::new(ReadySet::private()) };
        let set = idle.unwrap_or_else(make);
        ringer.attach_wait_set(&set, SLOT);
        Self { ringer: ringer.clone(), ready_set: Some(set), may_be_rung_by_others }
    }

    fn set(&self) -> &Arc<ReadySet> {
        self.ready_set.as_ref().expect("there until this is dropped")
    }

    /// Call this before each check for responses. A ring that arrives after this call ends the next
    /// sleep.
    pub fn begin_look(&self) {
        let set = self.set();
        let mut by_others = false;
        set.drain_shared(|_| by_others = true);
        set.drain_private(|_| {});
        if by_others {
            self.ringer.relay(set);
        }
    }

    /// Sleeps until a ring arrives, for at most `timeout`. A ring since the last
    /// [`begin_look`](Self::begin_look) also counts. `is_rung_by_others` tells whether other
    /// processes know where to ring.
    pub(crate) fn sleep(&self, is_rung_by_others: bool, timeout: Duration) {
        sleep(self.set(), is_rung_by_others, Some(timeout));
    }
}

impl Drop for ResponseWait {
    fn drop(&mut self) {
        let Some(set) = self.ready_set.take() else { return };
        self.ringer.detach_wait_set(&set);
        let mut idle = IDLE[usize::from(self.may_be_rung_by_others)].lock();
        if idle.len() < MOST_IDLE {
            idle.push(set);
        }
    }
}
