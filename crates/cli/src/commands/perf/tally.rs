//! Which messages arrived: once, twice, late, or never.

/// A number that is so far ahead of all others is none of ours: it would make the memory of what
/// arrived huge.
const MAX_JUMP: u64 = 1 << 24;

/// Counts the measured messages by their numbers; those below `warmup` do not count.
#[derive(Debug)]
pub(super) struct Tally {
    warmup: u64,
    /// One bit per measured number.
    seen: Vec<u64>,
    /// One more than the highest number that arrived.
    next: u64,
    received: u64,
    duplicates: u64,
    reordered: u64,
}

/// What a message is to the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It was sent before the measurement.
    WarmUp,
    /// It counts.
    New,
    /// It arrived before.
    Duplicate,
    /// Its number is absurd.
    Refused,
}

impl Tally {
    /// Expects about `expected` messages after `warmup` others.
    pub(super) fn new(warmup: u64, expected: u64) -> Self {
        let words = expected.min(MAX_JUMP) / 64 + 1;
        Self {
            warmup,
            seen: vec![0; words as usize],
            next: 0,
            received: 0,
            duplicates: 0,
            reordered: 0,
        }
    }

    /// Notes the arrival of a message.
    pub(super) fn note(&mut self, sequence: u64) -> Arrival {
        if sequence >= self.next.saturating_add(MAX_JUMP) {
            return Arrival::Refused;
        }
        let late = sequence < self.next;
        self.next = self.next.max(sequence + 1);
        let Some(number) = sequence.checked_sub(self.warmup) else { return Arrival::WarmUp };
        let (word, bit) = ((number / 64) as usize, 1 << (number % 64));
        if word >= self.seen.len() {
            self.seen.resize((word + 1).next_power_of_two(), 0);
        }
        if self.seen[word] & bit != 0 {
            self.duplicates += 1;
            return Arrival::Duplicate;
        }
        self.seen[word] |= bit;
        self.received += 1;
        self.reordered += u64::from(late);
        Arrival::New
    }

    /// Measured messages that arrived, each counted once.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// Arrivals of measured messages that had arrived before.
    pub(super) fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Measured messages that arrived after one with a higher number.
    pub(super) fn reordered(&self) -> u64 {
        self.reordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(warmup: u64, numbers: &[u64]) -> Tally {
        let mut tally = Tally::new(warmup, 4);
        for &number in numbers {
            tally.note(number);
        }
        tally
    }

    #[test]
    fn warm_up_does_not_count() {
        let tally = tally(2, &[0, 1, 2, 3]);
        assert_eq!((tally.received(), tally.duplicates(), tally.reordered()), (2, 0, 0));
    }

    #[test]
    fn lost_messages_are_those_that_never_came() {
        assert_eq!(tally(0, &[0, 1, 4, 5]).received(), 4);
        // The last of ten never came: only who knows how many were sent can tell.
        assert_eq!(10 - tally(0, &[0, 1, 2, 3, 4, 5, 6, 7, 8]).received(), 1);
    }

    #[test]
    fn duplicates_hide_no_loss() {
        let tally = tally(1, &[0, 1, 1, 1, 3, 3]);
        assert_eq!((tally.received(), tally.duplicates(), tally.reordered()), (2, 3, 0));
    }

    #[test]
    fn late_messages_are_reordered_not_lost() {
        let tally = tally(0, &[0, 2, 3, 1, 4]);
        assert_eq!((tally.received(), tally.duplicates(), tally.reordered()), (5, 0, 1));
    }

    #[test]
    fn a_late_duplicate_is_a_duplicate_only() {
        let tally = tally(0, &[0, 1, 2, 0]);
        assert_eq!((tally.received(), tally.duplicates(), tally.reordered()), (3, 1, 0));
    }

    #[test]
    fn more_than_expected_are_counted() {
        let numbers: Vec<u64> = (0..1000).collect();
        assert_eq!(tally(10, &numbers).received(), 990);
    }

    #[test]
    fn absurd_numbers_are_refused_without_memory() {
        let mut tally = Tally::new(0, 4);
        assert_eq!(tally.note(u64::MAX), Arrival::Refused);
        assert_eq!(tally.note(MAX_JUMP), Arrival::Refused);
        assert_eq!(tally.note(0), Arrival::New);
        assert_eq!((tally.received(), tally.seen.len()), (1, 1));
    }
}
