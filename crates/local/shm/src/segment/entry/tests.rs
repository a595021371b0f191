//! Tests the guarantees of an entry, without races.

#![allow(clippy::unwrap_used)]

use super::*;
use feros_doorbell::CAPACITY;

fn slot(index: usize) -> Slot {
    Slot::new(index).unwrap()
}

#[test]
fn the_layout_is_fixed() {
    assert_eq!((size_of::<Entry>(), align_of::<Entry>()), (64 + 32 * ATTACHMENTS_PER_ENTRY, 64));
    assert_eq!(size_of::<Attachment>(), 32);
    assert_eq!(std::mem::offset_of!(Entry, attachments), 64);
}

#[test]
fn a_place_is_there_until_it_is_taken_away() {
    let entry = Entry::new();
    let generation = entry.open();
    assert_eq!(entry.place(generation), None);
    for (number, index) in [(0, 0), (u32::MAX, CAPACITY - 1)] {
        entry.set_place(Some(Place { doorbell: Some(number), slot: slot(index) }));
        assert_eq!(entry.place(generation), Some((number, slot(index))));
    }
    entry.set_place(Some(Place { doorbell: None, slot: slot(1) }));
    assert_eq!(entry.place(generation), None, "a doorbell that others cannot ring");
    entry.set_place(None);
    assert_eq!(entry.place(generation), None);
}

#[test]
fn any_word_is_a_place_or_none() {
    let entry = Entry::new();
    let generation = entry.open();
    for word in [u64::MAX, 1 << 63 | CAPACITY as u64, u64::MAX >> 1] {
        entry.place.store(word, Ordering::Relaxed);
        assert_eq!(entry.place(generation), None, "{word:x}");
    }
}

#[test]
fn generations_tell_the_users_of_an_entry_apart() {
    let entry = Entry::new();
    assert!(!entry.is_open(0), "an entry that was never used");
    let first = entry.open();
    entry.set_place(Some(Place { doorbell: Some(1), slot: slot(1) }));
    entry.attachment(0).attach(9, 1);
    entry.close();
    assert!(
        !entry.is_open(first) && entry.place(first).is_none() && entry.find(first, 9).is_none()
    );
    let second = entry.open();
    assert_ne!(first, second);
    assert!(!entry.is_open(first) && entry.is_open(second));
    assert_eq!(entry.place(second), None, "the former place is removed");
}

#[test]
fn an_attachment_counts_from_its_beginning() {
    let entry = Entry::new();
    let generation = entry.open();
    assert_eq!(entry.find(generation, 0), None, "free attachments belong to nobody");
    entry.attachment(3).attach(9, 16);
    let first = entry.find(generation, 9).unwrap();
    assert_eq!((first.index, first.capacity), (3, 16));
    let attachment = entry.attachment(3);
    attachment.count_taken(5);
    assert_eq!(attachment.taken(first), Some(5));
    attachment.release();
    assert_eq!((attachment.taken(first), entry.find(generation, 9)), (None, None));
    attachment.attach(9, 1);
    assert!(!attachment.is_attached(first), "the same publisher again is another attachment");
    let second = entry.find(generation, 9).unwrap();
    assert_eq!(attachment.taken(second), Some(0));
}

#[test]
fn each_release_is_counted() {
    let entry = Entry::new();
    let before = entry.releases();
    entry.attachment(0).attach(1, 1);
    assert_eq!(entry.releases(), before);
    entry.attachment(0).release();
    entry.count_release();
    assert_ne!(entry.releases(), before);
}

#[test]
fn the_first_message_is_that_of_the_present_publisher() {
    let entry = Entry::new();
    let generation = entry.open();
    let attachment = entry.attachment(0);
    attachment.attach(1, 1);
    let first = entry.find(generation, 1).unwrap();
    assert_eq!(attachment.first_number(), None);
    assert!(attachment.begin(first, 12) && attachment.begin(first, 17));
    assert_eq!(attachment.first_number(), Some(17));
    attachment.release();
    attachment.attach(2, 1);
    assert!(!attachment.begin(first, 99), "too late");
    assert_eq!(attachment.first_number(), None);
    assert!(attachment.begin(entry.find(generation, 2).unwrap(), u64::MAX >> 16));
    assert!(!attachment.begin(first, 99), "too late");
    assert_eq!(attachment.first_number(), Some(u64::MAX >> 16));
}

#[test]
fn the_count_goes_on_over_its_largest_value() {
    let entry = Entry::new();
    let generation = entry.open();
    let attachment = entry.attachment(0);
    attachment.attach(1, 1);
    let found = entry.find(generation, 1).unwrap();
    attachment.count_taken(u32::MAX);
    attachment.count_taken(3);
    assert_eq!(attachment.taken(found), Some(2));
    assert_eq!(attachment.wait(found, u32::MAX, None), Room::Taken(2));
}

#[test]
fn waiting_ends_at_its_deadline() {
    let entry = Entry::new();
    let generation = entry.open();
    let attachment = entry.attachment(0);
    attachment.attach(1, 1);
    let found = entry.find(generation, 1).unwrap();
    let deadline = Instant::now() + Duration::from_millis(5);
    assert_eq!(attachment.wait(found, 0, Some(deadline)), Room::TimedOut);
    assert!(Instant::now() >= deadline);
    attachment.release();
    assert_eq!(attachment.wait(found, 0, None), Room::Detached);
}
