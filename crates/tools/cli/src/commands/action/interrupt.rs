//! Handles the signals that end the command while a goal is running. The first signal ends the
//! wait, but does not shut the context down, so that the goal can still be canceled.

use std::sync::Arc;

use feros::signals::{self, OnSignal};
use feros::{Context, Stopper};
use feros_sync::Mutex;

use crate::ending;

/// Listens for signals until it is dropped.
pub(super) struct Interrupt {
    first: Arc<Mutex<AtFirstSignal>>,
    _listening: OnSignal,
}

/// The effect of the first signal.
enum AtFirstSignal {
    ShutDown(Context),
    Stop(Stopper),
    Nothing,
}

impl Interrupt {
    /// Starts to listen. The first signal shuts the context down, unless
    /// [`stop_instead`](Self::stop_instead) has been called.
    pub(super) fn listen(context: &Context) -> Self {
        ending::in_peace();
        let first = Arc::new(Mutex::new(AtFirstSignal::ShutDown(context.clone())));
        let at_first = first.clone();
        let listening = signals::on_signal(move || match &*at_first.lock() {
            AtFirstSignal::ShutDown(context) => context.shutdown(),
            AtFirstSignal::Stop(stopper) => stopper.stop(),
            AtFirstSignal::Nothing => {}
        });
        Self { first, _listening: listening }
    }

    /// Makes the first signal stop an executor instead.
    pub(super) fn stop_instead(&self, stopper: Stopper) {
        *self.first.lock() = AtFirstSignal::Stop(stopper);
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        // The thread that handles signals may still hold the function, but must not hold the
        // context, which has to end before the process.
        *self.first.lock() = AtFirstSignal::Nothing;
    }
}
