//! Gaps in the numbers of each publisher's messages. The missing messages were lost on the network,
//! or newer messages replaced them in the history before they were taken.

use std::collections::HashMap;

use crate::gid::Gid;

/// If there are more publishers than this, publishers that no longer match are forgotten.
const REMEMBERED_PUBLISHERS: usize = 256;

/// The last message number of each publisher of a subscription.
#[derive(Debug, Default)]
pub struct Gaps {
    publishers: HashMap<Gid, Numbers>,
}

#[derive(Debug, Default)]
struct Numbers {
    /// The number of the last message. If it is `None`, counting starts with the next message.
    last: Option<i64>,
    /// Whether gaps are expected and do not count as losses.
    expected: bool,
}

impl Gaps {
    /// Returns the number of messages that were lost between the previous message of the publisher
    /// and this message. `matched` returns the publishers that still match.
    pub fn next(&mut self, from: Gid, number: i64, matched: impl FnOnce() -> Vec<Gid>) -> u64 {
        let numbers = self.numbers(from, matched);
        let last = *numbers.last.get_or_insert(number);
        numbers.last = Some(number.max(last));
        if numbers.expected {
            return 0;
        }
        let lost = number.saturating_sub(last).saturating_sub(1);
        u64::try_from(lost).unwrap_or(0)
    }

    /// Sets whether gaps in a publisher's numbers are expected.
    pub fn expect(&mut self, from: Gid, expected: bool, matched: impl FnOnce() -> Vec<Gid>) {
        if !expected && !self.publishers.contains_key(&from) {
            return;
        }
        let numbers = self.numbers(from, matched);
        if numbers.expected && !expected {
            // The messages that are missing up to now arrived over the other transport.
            numbers.last = None;
        }
        numbers.expected = expected;
    }

    fn numbers(&mut self, of: Gid, matched: impl FnOnce() -> Vec<Gid>) -> &mut Numbers {
        if self.publishers.len() >= REMEMBERED_PUBLISHERS && !self.publishers.contains_key(&of) {
            let matched = matched();
            self.publishers.retain(|gid, _| matched.contains(gid));
        }
        self.publishers.entry(of).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gid(number: u16) -> Gid {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(&number.to_le_bytes());
        Gid(bytes)
    }

    fn nobody() -> Vec<Gid> {
        panic!("there are few publishers")
    }

    #[test]
    fn gaps_are_counted_per_publisher() {
        let mut gaps = Gaps::default();
        let numbers =
            [(1, 5, 0), (2, 1, 0), (1, 6, 0), (1, 9, 2), (2, 4, 2), (1, 8, 0), (1, 10, 0)];
        for (publisher, number, lost) in numbers {
            assert_eq!(gaps.next(gid(publisher), number, nobody), lost, "{publisher} {number}");
        }
        assert_eq!(gaps.next(gid(3), i64::MIN, nobody), 0);
        assert_eq!(gaps.next(gid(3), i64::MAX, nobody), i64::MAX as u64 - 1);
    }

    #[test]
    fn expected_gaps_are_no_losses_until_the_next_message_afterwards() {
        let mut gaps = Gaps::default();
        gaps.expect(gid(1), false, nobody);
        assert!(gaps.publishers.is_empty());
        gaps.expect(gid(1), true, nobody);
        assert_eq!([1, 5, 9].map(|number| gaps.next(gid(1), number, nobody)), [0; 3]);
        assert_eq!([1, 3].map(|number| gaps.next(gid(2), number, nobody)), [0, 1]);
        gaps.expect(gid(1), false, nobody);
        assert_eq!([20, 21, 23].map(|number| gaps.next(gid(1), number, nobody)), [0, 0, 1]);
        gaps.expect(gid(1), false, nobody);
        assert_eq!(gaps.next(gid(1), 25, nobody), 1, "counting goes on when nothing was expected");
    }

    #[test]
    fn those_that_left_are_forgotten() {
        let mut gaps = Gaps::default();
        for publisher in 0..2000 {
            gaps.expect(gid(publisher), true, || vec![gid(3)]);
            assert!(gaps.publishers.len() <= REMEMBERED_PUBLISHERS);
        }
        assert_eq!(
            [1, 7].map(|number| gaps.next(gid(3), number, || vec![gid(3)])),
            [0, 0],
            "it still matches"
        );
    }
}
