//! Shutting down: on request, and on SIGINT and SIGTERM.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, Weak};

use feros_sync::Mutex;

/// What a signal shuts down.
pub(crate) trait ShutDown: Send + Sync {
    /// Ends all spinning and waiting.
    fn shut_down(&self);
}

/// Contexts that a signal shuts down.
static LISTENING: Mutex<Vec<Weak<dyn ShutDown>>> = Mutex::new(Vec::new());

/// Whether the signal handler is in place; a failure is said once, and the program goes on without
/// it.
static INSTALLED: OnceLock<bool> = OnceLock::new();

/// Has SIGINT and SIGTERM shut the context down. A second signal ends the process at once, for a
/// program that hangs.
pub(crate) fn on_signals(context: Weak<dyn ShutDown>) {
    let mut listening = LISTENING.lock();
    listening.retain(|context| context.strong_count() > 0);
    listening.push(context);
    drop(listening);
    INSTALLED.get_or_init(|| match install() {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!("SIGINT and SIGTERM will not shut down cleanly: {error}; if threads are what lacks, raise `ulimit -u`");
            false
        }
    });
}

fn install() -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("feros-signal".into()).spawn(move || {
        static CALLED: AtomicBool = AtomicBool::new(false);
        for signal in &mut signals {
            if CALLED.swap(true, Ordering::Relaxed) {
                std::process::exit(128 + signal);
            }
            let contexts = std::mem::take(&mut *LISTENING.lock());
            contexts.iter().filter_map(Weak::upgrade).for_each(|context| context.shut_down());
        }
    })?;
    Ok(())
}
