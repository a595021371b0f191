//! What an executor asks which of the ready entities is next.

use crate::attributes::Attributes;
use feros_doorbell::Slot;

/// The ready queue of an executor: decides which ready entity is executed next.
///
/// The executor tells it which entities there are and which of them have become ready, and asks
/// once per turn. All calls come under the executor's lock, one at a time: they must not block,
/// panic, use the executor or, but for [`add`](Self::add), allocate. Their cost should not
/// depend on the number of idle entities.
pub trait Policy: Send {
    /// An entity has come.
    fn add(&mut self, slot: Slot, attributes: &Attributes);

    /// An entity has gone. Says whether it was ready, or due for another step.
    fn remove(&mut self, slot: Slot) -> bool;

    /// An entity has become ready; it may be so already, which is no reason to execute it twice.
    fn make_ready(&mut self, slot: Slot);

    /// What to do next; the entity is ready no more. An entity that is given away here is executed,
    /// or made ready again later where it cannot be now.
    fn next(&mut self) -> Option<(Slot, Step)>;

    /// Whether [`next`](Self::next) may give something; the executor does not ask it where this is
    /// false.
    fn has_ready(&self) -> bool;

    /// Whether the order is broken if entities overlap: then one thread spins, however many the
    /// executor could have.
    fn is_serial(&self) -> bool {
        false
    }
}

/// What is done with an entity in one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A whole unit: [`Executable::execute`](crate::Executable::execute).
    Execute,
    /// The input of a unit: [`Executable::take`](crate::Executable::take).
    Take,
    /// The rest of it: [`Executable::run`](crate::Executable::run).
    Run,
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn add(&mut self, slot: Slot, attributes: &Attributes) {
        (**self).add(slot, attributes);
    }

    fn remove(&mut self, slot: Slot) -> bool {
        (**self).remove(slot)
    }

    fn make_ready(&mut self, slot: Slot) {
        (**self).make_ready(slot);
    }

    fn next(&mut self) -> Option<(Slot, Step)> {
        (**self).next()
    }

    fn has_ready(&self) -> bool {
        (**self).has_ready()
    }

    fn is_serial(&self) -> bool {
        (**self).is_serial()
    }
}
