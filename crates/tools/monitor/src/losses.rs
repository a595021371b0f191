//! Counts lost messages by the gaps in the numbers that publishers give their messages.

use std::collections::HashMap;

use feros::{Gid, MessageInfo};

/// The limit on the publishers whose last numbers are stored.
const MAX_PUBLISHERS: usize = 1024;

/// Counts the messages of a topic that did not arrive.
#[derive(Debug, Default)]
pub struct Losses {
    /// The last number of each publisher.
    numbers: HashMap<Gid, u64>,
    lost: u64,
}

impl Losses {
    /// Records a message. Counts as lost the messages that its publisher sent between its previous
    /// message and this one.
    pub fn came(&mut self, info: &MessageInfo) {
        let Some(number) = info.publication_sequence_number else { return };
        if self.numbers.len() >= MAX_PUBLISHERS && !self.numbers.contains_key(&info.publisher_gid) {
            self.numbers.clear();
        }
        if let Some(last) = self.numbers.insert(info.publisher_gid, number) {
            let between = number.saturating_sub(last).saturating_sub(1);
            self.lost = self.lost.saturating_add(between);
        }
    }

    /// The number of messages lost so far.
    pub fn count(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_in_the_numbers_of_each_publisher_are_counted() {
        let mut losses = Losses::default();
        let mut came = |publisher: u8, number| {
            losses.came(&MessageInfo {
                source_timestamp: None,
                received_timestamp: None,
                publication_sequence_number: number,
                publisher_gid: Gid([publisher; 16]),
                from_same_session: false,
            });
            losses.count()
        };
        assert_eq!([came(1, Some(5)), came(2, Some(100)), came(1, Some(6))], [0, 0, 0]);
        assert_eq!(came(1, Some(9)), 2);
        assert_eq!(came(2, Some(102)), 3);
        assert_eq!(came(1, Some(9)), 3, "a repeated message");
        assert_eq!(came(1, None), 3, "a message without a number");
    }
}
