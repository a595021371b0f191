//! What one announces, all others learn.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use feros_sync::Ordering;
use feros_test_support::until;

use super::{Process, end_of, participant, record};
use crate::folder::Entry;
use crate::{AnnounceError, Kind};

#[test]
fn announcements_come_in_their_order() {
    let base = tempfile::tempdir().unwrap();
    let (one, other) = (Process::start(base.path()), Process::start(base.path()));
    let me = participant(1);
    let announced = [
        record(Kind::Participant, 0, "participant"),
        record(Kind::Writer, 1, "a writer"),
        record(Kind::Reader, 1, "a reader with the same id"),
        record(Kind::Writer, 1, "the writer has changed"),
        record(Kind::Nodes, 3, ""),
        end_of(Kind::Writer, 1),
        record(Kind::Participant, 0, "the participant has changed"),
    ];
    for record in &announced {
        one.neighbourhood.announce(me, record.clone()).unwrap();
    }
    other.learns(me, 7);
    assert_eq!(other.told(me).records, announced);
    assert_eq!((other.told(me).through, other.told(me).ends), (7, 0));
    assert_eq!((one.neighbourhood.count(), other.neighbourhood.count()), (0, 1));
    assert!(one.told(me).records.is_empty(), "nobody learns of its own participants");
    one.end(me, Kind::Writer, 1); // it has ended before
    one.announce(me, Kind::Writer, 2, "another writer");
    other.learns(me, 8);
    assert_eq!(other.told(me).records[7..], [record(Kind::Writer, 2, "another writer")]);
}

#[test]
fn who_comes_late_learns_everything() {
    let base = tempfile::tempdir().unwrap();
    let early = Process::with(base.path(), participant(1));
    early.announce(participant(1), Kind::Writer, 1, "a writer");
    early.announce(participant(2), Kind::Participant, 0, "a second participant");
    let late = Process::with(base.path(), participant(3));
    late.learns(participant(1), 2);
    late.learns(participant(2), 1);
    early.learns(participant(3), 1);
    assert_eq!((early.neighbourhood.count(), late.neighbourhood.count()), (1, 2));
}

#[test]
fn only_the_same_domain_and_circumstances_meet() {
    let base = tempfile::tempdir().unwrap();
    let one = Process::with(base.path(), participant(1));
    let learner = std::sync::Arc::downgrade(&one.recorder);
    for (domain_id, circumstances) in [(7, "others"), (8, "test")] {
        let learner = learner.clone();
        let other =
            crate::Neighbourhood::join_in(base.path(), domain_id, circumstances, learner).unwrap();
        assert!(!other.is_neighbour(participant(1)));
        assert!(other.is_announced_to(participant(2), participant(1), Duration::ZERO).is_none());
    }
}

#[test]
fn endpoints_need_their_participant() {
    let base = tempfile::tempdir().unwrap();
    let one = Process::start(base.path());
    let writer = record(Kind::Writer, 1, "a writer");
    let refused = one.neighbourhood.announce(participant(1), writer.clone()).unwrap_err();
    assert!(matches!(refused, AnnounceError::NoParticipant { .. }));
    assert!(refused.to_string().contains("010101010101010101010101"), "{refused}");
    one.end(participant(1), Kind::Writer, 1);
    one.end(participant(1), Kind::Participant, 0);
    one.announce(participant(1), Kind::Participant, 0, "");
    one.neighbourhood.announce(participant(1), writer).unwrap();
}

#[test]
fn it_is_known_what_others_have_processed() {
    let base = tempfile::tempdir().unwrap();
    let (me, you) = (participant(1), participant(2));
    let (one, other) = (Process::with(base.path(), me), Process::with(base.path(), you));
    let is_announced = |patience| one.neighbourhood.is_announced_to(me, you, patience);
    other.learns(me, 1);
    assert_eq!(is_announced(Duration::from_millis(3)), Some(false));
    other.neighbourhood.processed(me, 1);
    assert_eq!(is_announced(Duration::ZERO), Some(true));
    one.announce(me, Kind::Writer, 1, "a writer");
    assert_eq!(is_announced(Duration::ZERO), Some(false));
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(is_announced(Duration::from_secs(90)), Some(true)));
        other.learns(me, 2);
        other.neighbourhood.processed(me, 2);
    });
    other.neighbourhood.processed(me, 1);
    assert_eq!(is_announced(Duration::ZERO), Some(true), "a late number changes nothing");
    other.neighbourhood.processed(participant(9), 5); // nobody knows it
    for stranger in [participant(9), me] {
        assert_eq!(one.neighbourhood.is_announced_to(me, stranger, Duration::ZERO), None);
        assert_eq!(one.neighbourhood.is_announced_to(you, stranger, Duration::ZERO), None);
    }
    drop(other);
    assert_eq!(is_announced(Duration::ZERO), None);
}

#[test]
fn a_user_that_has_lost_what_it_knew_learns_it_again() {
    let base = tempfile::tempdir().unwrap();
    let (me, you) = (participant(1), participant(2));
    let (one, other) = (Process::with(base.path(), me), Process::with(base.path(), you));
    one.announce(me, Kind::Writer, 1, "a writer");
    other.learns(me, 2);
    assert!(other.neighbourhood.is_neighbour(me));
    other.looks(base.path());
    assert_eq!(other.told(me).records.len(), 2, "nothing was processed, so nothing was lost");
    other.neighbourhood.processed(me, 2);
    assert_eq!(one.neighbourhood.is_announced_to(me, you, Duration::ZERO), Some(true));
    assert!(other.neighbourhood.is_neighbour(me));
    assert_eq!(one.neighbourhood.is_announced_to(me, you, Duration::ZERO), Some(false));
    assert!(other.neighbourhood.is_neighbour(me));
    until("all comes again", || other.told(me).records.len() == 4);
    other.neighbourhood.processed(me, 2);
    assert_eq!(one.neighbourhood.is_announced_to(me, you, Duration::ZERO), Some(true));
    other.looks(base.path());
    assert_eq!(other.told(me).records.len(), 4);
    assert_eq!(other.told(me).ends, 0);
}

#[test]
fn neighbours_are_recognized_before_they_are_known() {
    let base = tempfile::tempdir().unwrap();
    let me = participant(1);
    let other = Process::start(base.path());
    assert!(!other.neighbourhood.is_neighbour(me));
    let one = Process::with(base.path(), me);
    assert!(other.neighbourhood.is_neighbour(me));
    assert!(!one.neighbourhood.is_neighbour(me), "it is an own participant");
    drop(one);
    other.sees_end(me);
    until("it is forgotten", || !other.neighbourhood.is_neighbour(me));
}

#[test]
fn a_log_with_much_that_is_outdated_is_replaced() {
    let base = tempfile::tempdir().unwrap();
    let (me, you) = (participant(1), participant(2));
    let (one, other) = (Process::with(base.path(), me), Process::with(base.path(), you));
    one.announce(me, Kind::Reader, 1, "this will end unseen");
    one.announce(me, Kind::Reader, 2, "this remains");
    other.learns(me, 3);
    let log = one.folder().path(Entry::Log(me));
    let inode = || fs::metadata(&log).unwrap().ino();
    let first = inode();
    let gate = other.recorder.gate.lock();
    let calls = other.recorder.calls.load(Ordering::SeqCst);
    one.announce(me, Kind::Writer, 3, "");
    until("it is busy", || other.recorder.calls.load(Ordering::SeqCst) > calls);
    one.end(me, Kind::Reader, 1);
    let mut count = 5;
    let mut text = String::new();
    while inode() == first {
        text = format!("{count} {}", "x".repeat(9000));
        one.announce(me, Kind::Writer, 3, &text);
        count += 1;
        assert!(count < 1000, "the log grows without bound");
    }
    assert!(fs::metadata(&log).unwrap().len() < 10_000);
    drop(gate);
    other.learns(me, count);
    let expected = BTreeMap::from([
        (record(Kind::Participant, 0, "").key(), b"participant".to_vec()),
        (record(Kind::Reader, 2, "").key(), b"this remains".to_vec()),
        (record(Kind::Writer, 3, "").key(), text.into_bytes()),
    ]);
    assert_eq!(other.live(me), expected);
    assert_eq!(other.told(me).records.last(), Some(&end_of(Kind::Reader, 1)));
    assert_eq!((other.told(me).through, other.told(me).ends), (count, 0));
    other.neighbourhood.processed(me, count);
    assert_eq!(one.neighbourhood.is_announced_to(me, you, Duration::ZERO), Some(true));
    let late = Process::start(base.path());
    late.learns(me, count);
    assert_eq!(late.live(me), expected);
    assert_eq!(late.told(me).records.len(), 3);
    one.announce(me, Kind::Writer, 4, "after that");
    other.learns(me, count + 1);
    late.learns(me, count + 1);
    assert_eq!(late.live(me).len(), 4);
}

#[test]
fn large_logs_come_in_parts() {
    let base = tempfile::tempdir().unwrap();
    let me = participant(1);
    let one = Process::with(base.path(), me);
    let text = "x".repeat(crate::format::MOST_BODY_BYTES);
    for id in 0..7 {
        one.announce(me, Kind::Writer, id, &text);
    }
    let other = Process::start(base.path());
    other.learns(me, 8);
    let live = other.live(me);
    assert_eq!(live.len(), 8);
    assert!(live.values().filter(|bytes| bytes.len() == text.len()).count() == 7);
    assert!(other.recorder.calls.load(Ordering::SeqCst) > 1);
}

#[test]
fn pulses_are_told() {
    let base = tempfile::tempdir().unwrap();
    let me = participant(1);
    let (one, other) = (Process::with(base.path(), me), Process::start(base.path()));
    other.learns(me, 1);
    until("the automatic pulse comes by itself", || other.told(me).lives[0] > 0);
    assert_eq!(other.told(me).lives[1], 0);
    one.neighbourhood.pulse(me, true);
    until("the manual pulse comes", || other.told(me).lives[1] > 0);
    one.neighbourhood.pulse(participant(9), true); // nobody
}

#[test]
fn many_learn_all_of_many() {
    const PROCESSES: u8 = 20;
    const ENDPOINTS: u8 = 4;
    let base = tempfile::tempdir().unwrap();
    let start = |number: u8| {
        let process = Process::with(base.path(), participant(number));
        for id in 1..=ENDPOINTS {
            process.announce(participant(number), Kind::Writer, id, &format!("{number} {id}"));
        }
        process
    };
    let processes: Vec<Process> = std::thread::scope(|scope| {
        let starts: Vec<_> =
            (0..PROCESSES).map(|number| scope.spawn(move || start(number))).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    for (own, process) in (0..).zip(&processes) {
        for number in (0..PROCESSES).filter(|number| *number != own) {
            process.learns(participant(number), u64::from(ENDPOINTS) + 1);
            let told = process.told(participant(number));
            assert_eq!((told.records.len(), told.ends), (5, 0), "{own} of {number}");
            assert_eq!(told.records[4].bytes, format!("{number} 4").into_bytes());
        }
        assert_eq!(process.neighbourhood.count(), usize::from(PROCESSES) - 1);
    }
}

#[test]
fn a_participant_that_the_user_has_lost_is_announced_again() {
    let base = tempfile::tempdir().unwrap();
    let me = participant(1);
    let (one, other) = (Process::with(base.path(), me), Process::start(base.path()));
    one.announce(me, Kind::Writer, 1, "writes");
    other.learns(me, 2);
    let before = other.told(me).records.len();
    other.neighbourhood.processed(me, other.told(me).through);
    other.recorder.has_lost.store(true, Ordering::SeqCst);
    until("all comes again", || other.told(me).records.len() >= 2 * before);
}
