//! A subscription's entry in a process segment. The entry tells publishers on the host where to
//! ring, which publishers the subscription receives from through shared memory, and how many of the
//! publishers' messages it has taken.
//!
//! The subscription's process writes the words, and the publishers' processes read them. Publishers
//! write only the flag of a sleeping publisher, the number of a publisher's first message, and the
//! count of publishers that have become ready. All words are atomics and any content is valid, so
//! wrong values that other processes write can mislead this process, but cannot corrupt its memory.
//!
//! # Why no wake-up is lost
//!
//! *Where to ring.* When the subscription moves to an executor, it writes its place (the doorbell
//! and slot to ring) and then, after a sequentially consistent fence, looks for messages by ringing
//! itself once. A publisher sends and then, after such a fence, reads the place. Whichever of the
//! two comes second sees what the other has written: either the publisher rings the new place, or
//! the subscription finds the message. A publisher that reads the former place rings there, where a
//! ring without work is harmless.
//!
//! *Room.* A publisher that waits makes the word `waiting` odd and then reads the count of taken
//! messages. The subscription counts a message and then checks whether a publisher waits. Again,
//! whichever comes second sees what the other has written. The kernel closes the gap between the
//! publisher's last check and its sleep, because it does not let a thread sleep on a word that has
//! changed. When the subscription wakes publishers, it makes the word even and larger, so that a
//! publisher that waits again does not sleep on an old value.
//!
//! *Becoming ready.* A publisher makes its memory, increments `ready`, and then rings. The
//! subscription reads `ready` and then tries to open the memory. If it tries too early, it has also
//! read the count too early, so it finds another count when the ring arrives.
//!
//! *Giving up.* A subscription may give a publisher up while the publisher's engine still regards
//! the subscription as matched, for example because the publisher's process was stopped for some
//! seconds. So a subscription that releases an attachment counts this, and a publisher compares the
//! count before each message.
//!
//! *Changing hands.* The epoch of an attachment is odd while a publisher is attached, and it
//! changes before the other words change, as in a seqlock. A reader reads the epoch again after the
//! other words, and discards these words if the epoch has changed.
//!
//! # Many publishers
//!
//! Most subscriptions receive from a few publishers, so an entry has few attachments. A
//! subscription with more publishers gets further entries, which form a chain. Only the first entry
//! of a chain is open, and only its place and its count of ready publishers are used.

use feros_doorbell::{Place, Slot};
use feros_sync::{AtomicU32, AtomicU64, Futex, Ordering, Sharing, fence};
use std::time::{Duration, Instant};

/// The number of publishers for which one entry has attachments.
#[cfg(not(loom))]
pub(crate) const ATTACHMENTS_PER_ENTRY: usize = 32;
/// The number under loom, whose cost grows with every atomic.
#[cfg(loom)]
pub(crate) const ATTACHMENTS_PER_ENTRY: usize = 1;

/// The limit on entries of one subscription.
pub(crate) const MAX_ENTRIES: usize = 4;

/// The limit on publishers that one subscription receives from through shared memory.
pub const MAX_ATTACHMENTS: usize = MAX_ENTRIES * ATTACHMENTS_PER_ENTRY;

/// Encodes the place to ring, a doorbell and a slot, as one word.
pub(crate) mod place {
    use super::{Place, Slot};

    const SET: u64 = 1 << 63;

    /// Encodes the place. Returns zero if there is no place that other processes can ring.
    pub(crate) fn encode(place: Option<Place>) -> u64 {
        match place {
            Some(Place { doorbell: Some(number), slot }) => {
                SET | u64::from(number) << 16 | slot.index() as u64
            }
            _ => 0,
        }
    }

    /// Returns the number of the doorbell, and the slot.
    pub(crate) fn decode(word: u64) -> Option<(u32, Slot)> {
        let slot = Slot::new((word & 0xffff) as usize)?;
        (word & SET != 0).then_some(((word >> 16) as u32, slot))
    }
}

/// The result of waiting for a subscription to take messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// The subscription has taken messages. Contains the number of messages taken since it
    /// attached, modulo 2^32.
    Taken(u32),
    /// The subscription no longer receives from the publisher through shared memory, or its process
    /// has ended.
    Detached,
    /// No message was taken in time.
    TimedOut,
}

/// The entry of one subscription. In an entry that has never been used, all words are zero.
#[repr(C, align(64))]
#[derive(Debug)]
pub(crate) struct Entry {
    /// The encoded place to ring. It lies in a cache line that rarely changes, because every
    /// publication reads it.
    place: AtomicU64,
    /// Odd while the entry belongs to a subscription. It distinguishes the current use of the entry
    /// from earlier and later uses.
    generation: AtomicU32,
    /// How many times publishers have signalled that their memory was made, modulo 2^32.
    ready: AtomicU32,
    /// The index of the next entry of the subscription, plus one; 0 if there is no further entry.
    #[cfg(not(loom))]
    next: AtomicU32,
    /// How many attachments the subscription has released, modulo 2^32. Publishers read it before
    /// each message, so it lies in the same cache line as the place.
    releases: AtomicU32,
    attachments: Attachments,
}

#[repr(C, align(64))]
#[derive(Debug)]
struct Attachments([Attachment; ATTACHMENTS_PER_ENTRY]);

/// One publisher that the subscription receives from.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Attachment {
    publisher: AtomicU64,
    /// The number of the publisher's first message that arrives only through shared memory; 0 until
    /// the publisher has chosen the number. Earlier messages arrive over the network transport. The
    /// bits above the number contain as many bits of the attachment's epoch as fit.
    first: AtomicU64,
    /// Odd while a publisher is attached.
    epoch: AtomicU32,
    capacity: AtomicU32,
    /// The number of messages taken since the publisher was attached, modulo 2^32.
    taken: AtomicU32,
    /// Odd if a publisher may sleep on this word.
    waiting: Futex,
}

const NUMBER_BITS: u32 = 48;
/// The bits of [`Attachment::first`] that hold a message's number.
const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;

fn first_word(epoch: u32, number: u64) -> u64 {
    u64::from(epoch) << NUMBER_BITS | number & NUMBERS
}

/// A publisher's reference to its attachment in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) index: usize,
    epoch: u32,
    pub(crate) capacity: u32,
}

impl Entry {
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        Self {
            place: AtomicU64::new(0),
            generation: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            #[cfg(not(loom))]
            next: AtomicU32::new(0),
            releases: AtomicU32::new(0),
            attachments: Attachments(std::array::from_fn(|_| Attachment::new())),
        }
    }

    /// Begins to use the entry for a subscription. Returns the generation, which distinguishes this
    /// use from others. Only for the owner.
    pub(crate) fn open(&self) -> u32 {
        let generation = self.generation.load(Ordering::Relaxed).wrapping_add(1) | 1;
        self.generation.store(generation, Ordering::Release);
        generation
    }

    /// Ends the current use. Only for the owner.
    pub(crate) fn close(&self) {
        let generation = self.generation.load(Ordering::Relaxed) & !1;
        self.generation.store(generation.wrapping_add(2), Ordering::Release);
        self.set_place(None);
    }

    pub(crate) fn is_open(&self, generation: u32) -> bool {
        generation & 1 == 1 && self.generation.load(Ordering::Acquire) == generation
    }

    /// Sets the place to ring. The caller must check for messages afterwards. Only for the owner.
    pub(crate) fn set_place(&self, place: Option<Place>) {
        self.place.store(place::encode(place), Ordering::Release);
        fence(Ordering::SeqCst); // pairs with the fence in `place`
    }

    /// The place to ring (the doorbell's number and the slot). Call this after sending.
    pub(crate) fn place(&self, generation: u32) -> Option<(u32, Slot)> {
        fence(Ordering::SeqCst); // pairs with the fence in `set_place`
        let place = place::decode(self.place.load(Ordering::Acquire));
        place.filter(|_| self.is_open(generation))
    }

    /// Counts that a publisher has made its memory. The publisher must ring afterwards. Only for
    /// publishers.
    pub(crate) fn count_ready(&self, generation: u32) {
        if self.is_open(generation) {
            self.ready.fetch_add(1, Ordering::Release);
        }
    }

    /// How many times [`count_ready`](Self::count_ready) has been called. Read this before opening
    /// a publisher's memory.
    pub(crate) fn ready(&self) -> u32 {
        self.ready.load(Ordering::Acquire)
    }

    /// Counts that the subscription has released an attachment. Only for the owner.
    pub(crate) fn count_release(&self) {
        self.releases.fetch_add(1, Ordering::Release);
    }

    /// How many attachments the subscription has released, modulo 2^32. An attachment that a
    /// publisher finds after this call is there until this number changes.
    pub(crate) fn releases(&self) -> u32 {
        self.releases.load(Ordering::Acquire)
    }

    /// The index of the subscription's next entry. Another process may have written any number.
    #[cfg(not(loom))]
    pub(crate) fn next(&self) -> Option<usize> {
        (self.next.load(Ordering::Acquire) as usize).checked_sub(1)
    }

    /// Sets the index of the subscription's next entry, whose attachments must be free. Only for
    /// the owner.
    #[cfg(not(loom))]
    pub(crate) fn set_next(&self, next: Option<usize>) {
        let word = next.map_or(0, |next| next as u32 + 1);
        self.next.store(word, Ordering::Release);
    }

    /// The attachment at `index`, which is below [`ATTACHMENTS_PER_ENTRY`].
    pub(crate) fn attachment(&self, index: usize) -> &Attachment {
        &self.attachments.0[index]
    }

    /// The attachment of `publisher`, if the subscription with this `generation` receives from the
    /// publisher and has only this entry.
    #[cfg(test)]
    pub(crate) fn find(&self, generation: u32, publisher: u64) -> Option<Found> {
        let found = self.find_attachment(publisher)?;
        self.is_open(generation).then_some(found)
    }

    /// The attachment of `publisher` in this entry. After this call, the caller must check that the
    /// subscription's first entry is open.
    pub(crate) fn find_attachment(&self, publisher: u64) -> Option<Found> {
        let mut attachments = self.attachments.0.iter().enumerate();
        attachments.find_map(|(index, attachment)| attachment.find(index, publisher))
    }
}

impl Attachment {
    #[cfg(test)]
    fn new() -> Self {
        Self {
            publisher: AtomicU64::new(0),
            first: AtomicU64::new(0),
            epoch: AtomicU32::new(0),
            capacity: AtomicU32::new(0),
            taken: AtomicU32::new(0),
            waiting: Futex::new(0),
        }
    }

    /// Attaches a publisher. The attachment must be free. Only for the owner.
    pub(crate) fn attach(&self, publisher: u64, capacity: u32) {
        let epoch = self.epoch.load(Ordering::Relaxed) | 1;
        self.publisher.store(publisher, Ordering::Relaxed);
        self.first.store(first_word(epoch, 0), Ordering::Relaxed);
        self.capacity.store(capacity, Ordering::Relaxed);
        self.taken.store(0, Ordering::Relaxed);
        self.epoch.store(epoch, Ordering::Release);
    }

    /// Frees the attachment and wakes publishers that wait for room, so that they notice the end.
    /// Only for the owner.
    pub(crate) fn release(&self) {
        let epoch = self.epoch.load(Ordering::Relaxed) | 1;
        self.epoch.store(epoch.wrapping_add(1), Ordering::Relaxed);
        self.wake_waiting(); // the fence in this call also orders the epoch before later writes
    }

    /// Counts messages that the subscription has taken, and wakes publishers that wait for room.
    /// Only for the owner.
    pub(crate) fn count_taken(&self, messages: u32) {
        self.taken.fetch_add(messages, Ordering::Release);
        self.wake_waiting();
    }

    fn wake_waiting(&self) {
        fence(Ordering::SeqCst); // pairs with the fence in `wait`
        let waiting = self.waiting.load(Ordering::Relaxed);
        // If another thread changes the word first, that thread wakes the publishers. A publisher
        // that starts to wait later sees the new count.
        if waiting & 1 == 1
            && self.waiting.replace(waiting, waiting.wrapping_add(1), Ordering::Relaxed)
        {
            self.waiting.wake_all(Sharing::Shared);
        }
    }

    fn find(&self, index: usize, publisher: u64) -> Option<Found> {
        let epoch = self.epoch.load(Ordering::Acquire);
        if epoch & 1 == 0 || self.publisher.load(Ordering::Relaxed) != publisher {
            return None;
        }
        let capacity = self.capacity.load(Ordering::Relaxed);
        self.is_same(epoch).then_some(Found { index, epoch, capacity })
    }

    /// Whether the words that were read before this call belong to the attachment with this
    /// `epoch`.
    fn is_same(&self, epoch: u32) -> bool {
        fence(Ordering::Acquire); // pairs with the fence in `release`
        self.epoch.load(Ordering::Relaxed) == epoch
    }

    /// Records that the publisher serves the subscription only through shared memory from this
    /// message on. Call this before the message is sent. Returns false, without effect, if the
    /// attachment has ended. Only for the publisher.
    pub(crate) fn begin(&self, found: Found, first_number: u64) -> bool {
        // The word is replaced only if it has the epoch of this attachment, since a late publisher
        // must not overwrite the word of the next publisher.
        let word = first_word(found.epoch, first_number);
        let is_ours = |former| former & !NUMBERS == word & !NUMBERS;
        let replace = |former| is_ours(former).then_some(word);
        let is_written =
            self.first.fetch_update(Ordering::Release, Ordering::Relaxed, replace).is_ok();
        is_written && self.is_same(found.epoch)
    }

    /// The number of the first message that arrives only through shared memory, if the publisher
    /// has chosen the number. Only for the owner.
    pub(crate) fn first_number(&self) -> Option<u64> {
        let number = self.first.load(Ordering::Acquire) & NUMBERS;
        (number != 0).then_some(number)
    }

    pub(crate) fn is_attached(&self, found: Found) -> bool {
        self.is_same(found.epoch)
    }

    /// The number of messages taken since the publisher was attached, or `None` if the attachment
    /// has ended.
    pub(crate) fn taken(&self, found: Found) -> Option<u32> {
        let taken = self.taken.load(Ordering::Acquire);
        self.is_same(found.epoch).then_some(taken)
    }

    /// Sleeps until the number of taken messages differs from `seen`, or until the deadline if
    /// there is one.
    pub(crate) fn wait(&self, found: Found, seen: u32, deadline: Option<Instant>) -> Room {
        loop {
            let before = self.waiting.load(Ordering::Relaxed);
            let waiting = before | 1;
            if before != waiting && !self.waiting.replace(before, waiting, Ordering::Relaxed) {
                continue;
            }
            fence(Ordering::SeqCst); // pairs with the fence in `wake_waiting`
            match self.taken(found) {
                None => return Room::Detached,
                Some(taken) if taken != seen => return Room::Taken(taken),
                Some(_) => {}
            }
            let timeout =
                deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if timeout == Some(Duration::ZERO) {
                return Room::TimedOut;
            }
            self.waiting.wait(waiting, Sharing::Shared, timeout);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;
