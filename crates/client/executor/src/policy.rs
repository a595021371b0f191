//! The interface to the code that decides which ready entity an executor executes next.

use crate::attributes::Attributes;
use feros_doorbell::Slot;

/// The ready queue of an executor: decides which ready entity is executed next.
///
/// The executor reports which entities exist and which of them have become ready, and asks once per
/// turn for the next entity. It makes all calls under its lock, one at a time. The methods must not
/// block, panic or use the executor, and only [`add`](Self::add) may allocate. Their cost should
/// not depend on the number of idle entities.
pub trait Policy: Send {
    /// An entity was added.
    fn add(&mut self, slot: Slot, attributes: &Attributes);

    /// An entity was removed. Returns whether the entity was ready or still had a [`Step::Run`]
    /// ahead of it.
    fn remove(&mut self, slot: Slot) -> bool;

    /// An entity has become ready. Repeated calls before its execution must lead to only one
    /// execution.
    fn make_ready(&mut self, slot: Slot);

    /// Returns the next step, whose entity is then no longer ready. The executor executes that
    /// entity, or makes it ready again later if it cannot run now.
    fn next(&mut self) -> Option<(Slot, Step)>;

    /// Whether [`next`](Self::next) may return a step. If not, the executor does not call `next`.
    fn has_ready(&self) -> bool;

    /// Whether overlapping entities would break the order. If so, the executor has one thread, even
    /// if its options ask for more.
    fn is_serial(&self) -> bool {
        false
    }
}

/// The work that one turn does on an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Execute a whole unit: [`Executable::execute`](crate::Executable::execute).
    Execute,
    /// Take the input of a unit: [`Executable::take`](crate::Executable::take).
    Take,
    /// Do the rest of the unit: [`Executable::run`](crate::Executable::run).
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
