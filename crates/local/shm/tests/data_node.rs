//! Tests of the effects of a node that are visible from outside: file modes, threads, signals,
//! folders of other users, and a full `/dev/shm`.
#![allow(clippy::unwrap_used)]

mod space;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use feros_engine::PayloadBytes;
use feros_shm::{
    CleanUp, Connection, ConnectionSettings, CreateError, HostNode, HostPublisher,
    HostPublisherSettings, LoanError, OpenError, SampleHeader, TakeOutcome, UnavailableError,
};
use feros_test_support::{skip, words_of};
use space::Space;

const ROLE: &str = "FEROS_DATA_NODE_ROLE";
const SETTINGS: ConnectionSettings = ConnectionSettings { depth: 4, type_hash: None };

fn name(test: &str) -> String {
    format!("feros-test-{}-{test}", std::process::id())
}

/// Starts a separate process, so that nothing else changes its threads or its `/dev/shm`. `wrap` is
/// the command that starts this process.
fn run(role: &str, wrap: &[&str]) -> std::process::Output {
    let mut words: Vec<OsString> = wrap.iter().map(OsString::from).collect();
    words.extend(words_of(std::env::current_exe().unwrap()));
    Command::new(&words[0])
        .args(&words[1..])
        .args(["--exact", "role_of_a_child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .output()
        .unwrap()
}

fn expect_success(output: &std::process::Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{}\n{}\n{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    assert!(text(&output.stdout).contains("role done"), "{}", text(&output.stdout));
}

/// The work of the separate processes. In a normal test run, this test does nothing.
#[test]
fn role_of_a_child() {
    match std::env::var(ROLE).as_deref() {
        Ok("quiet") => quiet(),
        Ok("full") => full(),
        Ok(other) => panic!("{other}"),
        Err(_) => return,
    }
    println!("role done");
}

fn status(key: &str) -> String {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().to_owned()
}

#[test]
fn there_is_no_thread_and_no_signal_handler() {
    expect_success(&run("quiet", &[]));
}

fn quiet() {
    let seen = || (status("Threads:"), status("SigCgt:"), status("SigIgn:"), status("SigBlk:"));
    let before = seen();
    let space = name("quiet");
    let _removed = Space(space.clone());
    let node = Arc::new(HostNode::new(&space).unwrap());
    let publisher = HostPublisher::create(&node, HostPublisherSettings::new(1)).unwrap();
    let mut connection = Connection::open(&node, 1, SETTINGS).unwrap();
    publisher.send(publisher.loan(100_000).unwrap(), SampleHeader::default()).unwrap();
    assert!(matches!(connection.take(), TakeOutcome::Sample(_)));
    assert_eq!(seen(), before);
    drop((connection, publisher, node));
    assert_eq!(seen(), before);
}

#[test]
fn nothing_can_be_read_or_written_by_other_users() {
    fn check(path: &Path) {
        let found = fs::symlink_metadata(path).unwrap();
        assert_eq!(found.uid(), rustix::process::geteuid().as_raw(), "{}", path.display());
        assert_eq!(found.mode() & 0o077, 0, "{} has mode {:o}", path.display(), found.mode());
    }
    let space = name("modes");
    let _removed = Space(space.clone());
    let node = Arc::new(HostNode::new(&space).unwrap());
    let publisher = HostPublisher::create(&node, HostPublisherSettings::new(1)).unwrap();
    let connection = Connection::open(&node, 1, SETTINGS).unwrap();
    publisher.send(publisher.loan(100_000).unwrap(), SampleHeader::default()).unwrap();
    check(node.folder()); // the mode of the folder protects everything in it
    let ours = shared_files(&node);
    assert!(ours.len() >= 5, "data (2), connection, service, node counter: {ours:?}");
    ours.iter().for_each(|path| check(path));
    drop(connection);
}

fn shared_files(node: &HostNode) -> Vec<PathBuf> {
    let paths = fs::read_dir("/dev/shm").unwrap().map(|entry| entry.unwrap().path());
    let is_ours =
        |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(node.prefix());
    paths.filter(is_ours).collect()
}

/// The memory is allocated in advance. Otherwise, a process that touches a new page when no memory
/// is left would get a SIGBUS.
#[test]
fn shared_files_have_their_memory_from_the_start() {
    let space = name("blocks");
    let _removed = Space(space.clone());
    let node = Arc::new(HostNode::new(&space).unwrap());
    let settings = HostPublisherSettings {
        expected_message_bytes: 1 << 20,
        max_subscriptions: 1,
        largest_depth: 4096, // a queue with many pages, most of which are not written when the queue is made
        ..HostPublisherSettings::new(1)
    };
    let publisher = HostPublisher::create(&node, settings).unwrap();
    let connection =
        Connection::open(&node, 1, ConnectionSettings { depth: 4096, type_hash: None }).unwrap();
    let page = rustix::param::page_size() as u64;
    for path in shared_files(&node) {
        let found = fs::metadata(&path).unwrap();
        let (taken, size) = (found.blocks() * 512, found.len());
        if path.extension().unwrap() == "data" {
            // Messages get their pages one by one. The only resident pages are those with the
            // records of iceoryx2 and with the heads of some messages.
            let few = page..16 * page;
            assert!(size > 1 << 30 && few.contains(&taken), "{path:?} {taken}");
        } else {
            assert!(taken >= size, "{path:?} has {taken} of {size} bytes");
        }
    }
    drop((connection, publisher));
}

#[test]
fn a_foreign_folder_is_not_trusted() {
    let space = name("foreign");
    let folder = Path::new("/dev/shm").join(&space);
    symlink("/tmp", &folder).unwrap();
    let link = HostNode::new(&space).unwrap_err();
    fs::remove_file(&folder).unwrap();
    assert!(matches!(link, UnavailableError::NotTrusted { .. }), "{link}");

    fs::write(&folder, "").unwrap();
    let file = HostNode::new(&space).unwrap_err();
    fs::remove_file(&folder).unwrap();
    assert!(matches!(file, UnavailableError::NotTrusted { .. }), "{file}");

    // The folder belongs to this user but is open to others. It is closed to them before it is
    // used.
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let node = HostNode::new(&space).unwrap();
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    drop(node);

    if rustix::process::geteuid().is_root() {
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::chown(&folder, Some(65534), Some(65534)).unwrap();
        let other = HostNode::new(&space).unwrap_err();
        fs::remove_dir(&folder).unwrap();
        assert!(
            matches!(&other, UnavailableError::NotTrusted { why, .. } if why.contains("65534")),
            "{other}"
        );
    } else {
        skip("another user's folder: only root can make one; run it as root");
    }
}

#[test]
fn a_nonsense_prefix_is_an_error() {
    let space = name("prefix");
    let folder = Path::new("/dev/shm").join(&space);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("prefix"), "../../etc/passwd").unwrap();
    let error = HostNode::new(&space).unwrap_err();
    fs::remove_dir_all(&folder).unwrap();
    assert!(matches!(error, UnavailableError::Folder { .. }), "{error}");
}

#[test]
fn the_node_is_shared_and_goes_with_its_last_user() {
    let first = HostNode::shared().unwrap();
    let second = HostNode::shared().unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    let folder = first.folder().join("nodes");
    let mine = || {
        fs::read_dir(&folder)
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".node_monitor")
            })
            .count()
    };
    assert!(mine() >= 1);
    drop((first, second));
    assert_eq!(Arc::strong_count(&HostNode::shared().unwrap()), 1);
}

/// The files of a space in `/dev/shm`, and the folder of the space.
fn of_space(space: &str, prefix: &str) -> Vec<String> {
    let names = fs::read_dir("/dev/shm")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name == space || name.starts_with(prefix)).collect()
}

#[test]
fn a_space_goes_with_its_last_process() {
    let space = name("last");
    let _removed = Space(space.clone());
    let first = Arc::new(HostNode::new(&space).unwrap());
    let second = Arc::new(HostNode::new(&space).unwrap());
    let prefix = first.prefix().to_owned();
    let publisher = HostPublisher::create(&first, HostPublisherSettings::new(1)).unwrap();
    let connection = Connection::open(&second, 1, SETTINGS).unwrap();
    drop((first, publisher));
    assert!(Path::new("/dev/shm").join(&space).exists(), "the other one is still there");
    drop((connection, second));
    assert_eq!(of_space(&space, &prefix), [""; 0]);
    // The next space gets names that nobody can know in advance.
    let third = HostNode::new(&space).unwrap();
    assert_ne!(third.prefix(), prefix);
}

/// Counts how often the lock of a space has been taken since the watch began: each holder makes the
/// folder `busy` in the folder of the space.
struct LockTakings(rustix::fd::OwnedFd);

impl LockTakings {
    fn watch(folder: &Path) -> Self {
        use rustix::fs::inotify;
        let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK);
        let watch = watch.unwrap();
        // The kernel merges equal events that follow each other, so removals are watched, too.
        let flags = inotify::WatchFlags::CREATE | inotify::WatchFlags::DELETE;
        inotify::add_watch(&watch, folder, flags).unwrap();
        Self(watch)
    }

    fn count(&self) -> usize {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 65_536];
        let mut events = rustix::fs::inotify::Reader::new(&self.0, &mut buffer);
        std::iter::from_fn(|| {
            let event = events.next().ok()?;
            let is_made = event.events().contains(rustix::fs::inotify::ReadFlags::CREATE);
            Some(is_made && event.file_name().is_some_and(|name| name.to_bytes() == b"busy"))
        })
        .filter(|is_taking| *is_taking)
        .count()
    }
}

/// When many processes end at once, all of them wait for this lock. So its number of takings must
/// not grow with the number of endpoints of a process.
#[test]
fn a_process_that_ends_takes_the_lock_once() {
    const PUBLISHERS: u64 = 30;
    let space = name("takings");
    let _removed = Space(space.clone());
    let node = Arc::new(HostNode::new(&space).unwrap());
    let other = Arc::new(HostNode::new(&space).unwrap());
    let watch = LockTakings::watch(node.folder());
    let publishers: Vec<HostPublisher> = (0..PUBLISHERS)
        .map(|id| HostPublisher::create(&node, HostPublisherSettings::new(id)).unwrap())
        .collect();
    let connections: Vec<Connection> =
        (0..PUBLISHERS).map(|id| Connection::open(&other, id, SETTINGS).unwrap()).collect();
    let made = watch.count() as u64;
    assert!(made >= 2 * PUBLISHERS, "takings of {PUBLISHERS} publishers and connections: {made}");
    drop((publishers, node));
    assert_eq!(watch.count(), 1, "takings at the end of the publishers' process");
    drop((connections, other));
    assert_eq!(watch.count(), 1, "takings at the end of the connections' process");
}

/// A process that starts while another process removes the space must get a complete space.
/// Processes that run at the same time must find each other.
#[test]
fn coming_and_going_leaves_nothing() {
    let space = name("churn");
    let _removed = Space(space.clone());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let space = &space;
            scope.spawn(move || {
                for round in 0..40 {
                    let id = thread * 1000 + round;
                    let node = Arc::new(HostNode::new(space).unwrap());
                    let publisher =
                        HostPublisher::create(&node, HostPublisherSettings::new(id)).unwrap();
                    let other = Arc::new(HostNode::new(space).unwrap());
                    assert_eq!(
                        node.prefix(),
                        other.prefix(),
                        "one space while one of them is there"
                    );
                    let mut connection = Connection::open(&other, id, SETTINGS).unwrap();
                    publisher.refresh();
                    publisher.send(publisher.loan(8).unwrap(), SampleHeader::default()).unwrap();
                    assert!(matches!(connection.take(), TakeOutcome::Sample(_)));
                }
            });
        }
    });
    assert!(!Path::new("/dev/shm").join(&space).exists());
}

/// If the system allows it, the test runs in a mount namespace with a `/dev/shm` of 3 MB.
#[test]
fn a_full_dev_shm_is_an_error_and_no_signal() {
    let mount = "mount -t tmpfs -o size=3m,mode=1777 none /dev/shm && exec \"$0\" \"$@\"";
    let wrap: &[&str] = if rustix::process::geteuid().is_root() {
        &["unshare", "-m"]
    } else {
        &["unshare", "-Urm"]
    };
    if !Command::new(wrap[0])
        .args(&wrap[1..])
        .arg("true")
        .status()
        .is_ok_and(|status| status.success())
    {
        return skip(
            "the test needs a mount namespace for its own small /dev/shm; run the test as root",
        );
    }
    expect_success(&run("full", &[wrap, &["sh", "-c", mount]].concat()));
}

fn full() {
    let node = Arc::new(HostNode::new("feros-test").unwrap());
    let publisher = HostPublisher::create(&node, HostPublisherSettings::new(1)).unwrap();
    let mut connection = Connection::open(&node, 1, SETTINGS).unwrap();
    publisher.refresh();
    // This message is too large for the free memory.
    assert!(matches!(publisher.loan(4 << 20), Err(LoanError::SharedMemoryFull { .. })));
    // Another process takes the remaining memory while messages are in use.
    let mut held = Vec::new();
    let first_error = loop {
        match publisher.loan(500_000) {
            Ok(mut loan) => {
                loan.fill(7);
                publisher.send(loan, SampleHeader::default()).unwrap();
            }
            Err(error) => break error,
        }
        let TakeOutcome::Sample(sample) = connection.take() else { panic!("no sample") };
        held.push(sample);
    };
    assert!(matches!(first_error, LoanError::SharedMemoryFull { .. }), "{first_error}");
    // Larger pages make the small files of iceoryx2 larger.
    let fewest = if rustix::param::page_size() > 4096 { 2 } else { 4 };
    assert!((fewest..=6).contains(&held.len()), "{}", held.len());
    fs::write("/dev/shm/filler", vec![1; 3 << 20]).unwrap_err();
    // New shared memory cannot be made, but existing publishers continue with the memory that they
    // already have.
    let create = HostPublisher::create(&node, HostPublisherSettings::new(2)).unwrap_err();
    assert!(matches!(create, CreateError::Unavailable(UnavailableError::Full { .. })), "{create}");
    let open = Connection::open(&node, 1, SETTINGS).unwrap_err();
    assert!(matches!(open, OpenError::Unavailable(UnavailableError::Full { .. })), "{open}");
    assert!(held.iter().all(|sample| sample.bytes().iter().all(|byte| *byte == 7)));
    assert!(matches!(publisher.loan(500_000), Err(LoanError::SharedMemoryFull { .. })));
    held.pop();
    for _ in 0..20 {
        let mut loan = publisher.loan(400_000).unwrap();
        loan.fill(8);
        publisher.send(loan, SampleHeader::default()).unwrap();
        let TakeOutcome::Sample(sample) = connection.take() else { panic!("no sample") };
        assert!(sample.bytes().iter().all(|byte| *byte == 8));
    }
    // The publisher continues when there is free memory again.
    fs::remove_file("/dev/shm/filler").unwrap();
    held.clear();
    drop(publisher.loan(500_000).unwrap());
    drop(connection);
    drop(publisher); // a pool keeps all the memory that it has taken until the pool ends
    drop(HostPublisher::create(&node, HostPublisherSettings::new(2)).unwrap());
}

/// A failed connection must not look like unfinished work. After unfinished work, the next holder
/// of the lock checks every file.
#[test]
fn a_connection_that_finds_no_place_leaves_nothing_unfinished() {
    let space = Space(name("no-place"));
    let node = Arc::new(HostNode::new(&space.0).unwrap());
    let settings = HostPublisherSettings { max_subscriptions: 1, ..HostPublisherSettings::new(7) };
    let _publisher = HostPublisher::create(&node, settings).unwrap();
    let _connection = Connection::open(&node, 7, SETTINGS).unwrap();
    let entries = || {
        let shm = fs::read_dir("/dev/shm").unwrap().flatten();
        let of_node = fs::read_dir(node.folder().join("nodes")).unwrap().flatten();
        let ours =
            shm.filter(|entry| entry.file_name().to_string_lossy().starts_with(node.prefix()));
        let folders = of_node.filter(|entry| entry.path().is_dir());
        let tags: usize = folders.map(|folder| fs::read_dir(folder.path()).unwrap().count()).sum();
        ours.count() + tags
    };
    let before = entries();
    for (id, is_expected) in [
        (7, (|error| matches!(error, OpenError::TooMany { .. })) as fn(&OpenError) -> bool),
        (8, |error| matches!(error, OpenError::NotYet { .. })),
    ] {
        let error = Connection::open(&node, id, SETTINGS).map(drop).unwrap_err();
        assert!(is_expected(&error), "{error}");
        assert!(!node.folder().join("busy").exists(), "{error}");
        assert_eq!(entries(), before, "{error}");
    }
}

/// A thread in the background may still clean up when the program drops its node, which is the last
/// thing that the program waits for.
#[test]
fn a_cleaner_does_not_keep_the_files_of_the_node() {
    let space = Space(name("cleaner"));
    let node = HostNode::new(&space.0).unwrap();
    let (cleaner, folder) = (Arc::clone(node.cleaner()), node.folder().to_owned());
    assert_eq!(cleaner.clean_up(), CleanUp::default());
    drop(node);
    assert!(!folder.exists());
    assert_eq!(cleaner.clean_up().failed, 1, "its space is gone");
    assert!(!folder.exists());
}

/// A clean-up checks all files only if a process was killed. If it always did so, each of many
/// processes that end at the same time would check all files.
#[test]
fn only_what_ended_processes_left_has_all_files_looked_at() {
    let space = Space(name("strangers"));
    let first = HostNode::new(&space.0).unwrap();
    let stray = Path::new("/dev/shm").join(format!("{}h_9.dynamic", first.prefix()));
    fs::write(&stray, "x").unwrap();
    assert_eq!(first.clean_up().swept, 0);
    drop(HostNode::new(&space.0).unwrap());
    assert!(stray.exists(), "nobody was killed");
    let folder = first.folder().to_owned();
    drop(first);
    assert!(!stray.exists() && !folder.exists(), "the last process leaves nothing");
}
