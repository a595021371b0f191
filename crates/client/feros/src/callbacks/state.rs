//! Lets the methods of a struct be callbacks. Several callbacks then share state, and no closure
//! needs a lock or a clone of its own.

use std::sync::Arc;
use std::thread::{self, ThreadId};

use feros_sync::{Condvar, Mutex};

/// A struct whose methods are the callbacks of a node. Clones share the struct.
///
/// One method runs at a time; a second method that is called on another thread waits for it.
/// Callbacks of one mutually exclusive group, such as the default group of a node, never wait for
/// each other, because they never overlap.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros::msgs::geometry_msgs::msg::Twist;
/// use feros::msgs::std_msgs::msg::Bool;
/// use feros::{CallbackState, Publisher};
/// use std::time::Duration;
///
/// struct Controller {
///     is_enabled: bool,
///     command: Twist,
///     motor: Publisher<Twist>,
/// }
///
/// impl Controller {
///     fn enable(&mut self, enable: Bool) {
///         self.is_enabled = enable.data;
///     }
///
///     fn command(&mut self, command: Twist) {
///         self.command = command;
///     }
///
///     fn control(&mut self) {
///         if !self.is_enabled {
///             return;
///         }
///         if let Err(error) = self.motor.publish(&self.command) {
///             tracing::error!("{error}");
///         }
///     }
/// }
///
/// let motor = node.create_publisher("motor", 10)?;
/// let controller = Controller { is_enabled: false, command: Twist::default(), motor };
/// let controller = CallbackState::new(controller);
/// let _enable = node.create_subscription("enable", 1, controller.callback(Controller::enable))?;
/// let _command = node.create_subscription("cmd_vel", 1, controller.callback(Controller::command))?;
/// let control = controller.timer_callback(Controller::control);
/// let _timer = node.create_wall_timer(Duration::from_millis(10), control)?;
/// # Ok::<(), feros::Error>(())
/// ```
///
/// # Panics
/// A method that accesses the state a second time would wait for itself forever, so it panics
/// instead. This happens, for example, if the method publishes a message and direct dispatch calls
/// another method on the same thread.
pub struct CallbackState<T>(Arc<Shared<T>>);

/// The storage of the state. A method takes the state out while it runs, so that no lock is held
/// during the call.
struct Shared<T> {
    place: Mutex<Place<T>>,
    given_back: Condvar,
}

enum Place<T> {
    Here(Box<T>),
    /// A method that runs on this thread has taken the state out.
    Taken(ThreadId),
}

impl<T> Clone for CallbackState<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Send + 'static> CallbackState<T> {
    /// Wraps the state that callbacks will share.
    pub fn new(state: T) -> Self {
        let place = Mutex::new(Place::Here(Box::new(state)));
        Self(Arc::new(Shared { place, given_back: Condvar::new() }))
    }

    /// Makes a callback with one argument: a message in any form, or a request whose response the
    /// method returns.
    pub fn callback<A, R, F>(&self, mut method: F) -> impl FnMut(A) -> R + Send + use<T, A, R, F>
    where
        F: FnMut(&mut T, A) -> R + Send + 'static,
        A: 'static,
        R: 'static,
    {
        let state = self.clone();
        move |argument| state.with(|state| method(state, argument))
    }

    /// Makes a callback with two arguments: a message and its [`MessageInfo`](crate::MessageInfo),
    /// or a request and its [`Responder`](crate::Responder).
    pub fn callback_with<A, B, R, F>(
        &self,
        mut method: F,
    ) -> impl FnMut(A, B) -> R + Send + use<T, A, B, R, F>
    where
        F: FnMut(&mut T, A, B) -> R + Send + 'static,
        A: 'static,
        B: 'static,
        R: 'static,
    {
        let state = self.clone();
        move |first, second| state.with(|state| method(state, first, second))
    }

    /// Makes a callback without arguments, for a timer or a guard condition.
    pub fn timer_callback<F>(&self, mut method: F) -> impl FnMut() + Send + use<T, F>
    where
        F: FnMut(&mut T) + Send + 'static,
    {
        let state = self.clone();
        move || state.with(|state| method(state))
    }

    /// Reads or changes the state from outside a callback. No lock is held during the call, but
    /// callbacks of this state wait until it has ended.
    ///
    /// # Panics
    /// When `look` panics, or when a method of the state calls this function.
    pub fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        let mut taken = self.take();
        look(taken.state.as_mut().expect("it is there until it is given back"))
    }

    fn take(&self) -> Taken<'_, T> {
        let this_thread = thread::current().id();
        let mut place = self.0.place.lock();
        loop {
            match std::mem::replace(&mut *place, Place::Taken(this_thread)) {
                Place::Here(state) => return Taken { shared: &self.0, state: Some(state) },
                Place::Taken(thread) => {
                    *place = Place::Taken(thread);
                    assert!(
                        thread != this_thread,
                        "a method of this callback state called another one, through direct \
                         dispatch or through `with`, while the state is in use; publish after the \
                         method has returned, or call the other method directly"
                    );
                    place = self.0.given_back.wait(place);
                }
            }
        }
    }
}

/// The state, taken out for a method that runs. Dropping this value puts the state back, even
/// during a panic.
struct Taken<'a, T> {
    shared: &'a Shared<T>,
    state: Option<Box<T>>,
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            *self.shared.place.lock() = Place::Here(state);
            self.shared.given_back.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(work: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
        thread::Builder::new().name("adding".into()).spawn(work).expect("a thread can be started")
    }

    #[test]
    fn methods_run_one_at_a_time_and_see_each_other_s_changes() {
        let state = CallbackState::new(0_u64);
        let add = |count: u64| {
            let mut callback = state.callback(|sum: &mut u64, more: u64| {
                let before = *sum;
                thread::yield_now();
                *sum = before + more;
                *sum
            });
            move || {
                for _ in 0..count {
                    callback(1);
                }
            }
        };
        let adding: Vec<_> = (0..4).map(|_| named(add(1000))).collect();
        adding.into_iter().for_each(|adding| adding.join().expect("no panic"));
        assert_eq!(state.with(|sum| *sum), 4000);
        state.timer_callback(|sum| *sum = 1)();
        assert_eq!(state.callback_with(|sum, a: u64, b: u64| *sum + a + b)(2, 3), 6);
    }

    #[test]
    fn a_method_that_gets_at_its_own_state_says_so_and_leaves_it_usable() {
        let state = CallbackState::new(1);
        let inner = state.clone();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            state.with(|_| inner.with(|number| *number))
        }));
        let text = caught.expect_err("it would wait for itself");
        let text = text.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(text.contains("while the state is in use"), "{text}");
        assert_eq!(state.with(|number| *number), 1);
    }
}
