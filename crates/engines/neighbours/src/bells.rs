//! Bells: sockets at which a neighbourhood is told to look at the logs of others. What was
//! announced is in the logs, so a ring that is lost only delays this until the next look at all
//! logs.

use std::fs;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use feros_sync::{AtomicBool, Mutex, Ordering};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::JoinError;
use crate::folder::{Entry, Folder};

/// The datagram that means: look at the logs.
const LOOK: u8 = 1;
/// The datagram with which a neighbourhood wakes its own thread for another reason.
const WAKE: u8 = 0;

/// The fewest datagrams with which the queue of a socket may be full (net.unix.max_dgram_qlen).
const SHORTEST_QUEUE: usize = 8;

/// How many bells one socket rings. The datagrams that nobody has received yet share the buffer of
/// their sender, which has room for some 270. Processes that are stopped receive none.
const BELLS_OF_SOCKET: usize = 200;

/// After each look and each ring, its fourfold time passes before the next one, but at least and
/// at most these times. So a storm of announcements costs few looks and few rings.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// The pause after work that took so long.
pub(crate) fn pause_after(work: Duration) -> Duration {
    (4 * work).clamp(PAUSES.0, PAUSES.1)
}

/// The own bell, at which the thread of the neighbourhood waits.
pub(crate) struct Bell(UnixDatagram);

impl Bell {
    /// Makes the bell. It gets its name only when it answers, because others remove a bell that
    /// does not.
    pub(crate) fn make(folder: &Folder, name: u64) -> Result<Self, JoinError> {
        folder.make_file(|| {
            folder.remove(Entry::NewBell(name)); // an earlier attempt may have left it
            let draft = folder.path(Entry::NewBell(name));
            let socket = UnixDatagram::bind(&draft)?;
            socket.set_nonblocking(true)?;
            fs::rename(draft, folder.path(Entry::Bell(name)))?;
            Ok(Self(socket))
        })
    }

    /// Waits for a ring, for at most this time. Returns whether to look.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let time = Timespec::try_from(timeout).ok();
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], time.as_ref()) {
            Err(rustix::io::Errno::INTR) => return false,
            // Without a pause, the thread would take a whole processor.
            Err(_) => std::thread::park_timeout(timeout),
            Ok(_) => (),
        }
        let (mut word, mut looks) = ([WAKE], false);
        for count in 0..1000 {
            match self.0.recv(&mut word) {
                // If the queue was full, it may lack the datagram of another process.
                Ok(_) => looks |= word == [LOOK] || count >= SHORTEST_QUEUE,
                Err(_) => break,
            }
        }
        looks
    }
}

/// Rings the bells of others, and wakes the own thread.
pub(crate) struct Bells {
    folder: Arc<Folder>,
    name: u64,
    /// The thread that waits at the own bell.
    thread: OnceLock<Thread>,
    /// Whether the thread has to ring.
    is_due: AtomicBool,
    /// When the next ring is allowed.
    free_from: Mutex<Instant>,
}

impl Bells {
    pub(crate) fn new(folder: Arc<Folder>, name: u64) -> Self {
        let (thread, is_due) = (OnceLock::new(), AtomicBool::new(false));
        Self { folder, name, thread, is_due, free_from: Mutex::new(Instant::now()) }
    }

    /// The calling thread is the one that waits at the own bell.
    pub(crate) fn serve(&self) {
        let _ = self.thread.set(std::thread::current()); // there is only one such thread
    }

    /// Makes the own thread look.
    pub(crate) fn look(&self) {
        self.wake_with(LOOK);
    }

    /// Makes the own thread check why it was woken.
    pub(crate) fn wake(&self) {
        self.wake_with(WAKE);
    }

    fn wake_with(&self, word: u8) {
        if let Some(thread) = self.thread.get() {
            thread.unpark(); // it may be in a pause
        }
        if let Ok(socket) = sender() {
            let _ = send(&socket, word, &self.folder.path(Entry::Bell(self.name)));
        }
    }

    /// Rings, or leaves this to the own thread if there was a ring just now.
    pub(crate) fn ring(&self) {
        let is_free = *self.free_from.lock() <= Instant::now();
        if is_free {
            self.ring_now();
        } else if !self.is_due.swap(true, Ordering::AcqRel) {
            self.wake();
        }
    }

    /// When the thread has to ring.
    pub(crate) fn due_from(&self) -> Option<Instant> {
        self.is_due.load(Ordering::Acquire).then(|| *self.free_from.lock())
    }

    /// Rings if it is time. The thread calls this often.
    pub(crate) fn ring_if_due(&self) {
        if self.due_from().is_some_and(|from| from <= Instant::now()) {
            self.ring_now();
        }
    }

    /// Rings all bells of others, and removes those of processes that are gone. Returns how many
    /// others there are.
    pub(crate) fn ring_now(&self) -> usize {
        let start = Instant::now();
        *self.free_from.lock() = start + PAUSES.0;
        // What is announced from here on may be too late for this ring.
        self.is_due.store(false, Ordering::Release);
        let count = ring_all(&self.folder, self.name);
        let end = Instant::now();
        *self.free_from.lock() = end + pause_after(end - start);
        count
    }
}

fn ring_all(folder: &Folder, own: u64) -> usize {
    // Without a free descriptor, the others look a second later.
    let Ok(entries) = folder.list() else { return 1 };
    let others: Vec<u64> = entries
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Bell(name) if name != own => Some(name),
            _ => None,
        })
        .collect();
    let mut count = 0;
    for others in others.chunks(BELLS_OF_SOCKET) {
        let Ok(socket) = sender() else { return 1 };
        for &name in others {
            let is_there = send(&socket, LOOK, &folder.path(Entry::Bell(name)));
            if !is_there {
                remove_of_gone(folder, name);
            }
            count += usize::from(is_there);
        }
    }
    count
}

/// Removes the bell of a neighbourhood if its process is gone, together with what it has processed.
/// Returns whether it is gone.
pub(crate) fn remove_if_gone(folder: &Folder, name: u64) -> bool {
    let is_gone = !answers(folder, Entry::Bell(name));
    if is_gone {
        remove_of_gone(folder, name);
    }
    is_gone
}

fn remove_of_gone(folder: &Folder, name: u64) {
    folder.remove(Entry::Read(name));
    folder.remove(Entry::Bell(name));
}

/// Whether somebody listens at this bell. Without a free descriptor, this is assumed.
pub(crate) fn answers(folder: &Folder, bell: Entry) -> bool {
    sender().map_or(true, |socket| send(&socket, LOOK, &folder.path(bell)))
}

/// A socket for sending. It is not kept, so that the datagrams to processes that are stopped do not
/// fill its buffer.
fn sender() -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Returns whether there is a process behind this bell.
fn send(socket: &UnixDatagram, word: u8, bell: &Path) -> bool {
    use io::ErrorKind::{ConnectionRefused, NotFound};
    let sent = socket.send_to(&[word], bell);
    sent.map_or_else(|error| !matches!(error.kind(), ConnectionRefused | NotFound), |_| true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const LONG: Duration = Duration::from_secs(90);

    fn folder() -> (tempfile::TempDir, Arc<Folder>) {
        let base = tempfile::tempdir().unwrap();
        let folder = Arc::new(Folder::new(base.path(), 1, "").unwrap());
        (base, folder)
    }

    #[test]
    fn many_rings_are_one_reason_to_look() {
        let (_base, folder) = folder();
        let bells = Bells::new(folder.clone(), 1);
        let (_own, other) = (Bell::make(&folder, 1).unwrap(), Bell::make(&folder, 2).unwrap());
        for _ in 0..100 {
            assert_eq!(bells.ring_now(), 1);
        }
        assert!(other.wait(LONG));
        assert!(!other.wait(Duration::ZERO));
    }

    #[test]
    fn the_bell_of_a_process_that_is_gone_is_removed() {
        let (_base, folder) = folder();
        let bells = Bells::new(folder.clone(), 1);
        drop(Bell::make(&folder, 2).unwrap());
        let _alive = Bell::make(&folder, 3).unwrap();
        assert_eq!(bells.ring_now(), 1);
        assert_eq!(folder.list().unwrap(), [Entry::Bell(3)]);
    }

    #[test]
    fn a_ring_just_after_another_is_left_to_the_thread() {
        let (_base, folder) = folder();
        let bells = Bells::new(folder.clone(), 1);
        let (own, other) = (Bell::make(&folder, 1).unwrap(), Bell::make(&folder, 2).unwrap());
        bells.ring();
        assert!(bells.due_from().is_none() && other.wait(LONG));
        *bells.free_from.lock() += LONG;
        bells.ring();
        bells.ring();
        assert!(bells.due_from().is_some());
        assert!(!own.wait(LONG), "it is woken, but not to look");
        bells.ring_if_due();
        assert!(!other.wait(Duration::ZERO), "it is not time yet");
        *bells.free_from.lock() = Instant::now();
        bells.ring_if_due();
        assert!(other.wait(LONG) && bells.due_from().is_none());
    }
}
