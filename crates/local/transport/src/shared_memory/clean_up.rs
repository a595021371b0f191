//! Removes the remains of killed processes. One clean-up serves all processes that end at about the
//! same time.
//!
//! A clean-up checks every file of this user in `/dev/shm`. If there were one clean-up for each
//! ended match, the end of a process with many endpoints would cause many checks of all files.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use feros_engine::Ending;
use feros_shm::HostNode;

use crate::shared_memory::upkeep::{KeepUp, Upkeep};

/// How long to wait for other processes to end too.
const GATHERING: Duration = Duration::from_millis(100);

/// How long to wait before the first repetition of a clean-up that was not complete. The time
/// doubles with each repetition.
const REPETITION: Duration = Duration::from_millis(500);

/// The highest number of repetitions, the last of which comes after 16 seconds. Files that are left
/// then are removed when the next process ends, or when the next node is made.
const MOST_REPETITIONS: u32 = 5;

/// Makes the upkeep thread clean up soon. The thread does not clean up if this process has stopped
/// using shared memory by then, because that has already included a clean-up.
pub(crate) fn clean_up_soon() {
    static CLEAN_UP: OnceLock<Arc<Gathered>> = OnceLock::new();
    let is_complete =
        || HostNode::current_cleaner().is_none_or(|cleaner| cleaner.clean_up().is_complete());
    CLEAN_UP.get_or_init(|| Gathered::new(is_complete)).ask();
}

/// An action that runs once for all requests that arrive before the action runs. It says whether it
/// is complete, and runs again later if not.
struct Gathered {
    is_asked: AtomicBool,
    /// Whether the last run was not complete, so that a repetition is due.
    is_incomplete: AtomicBool,
    repetitions: AtomicU32,
    upkeep: Upkeep,
    action: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Gathered {
    fn new(action: impl Fn() -> bool + Send + Sync + 'static) -> Arc<Self> {
        let this = Arc::new(Self {
            is_asked: AtomicBool::new(false),
            is_incomplete: AtomicBool::new(false),
            repetitions: AtomicU32::new(0),
            upkeep: Upkeep::new(Ending::default()),
            action: Box::new(action),
        });
        let weak: Weak<Self> = Arc::downgrade(&this);
        this.upkeep.begin(weak);
        this
    }

    fn ask(&self) {
        if !self.is_asked.swap(true, Ordering::AcqRel) {
            self.upkeep.ask_at(Instant::now() + GATHERING);
        }
    }
}

impl KeepUp for Gathered {
    fn keep_up(&self) -> Option<Instant> {
        let is_asked = self.is_asked.swap(false, Ordering::AcqRel);
        if is_asked {
            self.repetitions.store(0, Ordering::Relaxed);
        } else if !self.is_incomplete.load(Ordering::Relaxed) {
            return None;
        }
        let is_complete = (self.action)();
        let repetitions = self.repetitions.fetch_add(1, Ordering::Relaxed);
        let is_again = !is_complete && repetitions < MOST_REPETITIONS;
        self.is_incomplete.store(is_again, Ordering::Relaxed);
        is_again.then(|| Instant::now() + REPETITION * 2_u32.pow(repetitions))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn a_thousand_requests_lead_to_a_few_runs() {
        const WATCHDOG: Duration = Duration::from_secs(60);
        let (done, seen) = sync_channel(1000);
        let gathered = Gathered::new(move || done.send(()).is_ok());
        let began = Instant::now();
        (0..1000).for_each(|_| gathered.ask());
        // This limit is valid no matter how slow the machine is. The additional run is the first
        // run, which the upkeep starts without a request.
        let most = 2 + began.elapsed().as_millis() / GATHERING.as_millis();
        seen.recv_timeout(WATCHDOG).unwrap();
        let mut times = 1;
        while gathered.is_asked.load(Ordering::Acquire) {
            times += u128::from(seen.recv_timeout(GATHERING).is_ok());
        }
        times += seen.try_iter().count() as u128;
        assert!(times <= most, "{times} times, at most {most}");
        gathered.ask();
        seen.recv_timeout(WATCHDOG).unwrap();
    }

    #[test]
    fn an_incomplete_run_is_repeated_until_it_is_complete() {
        let remaining = AtomicU32::new(2);
        let take = |before: u32| before.checked_sub(1);
        let gathered = Gathered::new(move || {
            remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err()
        });
        gathered.upkeep.end(); // this thread does the work of the upkeep thread
        gathered.is_asked.store(true, Ordering::Release);
        assert_eq!(std::iter::from_fn(|| gathered.keep_up()).count(), 2);
        assert_eq!(gathered.keep_up(), None, "nothing is left to do");
    }

    #[test]
    fn an_action_that_is_never_complete_is_repeated_a_few_times() {
        let gathered = Gathered::new(|| false);
        gathered.upkeep.end();
        gathered.is_asked.store(true, Ordering::Release);
        let times = std::iter::from_fn(|| gathered.keep_up()).count();
        assert_eq!(times, MOST_REPETITIONS as usize);
        assert_eq!(gathered.keep_up(), None);
    }
}
