//! One process with a publisher and subscriptions that compute, run by one of the containers'
//! executors.

use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use feros::msgs::std_msgs::msg::UInt8MultiArray;
use feros::{
    Context, Executor, IsolatedExecutors, Node, Publisher, QosProfile, Subscription,
    SubscriptionOptions,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::family::{Family, Happening};
use super::super::payload::{monotonic_nanos, read_stamp, sleep_until, stamp};
use super::super::protocol::listen_to_lines;
use super::super::statistics::{Durations, Summary};
use super::super::usage::CpuMeter;
use super::{CONTAINER_BYTES, Options};
use feros_sync::Mutex;

use crate::error::CliError;

/// How long each callback computes.
pub(super) const WORK_NANOS: u64 = 500_000;

/// Messages before those that are measured.
const WARMUP: u64 = 10;

/// Messages that a subscription may be behind.
const DEPTH: usize = 10;

const MATCH_LIMIT: Duration = Duration::from_secs(30);

/// On top of the time that sending takes: a process that is then not done hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was sent may still be in a queue: so long without a message means that none will come any
/// more.
const QUIET: Duration = Duration::from_secs(1);

/// What runs the callbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Container {
    /// One executor with one thread for all nodes
    Single,
    /// An executor and a thread for each node
    Isolated,
    /// One executor with as many threads as there are processors
    Multi,
}

impl Container {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Isolated => "isolated",
            Self::Multi => "multi",
        }
    }
}

/// What the process knows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    /// Measured messages that arrived, at all subscriptions together.
    received: u64,
    pub(super) cpu_percent: f64,
    pub(super) threads: usize,
    /// From the call that publishes to the callback, of all subscriptions.
    pub(super) latency: Summary,
    /// The median of the subscription whose median is the highest.
    pub(super) slowest_p50_us: f64,
}

impl Report {
    pub(super) fn lost(&self, options: &Options, subscriptions: u16) -> u64 {
        (options.count * u64::from(subscriptions)).saturating_sub(self.received)
    }

    pub(super) fn to_json(
        &self,
        options: &Options,
        container: Container,
        subscriptions: u16,
    ) -> Value {
        json!({
            "grid": "containers",
            "container": container.word(),
            "subscriptions": subscriptions,
            "size_bytes": CONTAINER_BYTES,
            "rate_hz": options.rate_hz,
            "work_us": WORK_NANOS / 1000,
            "cpu_percent": self.cpu_percent,
            "threads": self.threads,
            "p50_us": self.latency.p50_us,
            "p99_us": self.latency.p99_us,
            "slowest_subscription_p50_us": self.slowest_p50_us,
            "lost": self.lost(options, subscriptions),
        })
    }
}

/// Starts the process of a row and waits for what it says.
pub(super) fn measure(
    options: &Options,
    container: Container,
    subscriptions: u16,
) -> Result<Report, CliError> {
    let program = std::env::current_exe()
        .map_err(|error| CliError::failed(format!("this program cannot find itself: {error}")))?;
    let mut family = Family::new()?;
    let numbers = [u64::from(subscriptions), u64::from(options.rate_hz), options.count]
        .map(|n| n.to_string());
    let mut command = Command::new(program);
    command.args(["perf", "cpu", "--contained", "--container", container.word()]);
    command.args([
        "--subscriptions",
        &numbers[0],
        "--rate-hz",
        &numbers[1],
        "--count",
        &numbers[2],
    ]);
    family.start("container", &mut command)?;
    let sending = Duration::from_secs((options.count + WARMUP) / u64::from(options.rate_hz));
    let line = match family.next(Instant::now() + sending * 3 + PATIENCE) {
        Happening::Line(_, line) => line,
        Happening::Interrupted => return Err(CliError::Interrupted),
        Happening::Ended(_) => {
            return Err(CliError::failed(
                "the container ended by itself; what it said stands above",
            ));
        }
        Happening::Timeout => return Err(CliError::failed("the container hangs; it was ended")),
    };
    family.end_all();
    serde_json::from_str(&line)
        .map_err(|error| CliError::failed(format!("the container said {line:?}: {error}")))
}

struct Record {
    received: u64,
    latency: Durations,
}

type Records = Arc<[Mutex<Record>]>;

pub(super) fn run(options: &Options) -> Result<ExitCode, CliError> {
    let subscriptions = options.subscriptions.first().copied().unwrap_or(1);
    let (context, _) = Context::from_args(std::iter::empty())?;
    listen_to_lines(&context, |_| {})?;
    let topic = format!("/feros_perf/container_{}", std::process::id());
    let node = context.create_node("feros_perf_publisher")?;
    let publisher =
        node.create_publisher::<UInt8MultiArray>(&topic, QosProfile::keep_last(DEPTH))?;
    let new_record = |_| Mutex::new(Record { received: 0, latency: Durations::new() });
    let records: Records = (0..subscriptions).map(new_record).collect();
    let (mut nodes, mut taking) = (vec![node], Vec::new());
    for number in 0..subscriptions {
        let node = context.create_node(&format!("feros_perf_subscription_{number}"))?;
        taking.push(subscribe(&node, &topic, &records, usize::from(number))?);
        nodes.push(node);
    }
    let container = options.container.first().copied().unwrap_or(Container::Single);
    let measured =
        spin_while(container, &nodes, || publish(&publisher, &records, options, subscriptions))?;
    println!("{}", serde_json::to_string(&measured).map_err(CliError::failed)?);
    // The end of the input ends this process.
    loop {
        std::thread::park();
    }
}

fn subscribe(
    node: &Node,
    topic: &str,
    records: &Records,
    number: usize,
) -> Result<Subscription<UInt8MultiArray>, CliError> {
    let records = records.clone();
    let how = SubscriptionOptions::from(QosProfile::keep_last(DEPTH)).log_lost_messages(false);
    let take = move |message: Arc<UInt8MultiArray>| {
        let now = monotonic_nanos();
        if let Some((sent, sequence)) = read_stamp(&message.data)
            && sequence >= WARMUP
        {
            let mut record = records[number].lock();
            record.latency.record(now.saturating_sub(sent));
            record.received += 1;
        }
        while monotonic_nanos() < now + WORK_NANOS {
            std::hint::spin_loop();
        }
    };
    Ok(node.create_subscription(topic, how, take)?)
}

/// Does `work` on this thread while the container runs the nodes on others.
fn spin_while<T>(
    container: Container,
    nodes: &[Node],
    work: impl FnOnce() -> Result<T, CliError>,
) -> Result<T, CliError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let executor = match container {
        Container::Isolated => {
            let executors = IsolatedExecutors::new();
            nodes.iter().try_for_each(|node| executors.add_node(node))?;
            return work();
        }
        Container::Single => Executor::new(),
        Container::Multi => Executor::builder().threads(processors).build(),
    };
    nodes.iter().try_for_each(|node| executor.add_node(node))?;
    std::thread::scope(|scope| {
        let spinning = scope.spawn(|| executor.spin());
        let done = work();
        executor.stopper().stop();
        spinning.join().map_err(|_| CliError::failed("a callback panicked"))??;
        done
    })
}

fn publish(
    publisher: &Publisher<UInt8MultiArray>,
    records: &Records,
    options: &Options,
    subscriptions: u16,
) -> Result<Report, CliError> {
    publisher.wait_for_subscriptions(usize::from(subscriptions), MATCH_LIMIT)?;
    let begin = monotonic_nanos() + 100_000_000;
    let mut cpu = CpuMeter::start();
    for sequence in 0..WARMUP + options.count {
        let mut message =
            UInt8MultiArray { data: vec![0x5a; CONTAINER_BYTES], ..UInt8MultiArray::default() };
        sleep_until(begin + sequence * 1_000_000_000 / u64::from(options.rate_hz));
        if sequence == WARMUP {
            cpu = CpuMeter::start();
        }
        stamp(&mut message.data, sequence);
        publisher.publish(message)?;
    }
    let usage = cpu.usage();
    let wanted = options.count * u64::from(subscriptions);
    let count = || records.iter().map(|record| record.lock().received).sum::<u64>();
    let (mut received, mut changed) = (count(), Instant::now());
    while received < wanted && changed.elapsed() < QUIET {
        std::thread::sleep(Duration::from_millis(5));
        let now = count();
        if now != received {
            (received, changed) = (now, Instant::now());
        }
    }
    let mut all = Durations::new();
    let mut slowest_p50_us = 0.0_f64;
    for record in records.iter() {
        let record = record.lock();
        slowest_p50_us = slowest_p50_us.max(record.latency.summary().p50_us);
        all.add(&record.latency);
    }
    let (cpu_percent, threads) = (usage.cpu_percent, usage.threads);
    Ok(Report { received, cpu_percent, threads, latency: all.summary(), slowest_p50_us })
}
