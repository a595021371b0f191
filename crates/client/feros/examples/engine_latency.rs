//! Measures the one-way latency of messages between two processes over the network transport, on
//! each engine and on two engines at once, with 256 B and 1 MB at 50 Hz.
//!
//! ```console
//! cargo run --release -p feros --features zenoh --example engine_latency -- cyclonedds zenoh cyclonedds,zenoh > latency.csv
//! ```
//!
//! Each round measures all sizes, each on all engines in turn, so that other load on the machine
//! affects all engines alike. Each line of the output is `engines,bytes,microseconds`. The time
//! runs from before the call of `publish` until the start of the callback. Medians and 99th
//! percentiles are printed to standard error. Zenoh sessions find each other by multicast on a
//! separate port.
#![allow(clippy::unwrap_used, reason = "a failed measurement ends the program")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use feros::msgs::std_msgs::msg::UInt8MultiArray;
use feros::{Context, QosProfile};

const TOPIC: &str = "/engine_latency";
const SIZES: [usize; 2] = [256, 1_000_000];
/// The number of rounds after the first round, which is a warm-up.
const ROUNDS: usize = 3;
const MESSAGES: usize = 100;
const PERIOD: Duration = Duration::from_millis(20);
/// The first domain. Each pair of processes has a separate domain, so that pairs do not receive
/// each other's messages.
const DOMAIN_ID: usize = 204;
const SCOUTING: &str =
    "scouting/multicast/enabled=true;scouting/multicast/address=\"224.0.0.224:7521\"";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => eprintln!("engine_latency ENGINES..., such as cyclonedds zenoh cyclonedds,zenoh"),
        ["send"] => send(),
        ["receive"] => receive(),
        _ => measure(&words),
    }
}

/// Returns the system's time. Both processes are on one host, so they read the same clock.
fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_nanos()).unwrap()
}

/// A profile whose history has space for all messages of a turn, so that no message is lost even if
/// a process is late.
fn kept() -> QosProfile {
    QosProfile::keep_last(MESSAGES)
}

/// Sends messages; each line of the input has their size and their number.
fn send() {
    let context = Context::from_args([]).unwrap().0;
    let node = context.create_node("sender").unwrap();
    let publisher = node.create_publisher::<UInt8MultiArray>(TOPIC, kept()).unwrap();
    println!("ready");
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (bytes, count) = line.split_once(' ').unwrap();
        publisher.wait_for_subscriptions(1, Duration::from_secs(60)).unwrap();
        for _ in 0..count.parse::<usize>().unwrap() {
            let mut message =
                UInt8MultiArray { data: vec![7; bytes.parse().unwrap()], ..Default::default() };
            message.data[..8].copy_from_slice(&now_ns().to_le_bytes());
            publisher.publish(message).unwrap();
            std::thread::sleep(PERIOD);
        }
    }
}

/// Prints the latency of each message, until the process is killed.
fn receive() {
    let context = Context::from_args([]).unwrap().0;
    let node = context.create_node("receiver").unwrap();
    let heard = |message: UInt8MultiArray| {
        let now = now_ns();
        let sent = u64::from_le_bytes(message.data[..8].try_into().unwrap());
        println!("{}", now - sent);
    };
    let _subscription =
        node.create_subscription::<UInt8MultiArray, _>(TOPIC, kept(), heard).unwrap();
    println!("ready");
    feros::spin(&node).unwrap();
}

/// A child process that runs this program on some engines.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(word: &str, engines: &str, domain_id: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(word)
            .env("FEROS_ENGINE", engines)
            .env("FEROS_TRANSPORTS", "network")
            .env("ROS_DOMAIN_ID", domain_id.to_string())
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            .env("ZENOH_CONFIG_OVERRIDE", SCOUTING)
            .env("ZENOH_ROUTER_CHECK_ATTEMPTS", "-1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut process = Self { input: child.stdin.take().unwrap(), child, output };
        assert_eq!(process.line(), "ready");
        process
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "a process ended");
        line.trim_end().to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

/// A sender and a receiver on the same engines, in a separate domain.
struct Way {
    engines: String,
    sender: Process,
    receiver: Process,
    micros: [Vec<f64>; SIZES.len()],
}

impl Way {
    fn start(engines: &str, domain_id: usize) -> Self {
        let [sender, receiver] =
            ["send", "receive"].map(|word| Process::start(word, engines, domain_id));
        Self { engines: engines.to_owned(), sender, receiver, micros: Default::default() }
    }

    /// Sends the messages of one turn; returns their latencies.
    fn turn(&mut self, bytes: usize) -> Vec<f64> {
        writeln!(self.sender.input, "{bytes} {MESSAGES}").unwrap();
        let mut next = || self.receiver.line().parse::<u32>().unwrap();
        (0..MESSAGES).map(|_| f64::from(next()) / 1e3).collect()
    }
}

fn measure(all: &[String]) {
    let mut out = std::io::stdout().lock();
    let domains = DOMAIN_ID..;
    let mut ways: Vec<Way> =
        all.iter().zip(domains).map(|(engines, id)| Way::start(engines, id)).collect();
    for round in 0..=ROUNDS {
        for (size, bytes) in SIZES.iter().enumerate() {
            for way in &mut ways {
                let micros = way.turn(*bytes);
                if round == 0 {
                    continue;
                }
                for one in &micros {
                    writeln!(out, "\"{}\",{bytes},{one:.2}", way.engines).unwrap();
                }
                way.micros[size].extend(micros);
            }
        }
    }
    for (size, bytes) in SIZES.iter().enumerate() {
        for way in &mut ways {
            let micros = &mut way.micros[size];
            micros.sort_unstable_by(f64::total_cmp);
            let at = |part: f64| micros[((micros.len() - 1) as f64 * part) as usize];
            let [median, p99] = [0.5, 0.99].map(at);
            eprintln!("{:17} {bytes:8} B: median {median:8.1} us, p99 {p99:8.1} us", way.engines);
        }
    }
}
