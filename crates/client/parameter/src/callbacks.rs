//! Callbacks around changes of parameters. No lock is held while they run. They may read
//! parameters, but must not change them.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use feros_sync::Mutex;

use crate::error::SetParameterError;
use crate::value::NamedValue;

pub(crate) type PreSet = dyn Fn(&mut Vec<NamedValue>) + Send + Sync;
pub(crate) type OnSet = dyn Fn(&[NamedValue]) -> Result<(), String> + Send + Sync;
pub(crate) type PostSet = dyn Fn(&[NamedValue]) + Send + Sync;

/// The callbacks of one node. The callback that was added last runs first, as in `rclcpp`.
#[derive(Default)]
pub(crate) struct Callbacks(Mutex<Lists>);

#[derive(Default)]
struct Lists {
    next_number: u64,
    pre: Vec<(u64, Arc<PreSet>)>,
    on: Vec<(u64, Arc<OnSet>)>,
    post: Vec<(u64, Arc<PostSet>)>,
}

/// Keeps a callback registered; dropping the guard removes the callback.
#[must_use = "the callback is forgotten when this is dropped"]
pub struct ParameterCallbackGuard {
    callbacks: Weak<Callbacks>,
    number: u64,
}

impl Drop for ParameterCallbackGuard {
    fn drop(&mut self) {
        let Some(callbacks) = self.callbacks.upgrade() else { return };
        let removed = {
            let mut lists = callbacks.0.lock();
            let mine = |number: u64| number == self.number;
            let pre = lists.pre.iter().position(|(n, _)| mine(*n)).map(|at| lists.pre.remove(at));
            let on = lists.on.iter().position(|(n, _)| mine(*n)).map(|at| lists.on.remove(at));
            let post =
                lists.post.iter().position(|(n, _)| mine(*n)).map(|at| lists.post.remove(at));
            (pre, on, post)
        };
        drop(removed); // outside the lock: dropping the callback's captures may run any code
    }
}

thread_local! {
    /// The addresses of the `Callbacks` whose callbacks this thread is running.
    static RUNNING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Marks this thread as running callbacks until this value is dropped.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.with_borrow_mut(|running| running.pop());
    }
}

impl Callbacks {
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn run(&self) -> Running {
        RUNNING.with_borrow_mut(|running| running.push(self.address()));
        Running
    }

    /// Fails if this thread is running a callback of the same node, where a change would recurse
    /// without end.
    pub(crate) fn refuse_within(&self) -> Result<(), SetParameterError> {
        let within = RUNNING.with_borrow(|running| running.contains(&self.address()));
        if within { Err(SetParameterError::WithinCallback) } else { Ok(()) }
    }

    pub(crate) fn pre_set(&self, parameters: &mut Vec<NamedValue>) {
        let callbacks: Vec<_> =
            self.0.lock().pre.iter().rev().map(|(_, callback)| callback.clone()).collect();
        let _running = self.run();
        callbacks.iter().for_each(|callback| callback(parameters));
    }

    pub(crate) fn on_set(&self, parameters: &[NamedValue]) -> Result<(), SetParameterError> {
        let callbacks: Vec<_> =
            self.0.lock().on.iter().rev().map(|(_, callback)| callback.clone()).collect();
        let _running = self.run();
        let verdict = callbacks.iter().try_for_each(|callback| callback(parameters));
        verdict.map_err(|reason| SetParameterError::Refused { reason })
    }

    pub(crate) fn post_set(&self, parameters: &[NamedValue]) {
        let callbacks: Vec<_> =
            self.0.lock().post.iter().rev().map(|(_, callback)| callback.clone()).collect();
        let _running = self.run();
        callbacks.iter().for_each(|callback| callback(parameters));
    }

    pub(crate) fn add_pre_set(self: &Arc<Self>, callback: Arc<PreSet>) -> ParameterCallbackGuard {
        self.add(|lists, number| lists.pre.push((number, callback)))
    }

    pub(crate) fn add_on_set(self: &Arc<Self>, callback: Arc<OnSet>) -> ParameterCallbackGuard {
        self.add(|lists, number| lists.on.push((number, callback)))
    }

    pub(crate) fn add_post_set(self: &Arc<Self>, callback: Arc<PostSet>) -> ParameterCallbackGuard {
        self.add(|lists, number| lists.post.push((number, callback)))
    }

    fn add(self: &Arc<Self>, add: impl FnOnce(&mut Lists, u64)) -> ParameterCallbackGuard {
        let mut lists = self.0.lock();
        lists.next_number += 1;
        let number = lists.next_number;
        add(&mut lists, number);
        ParameterCallbackGuard { callbacks: Arc::downgrade(self), number }
    }
}
