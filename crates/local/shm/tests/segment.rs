//! Tests of process segments between real processes: this test program starts itself again, and an
//! environment variable tells the other process which role to play.
#![allow(clippy::unwrap_used)]

use feros_executor::{
    CAPACITY, Doorbell, Entity, Executor, ExecutorOptions, Place, Progress, Ringer, Slot,
};
use feros_shm::{
    Announced, Announcement, EntryId, Obstacle, Peer, PeerError, PeerSubscription, ProcessSegment,
    Reason, Room, SharedDoorbell, Side, SubscriptionEntry, TransportSet, format_version, random_id,
};
use feros_sync::{Mutex, MutexGuard};
use feros_test_support::{TestProcess, WATCHDOG, command_of, skip, this_program};
use rustix::fs::{MemfdFlags, SealFlags};
use std::io::Write;
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROLE: &str = "FEROS_SEGMENT_TEST_ROLE";
/// The announcement of the process that started this process.
const STARTER: &str = "FEROS_SEGMENT_TEST_STARTER";
/// Marks the lines that are meant for the starting process. The test harness prints other lines.
const MARK: &str = "child: ";
const SLOT: usize = 70;
const PUBLISHER: NonZeroU64 = NonZeroU64::new(99).unwrap();

/// Some tests count the mappings and descriptors of the process, so only one test runs at a time.
fn in_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
}

fn slot() -> Slot {
    Slot::new(SLOT).unwrap()
}

/// A subscription of this process that other processes can ring.
struct Subscription {
    doorbell: SharedDoorbell,
    entry: SubscriptionEntry,
}

impl Subscription {
    fn new() -> Self {
        let segment = ProcessSegment::of_this_process().unwrap();
        let (doorbell, entry) =
            (segment.doorbell().unwrap(), segment.subscription_entry().unwrap());
        clear(&doorbell);
        entry.set_place(Some(Place { doorbell: Some(doorbell.number()), slot: slot() }));
        Self { doorbell, entry }
    }

    fn announcement(&self) -> Announcement {
        Announcement::of_this_process(self.entry.id().to_u64(), TransportSet::ALL, None)
    }

    /// Sleeps until the subscription is rung.
    fn wait(&self) {
        let end = Instant::now() + WATCHDOG;
        while !self.doorbell.take(slot()) {
            assert!(Instant::now() < end, "no ring came");
            self.doorbell.wait(Some(WATCHDOG));
        }
    }
}

/// Clears all flags, as executors do.
fn clear(doorbell: &Doorbell) {
    for slot in (0..CAPACITY).filter_map(Slot::new) {
        doorbell.take(slot);
    }
}

fn open(announcement: &Announcement) -> Result<PeerSubscription, PeerError> {
    let token = NonZeroU64::new(announcement.token).unwrap();
    let peer = Peer::open(announcement.pid, announcement.shared_memory.unwrap(), token)?;
    Ok(peer.subscription(EntryId::from_u64(announcement.endpoint).unwrap()))
}

/// Starts another process of this program in a role.
fn start(role: &str, starter: &Announcement) -> TestProcess {
    start_by(this_program(), role, starter)
}

fn start_by(mut command: Command, role: &str, starter: &Announcement) -> TestProcess {
    command.arg("--test-threads=1").env(ROLE, role).env(STARTER, starter.encode());
    TestProcess::start(command, "the_other_process")
}

/// Waits for the next line that the other process [prints](say).
fn hear(process: &mut TestProcess) -> String {
    process.said(MARK) // the harness writes the test's name at the start of the same line
}

fn hear_announcement(process: &mut TestProcess) -> Announcement {
    match Announced::read(Some(&hear(process))) {
        Announced::Feros(announcement) => announcement,
        other => panic!("{other:?}"),
    }
}

fn say(text: &str) {
    println!("{MARK}{text}");
    std::io::stdout().flush().unwrap();
}

/// Sleeps until the starting process ends. The end of that process closes the pipe.
fn wait_for_the_end() {
    let _ = std::io::stdin().lines().next();
}

/// This is not a test: it does the work of the other processes.
#[test]
fn the_other_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let starter = match Announced::read(std::env::var(STARTER).ok().as_deref()) {
        Announced::Feros(announcement) => announcement,
        other => panic!("{other:?}"),
    };
    match role.as_str() {
        "publisher" => {
            let subscription = open(&starter).unwrap();
            let attachment = subscription.attachment(PUBLISHER).unwrap();
            let mut seen = 0;
            loop {
                assert!(subscription.ring());
                match attachment.wait_for_room(seen, WATCHDOG) {
                    Room::Taken(taken) => seen = taken,
                    // The last count may not be noticed, because the attachment ends directly after
                    // it.
                    Room::Detached => break,
                    Room::TimedOut => panic!("no room came"),
                }
            }
            assert!(seen + 1 >= attachment.capacity(), "{seen} messages were taken");
            say("done");
        }
        "waiting publisher" => {
            let attachment = open(&starter).unwrap().attachment(PUBLISHER).unwrap();
            say("waiting");
            attachment.wait_for_room(0, WATCHDOG);
        }
        "ringing publisher" => {
            let subscription = open(&starter).unwrap();
            say("ringing");
            while subscription.ring() {}
        }
        "subscription" => {
            let subscription = Subscription::new();
            let _attachment = subscription.entry.attach(PUBLISHER, 5).unwrap();
            say(&subscription.announcement().encode());
            subscription.wait();
            say("rung");
            wait_for_the_end();
        }
        "stranger" => say(&open(&starter).unwrap_err().to_string()),
        other => panic!("unknown role {other}"),
    }
}

#[test]
fn rings_and_room_reach_another_process_without_loss() {
    const ROUNDS: u32 = 500;
    let _turn = in_turn();
    let subscription = Subscription::new();
    let attachment = subscription.entry.attach(PUBLISHER, ROUNDS).unwrap();
    let mut publisher = start("publisher", &subscription.announcement());
    for _ in 0..ROUNDS {
        subscription.wait();
        attachment.count_taken(1);
    }
    drop(attachment);
    assert_eq!(hear(&mut publisher), "done");
}

#[test]
fn a_killed_subscription_is_noticed_and_leaves_nothing() {
    let _turn = in_turn();
    let own = Subscription::new();
    let before = footprint();
    for _ in 0..3 {
        let mut other = start("subscription", &own.announcement());
        let announcement = hear_announcement(&mut other);
        let subscription = open(&announcement).unwrap();
        let attachment = subscription.attachment(PUBLISHER).unwrap();
        assert!(subscription.exists() && subscription.peer().is_alive() && subscription.ring());
        assert_eq!(hear(&mut other), "rung");
        assert_eq!((attachment.capacity(), attachment.taken()), (5, Some(0)));
        other.kill();
        assert!(!subscription.peer().is_alive());
        // The memory exists while this process maps it, so these calls are safe. No call waits for
        // a dead process for long.
        subscription.ring();
        assert_eq!(attachment.wait_for_room(0, WATCHDOG), Room::Detached);
        drop((attachment, subscription, other));
        assert_eq!(footprint(), before, "mappings of segments and open files");
        let error = open(&announcement).unwrap_err();
        assert_eq!(error, PeerError::NoSuchProcess { pid: announcement.pid });
        assert_eq!(error.reason(Side::Subscription), Reason::SubscriptionGone);
    }
}

/// The number of mapped segments and the number of open files.
fn footprint() -> (usize, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mappings = maps.lines().filter(|line| line.contains("memfd:feros-segment")).count();
    (mappings, std::fs::read_dir("/proc/self/fd").unwrap().count())
}

#[test]
fn a_killed_publisher_leaves_entry_and_doorbell_usable() {
    let _turn = in_turn();
    let subscription = Subscription::new();
    for _ in 0..3 {
        let attachment = subscription.entry.attach(PUBLISHER, 1).unwrap();
        let mut publisher = start("waiting publisher", &subscription.announcement());
        assert_eq!(hear(&mut publisher), "waiting");
        publisher.kill();
        attachment.count_taken(1);
        drop(attachment);
    }
    for _ in 0..10 {
        let mut publisher = start("ringing publisher", &subscription.announcement());
        assert_eq!(hear(&mut publisher), "ringing");
        subscription.wait();
        subscription.wait();
        publisher.kill();
        // The publisher was killed while it was ringing, so it may have set the flag without waking
        // the subscription.
        subscription.doorbell.nudge();
        subscription.doorbell.take(slot());
        let own = open(&subscription.announcement()).unwrap();
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .name("ringer".into())
                .spawn_scoped(scope, || assert!(own.ring()))
                .unwrap();
            subscription.wait();
        });
    }
}

#[test]
fn the_own_process_is_a_peer_like_others() {
    let _turn = in_turn();
    let subscription = Subscription::new();
    let announcement = subscription.announcement();
    let [first, second] = [(); 2].map(|()| open(&announcement).unwrap());
    assert!(Arc::ptr_eq(first.peer(), second.peer()), "one mapping for all");
    assert!(first.peer().is_alive());
    assert!(first.ring());
    subscription.wait();
    let ready = subscription.entry.publishers_ready();
    first.report_ready();
    subscription.wait();
    assert_eq!(subscription.entry.publishers_ready(), ready + 1);
    let attachment = subscription.entry.attach(PUBLISHER, 7).unwrap();
    assert!(first.is_attached(PUBLISHER) && !first.is_attached(random_id()));
    let seen = second.attachment(PUBLISHER).unwrap();
    attachment.count_taken(2);
    assert_eq!((seen.capacity(), seen.taken()), (7, Some(2)));
    assert_eq!(seen.wait_for_room(2, Duration::from_millis(1)), Room::TimedOut);
    assert!(seen.begin(1000));
    assert_eq!(attachment.first_number(), Some(1000));
    drop(attachment);
    assert!(!seen.is_attached() && !seen.begin(1001) && first.attachment(PUBLISHER).is_none());
    subscription.entry.set_place(None);
    assert!(!first.ring(), "no place");
    let Subscription { doorbell, entry } = subscription;
    entry.set_place(Some(Place { doorbell: Some(doorbell.number()), slot: slot() }));
    assert!(first.ring());
    drop(doorbell);
    assert!(!first.ring(), "a place on a dropped doorbell");
    drop(entry);
    assert!(!first.exists());
}

/// Tests all parts together: an executor on a shared doorbell, an entity that tells publishers
/// where to ring, and a publisher in another process.
#[test]
fn an_executor_is_woken_through_its_segment() {
    let _turn = in_turn();
    let segment = ProcessSegment::of_this_process().unwrap();
    let entry = Arc::new(segment.subscription_entry().unwrap());
    let ringer = Ringer::new();
    let place = Arc::clone(&entry);
    let _observed = ringer.on_move(move |to| place.set_place(to));
    let announcement = Announcement::of_this_process(entry.id().to_u64(), TransportSet::ALL, None);
    let other = open(&announcement).unwrap();
    assert!(!other.ring(), "in no executor yet");

    let executor = Executor::with_options(
        ExecutorOptions::default().doorbell(Arc::new(segment.doorbell().unwrap())),
    );
    let stopper = executor.stopper();
    let (executed, executions) = std::sync::mpsc::sync_channel(1000);
    let body = move || {
        executed.send(()).unwrap();
        Progress::Done
    };
    let handle = executor.add(Entity::new(&ringer, body)).unwrap();
    std::thread::scope(|scope| {
        let spin = || executor.spin().unwrap();
        std::thread::Builder::new().name("spinning".into()).spawn_scoped(scope, spin).unwrap();
        executions.recv_timeout(WATCHDOG).unwrap(); // the executor rings once when the entity joins it
        for _ in 0..100 {
            assert!(other.ring());
            executions.recv_timeout(WATCHDOG).unwrap();
        }
        stopper.stop();
    });
    drop(handle);
    assert!(!other.ring(), "taken out of the executor");
}

/// Makes an anonymous file of this process. A forged announcement can point to such a file.
fn memory(name: &str, size_bytes: u64, content: &[u8], seals: SealFlags) -> OwnedFd {
    let file =
        rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&file, size_bytes).unwrap();
    rustix::io::pwrite(&file, content, 0).unwrap();
    rustix::fs::fcntl_add_seals(&file, seals).unwrap();
    file
}

#[test]
fn files_that_are_no_segments_are_refused() {
    let _turn = in_turn();
    const NAME: &str = "feros-segment";
    let seals = SealFlags::SHRINK | SealFlags::GROW;
    let pid = std::process::id();
    let segment = ProcessSegment::of_this_process().unwrap();
    let file = std::fs::File::open(format!("/proc/self/fd/{}", segment.file_number())).unwrap();
    let size = file.metadata().unwrap().len();
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).unwrap();
    let mut later_version = header;
    later_version[16] += 1;
    // The files below get a different token from the real segment, because `Peer::open` identifies
    // a segment that is already open by its token.
    let token = NonZeroU64::new(segment.token().get() ^ 1).unwrap();
    let mut others_token = header;
    others_token[8] ^= 1;
    let attempt = |file: &OwnedFd| Peer::open(pid, file.as_raw_fd().unsigned_abs(), token);

    let good = memory(NAME, size, &others_token, seals);
    assert_eq!(attempt(&good).unwrap().pid(), pid, "what differs below is the reason");
    let null: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
    let (_reader, pipe) = rustix::pipe::pipe().unwrap();
    for (file, expected) in [
        (memory("another name", size, &others_token, seals), "another kind of file"),
        (null, "another kind of file"),
        (pipe, "another kind of file"),
        (memory(NAME, size - 1, &others_token, seals), "its size is not that of a segment"),
        (memory(NAME, size + 4096, &others_token, seals), "its size is not that of a segment"),
        (memory(NAME, 64, &others_token, seals), "its size is not that of a segment"),
        (memory(NAME, size, &others_token, SealFlags::empty()), "its size is not sealed"),
        (memory(NAME, size, &others_token, SealFlags::GROW), "its size is not sealed"),
        (memory(NAME, size, &[], seals), "its first bytes are not those of Feros"),
    ] {
        match attempt(&file) {
            Err(error @ PeerError::NotASegment { .. }) => {
                assert!(error.to_string().contains(expected), "{error}, not {expected}");
                let why = Obstacle::Other;
                let reason = Reason::SharedMemoryUnavailable { by: Side::Subscription, why };
                assert_eq!(error.reason(Side::Subscription), reason);
            }
            other => panic!("{other:?}, not {expected}"),
        }
    }
    assert!(matches!(
        Peer::open(pid, 1 << 20, token),
        Err(PeerError::NotASegment { what: "there is no such file", .. })
    ));
    let later = memory(NAME, size, &later_version, seals);
    let error = attempt(&later).unwrap_err();
    let (theirs, ours) = (format_version() + 1, format_version());
    assert_eq!(error, PeerError::OtherVersion { pid, theirs, ours });
    assert_eq!(
        error.reason(Side::Publisher),
        Reason::IncompatibleVersion { publisher: theirs, subscription: ours }
    );
    assert_eq!(
        attempt(&memory(NAME, size, &header, seals)).unwrap_err(),
        PeerError::WrongToken { pid }
    );
}

#[test]
fn processes_that_are_not_there_are_refused() {
    let _turn = in_turn();
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    for pid in [child.id(), 0, u32::MAX, i32::MAX as u32] {
        assert_eq!(Peer::open(pid, 3, PUBLISHER).unwrap_err(), PeerError::NoSuchProcess { pid });
    }
    let parent = std::os::unix::process::parent_id();
    let refusal = Peer::open(parent, 0, PUBLISHER).unwrap_err();
    assert!(
        matches!(refusal, PeerError::NotASegment { .. } | PeerError::Denied { .. }),
        "{refusal}"
    );
}

/// A copy of this test program that every user may run, no matter in which folder it was built.
struct PublicCopy(PathBuf);

impl PublicCopy {
    fn new() -> Self {
        let copy = std::env::temp_dir().join(format!("feros-segment-test-{}", std::process::id()));
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self(copy)
    }

    /// Returns a command that runs the copy as a user without privileges.
    fn as_nobody(&self) -> Command {
        let mut command = command_of(&self.0);
        command.uid(65534).gid(65534).current_dir("/");
        command
    }
}

impl Drop for PublicCopy {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn another_user_cannot_map_the_segment() {
    let _turn = in_turn();
    if !rustix::process::geteuid().is_root() {
        return skip("only root can start a process as another user; run it as root");
    }
    let program = PublicCopy::new();
    let own = Subscription::new();
    let mut stranger = start_by(program.as_nobody(), "stranger", &own.announcement());
    let refusal = hear(&mut stranger);
    assert!(refusal.contains("is denied"), "{refusal}");

    // In the other direction, the kernel gives root access, but Feros refuses to share root's
    // messages.
    let mut other = start_by(program.as_nobody(), "subscription", &own.announcement());
    let announcement = hear_announcement(&mut other);
    let error = open(&announcement).unwrap_err();
    assert_eq!(error, PeerError::OtherUser { pid: announcement.pid, uid: 65534 });
    let why = Obstacle::Denied;
    let by = Side::Subscription;
    assert_eq!(error.reason(by), Reason::SharedMemoryUnavailable { by, why });
    // The mode of the file also stops a process that finds the file by another path.
    let path = format!("/proc/{}/fd/{}", announcement.pid, announcement.shared_memory.unwrap());
    let mode = std::fs::metadata(Path::new(&path)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
