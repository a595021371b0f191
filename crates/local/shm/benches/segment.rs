//! Measures the cost of waking a subscription in another process: the cost of ringing when no
//! thread sleeps, and the one-way time to a sleeping process, compared with a bare futex.
//!
//! `cargo bench -p feros-shm --bench segment`
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(unsafe_code)] // maps the words of the bare futexes

use feros_doorbell::{Place, Slot};
use feros_shm::{
    Announced, Announcement, EntryId, Peer, PeerSubscription, ProcessSegment, SharedDoorbell,
    SubscriptionEntry, TransportSet,
};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::{CpuSet, futex, sched_getaffinity, sched_setaffinity};
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

const MEANS: &str = "FEROS_BENCH_MEANS";
const WORDS: &str = "FEROS_BENCH_WORDS";
const CPU: &str = "FEROS_BENCH_CPU";

/// A word in memory that both processes map, in its own cache line.
#[repr(C, align(64))]
struct Word(AtomicU32);

#[repr(C)]
struct Words {
    there: Word,
    back: Word,
}

impl Word {
    fn signal(&self) {
        self.0.fetch_add(1, Ordering::Release);
        futex::wake(&self.0, futex::Flags::empty(), 1).unwrap();
    }

    /// Waits until the counter is not `seen`, and returns it.
    fn wait(&self, seen: u32) -> u32 {
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now != seen {
                return now;
            }
            let _ = futex::wait(&self.0, futex::Flags::empty(), seen, None);
        }
    }
}

fn map(file: &OwnedFd) -> &'static Words {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: the kernel chooses the address.
    let address =
        unsafe { mmap(std::ptr::null_mut(), 4096, protection, MapFlags::SHARED, file, 0) };
    // SAFETY: the file has a page and keeps it, no code removes the mapping, and atomics may have
    // any value.
    unsafe { &*address.unwrap().cast() }
}

fn subscription() -> (SharedDoorbell, SubscriptionEntry, Slot, PeerSubscription) {
    let segment = ProcessSegment::of_this_process().unwrap();
    let (doorbell, entry) = (segment.doorbell().unwrap(), segment.subscription_entry().unwrap());
    let slot = Slot::new(100).unwrap();
    entry.set_place(Some(Place { doorbell: Some(doorbell.number()), slot }));
    let announcement = Announcement::of_this_process(entry.id().to_u64(), TransportSet::ALL, None);
    let own = open(&announcement);
    (doorbell, entry, slot, own)
}

fn open(announcement: &Announcement) -> PeerSubscription {
    let token = NonZeroU64::new(announcement.token).unwrap();
    let peer = Peer::open(announcement.pid, announcement.shared_memory.unwrap(), token).unwrap();
    peer.subscription(EntryId::from_u64(announcement.endpoint).unwrap())
}

fn run_on(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).unwrap();
}

/// The code of the other process, which answers each wake-up through a bare futex until it is
/// killed.
fn echo(means: &str) {
    run_on(std::env::var(CPU).unwrap().parse().unwrap());
    let transport = std::env::var(WORDS).unwrap();
    let words = map(&rustix::fs::open(transport, OFlags::RDWR, Mode::empty()).unwrap());
    match means {
        "futex" => {
            println!("ready");
            let mut seen = 0;
            loop {
                seen = words.there.wait(seen);
                words.back.signal();
            }
        }
        _ => {
            let (doorbell, entry, slot, _) = subscription();
            println!(
                "{}",
                Announcement::of_this_process(entry.id().to_u64(), TransportSet::ALL, None)
                    .encode()
            );
            loop {
                if doorbell.take(slot) {
                    words.back.signal();
                } else {
                    doorbell.wait(None);
                }
            }
        }
    }
}

struct Means {
    name: &'static str,
    child: Child,
    back: &'static Word,
    seen: u32,
    send: Box<dyn Fn()>,
    nanos: Vec<u64>,
}

impl Means {
    fn start(name: &'static str, means: &str, cpu: usize) -> Self {
        let file = rustix::fs::memfd_create("bench", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, 4096).unwrap();
        let words = map(&file);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env(MEANS, means)
            .env(CPU, cpu.to_string())
            .env(WORDS, format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let send: Box<dyn Fn()> = match Announced::read(Some(line.trim())) {
            Announced::Feros(announcement) => {
                let subscription = open(&announcement);
                Box::new(move || assert!(subscription.ring()))
            }
            _ => Box::new(move || words.there.signal()),
        };
        Self { name, child, back: &words.back, seen: 0, send, nanos: Vec::new() }
    }

    fn round_trip(&mut self) {
        let start = Instant::now();
        (self.send)();
        self.seen = self.back.wait(self.seen);
        self.nanos.push(start.elapsed().as_nanos() as u64);
    }
}

impl Drop for Means {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn median(nanos: &mut [u64]) -> f64 {
    nanos.sort_unstable();
    nanos[nanos.len() / 2] as f64
}

/// Measures round trips in short, alternating batches, so that other load on the host affects both
/// variants in the same way. The return direction uses a bare futex in both cases, and is assumed
/// to take half of the median round trip with bare futexes.
fn wake(cpu: usize, placement: &str) {
    const BATCHES: usize = 400;
    const BATCH: usize = 50;
    let mut all = [Means::start("bare futex", "futex", cpu), Means::start("ring", "ring", cpu)];
    for means in &mut all {
        (0..BATCH).for_each(|_| means.round_trip());
        means.nanos.clear();
    }
    for _ in 0..BATCHES {
        for means in &mut all {
            (0..BATCH).for_each(|_| means.round_trip());
        }
    }
    println!(
        "wake-up of another process on {placement}, {} interleaved round trips:",
        BATCHES * BATCH
    );
    let mut one_way = 0.0;
    for means in &mut all {
        let median = median(&mut means.nanos) / 1000.0;
        if one_way == 0.0 {
            one_way = median / 2.0;
        }
        let (way, ratio) = (median - one_way, (median - one_way) / one_way);
        println!("  {:12} one way, median {way:6.2} us; {ratio:.2} x the bare futex", means.name);
    }
}

/// Measures a ring in this process, where no thread sleeps, so that no system call is made.
fn ring_awake() {
    const BATCH: u32 = 1000;
    let (doorbell, entry, slot, own) = subscription();
    let attachment = entry.attach(NonZeroU64::MIN, 1).unwrap();
    let seen = own.attachment(NonZeroU64::MIN).unwrap();
    let per_call = |name: &str, call: &dyn Fn()| {
        let mut nanos: Vec<_> = (0..2000)
            .map(|_| {
                let start = Instant::now();
                (0..BATCH).for_each(|_| call());
                start.elapsed().as_nanos() as u64
            })
            .collect();
        println!("  {name:42} median {:6.1} ns", median(&mut nanos) / f64::from(BATCH));
    };
    println!("with nobody asleep:");
    per_call("ring, the flag is set already", &|| assert!(own.ring()));
    per_call("ring and take", &|| {
        assert!(own.ring());
        assert!(doorbell.take(slot));
    });
    per_call("is_attached, of a known attachment", &|| assert!(black_box(&seen).is_attached()));
    per_call("count_taken", &|| attachment.count_taken(1));
    per_call("Peer::is_alive", &|| assert!(own.peer().is_alive()));
}

fn main() {
    if let Ok(means) = std::env::var(MEANS) {
        return echo(&means);
    }
    ring_awake();
    let allowed = sched_getaffinity(None).unwrap();
    let cores: Vec<_> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).take(2).collect();
    run_on(cores[0]);
    wake(cores[0], "one core");
    if let Some(&other) = cores.get(1) {
        wake(other, "two cores");
    }
}
