//! Assigns the numbers of a table's slots.

/// The numbers below a limit. Each number is used by one owner at a time. Low numbers are assigned
/// first, so that only little memory is touched.
#[derive(Debug)]
pub(super) struct Numbers {
    limit: usize,
    /// The lowest number that has never been used. No higher number has been used either.
    fresh: usize,
    returned: Vec<usize>,
}

/// A number that was assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) number: usize,
    /// Whether the number is used for the first time.
    pub(super) is_fresh: bool,
}

impl Numbers {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, fresh: 0, returned: Vec::new() }
    }

    /// Takes a free number. Returns `None` if all are in use.
    pub(super) fn take(&mut self) -> Option<Taken> {
        if let Some(number) = self.returned.pop() {
            return Some(Taken { number, is_fresh: false });
        }
        let number = self.fresh;
        (number < self.limit).then(|| {
            self.fresh += 1;
            Taken { number, is_fresh: true }
        })
    }

    /// The number that [`take`](Self::take) would take now.
    pub(super) fn next(&self) -> Option<usize> {
        let fresh = (self.fresh < self.limit).then_some(self.fresh);
        self.returned.last().copied().or(fresh)
    }

    /// Frees a number that was taken.
    pub(super) fn give_back(&mut self, number: usize) {
        debug_assert!(number < self.fresh && !self.returned.contains(&number));
        self.returned.push(number);
    }

    /// Gives back a number that was assigned for the first time, because its slot could not be
    /// prepared.
    pub(super) fn give_back_fresh(&mut self, number: usize) {
        debug_assert_eq!(number + 1, self.fresh);
        self.fresh = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_one_owner_and_returns() {
        let mut numbers = Numbers::new(2);
        assert_eq!(numbers.next(), Some(0));
        assert_eq!(numbers.take(), Some(Taken { number: 0, is_fresh: true }));
        assert_eq!(numbers.take(), Some(Taken { number: 1, is_fresh: true }));
        assert_eq!((numbers.next(), numbers.take()), (None, None));
        numbers.give_back(0);
        assert_eq!(numbers.next(), Some(0));
        assert_eq!(numbers.take(), Some(Taken { number: 0, is_fresh: false }));
        assert_eq!(numbers.take(), None);
    }

    #[test]
    fn a_fresh_number_that_could_not_be_prepared_stays_fresh() {
        let mut numbers = Numbers::new(1);
        numbers.take();
        numbers.give_back_fresh(0);
        assert_eq!(numbers.take(), Some(Taken { number: 0, is_fresh: true }));
    }
}
