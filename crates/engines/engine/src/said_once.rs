//! Messages that are logged only once.

use std::collections::BTreeSet;

use feros_sync::Mutex;

/// The limit on remembered messages. When the limit is reached, all messages are forgotten, so that
/// names from the network cannot fill the memory.
const MOST: usize = 4096;

/// Remembers the messages that have been logged, so that no message is logged twice.
///
/// ```
/// use feros_engine::SaidOnce;
/// let said = SaidOnce::default();
/// assert!(said.is_new("/chatter is not bridged"));
/// assert!(!said.is_new("/chatter is not bridged"));
/// assert!(said.is_new("/scan is not bridged"));
/// ```
#[derive(Debug, Default)]
pub struct SaidOnce(Mutex<BTreeSet<String>>);

impl SaidOnce {
    /// Returns true if this function has not been called with the same text before. After 4096
    /// different texts, every text counts as new again.
    pub fn is_new(&self, text: &str) -> bool {
        let mut said = self.0.lock();
        if said.contains(text) {
            return false;
        }
        if said.len() >= MOST {
            said.clear();
        }
        said.insert(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, SaidOnce};

    #[test]
    fn remembered_texts_are_bounded() {
        let said = SaidOnce::default();
        for number in 0..=MOST {
            assert!(said.is_new(&number.to_string()));
            assert!(said.0.lock().len() <= MOST);
        }
        assert!(said.is_new("0"), "forgotten with the rest");
        assert!(!said.is_new(&MOST.to_string()));
    }
}
