//! Where the threads of one executor meet: what they share lies on the desk, and whoever finds
//! nothing to do there sleeps until somebody rings.
//!
//! Of several sleeping threads one is the **watcher**: it waits for timers and for rings of other
//! processes. The others are **followers**. A ring from inside the process wakes a follower, and
//! the watcher only if none is left: so the watch goes on undisturbed, and a ring costs one
//! wake-up, whatever the number of threads.
//!
//! # Why no ring is slept over
//!
//! The bell names whom the next ring has to wake. It is set anew, under the desk's lock, by every
//! thread that leaves to execute something or to sleep ([`ReadySet::arm`]), each time followed by
//! a look at the flags, as a sleeper looks before it sleeps. Whoever is woken comes to the desk,
//! where it takes in all flags, and sets the bell when it leaves. So there is always somebody who
//! will look: a thread on its way to the desk, or the one that the bell names. The words that
//! threads sleep on count calls, so a call between the lock and the sleep is not lost either.

use feros_doorbell::{ReadySet, Sleeper};
use feros_sync::{Arc, Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

/// What lies on a desk.
pub(crate) trait Work {
    /// Whether another thread would find something to execute.
    fn has_ready(&self) -> bool;
}

pub(crate) struct Desk<T> {
    ready_set: Arc<ReadySet>,
    board: Mutex<Board<T>>,
}

/// What the desk's lock protects.
pub(crate) struct Board<T> {
    work: T,
    /// Followers that sleep, or have been called and are on their way.
    followers: usize,
    watch: Option<Watch>,
    /// The threads are to go home.
    is_closed: bool,
    /// The thread that waits for something to happen has to look.
    has_news: bool,
}

/// What the sleeping watcher attends to.
#[derive(Clone, Copy)]
struct Watch {
    until: Option<Instant>,
    is_shared: bool,
}

/// The next instant at which a timer is due.
pub(crate) type Alarm<'a> = &'a dyn Fn() -> Option<Instant>;

/// How a thread waits.
pub(crate) struct Wait {
    /// It comes back then.
    pub(crate) until: Option<Instant>,
    /// It is the one that waits for news.
    pub(crate) hears_news: bool,
}

impl<T> Deref for Board<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.work
    }
}

impl<T> DerefMut for Board<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.work
    }
}

impl<T: Work> Desk<T> {
    pub(crate) fn new(ready_set: Arc<ReadySet>, work: T) -> Self {
        let board = Board { work, followers: 0, watch: None, is_closed: false, has_news: false };
        Self { ready_set, board: Mutex::new(board) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Board<T>> {
        self.board.lock()
    }

    /// To be called before a thread leaves to execute something. `is_new`: there may be a timer
    /// that is due before the watcher wakes up.
    pub(crate) fn leave(&self, board: &Board<T>, is_new: bool, alarm: Alarm<'_>) {
        let Some(watch) = &board.watch else {
            let is_needed = board.followers > 0
                && (board.work.has_ready() || self.ready_set.is_shared() || alarm().is_some());
            return if is_needed { self.ready_set.wake_follower() } else { self.arm(board) };
        };
        if board.work.has_ready() {
            return self.call_one(board, watch);
        }
        if is_new && self.is_stale(watch, alarm()) || !watch.is_shared && self.ready_set.is_shared()
        {
            self.ready_set.wake_leader(watch.is_shared);
        }
        self.arm(board);
    }

    /// Sleeps until there may be something to do.
    pub(crate) fn wait(&self, mut board: MutexGuard<'_, Board<T>>, wait: &Wait, alarm: Alarm<'_>) {
        if board.is_closed || wait.hears_news && std::mem::take(&mut board.has_news) {
            return;
        }
        let due = alarm();
        if let Some(watch) = &board.watch {
            if self.is_stale(watch, due) {
                self.ready_set.wake_leader(watch.is_shared);
            }
            let following = self.ready_set.follower_wait();
            board.followers += 1;
            self.arm(&board);
            drop(board);
            following.wait(rest_of(wait.until));
            self.lock().followers -= 1;
        } else {
            let watching = self.ready_set.leader_wait();
            board.watch = Some(Watch { until: due, is_shared: watching.is_shared() });
            self.arm(&board);
            drop(board);
            watching.wait(rest_of(due.into_iter().chain(wait.until).min()));
            self.lock().watch = None;
        }
    }

    fn arm(&self, board: &Board<T>) {
        self.ready_set.arm(match &board.watch {
            _ if board.followers > 0 => Sleeper::Follower,
            Some(watch) => Sleeper::Leader { is_shared: watch.is_shared },
            None => Sleeper::Nobody,
        });
    }

    fn is_stale(&self, watch: &Watch, due: Option<Instant>) -> bool {
        let is_late = due.is_some_and(|due| watch.until.is_none_or(|until| due < until));
        is_late || !watch.is_shared && self.ready_set.is_shared()
    }

    fn call_one(&self, board: &Board<T>, watch: &Watch) {
        if board.followers > 0 {
            self.ready_set.wake_follower();
        } else {
            self.ready_set.wake_leader(watch.is_shared);
        }
    }

    fn call_all(&self, board: &Board<T>) {
        self.ready_set.wake_all_followers();
        if let Some(watch) = &board.watch {
            self.ready_set.wake_leader(watch.is_shared);
        }
    }

    /// Has the thread that waits for news look.
    pub(crate) fn tell_news(&self, board: &mut Board<T>) {
        board.has_news = true;
        self.call_all(board);
    }

    pub(crate) fn open(&self) {
        let mut board = self.lock();
        board.is_closed = false;
        board.has_news = false;
    }

    /// Sends all threads home.
    pub(crate) fn close(&self) {
        let mut board = self.lock();
        board.is_closed = true;
        self.call_all(&board);
    }
}

impl<T> Board<T> {
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

fn rest_of(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(Instant::now()))
}

#[cfg(all(test, loom))]
mod loom_tests;
