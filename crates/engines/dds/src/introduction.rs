//! Records which servers know a client's reader of replies. A server discovers the two endpoints of
//! a client one after the other, so a request may arrive before the server knows the reader of
//! replies. The server then waits for the reader for at most 100 ms. A reply that is written before
//! the reader is known never reaches the client. So if the library can tell, a service counts as
//! available only after the participant of the server has acknowledged the announcement of the
//! reader.

use std::sync::{Arc, OnceLock, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use feros_engine::{FailureCounter, Gid, Notify};
use feros_sync::Mutex;

use crate::library::Endpoint;

/// How long dropping a client may wait for the thread that waits for servers.
const PATIENCE: Duration = Duration::from_millis(20);

type Prefix = [u8; 12];

/// The part of a reader of replies that an introduction uses.
pub(crate) trait ReplyReader: Send + Sync + 'static {
    /// See [`Endpoint::KNOWS_WHO_READ_ANNOUNCEMENTS`].
    const KNOWS_WHO_READ_ANNOUNCEMENTS: bool;

    /// See [`Endpoint::matched_gids`].
    fn matched_gids(&self) -> Vec<Gid>;

    /// See [`Endpoint::is_announced_to`].
    fn is_announced_to(&self, other: Gid, patience: Duration) -> bool;
}

impl<E: Endpoint> ReplyReader for E {
    const KNOWS_WHO_READ_ANNOUNCEMENTS: bool = <E as Endpoint>::KNOWS_WHO_READ_ANNOUNCEMENTS;

    fn matched_gids(&self) -> Vec<Gid> {
        Endpoint::matched_gids(self)
    }

    fn is_announced_to(&self, other: Gid, patience: Duration) -> bool {
        Endpoint::is_announced_to(self, other, patience)
    }
}

/// Waits until the servers of one client have acknowledged the client's reader of replies. Dropping
/// this value waits for its thread.
pub(crate) struct Introduction<R: ReplyReader>(Arc<Shared<R>>);

struct Shared<R> {
    service: String,
    /// This function is called when a writer of replies matches or leaves, or when the participant
    /// of such a writer learns of the client.
    on_change: Notify,
    /// The client's reader of replies. It is set after the reader has been created, because the
    /// creation needs [`on_match`](Introduction::on_match).
    replies: OnceLock<Weak<R>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The participants that know the client and have a writer of replies.
    known_to: Vec<Prefix>,
    /// Whether `known_to` has a participant that `on_change` has not been called for. A call that
    /// looked a moment earlier may have found the service unavailable.
    has_news: bool,
    /// Whether the matches have changed since the thread last examined them.
    has_changed: bool,
    is_closed: bool,
    is_running: bool,
    /// The thread that waits for servers. It starts when the client must wait for a server, and
    /// ends when all servers know the client.
    thread: Option<JoinHandle<()>>,
}

impl<R: ReplyReader> Introduction<R> {
    pub(crate) fn new(service: &str, on_change: Notify) -> Self {
        Self(Arc::new(Shared {
            service: service.to_owned(),
            on_change,
            replies: OnceLock::new(),
            state: Mutex::default(),
        }))
    }

    /// Returns the notification for changes of the matching writers of replies. The library holds
    /// its own locks while it calls the notification, so the notification only tells the thread to
    /// examine the writers.
    pub(crate) fn on_match(&self) -> Notify {
        let shared = Arc::downgrade(&self.0);
        Arc::new(move || {
            if let Some(shared) = shared.upgrade() {
                (shared.on_change)();
                shared.look();
            }
        })
    }

    /// Starts to wait until the servers know this reader of replies.
    pub(crate) fn begin(&self, replies: &Arc<R>) {
        if !R::KNOWS_WHO_READ_ANNOUNCEMENTS {
            return;
        }
        self.0.replies.get_or_init(|| Arc::downgrade(replies));
        if !self.0.all_know(replies, Duration::ZERO) {
            self.0.look();
        }
    }

    /// Whether the participant of this writer of replies knows the client.
    pub(crate) fn is_known_to(&self, answerer: Gid) -> bool {
        if !R::KNOWS_WHO_READ_ANNOUNCEMENTS {
            return true;
        }
        let prefix = answerer.participant_prefix();
        self.0.state.lock().known_to.contains(&prefix)
            || self
                .0
                .replies()
                .is_some_and(|replies| self.0.wait(&replies, answerer, Duration::ZERO))
    }
}

impl<R: ReplyReader> Shared<R> {
    fn replies(&self) -> Option<Arc<R>> {
        self.replies.get()?.upgrade()
    }

    /// Makes the thread examine the matches. Starts the thread if it does not run.
    fn look(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.has_changed = true;
        if state.is_closed || state.is_running || self.replies.get().is_none() {
            return;
        }
        let shared = self.clone();
        let run = move || while shared.introduce() {};
        match thread::Builder::new().name("feros-announce".into()).spawn(run) {
            Ok(thread) => (state.thread, state.is_running) = (Some(thread), true),
            Err(error) => {
                static FAILED: FailureCounter = FailureCounter::new();
                if let Some(so_far) = FAILED.so_far() {
                    tracing::error!(
                        "a client of {} may not learn that its service is available, because no \
                         thread can be started: {error}{so_far}; raise `ulimit -u`",
                        self.service
                    );
                }
            }
        }
    }

    /// Runs one iteration of the thread. Returns whether to continue.
    fn introduce(&self) -> bool {
        let mut state = self.state.lock();
        let replies = self.replies().filter(|_| !state.is_closed);
        let Some(replies) = replies else {
            state.is_running = false;
            return false;
        };
        state.has_changed = false;
        drop(state);
        let all_know = self.all_know(&replies, PATIENCE);
        let mut state = self.state.lock();
        state.is_running = !all_know || state.has_changed;
        state.is_running
    }

    /// Waits for each server that does not know the client yet, for at most `patience` each.
    /// Returns whether all servers know the client.
    fn all_know(&self, replies: &R, patience: Duration) -> bool {
        let answerers = replies.matched_gids();
        let mut state = self.state.lock();
        state
            .known_to
            .retain(|known| answerers.iter().any(|gid| gid.participant_prefix() == *known));
        let mut waited_for = answerers;
        waited_for.retain(|gid| !state.known_to.contains(&gid.participant_prefix()));
        drop(state);
        let mut all_know = true;
        self.tell();
        for answerer in waited_for {
            all_know &= self.wait(replies, answerer, patience);
            self.tell();
        }
        all_know
    }

    /// Calls `on_change` if there is news.
    fn tell(&self) {
        if std::mem::take(&mut self.state.lock().has_news) {
            (self.on_change)();
        }
    }

    /// Waits until the participant of the writer `answerer` knows the client. Returns false after
    /// `timeout`.
    fn wait(&self, replies: &R, answerer: Gid, timeout: Duration) -> bool {
        if !replies.is_announced_to(answerer, timeout) {
            return false;
        }
        let (prefix, mut state) = (answerer.participant_prefix(), self.state.lock());
        if !state.known_to.contains(&prefix) {
            state.known_to.push(prefix);
            state.has_news = true;
        }
        true
    }
}

impl<R: ReplyReader> Drop for Introduction<R> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_closed = true;
        let thread = state.thread.take();
        drop(state);
        if let Some(thread) = thread {
            drop(thread.join()); // a panic has already been reported
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, sync_channel};

    use feros_test_support::until;

    use super::*;

    const ANSWERER: Gid = Gid([7; 16]);

    /// A reader of replies that matches one writer. A wait ends when the test sends its result.
    struct Replies {
        is_acknowledged: AtomicBool,
        results: Mutex<Receiver<bool>>,
    }

    impl ReplyReader for Replies {
        const KNOWS_WHO_READ_ANNOUNCEMENTS: bool = true;

        fn matched_gids(&self) -> Vec<Gid> {
            vec![ANSWERER]
        }

        fn is_announced_to(&self, _: Gid, patience: Duration) -> bool {
            if patience.is_zero() {
                return self.is_acknowledged.load(Ordering::Acquire);
            }
            self.results.lock().recv().unwrap_or(false)
        }
    }

    /// Two threads ask whether the service is available. The first one may get the answer before
    /// the acknowledgement arrives, and the second one after that. The first one must learn of the
    /// change, even if the thread of the introduction has not noticed the acknowledgement itself.
    #[test]
    fn what_one_call_finds_out_is_told_to_the_others() {
        let (sender, receiver) = sync_channel(1);
        let replies = Arc::new(Replies {
            is_acknowledged: AtomicBool::new(false),
            results: Mutex::new(receiver),
        });
        let changes = Arc::new(AtomicUsize::new(0));
        let counter = changes.clone();
        let on_change = move || {
            counter.fetch_add(1, Ordering::Relaxed);
        };
        let introduction = Introduction::new("/switch", Arc::new(on_change));
        let results = sender; // dropped before the introduction, which waits for its thread
        introduction.begin(&replies);
        assert!(!introduction.is_known_to(ANSWERER));
        replies.is_acknowledged.store(true, Ordering::Release);
        assert!(introduction.is_known_to(ANSWERER));
        results.send(false).unwrap();
        until("the change is told", || changes.load(Ordering::Relaxed) > 0);
    }
}
