//! Measures the one-way latency of the engine alone between two processes of this host, and the
//! cost of an idle session.
//!
//! `cargo run --release -p feros-cyclonedds --example bare_engine_latency` starts the second
//! process automatically. Environment variables set the options: `ROS_DOMAIN_ID`, `CYCLONEDDS_URI`,
//! and `SAMPLES` (the number of samples per size, 200 by default).
#![allow(clippy::unwrap_used, reason = "an example stops when something fails")]

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use feros_cyclonedds::CycloneEngine;
use feros_engine::{
    DiscoveryRange, Engine, NodeName, Notify, PublisherOptions, Session, SessionOptions,
    SubscriptionOptions,
};

const TOPIC: &str = "/engine_latency";
const TYPE: &str = "std_msgs/msg/UInt8MultiArray";
const SIZES: [usize; 5] = [256, 4 << 10, 64 << 10, 1 << 20, 4 << 20];

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("receive") => receive(),
        Some("idle") => idle(),
        _ => send(),
    }
}

fn session() -> Arc<dyn Session> {
    let mut options = SessionOptions::from_variables(|name| std::env::var_os(name)).unwrap();
    options.discovery_range = DiscoveryRange::Localhost;
    CycloneEngine.open(&options).unwrap()
}

fn nanos_now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

#[derive(Default)]
struct Bell(Mutex<bool>, Condvar);

impl Bell {
    fn notify(self: &Arc<Self>) -> Notify {
        let bell = self.clone();
        Arc::new(move || {
            *bell.0.lock().unwrap() = true;
            bell.1.notify_one();
        })
    }

    fn wait(&self) {
        let mut rung = self.0.lock().unwrap();
        while !std::mem::take(&mut *rung) {
            rung = self.1.wait(rung).unwrap();
        }
    }
}

fn send() {
    let samples: u32 = std::env::var("SAMPLES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let program = std::env::current_exe().unwrap();
    let idle = std::process::Command::new(&program).arg("idle").status().unwrap();
    assert!(idle.success());
    let mut receiver = std::process::Command::new(&program).arg("receive").spawn().unwrap();
    let session = session();
    let node = session.create_node(&NodeName::new("/", "engine_latency_send").unwrap()).unwrap();
    let matched = Arc::new(Bell::default());
    let publisher = session
        .create_publisher(PublisherOptions {
            on_event: Some(matched.notify()),
            ..PublisherOptions::new(node, TOPIC, TYPE)
        })
        .unwrap();
    while publisher.matched_subscriptions() == 0 {
        matched.wait();
    }
    for size in SIZES {
        // The first samples, which are a tenth of `samples`, only warm up the engine.
        for number in 0..samples + samples / 10 {
            std::thread::sleep(Duration::from_millis(5));
            let warm = number >= samples / 10;
            publisher
                .publish(size, &mut |memory| {
                    memory[..4].copy_from_slice(&[0, 1, 0, 0]);
                    memory[4] = u8::from(warm);
                    memory[16..].fill(number as u8);
                    memory[8..16].copy_from_slice(&nanos_now().to_le_bytes());
                    Ok(())
                })
                .unwrap();
        }
        publisher.wait_for_all_acked(Duration::from_secs(60)).unwrap();
    }
    publisher
        .publish(8, &mut |memory| {
            memory.fill(0);
            Ok(())
        })
        .unwrap();
    assert!(receiver.wait().unwrap().success());
}

fn receive() {
    let session = session();
    let node = session.create_node(&NodeName::new("/", "engine_latency_receive").unwrap()).unwrap();
    let data = Arc::new(Bell::default());
    let subscription = session
        .create_subscription(SubscriptionOptions {
            on_data: data.notify(),
            ..SubscriptionOptions::new(node, TOPIC, TYPE)
        })
        .unwrap();
    let mut latencies: Vec<(usize, u64)> = Vec::new();
    'all: loop {
        data.wait();
        while let Some(sample) = subscription.take().unwrap() {
            let now = nanos_now();
            if sample.payload.len() < 16 {
                break 'all;
            }
            if sample.payload[4] == 1 {
                let sent = u64::from_le_bytes(sample.payload[8..16].try_into().unwrap());
                latencies.push((sample.payload.len(), now.saturating_sub(sent)));
            }
        }
    }
    println!("{:>10} {:>8} {:>9} {:>9} {:>9}", "bytes", "received", "p50 us", "p90 us", "p99 us");
    for size in SIZES {
        let mut of_size: Vec<_> =
            latencies.iter().filter(|(s, _)| *s == size).map(|(_, n)| *n).collect();
        of_size.sort_unstable();
        if of_size.is_empty() {
            println!("{size:>10} {:>8}", 0);
            continue;
        }
        let at = |percent: usize| of_size[(of_size.len() - 1) * percent / 100] as f64 / 1000.0;
        println!("{size:>10} {:>8} {:>9.1} {:>9.1} {:>9.1}", of_size.len(), at(50), at(90), at(99));
    }
}

fn idle() {
    let session = session();
    session.create_node(&NodeName::new("/", "idle").unwrap()).unwrap();
    let field = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0)
    };
    let switches = || {
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        tasks
            .map(|task| {
                field(&task.path().join("status").to_string_lossy(), "voluntary_ctxt_switches:")
            })
            .sum::<u64>()
    };
    std::thread::sleep(Duration::from_secs(2));
    let before = switches();
    let seconds = 10;
    std::thread::sleep(Duration::from_secs(seconds));
    println!(
        "idle: {} threads, PSS {} KB, {:.1} wake-ups/s",
        field("/proc/self/status", "Threads:"),
        field("/proc/self/smaps_rollup", "Pss:"),
        (switches() - before) as f64 / seconds as f64,
    );
    for task in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        let count =
            field(&task.path().join("status").to_string_lossy(), "voluntary_ctxt_switches:");
        println!("  {:<16} {count} wake-ups since its start", name.trim());
    }
}
