//! The messages of one publisher that one of the engines has already delivered.
//!
//! A publisher on two engines gives a message the same number on both engines. Each engine delivers
//! in order, so the received numbers usually form one range that grows at its end.

/// The limit on ranges that are remembered. A message in a gap between older ranges counts as
/// received.
const REMEMBERED_RANGES: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The first and last numbers of the received ranges, in ascending order, with gaps between
    /// them.
    ranges: Vec<(u64, u64)>,
    /// Whether each engine has delivered a message.
    pub(crate) by: [bool; 2],
}

impl Heard {
    /// Records a message, and returns whether it is new. If `in_order` is true, a message with a
    /// smaller number than an earlier message does not count as new, because messages must not
    /// arrive out of order.
    pub(crate) fn note(&mut self, number: u64, in_order: bool) -> bool {
        let last = self.ranges.last().map_or(0, |range| range.1);
        if number > last {
            match self.ranges.last_mut() {
                Some(range) if range.1.saturating_add(1) == number => range.1 = number,
                _ => self.ranges.push((number, number)),
            }
        } else if in_order || !self.fill(number) {
            return false;
        }
        if self.ranges.len() > REMEMBERED_RANGES {
            let oldest = self.ranges.remove(0);
            self.ranges[0].0 = oldest.0;
        }
        true
    }

    /// Records a message in a gap between ranges. Returns false if the message was received before.
    fn fill(&mut self, number: u64) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < number);
        if self.ranges[at].0 <= number {
            return false;
        }
        let follows = at > 0 && self.ranges[at - 1].1 + 1 == number;
        let precedes = number + 1 == self.ranges[at].0;
        match (follows, precedes) {
            (true, true) => {
                self.ranges[at - 1].1 = self.ranges[at].1;
                self.ranges.remove(at);
            }
            (true, false) => self.ranges[at - 1].1 = number,
            (false, true) => self.ranges[at].0 = number,
            (false, false) => self.ranges.insert(at, (number, number)),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_number_is_new_once() {
        let mut heard = Heard::default();
        let mut known = BTreeSet::new();
        let mut state = 7_u64;
        for _ in 0..5000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Only 16 different numbers exist, so no range is ever forgotten.
            let number = state >> 60;
            assert_eq!(heard.note(number.max(1), false), known.insert(number.max(1)), "{number}");
        }
        assert_eq!(heard.ranges, [(1, 15)]);
        assert!(heard.note(u64::MAX, false) && !heard.note(u64::MAX, false));
    }

    #[test]
    fn in_order_nothing_is_filled() {
        let mut heard = Heard::default();
        let new: Vec<_> = [3, 5, 4, 5, 6].map(|number| heard.note(number, true)).into();
        assert_eq!(new, [true, true, false, false, true]);
    }

    #[test]
    fn many_gaps_cost_no_memory() {
        let mut heard = Heard::default();
        for number in 1..1000 {
            assert!(heard.note(number * 2, false));
            assert!(heard.ranges.len() <= REMEMBERED_RANGES);
        }
        assert!(!heard.note(3, false), "it is too old to be remembered");
        assert!(heard.note(1997, false));
    }
}
