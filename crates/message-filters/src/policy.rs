//! What decides which messages belong together. Policies see inputs by number and messages by
//! stamp, so that one implementation serves any number of inputs.

use std::any::Any;
use std::sync::Arc;

use feros_executor::Time;

/// A message of any type.
pub type AnyMessage = Arc<dyn Any + Send + Sync>;

/// What a policy made of the messages that it had.
#[derive(Default)]
pub struct Sorted {
    /// Messages that belong together, one of each input in the order of the inputs.
    pub matched: Vec<Vec<AnyMessage>>,
    /// Messages that will not be matched, each with the number of its input.
    pub dropped: Vec<(usize, AnyMessage)>,
    /// Messages that came after one with a later stamp, or sooner after it than the policy was told
    /// that they do. They are used all the same.
    pub irregular: u64,
}

/// Which messages belong together.
pub trait Policy: Send + 'static {
    /// Told once, before all else: the number of inputs, at least 2.
    fn set_inputs(&mut self, count: usize);

    /// Takes a message, and says what comes of it.
    fn add(&mut self, input: usize, stamp: Time, message: AnyMessage, sorted: &mut Sorted);

    /// Forgets all messages, as when time jumps back.
    fn clear(&mut self, sorted: &mut Sorted);
}
