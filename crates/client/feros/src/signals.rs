//! Handles the signals that end a program: SIGINT and SIGTERM shut contexts down.
//!
//! A second signal ends the process immediately, in case the program hangs. However, terminals and
//! launchers may send a signal twice, and a session that closes sends SIGHUP. A program that must
//! finish work after the first signal, such as a recorder that closes its file, calls
//! [`set_patience`].
//!
//! ```no_run
//! use std::time::Duration;
//! feros::signals::set_patience(Duration::from_secs(10));
//! let context = feros::Context::from_env()?;
//! // ... spin, then write the remaining data ...
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use feros_sync::Mutex;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// A context that a signal shuts down.
pub(crate) trait ShutDown: Send + Sync {
    /// Ends all spinning and waiting.
    fn shut_down(&self);
}

/// The contexts that a signal shuts down.
static LISTENING: Mutex<Vec<Weak<dyn ShutDown>>> = Mutex::new(Vec::new());

/// The signal handler; `None` if it cannot be installed, which is logged once.
static INSTALLED: OnceLock<Option<Handle>> = OnceLock::new();

/// The duration of [`set_patience`], in milliseconds.
static PATIENCE_MILLIS: AtomicU64 = AtomicU64::new(0);

/// Makes the process ignore further signals for this time after the first signal, and treat SIGHUP
/// like SIGINT. Signals after this time end the process immediately. If the process ignores SIGHUP,
/// for example because `nohup` started it, SIGHUP stays ignored.
///
/// This takes effect when the first context is made or the first function is registered with
/// [`on_signal`]. Until then, there is nothing to finish, and a signal ends the process.
pub fn set_patience(patience: Duration) {
    let millis = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
    PATIENCE_MILLIS.store(millis, Ordering::SeqCst);
    if INSTALLED.get().is_some() {
        handle_signals();
    }
}

/// Keeps a function registered that is called at the first signal; dropping this value removes the
/// function.
#[must_use = "the function is called as long as this lives"]
pub struct OnSignal(
    #[expect(dead_code, reason = "the handler has a weak reference to it")] Arc<dyn ShutDown>,
);

/// Registers `end`. The thread that handles signals calls it at the first signal that ends the
/// program.
///
/// ```
/// let stopper = feros::Executor::new().stopper();
/// let _listening = feros::signals::on_signal(move || stopper.stop());
/// ```
pub fn on_signal(end: impl Fn() + Send + Sync + 'static) -> OnSignal {
    struct Call<F>(F);
    impl<F: Fn() + Send + Sync> ShutDown for Call<F> {
        fn shut_down(&self) {
            (self.0)();
        }
    }
    let called: Arc<dyn ShutDown> = Arc::new(Call(end));
    listen(Arc::downgrade(&called));
    OnSignal(called)
}

/// Makes the first signal shut `context` down.
pub(crate) fn listen(context: Weak<dyn ShutDown>) {
    let mut listening = LISTENING.lock();
    listening.retain(|context| context.strong_count() > 0);
    listening.push(context);
    drop(listening);
    handle_signals();
}

/// Installs the signal handler, if this has not been done yet. If there is patience, the handler
/// also handles SIGHUP.
fn handle_signals() {
    let installed = INSTALLED.get_or_init(|| match install() {
        Ok(handle) => Some(handle),
        Err(error) => {
            tracing::warn!(
                "SIGINT and SIGTERM will not shut down cleanly: {error}; if the limit of \
                 threads is reached, raise `ulimit -u`"
            );
            None
        }
    });
    if let Some(handle) = installed
        && PATIENCE_MILLIS.load(Ordering::SeqCst) > 0
        && let Some(hangup) = feros_process::hangup_to_handle()
    {
        // This fails only for signals that no program may handle.
        let _ = handle.add_signal(hangup);
    }
}

fn install() -> std::io::Result<Handle> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let handle = signals.handle();
    std::thread::Builder::new().name("feros-signal".into()).spawn(move || {
        let mut first: Option<Instant> = None;
        for signal in &mut signals {
            let patience = Duration::from_millis(PATIENCE_MILLIS.load(Ordering::Relaxed));
            match first {
                Some(first) if first.elapsed() < patience => {}
                Some(_) => std::process::exit(128 + signal),
                None => {
                    first = Some(Instant::now());
                    let ended = std::mem::take(&mut *LISTENING.lock());
                    ended.iter().filter_map(Weak::upgrade).for_each(|ended| ended.shut_down());
                }
            }
        }
    })?;
    Ok(handle)
}
