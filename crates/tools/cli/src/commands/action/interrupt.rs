//! Handles Ctrl-C while a goal is running. The first signal ends the wait, but does not shut the
//! context down, so that the goal can still be canceled. A second signal ends the command at once.

use std::sync::Arc;
use std::thread::JoinHandle;

use feros::{Context, Stopper};
use feros_sync::Mutex;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::error::CliError;

/// Listens for SIGINT and SIGTERM until it is dropped.
pub(super) struct Interrupt {
    stopper: Arc<Mutex<Option<Stopper>>>,
    signals: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Interrupt {
    /// Starts to listen. The first signal shuts the context down, unless
    /// [`stop_instead`](Self::stop_instead) has been called.
    pub(super) fn listen(context: &Context) -> Result<Self, CliError> {
        let mut signals = Signals::new([SIGINT, SIGTERM])
            .map_err(|error| CliError::failed(format!("failed to listen for Ctrl-C: {error}")))?;
        let (handle, stopper) = (signals.handle(), Arc::new(Mutex::new(None::<Stopper>)));
        let (context, to_stop) = (context.clone(), stopper.clone());
        let listen = move || {
            let mut count = 0;
            for signal in &mut signals {
                count += 1;
                if count > 1 {
                    std::process::exit(128 + signal);
                }
                match &*to_stop.lock() {
                    Some(stopper) => stopper.stop(),
                    None => context.shutdown(),
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("action-signals".into())
            .spawn(listen)
            .map_err(|error| CliError::failed(format!("failed to start a thread: {error}")))?;
        Ok(Self { stopper, signals: handle, thread: Some(thread) })
    }

    /// From now on, the first signal stops this executor instead.
    pub(super) fn stop_instead(&self, stopper: Stopper) {
        *self.stopper.lock() = Some(stopper);
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.signals.close();
        // The context that the thread holds ends with the thread, and must end before the process.
        let ended = self.thread.take().map(JoinHandle::join);
        debug_assert!(!matches!(ended, Some(Err(_))), "listening for signals never panics");
    }
}
