//! Reports when processes end, even if they are killed. Without such reports, a thread that sleeps
//! at a doorbell would wait forever for a ring from a dead process.
//!
//! One thread of this process sleeps until a watched process ends. The thread starts with the first
//! watch, and ends when the last watch has ended.

use std::sync::Arc;
use std::time::Duration;

use feros_engine::{FailureCounter, Notify};
use feros_sync::{Mutex, WakeDescriptor};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::peer::Peer;

/// The interval between checks of a process whose end the system cannot report.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// A watch on a process: a function is called when the process has ended, unless the watch has been
/// dropped before.
#[must_use = "the watch ends when this is dropped"]
#[derive(Debug)]
pub struct EndWatch(u64);

static WATCHES: Mutex<Watches> = Mutex::new(Watches { next: 0, watched: Vec::new(), alarm: None });

struct Watches {
    /// The number of the next watch.
    next: u64,
    watched: Vec<Watched>,
    /// Wakes the thread that watches, or `None` if the thread does not run.
    alarm: Option<Arc<WakeDescriptor>>,
}

struct Watched {
    watch: u64,
    peer: Arc<Peer>,
    on_end: Notify,
}

impl EndWatch {
    /// Makes a watch that calls `on_end` once when the process has ended, or soon if it has already
    /// ended. The call is made on a separate thread. If the call is running when the watch is
    /// dropped, it continues.
    pub fn new(peer: &Arc<Peer>, on_end: Notify) -> Self {
        let mut watches = WATCHES.lock();
        let watch = watches.next;
        watches.next += 1;
        watches.watched.push(Watched { watch, peer: Arc::clone(peer), on_end });
        if watches.alarm.is_none() {
            watches.alarm = start();
        }
        watches.rouse();
        Self(watch)
    }
}

impl Drop for EndWatch {
    fn drop(&mut self) {
        let mut watches = WATCHES.lock();
        let index = watches.watched.iter().position(|watched| watched.watch == self.0);
        let ended = index.map(|index| watches.watched.swap_remove(index));
        if ended.is_some() {
            watches.rouse();
        }
        drop(watches);
        drop(ended); // after the lock has been released
    }
}

impl Watches {
    /// Makes the thread read the watches again.
    fn rouse(&self) {
        if let Some(alarm) = &self.alarm {
            alarm.wake();
        }
    }

    /// The watched processes, without duplicates.
    fn peers(&self) -> Vec<Arc<Peer>> {
        let mut peers: Vec<Arc<Peer>> = Vec::new();
        for Watched { peer, .. } in &self.watched {
            if !peers.iter().any(|known| Arc::ptr_eq(known, peer)) {
                peers.push(Arc::clone(peer));
            }
        }
        peers
    }
}

fn start() -> Option<Arc<WakeDescriptor>> {
    let started = WakeDescriptor::new().and_then(|alarm| {
        let alarm = Arc::new(alarm);
        let of_thread = Arc::clone(&alarm);
        let thread = std::thread::Builder::new().name("feros-peers".into());
        thread.spawn(move || watch(&of_thread)).map(|_| alarm)
    });
    let failed = |error| {
        static FAILED: FailureCounter = FailureCounter::new();
        if let Some(so_far) = FAILED.so_far() {
            tracing::error!(
                target: "feros::shm",
                "a call may wait in vain for a server that is killed: the thread that watches processes cannot be started \
                 ({error}){so_far}; end other threads (`ulimit -u`), or close files (`ulimit -n`)"
            );
        }
    };
    started.map_err(failed).ok()
}

fn watch(alarm: &WakeDescriptor) {
    loop {
        let mut peers = {
            let mut watches = WATCHES.lock();
            if watches.watched.is_empty() {
                watches.alarm = None;
                return;
            }
            watches.peers()
        };
        wait(alarm, &peers);
        peers.retain(|peer| !peer.is_alive());
        if peers.is_empty() {
            continue;
        }
        let has_ended =
            |watched: &mut Watched| peers.iter().any(|peer| Arc::ptr_eq(peer, &watched.peer));
        let ended: Vec<Watched> = WATCHES.lock().watched.extract_if(.., has_ended).collect();
        ended.iter().for_each(|watched| (watched.on_end)());
    }
}

/// Sleeps until a process ends, or until the alarm wakes it.
fn wait(alarm: &WakeDescriptor, peers: &[Arc<Peer>]) {
    let pidfds = peers.iter().map(|peer| peer.process().pidfd());
    let mut waited_for = vec![PollFd::new(alarm, PollFlags::IN)];
    waited_for.extend(pidfds.flatten().map(|pidfd| PollFd::new(pidfd, PollFlags::IN)));
    let has_all = waited_for.len() > peers.len();
    let interval = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK_INTERVAL.subsec_nanos()) };
    match poll(&mut waited_for, (!has_all).then_some(&interval)) {
        Ok(_) | Err(Errno::INTR) => {}
        // The system does not have enough memory. It is better to check after some time than not to
        // check at all.
        Err(_) => std::thread::sleep(LOOK_INTERVAL),
    }
    alarm.reset(); // later changes of the watches wake the thread again
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::segment::ProcessSegment;

    const WATCHDOG: Duration = Duration::from_secs(60);

    #[test]
    fn a_living_process_is_watched_until_the_watch_ends() {
        let own = ProcessSegment::of_this_process().unwrap();
        let peer = Peer::open(std::process::id(), own.file_number(), own.token()).unwrap();
        let (told, heard) = sync_channel(1);
        let watch = EndWatch::new(&peer, Arc::new(move || told.send(()).unwrap()));
        let before = Arc::strong_count(&peer);
        drop(watch);
        // The thread drops a process when it does not have to watch it any longer.
        feros_test_support::eventually(|| match Arc::strong_count(&peer) {
            1 => Ok(()),
            other => Err(format!("{other} of {before}")),
        });
        assert!(heard.recv_timeout(WATCHDOG).is_err(), "no watch is left");
    }
}
