//! Measures the costs of the shared-memory transport: publishing and taking within one process, a
//! hand-over between two processes with both kinds of wake-up, and the memory and files that a
//! node, a publisher and a connection take. The rounds of the variants alternate, and the medians
//! are printed. Run it with `cargo bench --bench data`.
#![allow(clippy::unwrap_used, missing_docs, unsafe_code)]

use std::fs;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use feros_engine::PayloadBytes;
use feros_shm::{
    Connection, ConnectionSettings, HostNode, HostPublisher, HostPublisherSettings, HostSample,
    SampleHeader, TakeOutcome,
};
use iceoryx2::port::{listener::Listener, notifier::Notifier};
use iceoryx2::prelude::{
    Config, FileName, Node, NodeBuilder, SemanticString, ServiceName, SignalHandlingMode, ipc,
    ipc_threadsafe,
};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::futex;

const ROUNDS: usize = 31;
const CONNECTION: ConnectionSettings = ConnectionSettings { depth: 4, type_hash: None };

fn main() {
    if let Ok(space) = std::env::var("FEROS_BENCH_SPACE") {
        return echo(&space, std::env::var("FEROS_BENCH_WAKE").as_deref() == Ok("event"));
    }
    let space = format!("feros-bench-{}", std::process::id());
    let alone = format!("{space}-alone");
    // SAFETY: there is no other thread yet.
    unsafe { std::env::set_var("FEROS_BENCH_ALONE", &alone) };
    footprint(&space);
    within_one_process(&space);
    between_processes(&space);
    HostNode::remove_space(&space).unwrap();
    for entry in fs::read_dir("/dev/shm").unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&alone) {
            let path = entry.path();
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap()
            } else {
                fs::remove_file(path).unwrap()
            }
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn time(count: u32, mut body: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        body();
    }
    start.elapsed().as_nanos() as f64 / f64::from(count)
}

fn take(connection: &mut Connection) -> HostSample {
    match connection.take() {
        TakeOutcome::Sample(sample) => sample,
        other => panic!("{other:?}"),
    }
}

/// Makes a node of plain iceoryx2, whose files are removed together with those of this benchmark.
fn alone<Service: iceoryx2::service::Service>() -> Node<Service> {
    let space = std::env::var("FEROS_BENCH_ALONE").unwrap();
    let mut config = Config::default();
    config.global.set_root_path(
        &iceoryx2::prelude::Path::new(format!("/dev/shm/{space}").as_bytes()).unwrap(),
    );
    config.global.prefix = FileName::new(space.as_bytes()).unwrap();
    NodeBuilder::new()
        .config(&config)
        .signal_handling_mode(SignalHandlingMode::Disabled)
        .create::<Service>()
        .unwrap()
}

/// Makes a function that sends and receives one message with plain iceoryx2, as in the
/// documentation of iceoryx2, and with as many buffers as the connection of Feros.
macro_rules! alone {
    ($service:ty, $size:expr) => {{
        let node = alone::<$service>();
        let name = format!("feros bench {} {}", std::process::id(), $size);
        let service = node
            .service_builder(&ServiceName::new(&name).unwrap())
            .publish_subscribe::<[u8]>()
            .subscriber_max_buffer_size(4)
            .open_or_create()
            .unwrap();
        let publisher = service.publisher_builder().initial_max_slice_len($size).create().unwrap();
        let subscriber = service.subscriber_builder().create().unwrap();
        move || {
            let _keep = &node;
            // SAFETY: the memory is part of a mapping, so it is zero or has been written before.
            let sample = unsafe { publisher.loan_slice_uninit($size).unwrap().assume_init() };
            sample.send().unwrap();
            black_box(subscriber.receive().unwrap().unwrap().len());
        }
    }};
}

fn within_one_process(space: &str) {
    println!(
        "\nlend + send + take + drop on one thread, no wake-up, ns per message (median of {ROUNDS} rounds)"
    );
    for size in [256usize, 1 << 20] {
        let node = Arc::new(HostNode::new(space).unwrap());
        let settings =
            HostPublisherSettings { expected_message_bytes: size, ..HostPublisherSettings::new(1) };
        let publisher = HostPublisher::create(&node, settings).unwrap();
        let mut connection = Connection::open(&node, 1, CONNECTION).unwrap();
        publisher.refresh();
        let mut threadsafe = alone!(ipc_threadsafe::Service, size);
        let mut single = alone!(ipc::Service, size);
        let mut results = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            results[0].push(time(2000, || {
                publisher.send(publisher.loan(size).unwrap(), SampleHeader::default()).unwrap();
                black_box(take(&mut connection).bytes().len());
            }));
            results[1].push(time(2000, &mut threadsafe));
            results[2].push(time(2000, &mut single));
            results[3].push(time(2000, || drop(publisher.loan(size).unwrap())));
        }
        let [ours, threadsafe, single, loan] = results.map(median);
        println!(
            "{size:>8} B: feros {ours:.0} (lend + drop alone {loan:.0}), iceoryx2 thread-safe {threadsafe:.0}, single-threaded {single:.0}"
        );
    }
}

/// Maps a futex word that the two processes share.
fn word(space: &str, name: &str) -> &'static AtomicU32 {
    let path = format!("/dev/shm/{space}/{name}");
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .unwrap();
    file.set_len(4096).unwrap();
    // SAFETY: the mapping is new, the file has this size, and no code unmaps it.
    unsafe {
        let start = mmap(
            std::ptr::null_mut(),
            4096,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            &file,
            0,
        )
        .unwrap();
        &*start.cast::<AtomicU32>()
    }
}

/// How one side waits for the other side and wakes it.
#[allow(clippy::large_enum_variant)] // only two values exist
enum Wake {
    Futex {
        mine: &'static AtomicU32,
        theirs: &'static AtomicU32,
        seen: u32,
    },
    Event {
        listener: Listener<ipc::Service>,
        notifier: Notifier<ipc::Service>,
        _node: Node<ipc::Service>,
    },
}

impl Wake {
    fn new(space: &str, event: bool, mine: &str, theirs: &str) -> Self {
        if !event {
            return Self::Futex { mine: word(space, mine), theirs: word(space, theirs), seen: 0 };
        }
        let node = alone::<ipc::Service>();
        let service = |name: &str| {
            node.service_builder(&ServiceName::new(&format!("{space}/{name}")).unwrap())
                .event()
                .open_or_create()
                .unwrap()
        };
        let listener = service(mine).listener_builder().create().unwrap();
        let notifier = service(theirs).notifier_builder().create().unwrap();
        Self::Event { listener, notifier, _node: node }
    }

    fn wake(&self) {
        match self {
            Self::Futex { theirs, .. } => {
                theirs.fetch_add(1, Ordering::Release);
                futex::wake(theirs, futex::Flags::empty(), 1).unwrap();
            }
            Self::Event { notifier, .. } => {
                notifier.notify().unwrap();
            }
        }
    }

    fn wait(&mut self) {
        match self {
            Self::Futex { mine, seen, .. } => {
                while mine.load(Ordering::Acquire) == *seen {
                    let _ = futex::wait(mine, futex::Flags::empty(), *seen, None);
                }
                *seen = mine.load(Ordering::Acquire);
            }
            Self::Event { listener, .. } => {
                let mut woken = false;
                while !woken {
                    listener.blocking_wait(|_| woken = true).unwrap();
                }
            }
        }
    }
}

/// The code of the other process. It sends each message back, and ends at a message of 1 byte.
fn echo(space: &str, event: bool) {
    let node = Arc::new(HostNode::new(space).unwrap());
    let mut wake = Wake::new(space, event, "echo", "bench");
    let back = HostPublisher::create(
        &node,
        HostPublisherSettings { expected_message_bytes: 1 << 20, ..HostPublisherSettings::new(12) },
    )
    .unwrap();
    let mut connection = Connection::open(&node, 11, CONNECTION).unwrap();
    println!("ready");
    let mut is_connected = false;
    loop {
        wake.wait();
        while let TakeOutcome::Sample(sample) = connection.take() {
            let size = sample.bytes().len();
            drop(sample);
            if size == 1 {
                return;
            }
            if !std::mem::replace(&mut is_connected, true) {
                back.refresh();
            }
            back.send(back.loan(size).unwrap(), SampleHeader::default()).unwrap();
            wake.wake();
        }
    }
}

fn between_processes(space: &str) {
    println!(
        "\nhalf of a round trip to another process, in us (median of {ROUNDS} rounds of 500 \
         messages)"
    );
    let node = Arc::new(HostNode::new(space).unwrap());
    let mut sides = Vec::new();
    for event in [false, true] {
        let space_of = format!("{space}-{event}");
        let node = Arc::new(HostNode::new(&space_of).unwrap());
        let out = HostPublisher::create(
            &node,
            HostPublisherSettings {
                expected_message_bytes: 1 << 20,
                ..HostPublisherSettings::new(11)
            },
        )
        .unwrap();
        let wake = Wake::new(&space_of, event, "bench", "echo");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .env("FEROS_BENCH_SPACE", &space_of)
            .env("FEROS_BENCH_WAKE", if event { "event" } else { "futex" })
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0; 6]).unwrap();
        let connection = Connection::open(&node, 12, CONNECTION).unwrap();
        out.refresh();
        sides.push((space_of, node, out, wake, connection, child));
    }
    for size in [256usize, 1 << 20] {
        let mut results = [const { Vec::new() }; 2];
        for _ in 0..ROUNDS {
            for (index, (_, _, out, wake, connection, _)) in sides.iter_mut().enumerate() {
                results[index].push(
                    time(500, || {
                        out.send(out.loan(size).unwrap(), SampleHeader::default()).unwrap();
                        wake.wake();
                        loop {
                            wake.wait();
                            if let TakeOutcome::Sample(_) = connection.take() {
                                break;
                            }
                        }
                    }) / 2000.0,
                );
            }
        }
        let [futex, event] = results.map(median);
        println!("{size:>8} B: futex {futex:.1}, iceoryx2's event {event:.1}");
    }
    for (space, node, out, wake, connection, mut child) in sides {
        out.send(out.loan(1).unwrap(), SampleHeader::default()).unwrap();
        wake.wake();
        child.wait().unwrap();
        drop((out, connection, node));
        HostNode::remove_space(&space).unwrap();
    }
    drop(node);
}

/// Prints the number of files in a space and their allocated bytes, this process's proportional
/// share of the mappings (PSS), and the size of this process's heap.
fn show(what: &str, node: &HostNode, took: Duration) {
    use std::os::unix::fs::MetadataExt;
    let (mut files, mut bytes) = (0, 0);
    let mut folders = vec![node.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let found = entry.metadata().unwrap();
            if found.is_dir() {
                folders.push(entry.path());
            }
            files += 1;
            bytes += found.blocks() * 512;
        }
    }
    for entry in fs::read_dir("/dev/shm").unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with(node.prefix()) {
            let found = entry.metadata().unwrap();
            files += 1;
            bytes += found.blocks() * 512;
        }
    }
    let (mut pss, mut address_space, mut heap, mut of_ours, mut of_heap) = (0, 0, 0, false, false);
    for line in fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let number = || {
            line.split_whitespace()
                .nth(1)
                .and_then(|number| number.parse::<u64>().ok())
                .unwrap_or(0)
        };
        if line.starts_with("Size:") {
            address_space += if of_ours { number() } else { 0 };
        } else if line.starts_with("Pss:") {
            pss += if of_ours { number() } else { 0 };
            heap += if of_heap { number() } else { 0 };
        } else if line.contains('-') && line.contains(' ') && !line.contains("kB") {
            of_ours = line.contains(node.prefix());
            of_heap = line.ends_with("[heap]");
        }
    }
    let descriptors = fs::read_dir("/proc/self/fd").unwrap().count();
    println!(
        "{what:<58} {files:>3} files {:>6} KB in /dev/shm, mapped {pss:>5} KB of {address_space:>7} KB, heap {heap:>5} KB, {descriptors} fds, {took:?}",
        bytes / 1024
    );
}

fn footprint(space: &str) {
    println!("footprint (cumulative)");
    let timed = Instant::now();
    let node = Arc::new(HostNode::new(space).unwrap());
    show("node", &node, timed.elapsed());
    let timed = Instant::now();
    let publisher = HostPublisher::create(
        &node,
        HostPublisherSettings { expected_message_bytes: 1 << 20, ..HostPublisherSettings::new(1) },
    )
    .unwrap();
    show("+ publisher of 1 MB messages (defaults)", &node, timed.elapsed());
    let timed = Instant::now();
    let mut connection = Connection::open(&node, 1, CONNECTION).unwrap();
    publisher.refresh();
    show("+ connection", &node, timed.elapsed());
    let timed = Instant::now();
    publisher.send(publisher.loan(1 << 20).unwrap(), SampleHeader::default()).unwrap();
    show("+ first message of 1 MB", &node, timed.elapsed());
    for _ in 0..100 {
        publisher.send(publisher.loan(1 << 20).unwrap(), SampleHeader::default()).unwrap();
        drop(take(&mut connection));
    }
    show("+ 100 messages of 1 MB, each taken", &node, timed.elapsed());
    let timed = Instant::now();
    let small = HostPublisher::create(&node, HostPublisherSettings::new(2)).unwrap();
    let mut small_connection = Connection::open(&node, 2, CONNECTION).unwrap();
    small.refresh();
    small.send(small.loan(256).unwrap(), SampleHeader::default()).unwrap();
    drop(take(&mut small_connection));
    show("+ publisher of 256 B messages, connection, a message", &node, timed.elapsed());
    let timed = Instant::now();
    node.clean_up();
    show("clean-up with nothing to do", &node, timed.elapsed());
}
