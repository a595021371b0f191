//! The trace of the process: the rings of the threads, and the file to which the rings are written.

use feros_sync::Mutex;
use std::cell::OnceCell;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use crate::event::{Event, ThreadEvents};
use crate::file::{TraceFile, WriteError};
use crate::ring::Ring;
use crate::switch::enable;

/// The number of events that each thread keeps. An event takes 48 bytes.
pub const DEFAULT_CAPACITY: usize = 32_768;
/// The largest number of events that a thread keeps.
const LARGEST_CAPACITY: usize = 16 << 20;
/// The limit on the number of traced threads. A thread that has ended counts until its events are
/// read. Further threads are not traced but only counted.
const MOST_THREADS: usize = 256;

static CAPACITY: AtomicUsize = AtomicUsize::new(DEFAULT_CAPACITY);
/// The file of the process. A thread holds this lock while it writes the file, and also while it
/// reads the rings, so that the rings have only one reader at a time. This is locked before
/// [`THREADS`].
static FILE: Mutex<Option<TraceFile>> = Mutex::new(None);
/// This is locked only for a very short time, because the first event of a thread waits for this
/// lock.
static THREADS: Mutex<Threads> = Mutex::new(Threads { traced: Vec::new(), refused: 0 });

thread_local! {
    static MINE: OnceCell<Option<Arc<Ring>>> = const { OnceCell::new() };
}

struct Threads {
    traced: Vec<Thread>,
    refused: u64,
}

#[derive(Clone)]
struct Thread {
    id: u64,
    name: String,
    ring: Arc<Ring>,
}

/// Starts to record events like [`enable`], and creates the file of the process in this folder.
/// [`write`](fn@write) writes to that file.
///
/// # Errors
/// The folder or the file cannot be created. In this case, no events are recorded.
pub fn enable_in(folder: &FilePath) -> Result<(), WriteError> {
    let mut file = FILE.lock();
    if file.is_none() {
        *file = Some(TraceFile::create(folder)?);
    }
    drop(file);
    enable();
    Ok(())
}

/// Limits the files of the process to this many bytes. If a file would exceed half of the limit, a
/// new file is started, and of the older files only the last one is kept.
pub(crate) fn bound_file(bytes: u64) {
    if let Some(file) = &mut *FILE.lock() {
        file.bound(bytes);
    }
}

/// Sets the number of events that a thread keeps, from 1 to 16 million. This affects only threads
/// that have not recorded an event yet.
pub fn set_capacity(events: usize) {
    CAPACITY.store(events.clamp(1, LARGEST_CAPACITY), Ordering::Relaxed);
}

/// Records an event in the ring of this thread. The first event of a thread allocates the ring.
/// Later events allocate nothing and never wait.
pub fn record(event: Event) {
    // A thread that is ending no longer has a ring.
    let _ = MINE.try_with(|mine| {
        if let Some(ring) = mine.get_or_init(new_ring) {
            ring.push(event.to_words());
        }
    });
}

#[cold]
fn new_ring() -> Option<Arc<Ring>> {
    let (id, name) = this_thread();
    let mut threads = THREADS.lock();
    if threads.traced.len() >= MOST_THREADS {
        threads.refused += 1;
        return None;
    }
    let ring = Arc::new(Ring::new(CAPACITY.load(Ordering::Relaxed)));
    threads.traced.push(Thread { id, name, ring: Arc::clone(&ring) });
    Some(ring)
}

/// The id and the name of the thread in the operating system. There, threads that were started by C
/// code also have a name.
fn this_thread() -> (u64, String) {
    let link = std::fs::read_link("/proc/thread-self").ok();
    let id = link.and_then(|path| path.file_name()?.to_str()?.parse().ok()).unwrap_or(0);
    let name = std::fs::read_to_string("/proc/thread-self/comm")
        .ok()
        .map(|name| name.trim_end().to_owned());
    let name = name.or_else(|| std::thread::current().name().map(str::to_owned));
    (id, name.unwrap_or_default())
}

/// Returns the events that were recorded since the last call of this function or of
/// [`write`](fn@write). The file will not contain these events.
pub fn drain() -> Vec<ThreadEvents> {
    let _file = FILE.lock();
    read_rings()
}

/// Writes the events that were recorded since the last call to the file of the process, and marks
/// the file as complete. Does nothing if there is no file.
///
/// Every context calls this when it is shut down and when it ends.
///
/// # Errors
/// The file cannot be written. In this case, the events are lost.
pub fn write() -> Result<(), WriteError> {
    let mut file = FILE.lock();
    let Some(file) = &mut *file else { return Ok(()) };
    let threads = read_rings();
    let refused = THREADS.lock().refused;
    file.complete(&threads, refused)
}

/// Writes the events like [`write`](fn@write), but without marking the file as complete.
pub(crate) fn write_so_far() -> Result<(), WriteError> {
    let mut file = FILE.lock();
    let Some(file) = &mut *file else { return Ok(()) };
    file.append(&read_rings())
}

/// The path of the file that [`write`](fn@write) writes to.
pub fn file() -> Option<PathBuf> {
    FILE.lock().as_ref().map(|file| file.path().to_owned())
}

/// The events that all threads have recorded since the last call. The caller must hold the lock
/// [`FILE`].
fn read_rings() -> Vec<ThreadEvents> {
    let mut all = Vec::new();
    // The ring of a thread that has ended is read one last time.
    THREADS.lock().traced.retain(|thread| {
        let is_running = Arc::strong_count(&thread.ring) > 1;
        all.push(thread.clone());
        is_running
    });
    fence(Ordering::Acquire); // this makes the last events of ended threads visible
    let read = |thread: Thread| {
        let (events, overwritten) = thread.ring.drain();
        let events = events.into_iter().filter_map(Event::from_words).collect();
        ThreadEvents { thread: thread.id, name: thread.name, events, overwritten }
    };
    all.into_iter()
        .map(read)
        .filter(|thread| !thread.events.is_empty() || thread.overwritten > 0)
        .collect()
}

/// Ensures that only one test at a time turns the trace on. Each of these tests turns the trace off
/// at its end.
#[cfg(all(test, not(loom)))]
pub(crate) fn alone() -> impl Drop {
    use crate::switch::disable;

    static ALONE: Mutex<()> = Mutex::new(());
    struct Alone(
        #[allow(dead_code, reason = "held until it is dropped")]
        feros_sync::MutexGuard<'static, ()>,
    );
    impl Drop for Alone {
        fn drop(&mut self) {
            disable();
            drain();
        }
    }
    let alone = Alone(ALONE.lock());
    disable();
    drain();
    alone
}
