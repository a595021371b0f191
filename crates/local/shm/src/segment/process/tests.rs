//! Tests of a segment from the point of view of its owner.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use super::*;
use crate::page::{PAGE_SIZES, SMALLEST_PAGE_BYTES, page_bytes, pages_around};
use crate::segment::entry::{ATTACHMENTS_PER_ENTRY, MAX_ATTACHMENTS};
use crate::segment::layout::EntryId;
use feros_doorbell::Slot;

fn segment() -> Arc<ProcessSegment> {
    Arc::new(ProcessSegment::create().unwrap())
}

fn publisher(id: u64) -> NonZeroU64 {
    NonZeroU64::new(id).unwrap()
}

#[test]
fn the_process_has_one_segment() {
    let [first, second] = [(); 2].map(|()| ProcessSegment::of_this_process().unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(first.token(), process_token());
    assert!(SEGMENT_BYTES.is_multiple_of(SMALLEST_PAGE_BYTES), "whole small pages");
}

#[test]
fn doorbells_run_out_with_an_error_and_come_back() {
    let segment = segment();
    let mut doorbells: Vec<_> = (0..MAX_DOORBELLS).map(|_| segment.doorbell().unwrap()).collect();
    let full = segment.doorbell().unwrap_err();
    assert_eq!((full, full.obstacle()), (SegmentFull::Doorbells, Obstacle::TableFull));
    let gone = doorbells.pop().unwrap().number();
    let layout = segment.mapping.layout();
    assert!(layout.doorbell_of_number(gone).is_none(), "a former number rings nobody");
    let next = segment.doorbell().unwrap();
    assert_ne!(next.number(), gone);
    assert!(layout.doorbell_of_number(gone).is_none());
    assert!(std::ptr::eq(layout.doorbell_of_number(next.number()).unwrap(), &*next));
    assert!(layout.doorbell_of_number(u32::MAX).is_none());
}

#[test]
fn a_fresh_doorbell_rings() {
    let segment = segment();
    let doorbell = segment.doorbell().unwrap();
    let slot = Slot::new(77).unwrap();
    doorbell.doorbell().ring(slot);
    assert!(doorbell.take(slot));
    assert_eq!(DoorbellMemory::number(&doorbell), Some(doorbell.number()));
}

#[test]
fn entries_run_out_with_an_error_and_come_back() {
    let segment = segment();
    let mut entries: Vec<_> =
        (0..MAX_SUBSCRIPTIONS).map(|_| segment.subscription_entry().unwrap()).collect();
    assert_eq!(segment.subscription_entry().unwrap_err(), SegmentFull::Entries);
    let gone = entries.pop().unwrap().id();
    let next = segment.subscription_entry().unwrap().id();
    assert_eq!(next.index(), gone.index());
    assert_ne!(next, gone, "the next user of an entry is another");
}

#[test]
fn ids_of_entries_travel_as_numbers() {
    let id = segment().subscription_entry().unwrap().id();
    assert_ne!(id.to_u64(), 0);
    assert_eq!(EntryId::from_u64(id.to_u64()), Some(id));
    for wrong in [0, MAX_SUBSCRIPTIONS as u64 | 1 << 32, 2 << 32, u64::MAX] {
        assert_eq!(EntryId::from_u64(wrong), None, "{wrong:x}");
    }
}

/// Attaches the publishers 1 to `count`.
fn attach(entry: &SubscriptionEntry, count: usize) -> Vec<Attachment> {
    let attach = |id| {
        entry.check_room().unwrap();
        entry.attach(publisher(id), 1).unwrap()
    };
    (1..=count as u64).map(attach).collect()
}

#[test]
fn a_subscription_hears_a_limited_number_of_publishers() {
    let segment = segment();
    let entry = segment.subscription_entry().unwrap();
    let mut attachments = attach(&entry, MAX_ATTACHMENTS);
    let full = AttachmentsFull { limit: MAX_ATTACHMENTS };
    assert_eq!(entry.check_room(), Err(full));
    assert_eq!(entry.attach(publisher(999), 1).map(drop), Err(full));
    let is_found = |id| segment.mapping.layout().find(entry.id(), id).is_some();
    assert!((1..=MAX_ATTACHMENTS as u64).all(is_found));
    attachments.remove(40);
    attachments.push(entry.attach(publisher(999), 1).unwrap());
    assert!(is_found(999));
    assert!(!is_found(41), "the one that was removed");
}

#[test]
fn only_a_subscription_with_many_publishers_has_several_entries() {
    let segment = segment();
    let next = || segment.entries.lock().next();
    let entry = segment.subscription_entry().unwrap();
    let few = attach(&entry, ATTACHMENTS_PER_ENTRY);
    assert_eq!(next(), Some(1));
    let more = entry.attach(publisher(999), 1).unwrap();
    assert_eq!(next(), Some(2));
    more.count_taken(3);
    let (index, found) = segment.mapping.layout().find(entry.id(), 999).unwrap();
    let attachment = segment.mapping.layout().entry(index).attachment(found.index);
    assert_eq!((index, attachment.taken(found)), (1, Some(3)));
    drop((few, more));
    let again = attach(&entry, MAX_ATTACHMENTS);
    assert_eq!(next(), Some(4), "the second entry is used again");
    drop((again, entry));
    let all: Vec<_> =
        (0..MAX_SUBSCRIPTIONS).map(|_| segment.subscription_entry().unwrap()).collect();
    assert_eq!(next(), None);
    drop(all);
}

/// A publisher that knows a subscription by its former id must not find what a later subscription
/// has in one of the same entries.
#[test]
fn entries_of_a_subscription_that_has_ended_are_not_found() {
    let segment = segment();
    let former = segment.subscription_entry().unwrap();
    let (id, attachments) = (former.id(), attach(&former, MAX_ATTACHMENTS));
    drop((former, attachments));
    let entries: Vec<_> = (0..4).map(|_| segment.subscription_entry().unwrap()).collect();
    let attachments: Vec<_> = entries.iter().map(|entry| attach(entry, 40)).collect();
    let layout = segment.mapping.layout();
    for publisher in 1..=MAX_ATTACHMENTS as u64 {
        assert_eq!(layout.find(id, publisher), None);
        let is_found = entries.iter().all(|entry| layout.find(entry.id(), publisher).is_some());
        assert_eq!(is_found, publisher <= 40, "{publisher}");
    }
    drop(attachments);
}

#[test]
fn a_process_without_free_entries_hears_fewer_publishers() {
    let segment = segment();
    let mut entries: Vec<_> =
        (0..MAX_SUBSCRIPTIONS).map(|_| segment.subscription_entry().unwrap()).collect();
    let entry = entries.pop().unwrap();
    let few = attach(&entry, ATTACHMENTS_PER_ENTRY);
    let full = AttachmentsFull { limit: ATTACHMENTS_PER_ENTRY };
    assert_eq!(entry.check_room(), Err(full));
    assert_eq!(entry.attach(publisher(999), 1).map(drop), Err(full));
    entries.pop();
    assert_eq!(entry.check_room(), Ok(()));
    drop((few, entry.attach(publisher(999), 1).unwrap()));
}

/// Other processes may write anything into the words that link entries.
#[test]
fn any_chain_of_entries_ends() {
    let segment = segment();
    let entry = segment.subscription_entry().unwrap();
    let (id, layout) = (entry.id(), segment.mapping.layout());
    for next in [id.index(), 1, MAX_SUBSCRIPTIONS, u32::MAX as usize - 1] {
        layout.entry(id.index()).set_next(Some(next));
        layout.entry(1).set_next(Some(id.index()));
        assert_eq!(layout.find(id, 7), None);
    }
}

/// An attachment may be dropped before or after the subscription. The entry is free when both have
/// been dropped.
#[test]
fn an_entry_is_kept_while_an_attachment_needs_it() {
    let segment = segment();
    let entry = segment.subscription_entry().unwrap();
    let attachment = entry.attach(publisher(1), 1).unwrap();
    let id = entry.id();
    drop(entry);
    let other = segment.subscription_entry().unwrap();
    assert_ne!(other.id().index(), id.index());
    drop(attachment);
    let again = segment.subscription_entry().unwrap();
    assert_eq!(again.id().index(), id.index());
    assert_ne!(again.id(), id);
}

/// The kilobytes of all pages that contain one of these extents.
fn kilobytes_of(extents: &[Extent], page: usize) -> usize {
    let pages = |extent: &Extent| {
        let end = extent.offset_bytes + extent.size_bytes;
        pages_around(extent.offset_bytes..end, page).step_by(page)
    };
    extents.iter().flat_map(pages).collect::<BTreeSet<_>>().len() * page / 1024
}

/// The header, and one doorbell and three entries that are in use.
fn extents_in_use() -> Vec<Extent> {
    let entries = (0..3).map(Layout::extent_of_entry);
    [Layout::HEADER, Layout::extent_of_doorbell(0)].into_iter().chain(entries).collect()
}

#[test]
fn larger_pages_hold_more_of_a_segment() {
    let costs =
        |page| [&[Layout::HEADER][..], &extents_in_use()[..]].map(|used| kilobytes_of(used, page));
    assert_eq!(PAGE_SIZES.map(costs), [[4, 12], [16, 32], [64, 128]]);
}

/// Memory that was not reserved is not resident: according to `/proc`, only the header and the
/// pages of used doorbells and entries of this mapping are resident.
#[test]
fn a_segment_costs_the_pages_that_are_used() {
    let segment = segment();
    let address = format!("{:x}-", std::ptr::from_ref(segment.mapping.layout()).addr());
    let resident_kilobytes = || {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = maps.lines().skip_while(|line| !line.starts_with(&address));
        let line = lines.find(|line| line.starts_with("Rss:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(resident_kilobytes(), kilobytes_of(&[Layout::HEADER], page_bytes()));
    let doorbell = segment.doorbell().unwrap();
    doorbell.ring(Slot::new(0).unwrap());
    let entries: Vec<_> = (0..3).map(|_| segment.subscription_entry().unwrap()).collect();
    let attachments: Vec<_> =
        entries.iter().map(|entry| entry.attach(publisher(1), 1).unwrap()).collect();
    let expected = kilobytes_of(&extents_in_use(), page_bytes());
    assert_eq!(resident_kilobytes(), expected, "header, doorbells, entries");
    drop((doorbell, entries, attachments));
}
