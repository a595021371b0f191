//! The callback groups of one executor: which groups are busy, and which entities wait for a busy
//! group.

use crate::attributes::ExclusiveGroup;
use feros_doorbell::Slot;

/// The number of a group within its executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupNumber(usize);

#[derive(Default)]
pub(crate) struct Groups(Vec<Entry>);

#[derive(Default)]
struct Entry {
    /// The group; `None` if the entry is free.
    group: Option<ExclusiveGroup>,
    members: usize,
    is_busy: bool,
    /// The members that are ready, but wait because another member is being executed.
    parked: Vec<Slot>,
}

impl Groups {
    pub(crate) fn join(&mut self, group: &ExclusiveGroup) -> GroupNumber {
        let known = self.0.iter().position(|entry| entry.group.as_ref() == Some(group));
        let number = known.or_else(|| self.0.iter().position(|entry| entry.group.is_none()));
        let number = number.unwrap_or_else(|| {
            self.0.push(Entry::default());
            self.0.len() - 1
        });
        let entry = &mut self.0[number];
        entry.group.get_or_insert_with(|| group.clone());
        entry.members += 1;
        entry.parked.reserve(entry.members - entry.parked.len()); // so that `push` never allocates
        GroupNumber(number)
    }

    pub(crate) fn leave(&mut self, number: GroupNumber) {
        let entry = &mut self.0[number.0];
        entry.members -= 1;
        if entry.members == 0 {
            entry.group = None;
        }
    }

    /// Makes the group busy and returns true if the member may be executed now; otherwise parks the
    /// member and returns false.
    pub(crate) fn enter(&mut self, number: GroupNumber, slot: Slot) -> bool {
        let entry = &mut self.0[number.0];
        if !entry.is_busy {
            entry.is_busy = true;
            return true;
        }
        if !entry.parked.contains(&slot) {
            entry.parked.push(slot);
        }
        false
    }

    /// Makes the group free, and returns the parked members.
    pub(crate) fn exit(&mut self, number: GroupNumber) -> impl Iterator<Item = Slot> {
        let entry = &mut self.0[number.0];
        entry.is_busy = false;
        entry.parked.drain(..)
    }

    /// Removes a member from the parked members. Returns whether the member was parked.
    pub(crate) fn dismiss(&mut self, number: GroupNumber, slot: Slot) -> bool {
        let parked = &mut self.0[number.0].parked;
        let place = parked.iter().position(|&member| member == slot);
        place.map(|place| parked.swap_remove(place)).is_some()
    }
}
