//! The inbox of an entity: the items that have arrived for it. A wait fetches items ahead of time
//! to see whether there are any. Listeners get the number of new items. The take functions remove
//! items.

use std::collections::VecDeque;

use feros_engine::FailureCounters;
use feros_executor::Ringer;
use feros_sync::Mutex;

use crate::error::Failure;

/// The source of arriving items.
pub(crate) trait Source: Send {
    /// The type of the items: messages, requests or responses.
    type Item: Send;

    /// Returns the next item, and never blocks.
    fn next(&mut self) -> Result<Option<Self::Item>, Failure>;
}

/// The items that have arrived and have not been taken. The inbox closes when its entity ends; a
/// thread that still waits for the entity then finds nothing.
pub(crate) struct Inbox<S: Source> {
    contents: Mutex<Option<Contents<S>>>,
    /// The limit on items that are fetched ahead. The source may hold the same number of items in
    /// addition.
    limit: usize,
    /// Whether fetching ahead stops at the limit, instead of pushing out the oldest item.
    is_lossless: bool,
    /// Rings when there is room to fetch ahead again.
    ringer: Ringer,
}

struct Contents<S: Source> {
    source: S,
    /// The items that have been fetched and not taken, the oldest first.
    seen: VecDeque<S::Item>,
    /// The number of items at the end of `seen` that `count_news` has not counted yet.
    uncounted: usize,
    pushed_out: u64,
}

impl<S: Source> Inbox<S> {
    /// `limit` is the number of items that the entity's history keeps.
    pub(crate) fn new(source: S, limit: usize, is_lossless: bool, ringer: &Ringer) -> Self {
        let contents = Contents { source, seen: VecDeque::new(), uncounted: 0, pushed_out: 0 };
        let (contents, ringer) = (Mutex::new(Some(contents)), ringer.clone());
        Self { contents, limit: limit.max(1), is_lossless, ringer }
    }

    /// Whether there is an item to take.
    pub(crate) fn has_item(&self) -> bool {
        let mut contents = self.contents.lock();
        let Some(contents) = &mut *contents else { return false };
        if contents.seen.is_empty() {
            contents.look();
        }
        !contents.seen.is_empty()
    }

    /// Takes the oldest item.
    pub(crate) fn take(&self) -> Result<Option<S::Item>, Failure> {
        let mut guard = self.contents.lock();
        let Some(contents) = &mut *guard else { return Ok(None) };
        let Some(item) = contents.seen.pop_front() else { return contents.source.next() };
        contents.uncounted = contents.uncounted.min(contents.seen.len());
        let makes_room = self.is_lossless && contents.seen.len() + 1 >= self.limit;
        drop(guard);
        if makes_room {
            self.ringer.ring();
        }
        Ok(Some(item))
    }

    /// Whether there is an item that has not been counted. Fetches all items up to the limit, and
    /// calls `on_pushed_out` if they push out older items.
    pub(crate) fn has_news(&self, on_pushed_out: impl FnOnce()) -> bool {
        let mut pushed_out = Vec::new();
        let mut contents = self.contents.lock();
        let found = contents.as_mut().is_some_and(|contents| {
            pushed_out = contents.look_at_all(self.limit, self.is_lossless);
            contents.uncounted > 0
        });
        drop(contents);
        if !pushed_out.is_empty() {
            on_pushed_out();
        }
        found
    }

    /// The number of items that have arrived since the last call.
    pub(crate) fn count_news(&self) -> usize {
        let mut contents = self.contents.lock();
        contents.as_mut().map_or(0, |contents| std::mem::take(&mut contents.uncounted))
    }

    /// The number of items that have been pushed out.
    pub(crate) fn pushed_out(&self) -> u64 {
        self.contents.lock().as_ref().map_or(0, |contents| contents.pushed_out)
    }

    /// Drops all items and the source.
    pub(crate) fn close(&self) {
        let closed = self.contents.lock().take();
        drop(closed); // after the lock is released
    }
}

impl<S: Source> Contents<S> {
    /// Fetches one more item; returns whether there was one.
    fn look(&mut self) -> bool {
        match self.source.next() {
            Ok(Some(item)) => {
                self.seen.push_back(item);
                self.uncounted += 1;
                true
            }
            Ok(None) => false,
            Err(failure) => {
                // The text names the topic or service, so its endpoints count together.
                static UNTAKEN: FailureCounters = FailureCounters::new();
                if let Some(so_far) = UNTAKEN.so_far(&failure.text) {
                    tracing::error!("{}{so_far}", failure.text);
                }
                false
            }
        }
    }

    fn look_at_all(&mut self, limit: usize, is_lossless: bool) -> Vec<S::Item> {
        let mut pushed_out = Vec::new();
        // Publishers may be faster than this loop, so it is bounded. The next call fetches the
        // rest.
        for _ in 0..limit {
            if is_lossless && self.seen.len() >= limit || !self.look() {
                break;
            }
            if self.seen.len() > limit {
                pushed_out.extend(self.seen.pop_front());
                self.pushed_out += 1;
            }
        }
        pushed_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// A source with the items that the test puts in.
    #[derive(Clone, Default)]
    struct Numbers(Arc<Mutex<VecDeque<u32>>>);

    impl Source for Numbers {
        type Item = u32;

        fn next(&mut self) -> Result<Option<u32>, Failure> {
            Ok(self.0.lock().pop_front())
        }
    }

    fn inbox(limit: usize, is_lossless: bool) -> (Numbers, Inbox<Numbers>) {
        let numbers = Numbers::default();
        (numbers.clone(), Inbox::new(numbers, limit, is_lossless, &Ringer::new()))
    }

    #[test]
    fn the_item_that_was_looked_at_is_taken_first() {
        let (numbers, inbox) = inbox(10, false);
        assert!(!inbox.has_item());
        numbers.0.lock().extend([1, 2]);
        assert!(inbox.has_item() && inbox.has_item());
        assert_eq!(inbox.take(), Ok(Some(1)));
        assert_eq!(inbox.take(), Ok(Some(2)));
        assert_eq!(inbox.take(), Ok(None));
    }

    #[test]
    fn arrivals_are_counted_once_taken_or_not() {
        let (numbers, inbox) = inbox(10, false);
        numbers.0.lock().extend([1, 2]);
        assert!(inbox.has_news(|| {}));
        assert_eq!(inbox.count_news(), 2);
        assert!(!inbox.has_news(|| {}));
        numbers.0.lock().push_back(3);
        assert!(inbox.has_news(|| {}));
        assert_eq!(inbox.count_news(), 1);
        for expected in 1..=3 {
            assert_eq!(inbox.take(), Ok(Some(expected)));
        }
        // An item that is taken before it has been counted is no longer news.
        numbers.0.lock().push_back(4);
        assert!(inbox.has_item());
        assert_eq!(inbox.take(), Ok(Some(4)));
        assert_eq!(inbox.count_news(), 0);
    }

    #[test]
    fn the_history_keeps_its_depth() {
        let (numbers, keeps_last) = inbox(2, false);
        numbers.0.lock().extend([1, 2]);
        assert!(keeps_last.has_news(|| {}));
        numbers.0.lock().extend([3]);
        assert!(keeps_last.has_news(|| {}));
        assert_eq!(keeps_last.pushed_out(), 1);
        assert_eq!(keeps_last.take(), Ok(Some(2)));
        let (numbers, keeps_all) = inbox(2, true);
        numbers.0.lock().extend([1, 2, 3]);
        assert!(keeps_all.has_news(|| {}));
        assert_eq!(keeps_all.count_news(), 2);
        assert_eq!(keeps_all.pushed_out(), 0);
        assert_eq!(keeps_all.take(), Ok(Some(1)));
        assert!(keeps_all.has_news(|| {}), "there is room for the third");
    }

    #[test]
    fn a_closed_inbox_has_nothing() {
        let (numbers, inbox) = inbox(2, false);
        numbers.0.lock().extend([1, 2]);
        assert!(inbox.has_item());
        inbox.close();
        assert!(!inbox.has_item() && !inbox.has_news(|| {}));
        assert_eq!(inbox.take(), Ok(None));
        assert_eq!(Arc::strong_count(&numbers.0), 1, "the source is gone");
    }
}
