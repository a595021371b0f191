//! Matches messages with the same stamp.

use std::collections::BTreeMap;

use feros_executor::Time;

use crate::policy::{AnyMessage, Policy, Sorted};

/// A policy by which messages belong together if their stamps are equal, like `ExactTime` and
/// `TimeSynchronizer` of `message_filters`.
///
/// A complete set drops all older sets, since their missing messages count as lost.
pub struct ExactTime {
    queue_size: usize,
    inputs: usize,
    sets: BTreeMap<Time, Vec<Option<AnyMessage>>>,
}

impl ExactTime {
    /// Creates a policy that keeps at most `queue_size` incomplete sets; 0 counts as 1.
    #[must_use]
    pub fn new(queue_size: usize) -> Self {
        Self { queue_size: queue_size.max(1), inputs: 0, sets: BTreeMap::new() }
    }
}

impl Policy for ExactTime {
    fn set_inputs(&mut self, count: usize) {
        self.inputs = count;
    }

    fn add(&mut self, input: usize, stamp: Time, message: AnyMessage, sorted: &mut Sorted) {
        let set = self.sets.entry(stamp).or_insert_with(|| vec![None; self.inputs]);
        let Some(place) = set.get_mut(input) else { return };
        sorted.dropped.extend(place.replace(message).map(|before| (input, before)));
        if set.iter().all(Option::is_some) {
            let newer = self.sets.split_off(&stamp);
            let older = std::mem::replace(&mut self.sets, newer);
            let complete = self.sets.remove(&stamp).unwrap_or_default();
            sorted.matched.push(complete.into_iter().flatten().collect());
            older.into_values().for_each(|set| drop_set(set, sorted));
        }
        while self.sets.len() > self.queue_size {
            let Some((_, oldest)) = self.sets.pop_first() else { return };
            drop_set(oldest, sorted);
        }
    }

    fn clear(&mut self, sorted: &mut Sorted) {
        let all = std::mem::take(&mut self.sets);
        all.into_values().for_each(|set| drop_set(set, sorted));
    }
}

fn drop_set(set: Vec<Option<AnyMessage>>, sorted: &mut Sorted) {
    let numbered = set.into_iter().enumerate();
    sorted.dropped.extend(numbered.filter_map(|(input, message)| Some((input, message?))));
}
