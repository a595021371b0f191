//! Policies decide which messages belong together. They see inputs by number and messages by stamp,
//! so that one implementation serves any number of inputs.

use std::any::Any;
use std::sync::Arc;

use feros_executor::Time;

/// A message of any type.
pub type AnyMessage = Arc<dyn Any + Send + Sync>;

/// The decisions of a policy.
#[derive(Default)]
pub struct Sorted {
    /// Messages that belong together, one of each input in the order of the inputs.
    pub matched: Vec<Vec<AnyMessage>>,
    /// Messages that will not be matched, each with the number of its input.
    pub dropped: Vec<(usize, AnyMessage)>,
    /// Messages that came after one with a later stamp, or sooner after it than the policy expects.
    /// The policy uses them all the same.
    pub irregular: u64,
}

/// Decides which messages belong together.
pub trait Policy: Send + 'static {
    /// Called once, before everything else: the number of inputs, at least 2.
    fn set_inputs(&mut self, count: usize);

    /// Takes a message, and adds the resulting decisions to `sorted`.
    fn add(&mut self, input: usize, stamp: Time, message: AnyMessage, sorted: &mut Sorted);

    /// Forgets all messages, as when time jumps back.
    fn clear(&mut self, sorted: &mut Sorted);
}
