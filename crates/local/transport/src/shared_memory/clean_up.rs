//! Removes the remains of killed processes. One clean-up serves all processes that end at about the
//! same time.
//!
//! A clean-up checks every file of this user in `/dev/shm`. If there were one clean-up for each
//! ended match, the end of a process with many endpoints would cause many checks of all files.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use feros_shm::HostNode;

use crate::shared_memory::upkeep::{KeepUp, Upkeep};

/// How long to wait for other processes to end too.
const GATHERING: Duration = Duration::from_millis(100);

/// Makes the upkeep thread clean up soon. The thread does not clean up if this process has stopped
/// using shared memory by then, because that has already included a clean-up.
pub(crate) fn clean_up_soon() {
    static CLEAN_UP: OnceLock<Arc<Gathered>> = OnceLock::new();
    let clean_up = || {
        Gathered::new(|| {
            if let Some(node) = HostNode::current() {
                node.clean_up();
            }
        })
    };
    CLEAN_UP.get_or_init(clean_up).ask();
}

/// An action that runs once for all requests that arrive before the action runs.
struct Gathered {
    is_asked: AtomicBool,
    upkeep: Upkeep,
    action: Box<dyn Fn() + Send + Sync>,
}

impl Gathered {
    fn new(action: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        let (is_asked, upkeep) = (AtomicBool::new(false), Upkeep::new());
        let this = Arc::new(Self { is_asked, upkeep, action: Box::new(action) });
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
        if self.is_asked.swap(false, Ordering::AcqRel) {
            (self.action)();
        }
        None
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
        let gathered = Gathered::new(move || done.send(()).unwrap());
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
}
