//! The threads besides that of the sockets: one follows the graph and makes figures, the others
//! look up unknown types, which takes as long as the answers of nodes.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use feros_sync::{AtomicBool, Mutex, Ordering};

use crate::server::catalogue::TypeKey;
use crate::server::figures::FigureMaker;
use crate::server::hub::Hub;

/// The longest time until the threads notice the end.
const PERIOD: Duration = Duration::from_millis(200);
/// The period of figures.
const FIGURES_PERIOD: Duration = Duration::from_secs(1);
/// Changes of the graph come in groups: one look is enough for all changes within this time.
const SETTLING: Duration = Duration::from_millis(30);
/// The most types that wait for their lookup.
const LOOKUPS: usize = 1024;
/// The most lookups at a time: nodes that do not answer can block this many.
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
        // Made before the channel, so that the started threads end if another one cannot be
        // started.
        let mut watcher = Self { is_stopping: is_stopping.clone(), threads: Vec::new() };
        let (lookups, asked) = sync_channel(LOOKUPS);
        let asked = Arc::new(Mutex::new(asked));
        // The next look at the graph reports a type that was found.
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
        // The threads of lookups end with the other thread, which owns the sender of their channel.
        for thread in self.threads.drain(..) {
            // At worst the thread ended by a panic, which was logged.
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
    let (mut seen, mut figures) = (None, FigureMaker::new());
    let mut figures_due = Instant::now();
    while !is_stopping.load(Ordering::Relaxed) && context.is_ok() {
        let graph = context.graph();
        if seen != Some(graph.generation) || has_found.swap(false, Ordering::Relaxed) {
            seen = Some(graph.generation);
            for (topic, key) in hub.follow(&graph) {
                if let Err(TrySendError::Full((_, key))) = lookups.try_send((topic, key)) {
                    // The lookup is tried again later.
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
        // Without a change, or at the end, the loop checks by itself.
        let _ = context.wait_for_graph(PERIOD, || "the graph", changed);
    }
}

fn look_for_types(hub: &Hub, asked: &Mutex<Receiver<Lookup>>, has_found: &AtomicBool) {
    loop {
        // One of these threads waits for the next lookup, the others for their turn.
        let next = asked.lock().recv();
        let Ok((topic, key)) = next else { return };
        // Lookups from before the end are skipped.
        if !hub.node.context().is_ok() {
            continue;
        }
        let describe = hub.options.describe.as_ref();
        let schema = describe.and_then(|describe| describe(&topic, &key.0, key.1));
        hub.found_type(key, schema);
        has_found.store(true, Ordering::Relaxed);
    }
}
