//! Records which chunks of a publisher's pool are in use, and by how many subscriptions. Each chunk
//! contains one message.
//!
//! The publisher keeps these records in its own memory. So a process that writes into shared memory
//! cannot make the publisher lend a chunk twice.

/// The chunks of a pool, stored by their numbers.
pub(crate) struct Chunks {
    /// For each chunk that has ever been lent, the number of subscriptions that have it.
    holders: Vec<u32>,
    /// The free chunks. The chunk that was returned last is lent next. Its memory is already
    /// present, so the pool uses little memory in total.
    free: Vec<usize>,
    most: usize,
}

impl Chunks {
    pub(crate) fn new(most: usize) -> Self {
        Self { holders: Vec::new(), free: Vec::new(), most }
    }

    /// The largest number of chunks that have been in use at the same time.
    pub(crate) fn seen(&self) -> usize {
        self.holders.len()
    }

    /// Lends a free chunk. Returns `None` if all chunks are in use.
    pub(crate) fn lend(&mut self) -> Option<usize> {
        self.free.pop().or_else(|| self.lend_fresh())
    }

    #[cold]
    fn lend_fresh(&mut self) -> Option<usize> {
        let chunk = self.holders.len();
        if chunk == self.most {
            return None;
        }
        self.holders.push(0);
        self.free.reserve(self.holders.len()); // so that returning a chunk allocates nothing
        Some(chunk)
    }

    /// Lends a free chunk for which `is_wanted` returns true. If there are several such chunks,
    /// lends the chunk that was returned last.
    pub(crate) fn lend_where(&mut self, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let at = self.free.iter().rposition(|chunk| is_wanted(*chunk))?;
        Some(self.free.remove(at))
    }

    /// Takes back a chunk that was lent. It will be lent again only after all other free chunks.
    pub(crate) fn put_last(&mut self, chunk: usize) {
        self.free.insert(0, chunk);
    }

    /// Records that this number of subscriptions have a chunk that was lent.
    pub(crate) fn settle(&mut self, chunk: usize, holders: u32) {
        self.holders[chunk] = holders;
        if holders == 0 {
            self.free.push(chunk);
        }
    }

    /// Records that a subscription has returned this chunk.
    #[inline]
    pub(crate) fn release(&mut self, chunk: usize) {
        let holders = &mut self.holders[chunk];
        *holders -= 1;
        if *holders == 0 {
            self.free.push(chunk);
        }
    }
}

/// The publisher's record of the chunks that one subscription has.
#[derive(Debug, Default)]
pub(crate) struct Held(Vec<bool>);

impl Held {
    #[inline]
    pub(crate) fn add(&mut self, chunk: usize) {
        if chunk >= self.0.len() {
            self.0.resize(chunk + 1, false);
        }
        self.0[chunk] = true;
    }

    /// Removes a chunk. Returns whether the subscription had it.
    #[inline]
    pub(crate) fn remove(&mut self, chunk: usize) -> bool {
        self.0.get_mut(chunk).is_some_and(std::mem::take)
    }

    /// Removes all chunks and returns them.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = usize> + use<> {
        let held = std::mem::take(&mut self.0);
        held.into_iter().enumerate().filter_map(|(chunk, is_held)| is_held.then_some(chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunk_that_came_back_last_is_lent_next_and_no_chunk_twice() {
        let mut chunks = Chunks::new(3);
        assert_eq!([(); 4].map(|()| chunks.lend()), [Some(0), Some(1), Some(2), None]);
        chunks.settle(1, 2);
        chunks.settle(2, 0);
        chunks.release(1);
        assert_eq!(chunks.lend(), Some(2));
        assert_eq!(chunks.lend(), None);
        chunks.release(1);
        assert_eq!((chunks.lend(), chunks.seen()), (Some(1), 3));
    }

    #[test]
    fn a_chunk_without_memory_is_lent_last() {
        let mut chunks = Chunks::new(9);
        assert_eq!([(); 3].map(|()| chunks.lend()), [Some(0), Some(1), Some(2)]);
        chunks.settle(0, 0);
        chunks.put_last(2);
        chunks.settle(1, 0);
        assert_eq!(chunks.lend_where(|chunk| chunk == 7), None);
        assert_eq!(chunks.lend_where(|chunk| chunk < 1), Some(0));
        assert_eq!([(); 2].map(|()| chunks.lend()), [Some(1), Some(2)]);
    }

    #[test]
    fn a_chunk_is_held_until_it_is_removed_once() {
        let mut held = Held::default();
        held.add(70);
        held.add(3);
        assert!(held.remove(70) && !held.remove(70) && !held.remove(71) && !held.remove(1000));
        held.add(5);
        assert_eq!(held.drain().collect::<Vec<_>>(), [3, 5]);
        assert_eq!(held.drain().count(), 0);
    }
}
