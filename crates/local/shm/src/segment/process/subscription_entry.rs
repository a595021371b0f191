//! The owner's side of a subscription's entry: its id, its place, and the attached publishers.

use super::ProcessSegment;
use crate::reason::declined::ConnectionObstacle;
use crate::segment::entry::{self, ATTACHMENTS_PER_ENTRY, Entry, MAX_ATTACHMENTS};
use crate::segment::layout::EntryId;
use crate::segment::numbers::Numbers;
use feros_doorbell::Place;
use feros_sync::Mutex;
use std::num::NonZeroU64;
use std::sync::Arc;

/// The entry of a subscription. It goes back to the segment when this value and the last
/// [`Attachment`] have been dropped.
#[derive(Debug)]
pub struct SubscriptionEntry {
    inner: Arc<EntryOwner>,
}

#[derive(Debug)]
struct EntryOwner {
    segment: Arc<ProcessSegment>,
    id: EntryId,
    attachments: Mutex<AttachmentNumbers>,
}

/// The attachments of a subscription that are in use.
#[derive(Debug)]
struct AttachmentNumbers {
    /// The numbers of the attachments, counted through all entries.
    numbers: Numbers,
    /// The indices of the subscription's entries after the first one.
    further: Vec<usize>,
}

impl AttachmentNumbers {
    /// Whether the attachment with this number is in an entry that the subscription does not have
    /// yet. Low numbers are assigned first, so this is always the next entry.
    fn lacks_entry_of(&self, number: usize) -> bool {
        number / ATTACHMENTS_PER_ENTRY > self.further.len()
    }

    /// The error if the subscription can have no further entry.
    fn full(&self) -> AttachmentsFull {
        AttachmentsFull { limit: (1 + self.further.len()) * ATTACHMENTS_PER_ENTRY }
    }
}

impl EntryOwner {
    fn entry(&self) -> &Entry {
        self.segment.mapping.layout().entry(self.id.index())
    }

    /// The attachment with this number in the entry with this index.
    fn attachment(&self, (entry, number): (usize, usize)) -> &entry::Attachment {
        let entry = self.segment.mapping.layout().entry(entry);
        entry.attachment(number % ATTACHMENTS_PER_ENTRY)
    }

    /// Takes a free attachment. Returns the index of its entry, and its number.
    fn take(&self) -> Result<(usize, usize), AttachmentsFull> {
        let mut attachments = self.attachments.lock();
        let Some(taken) = attachments.numbers.take() else { return Err(attachments.full()) };
        if attachments.lacks_entry_of(taken.number) {
            let Ok(index) = self.segment.take_entry() else {
                attachments.numbers.give_back_fresh(taken.number);
                return Err(attachments.full());
            };
            let last = attachments.further.last().copied().unwrap_or(self.id.index());
            self.segment.mapping.layout().entry(last).set_next(Some(index));
            attachments.further.push(index);
        }
        let entry = match (taken.number / ATTACHMENTS_PER_ENTRY).checked_sub(1) {
            None => self.id.index(),
            Some(further) => attachments.further[further],
        };
        Ok((entry, taken.number))
    }
}

impl SubscriptionEntry {
    /// The entry at `index` of the segment, which the caller has taken.
    pub(super) fn new(segment: &Arc<ProcessSegment>, index: usize) -> Self {
        let generation = segment.mapping.layout().entry(index).open();
        let id = EntryId::new(index, generation);
        let numbers = Numbers::new(MAX_ATTACHMENTS);
        let attachments = Mutex::new(AttachmentNumbers { numbers, further: Vec::new() });
        Self { inner: Arc::new(EntryOwner { segment: Arc::clone(segment), id, attachments }) }
    }

    /// The entry's id. Publishers use it to find the entry.
    pub fn id(&self) -> EntryId {
        self.inner.id
    }

    /// Sets the place that publishers ring from now on, or `None` if they must not ring. `place` is
    /// the argument of an observer that was given to
    /// [`Ringer::on_move`](feros_doorbell::Ringer::on_move). A place at a doorbell without a number
    /// counts as `None`.
    ///
    /// After this call, the subscription must check for messages, because a publisher that sent
    /// earlier has rung the former place. The ringer rings itself for this purpose.
    pub fn set_place(&self, place: Option<Place>) {
        self.inner.entry().set_place(place);
    }

    /// How many times publishers have signalled that their memory is ready
    /// ([`PeerSubscription::report_ready`](crate::PeerSubscription::report_ready)), modulo 2^32. A
    /// subscription may read this number and then try to open such memory too early. In that case,
    /// it is rung later, and it then reads a different number.
    pub fn publishers_ready(&self) -> u32 {
        self.inner.entry().ready()
    }

    /// Checks whether one more publisher can be attached. If so, this remains true until the next
    /// call of [`attach`](Self::attach), unless another subscription takes the last entry of the
    /// process.
    ///
    /// # Errors
    /// [`MAX_ATTACHMENTS`] publishers are attached, or all entries of the process are in use.
    pub fn check_room(&self) -> Result<(), AttachmentsFull> {
        let attachments = self.inner.attachments.lock();
        let has_entry = || self.inner.segment.entries.lock().next().is_some();
        match attachments.numbers.next() {
            Some(number) if !attachments.lacks_entry_of(number) || has_entry() => Ok(()),
            _ => Err(attachments.full()),
        }
    }

    /// Tells the publisher with this id that the subscription receives from it through shared
    /// memory. If the publisher must wait for room, `capacity` is the number of messages for which
    /// the subscription has room. If `capacity` is 0, the publisher does not wait, and there is no
    /// need to count taken messages. Call this when the connection to the publisher's messages is
    /// open. If the same publisher is attached twice, it finds one of the two attachments.
    ///
    /// # Errors
    /// [`MAX_ATTACHMENTS`] publishers are attached, or all entries of the process are in use.
    pub fn attach(
        &self,
        publisher: NonZeroU64,
        capacity: u32,
    ) -> Result<Attachment, AttachmentsFull> {
        let place = self.inner.take()?;
        self.inner.attachment(place).attach(publisher.get(), capacity);
        Ok(Attachment { owner: Arc::clone(&self.inner), place })
    }
}

impl Drop for SubscriptionEntry {
    fn drop(&mut self) {
        self.set_place(None);
    }
}

impl Drop for EntryOwner {
    fn drop(&mut self) {
        // This is first, because a publisher may look at the further entries at this moment (see
        // `Layout::find`).
        self.entry().close();
        let further = std::mem::take(&mut self.attachments.get_mut().further);
        let mut entries = self.segment.entries.lock();
        further.into_iter().chain([self.id.index()]).for_each(|index| entries.give_back(index));
    }
}

/// Tells a publisher that a subscription receives from it through shared memory, until this value
/// is dropped.
#[derive(Debug)]
pub struct Attachment {
    owner: Arc<EntryOwner>,
    /// The index of its entry, and its number.
    place: (usize, usize),
}

impl Attachment {
    /// The number of the first message that the publisher sends only through shared memory, or
    /// `None` if the publisher has not chosen this message yet. Messages before it (all messages,
    /// in the case of `None`) also arrive over the network transport, so their copies in shared
    /// memory must be dropped or left in the queue.
    pub fn first_number(&self) -> Option<u64> {
        self.owner.attachment(self.place).first_number()
    }

    /// Counts messages that the subscription has taken out of its queue, and wakes the publisher if
    /// it is waiting for room. The call is needed only if the publisher waits for room. Makes a
    /// system call only if the publisher sleeps.
    pub fn count_taken(&self, messages: u32) {
        self.owner.attachment(self.place).count_taken(messages);
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.owner.attachment(self.place).release();
        self.owner.entry().count_release();
        self.owner.attachments.lock().numbers.give_back(self.place.1);
    }
}

/// The subscription already receives from the largest possible number of publishers through shared
/// memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the subscription receives from {limit} publishers through shared memory; further publishers \
     take the network transport"
)]
pub struct AttachmentsFull {
    /// The largest number of publishers: [`MAX_ATTACHMENTS`], or less if all entries of the process
    /// are in use.
    pub limit: usize,
}

impl AttachmentsFull {
    /// The obstacle to announce to other processes.
    pub fn obstacle(self) -> ConnectionObstacle {
        ConnectionObstacle::TooManyPublishers {
            limit: u32::try_from(self.limit).unwrap_or(u32::MAX),
        }
    }
}
