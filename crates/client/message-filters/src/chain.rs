//! Chains of filters, which a program puts together at run time.

use std::sync::Arc;

use crate::input::Input;
use crate::outlet::Outlet;

/// The limit on messages that wait while the last closure is busy on another thread.
const MESSAGES_THAT_WAIT: usize = 1000;

/// A step makes its own input from the input of the step after it.
type Step<M> = Box<dyn FnOnce(Input<M>) -> Input<M>>;

/// A chain of filters, like `Chain` of `message_filters`.
///
/// ```
/// use feros_message_filters::{Cache, Chain};
/// use feros_msgs::sensor_msgs::msg::Imu;
/// use std::sync::Arc;
///
/// let cache = Cache::<Imu>::new(100);
/// let chain = Chain::new()
///     .keep(|imu: &Imu| imu.header.frame_id == "imu_link")
///     .then({ let cache = cache.clone(); move |next| cache.before(next) });
/// let input = chain.end(|imu| println!("{:?}", imu.angular_velocity));
/// input(Arc::default());
/// assert!(cache.is_empty(), "it was of another frame");
/// ```
#[must_use = "a chain takes messages once it has an end"]
pub struct Chain<M> {
    steps: Vec<Step<M>>,
}

impl<M> Default for Chain<M> {
    fn default() -> Self {
        Self { steps: Vec::new() }
    }
}

impl<M: Send + Sync + 'static> Chain<M> {
    /// Creates a chain without filters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a filter: a closure that makes its input from the next input, such as
    /// [`Cache::before`](crate::Cache::before).
    pub fn then(mut self, step: impl FnOnce(Input<M>) -> Input<M> + 'static) -> Self {
        self.steps.push(Box::new(step));
        self
    }

    /// Adds a filter that passes on only messages for which `is_wanted` returns true.
    pub fn keep(self, is_wanted: impl Fn(&M) -> bool + Send + Sync + 'static) -> Self {
        self.then(move |next| {
            Box::new(move |message| {
                if is_wanted(&message) {
                    next(message);
                }
            })
        })
    }

    /// Ends the chain with an input of another filter; returns the input of the chain.
    pub fn end_with(self, last: Input<M>) -> Input<M> {
        self.steps.into_iter().rev().fold(last, |next, step| step(next))
    }

    /// Ends the chain with a closure, which one thread at a time calls; returns the input of the
    /// chain. While the closure is busy on another thread, up to 1000 messages wait for it; if
    /// there are more, the oldest messages are dropped.
    pub fn end(self, callback: impl FnMut(Arc<M>) + Send + 'static) -> Input<M> {
        let outlet = Outlet::new(MESSAGES_THAT_WAIT, callback);
        self.end_with(Box::new(move |message| {
            drop(outlet.put(message));
            outlet.deliver();
        }))
    }
}
