//! Records which publishers of a subscription are alive.
//!
//! Fast DDS reports nothing about a publisher with a lease that has never asserted its liveliness.
//! By the DDS specification, such a publisher counts as alive from its match until its lease
//! expires.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use feros_engine::{FailureCounter, Gid};
use feros_sync::{Condvar, Mutex};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    /// The publisher matches but has not asserted its liveliness yet.
    Pending,
    Alive,
    NotAlive,
}

/// The matching publishers of one subscription.
#[derive(Debug, Default)]
pub(crate) struct Liveness(HashMap<Gid, Life>);

impl Liveness {
    /// Adds a publisher that matches. If the publisher must assert its liveliness, it is pending at
    /// first.
    pub(crate) fn came(&mut self, publisher: Gid, has_to_show: bool) {
        let life = if has_to_show { Life::Pending } else { Life::Alive };
        self.0.entry(publisher).or_insert(life);
    }

    /// Removes a publisher that no longer matches.
    pub(crate) fn left(&mut self, publisher: Gid) {
        self.0.remove(&publisher);
    }

    /// Sets the state that the engine reports for a publisher.
    pub(crate) fn reported(&mut self, publisher: Gid, is_alive: bool) {
        self.0.insert(publisher, if is_alive { Life::Alive } else { Life::NotAlive });
    }

    /// Marks a publisher as not alive if its lease has expired and it is still pending.
    pub(crate) fn never_shown(&mut self, publisher: Gid) {
        if let Some(life @ Life::Pending) = self.0.get_mut(&publisher) {
            *life = Life::NotAlive;
        }
    }

    /// The numbers of publishers that are alive and not alive.
    pub(crate) fn counts(&self) -> (u32, u32) {
        let not_alive = self.0.values().filter(|life| **life == Life::NotAlive).count();
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        (count(self.0.len() - not_alive), count(not_alive))
    }
}

type Call = Box<dyn FnOnce() + Send>;

/// The calls that are due later, and whether the thread that makes them is running.
#[derive(Default)]
struct Calls {
    waiting: Vec<(Instant, Call)>,
    has_thread: bool,
}

/// The limit on waiting calls. Further calls are dropped. This happens only if there are very many
/// publishers.
const MOST_WAITING: usize = 4096;

static CALLS: Mutex<Calls> = Mutex::new(Calls { waiting: Vec::new(), has_thread: false });
static CHANGED: Condvar = Condvar::new();

/// Makes a call after the delay, on a thread that ends when no calls are waiting.
pub(crate) fn after(delay: Duration, call: impl FnOnce() + Send + 'static) {
    let Some(at) = Instant::now().checked_add(delay) else { return };
    let mut calls = CALLS.lock();
    if calls.waiting.len() >= MOST_WAITING {
        return;
    }
    calls.waiting.push((at, Box::new(call)));
    if !calls.has_thread {
        let spawned = std::thread::Builder::new().name("feros-leases".into()).spawn(make_calls);
        match spawned {
            Ok(_) => calls.has_thread = true,
            Err(error) => {
                static FAILED: FailureCounter = FailureCounter::new();
                if let Some(so_far) = FAILED.so_far() {
                    tracing::error!(
                        "the thread that watches liveliness leases cannot be started: \
                         {error}{so_far}; raise `ulimit -u`"
                    );
                }
            }
        }
    }
    CHANGED.notify_all();
}

fn make_calls() {
    let mut calls = CALLS.lock();
    loop {
        let next = calls.waiting.iter().enumerate().min_by_key(|(_, (at, _))| *at);
        let Some((index, at)) = next.map(|(index, (at, _))| (index, *at)) else {
            calls.has_thread = false;
            return;
        };
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let (_, call) = calls.waiting.swap_remove(index);
            drop(calls);
            call(); // after the lock has been released
            calls = CALLS.lock();
        } else {
            calls = CHANGED.wait_timeout(calls, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_that_never_asserts_liveliness_is_not_alive_after_its_lease() {
        let (mut all, gid) = (Liveness::default(), Gid([1; 16]));
        all.came(gid, true);
        assert_eq!(all.counts(), (1, 0));
        all.never_shown(gid);
        assert_eq!(all.counts(), (0, 1));
        all.reported(gid, true);
        all.never_shown(gid);
        assert_eq!(all.counts(), (1, 0));
        all.reported(gid, false);
        all.came(gid, false);
        assert_eq!(all.counts(), (0, 1));
        all.left(gid);
        assert_eq!(all.counts(), (0, 0));
    }

    #[test]
    fn later_calls_come_in_their_order() {
        let (send, receive) = std::sync::mpsc::sync_channel(3);
        for delay in [30, 10, 20] {
            let send = send.clone();
            after(Duration::from_millis(delay), move || send.send(delay).expect("the test waits"));
        }
        let order: Vec<_> = (0..3).map(|_| receive.recv().expect("it comes")).collect();
        assert_eq!(order, [10, 20, 30]);
    }
}
