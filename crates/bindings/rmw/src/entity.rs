//! The part of a subscription, client or server that wait sets and the callback thread use. It
//! outlives the endpoint while a thread waits for it.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::c_void;
use std::sync::Arc;

use feros_engine::Notify;
use feros_executor::{Ringer, Waitable};

use crate::callback_thread::{CallbackThread, Told};
use crate::error::Failure;
use crate::ffi::rmw_event_callback_t;
use crate::inbox::{Inbox, Source};
use crate::listener::Listener;

/// The arrived items of an endpoint, and the callback for new ones.
pub(crate) struct Entity<S: Source> {
    ringer: Ringer,
    pub(crate) inbox: Inbox<S>,
    listener: Listener,
    /// Called after the inbox has pushed out items.
    on_loss: Notify,
}

impl<S: Source + 'static> Entity<S> {
    pub(crate) fn new(inbox: Inbox<S>, ringer: Ringer, on_loss: Notify) -> Arc<Self> {
        Arc::new(Self { ringer, inbox, listener: Listener::default(), on_loss })
    }

    /// Sets or clears the callback, which the thread then calls with the number of new items.
    ///
    /// # Safety
    /// The callback may be called with the data on any thread until another callback is set.
    pub(crate) unsafe fn listen(
        self: &Arc<Self>,
        thread: &Arc<CallbackThread>,
        callback: rmw_event_callback_t,
        user_data: *const c_void,
    ) -> Result<(), Failure> {
        // SAFETY: [callbacks] the function may be called with its data until it is replaced.
        unsafe { self.listener.set(callback, user_data) };
        thread.listen(Arc::clone(self) as Arc<dyn Told>, callback.is_some())
    }

    /// Clears the callback, and drops the items that were not taken.
    pub(crate) fn close(self: &Arc<Self>, thread: &CallbackThread) {
        self.listener.clear();
        thread.remove(&(Arc::clone(self) as Arc<dyn Told>));
        self.inbox.close();
    }
}

impl<S: Source> Waitable for Entity<S> {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn is_ready(&self) -> bool {
        self.inbox.has_item()
    }
}

impl<S: Source> Told for Entity<S> {
    fn ringer(&self) -> &Ringer {
        &self.ringer
    }

    fn has_news(&self) -> bool {
        self.listener.is_set() && self.inbox.has_news(|| (self.on_loss)())
    }

    fn tell(&self) {
        self.listener.tell(|| self.inbox.count_news());
    }
}
