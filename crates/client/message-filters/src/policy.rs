//! Policies decide which messages belong together. A policy gets inputs as numbers and messages
//! with their stamps, so that one implementation serves any number of inputs.

use std::any::Any;
use std::sync::Arc;

use feros_executor::Time;

/// A message of any type.
pub type AnyMessage = Arc<dyn Any + Send + Sync>;

/// The decisions of a policy about messages.
#[derive(Default)]
pub struct Sorted {
    /// Sets of messages that belong together, one of each input, in the order of the inputs.
    pub matched: Vec<Vec<AnyMessage>>,
    /// Messages that will not be matched, each with the number of its input.
    pub dropped: Vec<(usize, AnyMessage)>,
    /// The number of messages whose stamp is before the stamp of an earlier message, or follows
    /// that stamp sooner than the policy expects. The policy uses these messages nevertheless.
    pub irregular: u64,
}

/// Decides which messages belong together.
pub trait Policy: Send + 'static {
    /// Sets the number of inputs, which is at least 2. This is called once, before all other
    /// methods.
    fn set_inputs(&mut self, count: usize);

    /// Takes a message, and adds the resulting decisions to `sorted`.
    fn add(&mut self, input: usize, stamp: Time, message: AnyMessage, sorted: &mut Sorted);

    /// Drops all messages, for example because time has jumped back.
    fn clear(&mut self, sorted: &mut Sorted);
}
