//! The threads of the server, apart from the thread that serves the sockets. One thread follows the
//! graph, and each second sends the page its numbers, such as rates and memory. The others look up
//! unknown types, and wait until nodes answer.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use feros_sync::{AtomicBool, Mutex, Ordering};

use crate::server::catalogue::TypeKey;
use crate::server::figures::FigureMaker;
use crate::server::hub::Hub;

/// The longest time until the threads notice that the server ends.
const PERIOD: Duration = Duration::from_millis(200);
/// How often numbers are sent.
const FIGURES_PERIOD: Duration = Duration::from_secs(1);
/// Changes of the graph come in groups, so all changes within this time are handled together.
const SETTLING: Duration = Duration::from_millis(30);
/// The limit on types that wait for their lookup.
const LOOKUPS: usize = 1024;
/// The limit on simultaneous lookups; nodes that do not answer can block this many.
const LOOKUPS_AT_A_TIME: usize = 8;

type Lookup = (String, TypeKey);

/// The threads, which end when this value is dropped.
pub(crate) struct Watcher {
    is_stopping: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Watcher {
    pub(crate) fn start(hub: &Arc<Hub>) -> std::io::Result<Self> {
        let is_stopping = Arc::new(AtomicBool::new(false));
        // This is created before the channel, so that the started threads end if another one cannot
        // be started.
        let mut watcher = Self { is_stopping: is_stopping.clone(), threads: Vec::new() };
        let (lookups, asked) = sync_channel(LOOKUPS);
        let asked = Arc::new(Mutex::new(asked));
        // Tells the thread that follows the graph to report types that have been found.
        let has_found = Arc::new(AtomicBool::new(false));
        for _ in 0..LOOKUPS_AT_A_TIME {
            let (looking, asked, found) = (hub.clone(), asked.clone(), has_found.clone());
            let thread = Builder::new().name("feros-view-types".into());
            watcher.threads.push(thread.spawn(move || look_for_types(&looking, &asked, &found))?);
        }
        let hub = hub.clone();
        let graph = Builder::new().name("feros-view-graph".into());
        watcher.threads.push(graph.spawn(move || {
            follow_graph(&hub, &is_stopping, &lookups, &has_found);
        })?);
        Ok(watcher)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::Relaxed);
        // The lookup threads end when the thread that follows the graph ends, since it owns the
        // sender of their channel.
        for thread in self.threads.drain(..) {
            // If the thread ended with a panic, the panic was logged.
            let _ = thread.join();
        }
    }
}

fn follow_graph(
    hub: &Hub,
    is_stopping: &AtomicBool,
    lookups: &SyncSender<Lookup>,
    has_found: &AtomicBool,
) {
    let context = hub.node.context();
    let (mut seen, mut figures) = (None, FigureMaker::default());
    let mut figures_due = Instant::now();
    while !is_stopping.load(Ordering::Relaxed) && context.is_ok() {
        let graph = context.graph();
        if seen != Some(graph.generation) || has_found.swap(false, Ordering::Relaxed) {
            seen = Some(graph.generation);
            for (topic, key) in hub.follow(&graph) {
                if let Err(TrySendError::Full((_, key))) = lookups.try_send((topic, key)) {
                    // The catalogue starts another lookup later.
                    hub.found_type(key, None);
                }
            }
            std::thread::sleep(SETTLING);
        }
        if Instant::now() >= figures_due {
            figures.tell(hub, &graph);
            figures_due = Instant::now() + FIGURES_PERIOD;
        }
        let changed = || context.graph().generation != graph.generation;
        // After a timeout, the loop checks whether the server ends or figures are due.
        let _ = context.wait_for_graph(PERIOD, || "the graph", changed);
    }
}

fn look_for_types(hub: &Hub, asked: &Mutex<Receiver<Lookup>>, has_found: &AtomicBool) {
    loop {
        // One of these threads waits for the next lookup, and the others wait for the lock.
        let next = asked.lock().recv();
        let Ok((topic, key)) = next else { return };
        // Once the node's context has ended, waiting lookups are skipped.
        if !hub.node.context().is_ok() {
            continue;
        }
        let describe = hub.options.describe.as_ref();
        let schema = describe.and_then(|describe| describe(&topic, &key.0, key.1));
        hub.found_type(key, schema);
        has_found.store(true, Ordering::Relaxed);
    }
}
