//! The policy with a fixed order and a condition for the beginning of a round, as in the executor
//! of rclc.

use super::keyed::{BySlot, KeyedQueue};
use crate::attributes::Attributes;
use crate::policy::{Policy, Step};
use feros_doorbell::Slot;
use feros_doorbell::SlotSet;
use std::fmt;

/// Executes entities in rounds with a fixed order. When the [trigger](Trigger) holds, all ready
/// entities are executed once, in the order of their [positions](Attributes::position); entities
/// without a position follow, in the order in which they were added. Entities that become ready
/// during a round wait for the next round. The executor has only one thread.
///
/// The trigger only considers entities with a position. If no such entity is ready, the other
/// entities are executed without waiting for the trigger, so that the sequence does not delay
/// services and events of the node that do not belong to it. Until the trigger holds, messages stay
/// in their queues.
///
/// With [`let_semantics`](Self::let_semantics), a round first takes the inputs of all its entities
/// and then executes them (logical execution time). A message that one of them publishes during the
/// round is taken only in the next round.
pub struct Sequence {
    trigger: Trigger,
    is_let: bool,
    keys: BySlot<Key>,
    added: u64,
    /// The number of slots with a position. `ready_members` counts those that are ready.
    members: usize,
    ready_members: usize,
    waiting: SlotSet,
    round: KeyedQueue<Key>,
    /// The slots of the current round whose inputs have been taken.
    taken: KeyedQueue<Key>,
    is_taking: bool,
}

/// Slots with positions come first, in the order of the positions. The other slots follow, in the
/// order in which their entities were added.
type Key = (bool, u32, u64);

/// The condition under which a round of a [`Sequence`] begins.
pub enum Trigger {
    /// One of the entities with a position is ready.
    Any,
    /// All entities with a position are ready.
    All,
    /// The entity at this position is ready.
    One(u32),
    /// The closure, which gets the ready positions, returns true. It must neither block nor
    /// allocate.
    Custom(Box<dyn FnMut(&ReadyPositions<'_>) -> bool + Send>),
}

/// The positions in a [`Sequence`] whose entities are ready.
pub struct ReadyPositions<'a> {
    sequence: &'a BySlot<Key>,
    waiting: &'a SlotSet,
}

impl ReadyPositions<'_> {
    /// Whether an entity at this position is ready.
    pub fn contains(&self, position: u32) -> bool {
        self.iter().any(|ready| ready == position)
    }

    /// Iterates over the positions, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let keys = self.waiting.iter().filter_map(|slot| self.sequence.value(slot));
        keys.filter(|key| is_member(key)).map(|&(_, position, _)| position)
    }
}

fn is_member(&(is_without, _, _): &Key) -> bool {
    !is_without
}

impl Sequence {
    /// Makes a policy whose rounds begin when the trigger holds.
    pub fn new(trigger: Trigger) -> Self {
        Self {
            trigger,
            is_let: false,
            keys: BySlot::default(),
            added: 0,
            members: 0,
            ready_members: 0,
            waiting: SlotSet::default(),
            round: KeyedQueue::default(),
            taken: KeyedQueue::default(),
            is_taking: false,
        }
    }

    /// Makes each round take the inputs of all its entities before the first of these entities is
    /// executed.
    #[must_use]
    pub fn let_semantics(self) -> Self {
        Self { is_let: true, ..self }
    }

    /// Begins a round if the previous one has ended and the trigger permits it.
    fn begin(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let holds = match &mut self.trigger {
            Trigger::Any => self.ready_members > 0,
            Trigger::All => self.ready_members > 0 && self.ready_members == self.members,
            Trigger::One(position) => {
                ReadyPositions { sequence: &self.keys, waiting: &self.waiting }.contains(*position)
            }
            Trigger::Custom(holds) => {
                self.ready_members > 0
                    && holds(&ReadyPositions { sequence: &self.keys, waiting: &self.waiting })
            }
        };
        let mut from = Slot::FIRST;
        let mut left = SlotSet::default();
        while let Some(slot) = self.waiting.first_from(from) {
            self.waiting.remove(slot);
            from = slot;
            let Some(&key) = self.keys.value(slot) else { continue };
            if holds || !is_member(&key) {
                self.round.push(slot, || key);
            } else {
                left.insert(slot);
            }
        }
        self.waiting = left;
        if holds {
            self.ready_members = 0;
        }
        self.is_taking = self.is_let && !self.round.is_empty();
    }

    fn step(&mut self) -> Option<(Slot, Step)> {
        let Self { keys, round, taken, is_taking, .. } = self;
        if *is_taking {
            if let Some(slot) = round.pop() {
                taken.push(slot, || keys.value(slot).copied().unwrap_or_default());
                return Some((slot, Step::Take));
            }
            *is_taking = false;
        }
        if let Some(slot) = taken.pop() {
            return Some((slot, Step::Run));
        }
        round.pop().map(|slot| (slot, Step::Execute))
    }
}

impl Default for Sequence {
    fn default() -> Self {
        Self::new(Trigger::Any)
    }
}

impl Policy for Sequence {
    fn add(&mut self, slot: Slot, attributes: &Attributes) {
        self.added += 1;
        let key =
            (attributes.position.is_none(), attributes.position.unwrap_or_default(), self.added);
        self.members += usize::from(is_member(&key));
        let count = self.keys.insert(slot, key);
        self.round.reserve(count);
        self.taken.reserve(count);
    }

    fn remove(&mut self, slot: Slot) -> bool {
        let is_of_members = self.keys.remove(slot).is_some_and(|key| is_member(&key));
        let waits = self.waiting.remove(slot);
        self.members -= usize::from(is_of_members);
        self.ready_members -= usize::from(is_of_members && waits);
        let (is_next, has_input) = (self.round.remove(slot), self.taken.remove(slot));
        waits || is_next || has_input
    }

    fn make_ready(&mut self, slot: Slot) {
        if self.waiting.insert(slot) && self.keys.value(slot).is_some_and(is_member) {
            self.ready_members += 1;
        }
    }

    fn next(&mut self) -> Option<(Slot, Step)> {
        self.step().or_else(|| {
            self.begin();
            self.step()
        })
    }

    fn has_ready(&self) -> bool {
        !self.round.is_empty() || !self.taken.is_empty() || !self.waiting.is_empty()
    }

    fn is_serial(&self) -> bool {
        true
    }
}

impl fmt::Debug for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("Any"),
            Self::All => f.write_str("All"),
            Self::One(position) => f.debug_tuple("One").field(position).finish(),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence")
            .field("trigger", &self.trigger)
            .field("is_let", &self.is_let)
            .field("round", &self.round)
            .finish_non_exhaustive()
    }
}
