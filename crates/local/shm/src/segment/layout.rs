//! The layout of a process segment.

use super::entry::{Entry, Found, MAX_ENTRIES};
use crate::format_version::format_version;
use feros_doorbell::Doorbell;
use feros_sync::{AtomicU32, AtomicU64, Ordering};
use std::mem::offset_of;

// Doorbells and entries that are not in use take no memory. With these limits, a segment has 4.8 MB
// of address space in its own process and in each process that sends to it.

/// The limit on executors of one process that other processes can wake up.
pub const MAX_DOORBELLS: usize = 512;
/// The limit on subscriptions of one process that can be served through shared memory, if each of
/// them receives from at most 32 publishers. A subscription with more publishers counts several
/// times.
pub const MAX_SUBSCRIPTIONS: usize = 4096;

const MAGIC: u64 = u64::from_le_bytes(*b"FerosSeg");

/// A process segment. It consists only of atomics, for which any content is valid, and all words
/// are zero before the first use, including those of a [`Doorbell`]. So a `Layout` may lie in new
/// memory, and in memory that other processes write to.
#[repr(C)]
pub(crate) struct Layout {
    header: Header,
    doorbells: [Doorbell; MAX_DOORBELLS],
    entries: [Entry; MAX_SUBSCRIPTIONS],
}

// The alignment is `SMALLEST_PAGE_BYTES`, whatever the size of a page is: the format has only one
// layout.
#[repr(C, align(4096))]
struct Header {
    magic: AtomicU64,
    token: AtomicU64,
    version: AtomicU32,
    /// For each doorbell, a number that distinguishes its successive uses. The number changes when
    /// a use ends.
    generations: [AtomicU32; MAX_DOORBELLS],
}

pub(crate) const SEGMENT_BYTES: usize = size_of::<Layout>();

/// Identifies an entry, and distinguishes its present user from earlier and later users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryId {
    index: u32,
    generation: u32,
}

impl EntryId {
    /// The id of the entry at `index`, whose present use has this generation.
    pub(crate) fn new(index: usize, generation: u32) -> Self {
        Self { index: index as u32, generation }
    }

    /// The id as a number for announcements. The number is never zero.
    pub fn to_u64(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// The id that this number encodes, or `None` if the number is not a valid id.
    pub fn from_u64(number: u64) -> Option<Self> {
        let id = Self { index: number as u32, generation: (number >> 32) as u32 };
        ((id.index as usize) < MAX_SUBSCRIPTIONS && id.generation & 1 == 1).then_some(id)
    }

    /// The entry's index in its table, which is below [`MAX_SUBSCRIPTIONS`].
    pub fn index(self) -> usize {
        self.index as usize
    }

    pub(crate) fn generation(self) -> u32 {
        self.generation
    }
}

/// The range of bytes of one doorbell or entry in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) offset_bytes: usize,
    pub(crate) size_bytes: usize,
}

/// The part of a segment's content that differs from what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrongContent {
    Magic,
    Version(u32),
    Token,
}

impl Layout {
    /// The byte range of the header.
    pub(crate) const HEADER: Extent = Extent { offset_bytes: 0, size_bytes: size_of::<Header>() };

    /// The byte range of the doorbell at `index`.
    pub(crate) fn extent_of_doorbell(index: usize) -> Extent {
        assert!(index < MAX_DOORBELLS);
        let size_bytes = size_of::<Doorbell>();
        Extent { offset_bytes: offset_of!(Self, doorbells) + index * size_bytes, size_bytes }
    }

    /// The byte range of the entry at `index`.
    pub(crate) fn extent_of_entry(index: usize) -> Extent {
        assert!(index < MAX_SUBSCRIPTIONS);
        let size_bytes = size_of::<Entry>();
        Extent { offset_bytes: offset_of!(Self, entries) + index * size_bytes, size_bytes }
    }

    /// Finds the attachment of `publisher` to the subscription with this id. Returns the index of
    /// the entry that contains the attachment, and the attachment.
    ///
    /// Another subscription may get a further entry of the subscription while this function looks
    /// at it, but only after the subscription has closed its own entry, which this function checks
    /// last.
    pub(crate) fn find(&self, id: EntryId, publisher: u64) -> Option<(usize, Found)> {
        let mut index = id.index();
        for _ in 0..MAX_ENTRIES {
            let entry = &self.entries[index];
            if let Some(found) = entry.find_attachment(publisher) {
                let is_open = self.entries[id.index()].is_open(id.generation());
                return is_open.then_some((index, found));
            }
            index = entry.next().filter(|next| *next < MAX_SUBSCRIPTIONS)?;
        }
        None
    }

    /// Writes the words of the header that [`Layout::check`] checks.
    pub(crate) fn sign(&self, token: u64) {
        self.header.token.store(token, Ordering::Relaxed);
        self.header.version.store(format_version(), Ordering::Relaxed);
        self.header.magic.store(MAGIC, Ordering::Release);
    }

    pub(crate) fn check(&self, token: u64) -> Result<(), WrongContent> {
        if self.header.magic.load(Ordering::Acquire) != MAGIC {
            return Err(WrongContent::Magic);
        }
        let version = self.header.version.load(Ordering::Relaxed);
        if version != format_version() {
            return Err(WrongContent::Version(version));
        }
        if self.header.token.load(Ordering::Relaxed) != token {
            return Err(WrongContent::Token);
        }
        Ok(())
    }

    pub(crate) fn doorbell(&self, index: usize) -> &Doorbell {
        &self.doorbells[index]
    }

    pub(crate) fn entry(&self, index: usize) -> &Entry {
        &self.entries[index]
    }

    /// The number of the doorbell at `index`. The number is valid until the present use of the
    /// doorbell ends.
    pub(crate) fn doorbell_number(&self, index: usize) -> u32 {
        let generation = self.header.generations[index].load(Ordering::Relaxed);
        generation.wrapping_mul(MAX_DOORBELLS as u32) | index as u32
    }

    /// Ends the use of the doorbell at `index`. Only for the owner.
    pub(crate) fn retire_doorbell(&self, index: usize) {
        self.header.generations[index].fetch_add(1, Ordering::Relaxed);
    }

    /// The doorbell with this number, or `None` if the use with this number has ended.
    pub(crate) fn doorbell_of_number(&self, number: u32) -> Option<&Doorbell> {
        let index = number as usize % MAX_DOORBELLS;
        (self.doorbell_number(index) == number).then(|| &self.doorbells[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::SMALLEST_PAGE_BYTES;

    /// The format of a segment. Two processes have the same, whatever the size of a page is.
    #[test]
    fn the_layout_does_not_depend_on_the_size_of_a_page() {
        assert_eq!(align_of::<Layout>(), SMALLEST_PAGE_BYTES);
        assert_eq!(Layout::HEADER, Extent { offset_bytes: 0, size_bytes: 4096 });
        let doorbells = [0, MAX_DOORBELLS - 1].map(Layout::extent_of_doorbell);
        let offsets = [4096, 4096 + 511 * 576];
        assert_eq!(doorbells, offsets.map(|at| Extent { offset_bytes: at, size_bytes: 576 }));
        let entries = [0, MAX_SUBSCRIPTIONS - 1].map(Layout::extent_of_entry);
        let offsets = [299_008, 299_008 + 4095 * 1088];
        assert_eq!(entries, offsets.map(|at| Extent { offset_bytes: at, size_bytes: 1088 }));
        assert_eq!(SEGMENT_BYTES, 299_008 + 4096 * 1088);
    }
}
