//! Logs with any content, and folders that may belong to others.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::time::Duration;

use feros_sync::Ordering;
use feros_test_support::until;
use rustix::fs::FlockOperation;

use super::{Process, participant, record};
use crate::folder::Entry;
use crate::format::{self, HEADER_BYTES, Header, MOST_LOG_BYTES};
use crate::{JoinError, Kind, Prefix};

/// Makes a log of another process, which is alive until the file is closed.
pub(super) fn locked_log(process: &Process, participant: Prefix, bytes: &[u8]) -> File {
    let draft = process.folder().path(process.bell()).with_extension("foreign");
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&draft).unwrap();
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    fs::rename(draft, process.folder().path(Entry::Log(participant))).unwrap();
    process.ring();
    file
}

fn header() -> Vec<u8> {
    Header { pulses: [0; 2], first: 0, owner: 0xabcd }.to_bytes()
}

fn malformed(process: &Process) -> u64 {
    process.neighbourhood.shared.malformed.load(Ordering::SeqCst)
}

#[test]
fn a_record_is_taken_when_it_is_complete() {
    let base = tempfile::tempdir().unwrap();
    let (me, other) = (participant(1), Process::start(base.path()));
    let records = [record(Kind::Participant, 0, "me"), record(Kind::Writer, 1, "a longer text")];
    let all = [header(), format::encode(&records[0]), format::encode(&records[1])].concat();
    let first_end = all.len() - format::encode(&records[1]).len();
    let file = locked_log(&other, me, &all[..first_end + 7]);
    other.learns(me, 1);
    for end in [first_end + 24, all.len() - 1] {
        file.write_all_at(&all[..end], 0).unwrap();
        other.ring();
        other.looks(base.path());
        assert_eq!(other.told(me).records, records[..1]);
    }
    file.write_all_at(&all, 0).unwrap();
    other.ring();
    other.learns(me, 2);
    assert_eq!(other.told(me).records, records);
    assert_eq!(malformed(&other), 0);
}

#[test]
fn malformed_logs_do_no_harm() {
    let base = tempfile::tempdir().unwrap();
    let other = Process::start(base.path());
    let good = format::encode(&record(Kind::Participant, 0, "me"));
    let mut kind = good.clone();
    kind[4] = 77;
    let mut size = good.clone();
    size[..4].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut magic = header();
    magic[7] = b'2';
    let random: Vec<u8> = (0..5000_u32).map(|number| ((number * number) >> 3) as u8).collect();
    let contents = [
        Vec::new(),
        header()[..HEADER_BYTES - 1].to_vec(),
        magic,
        random.clone(),
        [header(), random].concat(),
        [header(), good.clone(), kind].concat(),
        [header(), good.clone(), size].concat(),
    ];
    let files: Vec<File> = (10..)
        .zip(&contents)
        .map(|(number, bytes)| locked_log(&other, participant(number), bytes))
        .collect();
    until("all are counted", || malformed(&other) == contents.len() as u64);
    for number in [15, 16] {
        assert_eq!(other.told(participant(number)).records.len(), 1, "what is before is known");
    }
    for number in 10..17 {
        assert!(!other.neighbourhood.is_neighbour(participant(number)));
        let to = other.neighbourhood.is_announced_to(
            participant(1),
            participant(number),
            Duration::ZERO,
        );
        assert_eq!(to, None);
    }
    assert_eq!(other.neighbourhood.count(), 0);
    let one = Process::with(base.path(), participant(1));
    other.learns(participant(1), 1);
    files[6].write_all_at(&[header(), good.clone(), good].concat(), 0).unwrap();
    other.ring();
    other.looks(base.path());
    assert_eq!(malformed(&other), contents.len() as u64, "each is counted once");
    assert_eq!(other.told(participant(16)).records.len(), 1);
    drop((files, one));
    for number in 10..17 {
        other.sees_end(participant(number));
    }
}

#[test]
fn logs_that_shrink_or_are_too_long_are_not_read_further() {
    let base = tempfile::tempdir().unwrap();
    let other = Process::start(base.path());
    let bytes = [header(), format::encode(&record(Kind::Participant, 0, "me"))].concat();
    let shrinking = locked_log(&other, participant(1), &bytes);
    other.learns(participant(1), 1);
    shrinking.set_len(bytes.len() as u64 - 8).unwrap();
    other.ring();
    until("it is counted", || malformed(&other) == 1);
    let long = locked_log(&other, participant(2), &bytes);
    other.learns(participant(2), 1);
    long.set_len(MOST_LOG_BYTES + 1).unwrap(); // zeros are no record
    other.ring();
    until("it is counted", || malformed(&other) == 2);
    assert_eq!((other.told(participant(1)).ends, other.told(participant(2)).ends), (0, 0));
}

#[test]
fn foreign_files_are_left_alone() {
    let base = tempfile::tempdir().unwrap();
    let one = Process::start(base.path());
    let path = |name: &str| one.folder().path(one.bell()).with_file_name(name);
    for name in ["notes.txt", "0.log", "010101010101010101010101.LOG"] {
        fs::write(path(name), "").unwrap();
    }
    fs::create_dir(one.folder().path(Entry::Log(participant(3)))).unwrap();
    one.ring();
    one.looks(base.path());
    assert_eq!(malformed(&one), 0);
    assert_eq!(one.told(participant(3)).ends, 0);
    assert!(path("notes.txt").exists() && path("0.log").exists());
}

#[test]
fn folders_of_others_are_not_joined() {
    let base = tempfile::tempdir().unwrap();
    let one = Process::start(base.path());
    let of_user = super::ending::of_user(base.path());
    fs::set_permissions(&of_user, fs::Permissions::from_mode(0o770)).unwrap();
    let refused = Process::try_start(base.path()).err();
    assert!(matches!(refused, Some(JoinError::NotTrusted { .. })), "{refused:?}");
    fs::set_permissions(&of_user, fs::Permissions::from_mode(0o700)).unwrap();
    drop(one);
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), &of_user).unwrap();
    let refused = Process::try_start(base.path()).err();
    assert!(matches!(refused, Some(JoinError::NotTrusted { .. })), "{refused:?}");
    assert!(fs::read_dir(elsewhere.path()).unwrap().next().is_none());
}
