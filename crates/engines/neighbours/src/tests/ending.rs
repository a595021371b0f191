//! Participants end, processes are killed, and files are removed.

use std::fs::{self, File};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use feros_sync::{AtomicBool, Mutex, Ordering};
use feros_test_support::until;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Process, Recorder, end_of, participant, record};
use crate::bells;
use crate::folder::{Entry, Folder};
use crate::format::{self, Header, MOST_BODY_BYTES};
use crate::{AnnounceError, Kind, Learner, Neighbourhood, Prefix, Record};

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

/// The only folder in `base`.
pub(super) fn of_user(base: &Path) -> PathBuf {
    fs::read_dir(base).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn the_end_of_a_participant_is_told() {
    let base = tempfile::tempdir().unwrap();
    let (me, you) = (participant(1), participant(2));
    let (one, other) = (Process::with(base.path(), me), Process::start(base.path()));
    one.announce(you, Kind::Participant, 0, "");
    other.learns(me, 1);
    other.learns(you, 1);
    one.end(me, Kind::Participant, 0);
    other.sees_end(me);
    assert!(one.folder().lacks(Entry::Log(me)));
    assert!(!other.neighbourhood.is_neighbour(me));
    assert_eq!((other.told(you).ends, other.neighbourhood.count()), (0, 1));
    one.announce(me, Kind::Participant, 0, "it is back");
    until("it is found again", || other.told(me).records.len() == 1);
}

#[test]
fn the_last_neighbourhood_removes_the_folder() {
    let base = tempfile::tempdir().unwrap();
    let me = participant(1);
    let (one, other) = (Process::with(base.path(), me), Process::with(base.path(), participant(2)));
    other.learns(me, 1);
    drop(one);
    other.sees_end(me);
    until("its files are removed", || other.folder().list().unwrap().len() == 3);
    assert!(!is_empty(base.path()));
    drop(other);
    assert!(is_empty(base.path()));
}

#[test]
fn neighbourhoods_that_begin_and_end_at_once_leave_nothing() {
    let base = tempfile::tempdir().unwrap();
    let work = |number: u8| {
        for _ in 0..25 {
            drop(Process::with(base.path(), participant(number)));
        }
    };
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || work(number));
        }
    });
    assert!(is_empty(base.path()));
}

#[test]
fn what_a_killed_process_leaves_is_removed() {
    let base = tempfile::tempdir().unwrap();
    let (me, you) = (participant(1), participant(2));
    let other = Process::with(base.path(), you);
    let folder = other.folder();
    let bytes = [
        Header { pulses: [3, 0], first: 0, owner: 0xdead }.to_bytes(),
        format::encode(&record(Kind::Participant, 0, "")),
    ];
    fs::write(folder.path(Entry::Read(0xdead)), "").unwrap();
    fs::write(folder.path(Entry::NewLog(you)), "").unwrap();
    drop(UnixDatagram::bind(folder.path(Entry::Bell(0xdead))).unwrap());
    drop(UnixDatagram::bind(folder.path(Entry::NewBell(0xbeef))).unwrap());
    fs::write(folder.path(Entry::Read(0xbeef)), "").unwrap();
    let draft = base.path().join("draft");
    fs::write(&draft, bytes.concat()).unwrap();
    fs::rename(&draft, folder.path(Entry::Log(me))).unwrap();
    other.sees_end(me);
    until("its files are removed", || folder.list().unwrap().len() == 3);
    assert!(!other.neighbourhood.is_neighbour(me));
    assert!(other.told(me).records.is_empty());
}

#[test]
fn the_last_neighbourhood_removes_what_killed_ones_have_left() {
    let base = tempfile::tempdir().unwrap();
    let one = Process::start(base.path());
    fs::write(one.folder().path(Entry::Log(participant(1))), "").unwrap();
    fs::write(one.folder().path(Entry::Read(0xdead)), "").unwrap();
    drop(UnixDatagram::bind(one.folder().path(Entry::Bell(0xdead))).unwrap());
    drop(one);
    assert!(is_empty(base.path()));
}

#[test]
fn files_that_a_stranger_removes_are_made_again() {
    let base = tempfile::tempdir().unwrap();
    let (me, you) = (participant(1), participant(2));
    let (one, other) = (Process::with(base.path(), me), Process::with(base.path(), you));
    one.announce(me, Kind::Writer, 1, "a writer");
    one.end(me, Kind::Writer, 1);
    one.announce(me, Kind::Writer, 2, "another writer");
    other.learns(me, 4);
    fs::remove_file(one.folder().path(Entry::Log(me))).unwrap();
    let all_again = |process: &Process| process.live(me).len() == 2 && process.told(me).ends < 2;
    until("the log is there again", || !one.folder().lacks(Entry::Log(me)));
    other.looks(base.path());
    until("all is known again", || all_again(&other));
    fs::rename(of_user(base.path()), base.path().join("away")).unwrap();
    fs::remove_dir_all(base.path().join("away")).unwrap();
    for process in [&one, &other] {
        let read = Entry::Read(process.neighbourhood.shared.name);
        for entry in [process.bell(), read] {
            until("the folder is there again", || !process.folder().lacks(entry));
        }
    }
    let late = Process::start(base.path());
    until("all is known", || all_again(&late));
    one.announce(me, Kind::Writer, 3, "bells work");
    until("the writer is known", || other.live(me).len() == 3 && late.live(me).len() == 3);
}

#[test]
fn a_log_that_was_replaced_by_a_stranger_is_made_again() {
    let base = tempfile::tempdir().unwrap();
    let me = participant(1);
    let (one, other) = (Process::with(base.path(), me), Process::start(base.path()));
    other.learns(me, 1);
    let (log, foreign) = (one.folder().path(Entry::Log(me)), base.path().join("foreign"));
    fs::write(&foreign, "foreign").unwrap();
    fs::rename(&foreign, &log).unwrap();
    until("the log is right again", || {
        fs::read(&log).is_ok_and(|bytes| bytes.starts_with(b"FEROSNB1"))
    });
    one.announce(me, Kind::Writer, 1, "a writer");
    until("the writer is known", || other.live(me).len() == 2);
}

#[test]
fn who_cannot_announce_leaves() {
    let base = tempfile::tempdir().unwrap();
    let (me, you) = (participant(1), participant(2));
    let (one, other) = (Process::with(base.path(), me), Process::with(base.path(), you));
    one.learns(you, 1);
    other.learns(me, 1);
    let large = record(Kind::Writer, 1, &"x".repeat(MOST_BODY_BYTES + 1));
    let mut error = None;
    let lines = feros_test_support::log_lines(|| {
        error = one.neighbourhood.announce(me, large).err();
        let next = one.neighbourhood.announce(me, record(Kind::Writer, 2, ""));
        assert_eq!(next, Err(AnnounceError::Left));
    });
    assert!(matches!(error, Some(AnnounceError::TooLarge { bytes: 1_048_577, .. })));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("found by the network") && lines[0].contains("1048577"), "{lines:?}");
    other.sees_end(me);
    one.sees_end(you);
    assert!(!one.neighbourhood.is_neighbour(you) && !other.neighbourhood.is_neighbour(me));
    until("nobody is known", || one.neighbourhood.count() + other.neighbourhood.count() == 0);
    until("its files are removed", || other.folder().list().unwrap().len() == 3);
    assert_eq!(one.neighbourhood.announce(me, end_of(Kind::Writer, 2)), Err(AnnounceError::Left));
}

#[test]
fn who_cannot_make_its_files_again_leaves() {
    let base = tempfile::tempdir().unwrap();
    let one = Process::with(base.path(), participant(1));
    let (of_user, mut attempt) = (of_user(base.path()), 0);
    until("the folder is replaced before it is made again", || {
        attempt += 1;
        let _ = fs::rename(&of_user, base.path().join(format!("away {attempt}")));
        fs::write(&of_user, "not a folder").is_ok()
    });
    until("it leaves", || one.neighbourhood.shared.has_left());
    let next = one.neighbourhood.announce(participant(2), record(Kind::Participant, 0, ""));
    assert_eq!(next, Err(AnnounceError::Left));
    fs::remove_file(&of_user).unwrap();
}

/// Writing a larger file than the limit, or reserving memory for it, ends a process by a signal.
#[test]
fn a_limit_on_files_ends_no_process() {
    const INNER: &str = "FEROS_NEIGHBOURS_TEST_LIMIT";
    if std::env::var_os(INNER).is_none() {
        let name = "tests::ending::a_limit_on_files_ends_no_process";
        let ended =
            feros_test_support::this_program().args(["--exact", name]).env(INNER, "").output();
        let ended = ended.unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
        return;
    }
    // Other file systems have no limit on memory that is reserved.
    let base = tempfile::tempdir_in(crate::SHM).unwrap();
    let limit = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(8192), ..limit }).unwrap();
    let one = Process::start(base.path());
    let refused = one.neighbourhood.announce(participant(1), record(Kind::Participant, 0, ""));
    assert!(matches!(refused, Err(AnnounceError::NotWritten { .. })), "{refused:?}");
    setrlimit(Resource::Fsize, Rlimit { current: Some(2048), ..limit }).unwrap();
    assert!(Process::try_start(base.path()).is_err());
    assert!(is_empty(base.path()));
}

/// A learner that drops its neighbourhood when it learns something.
#[derive(Default)]
struct Leaver {
    neighbourhood: Mutex<Option<Neighbourhood>>,
    is_gone: AtomicBool,
}

impl Learner for Leaver {
    fn learn(&self, _: Prefix, _: &[Record], _: u64) {
        let neighbourhood = self.neighbourhood.lock().take();
        assert!(neighbourhood.is_some(), "this was the last call");
        drop(neighbourhood);
        self.is_gone.store(true, Ordering::SeqCst);
    }

    fn ended(&self, _: Prefix) {}

    fn lives(&self, _: Prefix, _: bool) -> bool {
        true
    }
}

#[test]
fn the_learner_may_drop_the_neighbourhood() {
    let base = tempfile::tempdir().unwrap();
    let leaver = Arc::new(Leaver::default());
    let learner: Weak<dyn Learner> = Arc::<Leaver>::downgrade(&leaver);
    let neighbourhood = Neighbourhood::join_in(base.path(), 7, "test", learner).unwrap();
    *leaver.neighbourhood.lock() = Some(neighbourhood);
    let one = Process::with(base.path(), participant(1));
    one.announce(participant(2), Kind::Participant, 0, "");
    until("it has left", || leaver.is_gone.load(Ordering::SeqCst));
    until("its files are removed", || one.folder().list().unwrap().len() == 4);
    drop(one);
    assert!(is_empty(base.path()));
}

#[test]
fn a_learner_that_is_gone_is_told_nothing() {
    let base = tempfile::tempdir().unwrap();
    let learner: Weak<dyn Learner> = Weak::<super::Recorder>::new();
    let neighbourhood = Neighbourhood::join_in(base.path(), 7, "test", learner).unwrap();
    let _one = Process::with(base.path(), participant(1));
    until("the participant is known", || neighbourhood.count() == 1);
}

/// A process that is killed while the lock of its log is kept by a process that it has forked: the
/// log seems alive until that ends.
#[test]
fn a_log_is_alive_as_long_as_its_lock_is_held() {
    let base = tempfile::tempdir().unwrap();
    let (me, other) = (participant(1), Process::start(base.path()));
    let header = Header { pulses: [0; 2], first: 0, owner: 0xdead };
    let bytes = [header.to_bytes(), format::encode(&record(Kind::Participant, 0, ""))].concat();
    let file: File = super::hostile::locked_log(&other, me, &bytes);
    other.learns(me, 1);
    assert_eq!(other.told(me).ends, 0);
    drop(file);
    other.sees_end(me);
}

#[test]
fn the_folder_of_a_domain_whose_processes_were_killed_is_removed_by_others() {
    let base = tempfile::tempdir().unwrap();
    let killed = Folder::new(base.path(), 8, "killed").unwrap();
    let alive = Folder::new(base.path(), 9, "alive").unwrap();
    let bell = bells::Bell::make(&alive, 3).unwrap();
    drop(bells::Bell::make(&killed, 2).unwrap());
    let header = Header { pulses: [0; 2], first: 0, owner: 2 };
    fs::write(killed.path(Entry::Log([5; 12])), header.to_bytes()).unwrap();
    fs::write(killed.path(Entry::Read(2)), "").unwrap();
    let recorder: Arc<dyn Learner> = Arc::new(Recorder::default());
    drop(Neighbourhood::join_in(base.path(), 7, "", Arc::downgrade(&recorder)).unwrap());
    assert!(killed.list().unwrap().is_empty() && alive.list().unwrap() == [Entry::Bell(3)]);
    drop(bell);
    drop(Neighbourhood::join_in(base.path(), 7, "", Arc::downgrade(&recorder)).unwrap());
    assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
}
