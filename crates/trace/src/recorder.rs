//! The process's trace: whether it is on, the rings of its threads, and where they are written.

use feros_sync::Mutex;
use std::cell::OnceCell;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::endpoint;
use crate::event::{Event, ThreadEvents};
use crate::file::{TraceFile, WriteError};
use crate::ring::Ring;

/// The variable that turns the trace of a program on: the folder for its file.
pub const FOLDER_VARIABLE: &str = "FEROS_TRACE";
/// The variable for the number of events that each thread keeps, [`DEFAULT_CAPACITY`] if it is not
/// set.
pub const CAPACITY_VARIABLE: &str = "FEROS_TRACE_EVENTS";
/// Events that each thread keeps; 48 bytes each.
pub const DEFAULT_CAPACITY: usize = 32_768;
/// No thread keeps more.
const LARGEST_CAPACITY: usize = 16 << 20;
/// Threads beyond that, those that ended included, are not traced, and said to be so.
const MOST_THREADS: usize = 256;

static ON: AtomicBool = AtomicBool::new(false);
static CAPACITY: AtomicUsize = AtomicUsize::new(DEFAULT_CAPACITY);
static TRACE: Mutex<Trace> =
    Mutex::new(Trace { threads: Vec::new(), refused_threads: 0, file: None });

thread_local! {
    static MINE: OnceCell<Option<Arc<Ring>>> = const { OnceCell::new() };
}

struct Trace {
    threads: Vec<Thread>,
    refused_threads: u64,
    file: Option<TraceFile>,
}

struct Thread {
    id: u64,
    name: String,
    ring: Arc<Ring>,
}

/// Whether points are recorded. One relaxed load.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Has points recorded from now on, to be read with [`drain`].
pub fn enable() {
    ON.store(true, Ordering::Relaxed);
}

/// As [`enable`], and makes the process's file in this folder, which [`write`](fn@write) writes to.
///
/// # Errors
/// When the folder or the file cannot be made; points are not recorded then.
pub fn enable_in(folder: &FilePath) -> Result<(), WriteError> {
    let mut trace = TRACE.lock();
    if trace.file.is_none() {
        trace.file = Some(TraceFile::create(folder)?);
    }
    drop(trace);
    enable();
    Ok(())
}

/// Points are not recorded from now on. What was recorded stays to be read.
pub fn disable() {
    ON.store(false, Ordering::Relaxed);
}

/// How many events each thread keeps whose first event is yet to come, at least one; more are cut
/// to 16 million.
pub fn set_capacity(events: usize) {
    CAPACITY.store(events.clamp(1, LARGEST_CAPACITY), Ordering::Relaxed);
}

/// Why the environment's wish for a trace was not granted.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// The number of events is none.
    #[error(
        "FEROS_TRACE_EVENTS is {0:?}, which is no number of events above 0: leave it out for {DEFAULT_CAPACITY} per thread"
    )]
    Capacity(String),
    /// The file cannot be made.
    #[error("FEROS_TRACE: {0}")]
    Write(#[from] WriteError),
}

/// Turns the trace on if [`FOLDER_VARIABLE`] says so. Called by every context, so that a program
/// need not.
///
/// # Errors
/// When what the environment asks for cannot be done.
pub fn enable_from_environment() -> Result<(), EnvironmentError> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let Some(folder) = variable(FOLDER_VARIABLE) else { return Ok(()) };
    if let Some(events) = variable(CAPACITY_VARIABLE) {
        let text = events.to_string_lossy();
        let count = text.parse().ok().filter(|count: &usize| *count > 0);
        set_capacity(count.ok_or_else(|| EnvironmentError::Capacity(text.into_owned()))?);
    }
    Ok(enable_in(&PathBuf::from(folder))?)
}

/// Records an event in the ring of this thread, which is made with its first one. Never waits;
/// allocates nothing after that.
pub fn record(event: Event) {
    // A thread that is ending has no ring any more.
    let _ = MINE.try_with(|mine| {
        if let Some(ring) = mine.get_or_init(new_ring) {
            ring.push(event.to_words());
        }
    });
}

#[cold]
fn new_ring() -> Option<Arc<Ring>> {
    let (id, name) = this_thread();
    let mut trace = TRACE.lock();
    if trace.threads.len() >= MOST_THREADS {
        trace.refused_threads += 1;
        return None;
    }
    let ring = Arc::new(Ring::new(CAPACITY.load(Ordering::Relaxed)));
    trace.threads.push(Thread { id, name, ring: Arc::clone(&ring) });
    Some(ring)
}

/// The thread's number and name as the system knows them: those of C threads too.
fn this_thread() -> (u64, String) {
    let link = std::fs::read_link("/proc/thread-self").ok();
    let id = link.and_then(|path| path.file_name()?.to_str()?.parse().ok()).unwrap_or(0);
    let name = std::fs::read_to_string("/proc/thread-self/comm")
        .ok()
        .map(|name| name.trim_end().to_owned());
    let name = name.or_else(|| std::thread::current().name().map(str::to_owned));
    (id, name.unwrap_or_default())
}

/// What the threads have recorded since the last call. Those that a program takes so are in no
/// file.
pub fn drain() -> Vec<ThreadEvents> {
    TRACE.lock().drain()
}

/// Writes to the process's file what was recorded since the last time, and says there that the
/// process has done so. Without a file it does nothing.
///
/// Every context calls it when it is shut down and when it ends.
///
/// # Errors
/// When the file cannot be written; what was to be written is lost.
pub fn write() -> Result<(), WriteError> {
    let mut trace = TRACE.lock();
    if trace.file.is_none() {
        return Ok(());
    }
    let (threads, refused) = (trace.drain(), trace.refused_threads);
    let names = endpoint::endpoints();
    match &mut trace.file {
        Some(file) => file.append(&names, &threads, refused),
        None => Ok(()),
    }
}

/// The file that [`write`](fn@write) writes to.
pub fn file() -> Option<PathBuf> {
    TRACE.lock().file.as_ref().map(|file| file.path().to_owned())
}

impl Trace {
    fn drain(&mut self) -> Vec<ThreadEvents> {
        let read = |thread: &Thread| {
            let (events, overwritten) = thread.ring.drain();
            let events = events.into_iter().filter_map(Event::from_words).collect();
            ThreadEvents { thread: thread.id, name: thread.name.clone(), events, overwritten }
        };
        let all: Vec<_> = self.threads.iter().map(read).collect();
        // The thread has ended, and its events are read.
        self.threads.retain(|thread| Arc::strong_count(&thread.ring) > 1);
        all.into_iter()
            .filter(|thread| !thread.events.is_empty() || thread.overwritten > 0)
            .collect()
    }
}

/// The trace is the process's: tests that turn it on take turns, and leave it off.
#[cfg(all(test, not(loom)))]
pub(crate) fn alone() -> impl Drop {
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
