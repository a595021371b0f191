//! The nodes of a chain that are in one process: the first publishes, the others hand on, the last
//! takes the time.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use feros::msgs::std_msgs::msg::UInt8MultiArray;
use feros::{
    Context, IsolatedExecutors, Node, Publisher, PublisherOptions, QosProfile, Reason,
    Subscription, SubscriptionOptions,
};
use serde::{Deserialize, Serialize};

use super::super::payload::{monotonic_nanos, read_stamp, sleep_until, stamp};
use super::super::protocol::{ByTransport, Event, Order, listen};
use super::super::statistics::{Durations, Summary};
use super::{MEET_LIMIT, Options};
use feros_sync::Mutex;

use crate::error::CliError;

/// Messages that a reliable subscription may be behind.
const DEPTH: usize = 10;

/// What was sent may still be on its way: so long without a message means that none will come any
/// more.
const QUIET: Duration = Duration::from_secs(2);

/// How often something that comes by itself is looked at.
const INTERVAL: Duration = Duration::from_millis(5);

/// The first message is due that long after the order, when all processes have come to rest.
const REST_NANOS: u64 = 100_000_000;

/// What the last node knows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Report {
    /// Measured messages that arrived.
    pub(super) received: u64,
    /// The transport that they took to the last node.
    pub(super) transport: String,
    /// From the first node's call to the last one's callback.
    pub(super) latency: Summary,
}

struct Record {
    received: u64,
    latency: Durations,
}

type Shared = Arc<Mutex<Record>>;

/// The nodes of this process, in order.
#[derive(Default)]
struct Links {
    nodes: Vec<Node>,
    publishers: Vec<Publisher<UInt8MultiArray>>,
    subscriptions: Vec<Subscription<UInt8MultiArray>>,
}

pub(super) fn run(options: &Options, first: u16) -> Result<ExitCode, CliError> {
    let (context, _) = Context::from_args(std::iter::empty())?;
    let record: Shared = Arc::new(Mutex::new(Record { received: 0, latency: Durations::new() }));
    let mut links = Links::default();
    for number in first..first.saturating_add(options.members) {
        links.add(&context, options, number, &record)?;
    }
    let executors = IsolatedExecutors::new();
    for node in &links.nodes {
        executors.add_node(node)?;
    }
    let (send, orders) = sync_channel(4);
    listen(&context, move |order| {
        // Two orders are all that come, and one that nobody waits for any more means nothing.
        let _ = send.try_send(order);
    })?;
    links.meet()?;
    Event::Ready.tell()?;
    while let Ok(order) = orders.recv() {
        match order {
            Order::Go => {
                links.send(options)?;
                Event::Ready.tell()?;
            }
            Order::Finish(sent) => println!("{}", links.report(&record, sent)?),
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Links {
    fn add(
        &mut self,
        context: &Context,
        options: &Options,
        number: u16,
        record: &Shared,
    ) -> Result<(), CliError> {
        let transports = options
            .placement
            .first()
            .map_or(feros::TransportSet::ALL, |placement| placement.transports());
        let last = options.nodes.first().map_or(0, |nodes| nodes - 1);
        let node = context.create_node(&format!("feros_perf_link_{number}"))?;
        let qos = QosProfile::keep_last(DEPTH);
        let topic = |number: u16| format!("{}/link_{number}", options.topic);
        let publisher = (number < last)
            .then(|| {
                let how = PublisherOptions { qos, transports, ..PublisherOptions::default() };
                node.create_publisher::<UInt8MultiArray>(&topic(number), how)
            })
            .transpose()?;
        if number > 0 {
            let how =
                SubscriptionOptions::from(qos).log_lost_messages(false).transports(transports);
            let (record, relay, warmup) = (record.clone(), publisher.clone(), options.warmup);
            let take = move |message: UInt8MultiArray| match &relay {
                Some(relay) => {
                    if let Err(error) = relay.publish(message) {
                        eprintln!("warning: {error}");
                    }
                }
                None => note(&record, &message.data, warmup),
            };
            self.subscriptions.push(node.create_subscription(&topic(number - 1), how, take)?);
        }
        self.publishers.extend(publisher);
        self.nodes.push(node);
        Ok(())
    }

    /// Waits until each has its neighbours and the transports to them are set up.
    fn meet(&self) -> Result<(), CliError> {
        for publisher in &self.publishers {
            publisher.wait_for_subscriptions(1, MEET_LIMIT)?;
        }
        for subscription in &self.subscriptions {
            subscription.wait_for_publishers(1, MEET_LIMIT)?;
        }
        let deadline = Instant::now() + MEET_LIMIT;
        let is_pending = |publisher: &Publisher<UInt8MultiArray>| {
            let transports = publisher.transports();
            transports.is_empty()
                || transports.iter().any(|found| found.reason == Some(Reason::Pending))
        };
        while self.publishers.iter().any(is_pending) && Instant::now() < deadline {
            std::thread::sleep(INTERVAL);
        }
        Ok(())
    }

    fn send(&self, options: &Options) -> Result<(), CliError> {
        let (Some(publisher), Some(&size_bytes)) = (self.publishers.first(), options.size.first())
        else {
            return Ok(());
        };
        let begin = monotonic_nanos() + REST_NANOS;
        for sequence in 0..options.warmup + options.count {
            // Made before its time: that is no part of publishing it.
            let mut message =
                UInt8MultiArray { data: vec![0x5a; size_bytes], ..UInt8MultiArray::default() };
            sleep_until(begin + sequence * 1_000_000_000 / u64::from(options.rate_hz));
            stamp(&mut message.data, sequence);
            publisher.publish(message)?;
        }
        Ok(())
    }

    /// What the last node has when all that was sent is there or will not come any more, as one
    /// line.
    fn report(&self, record: &Shared, sent: u64) -> Result<String, CliError> {
        let (mut received, mut changed) = (record.lock().received, Instant::now());
        while received < sent && changed.elapsed() < QUIET {
            std::thread::sleep(INTERVAL);
            let now = record.lock().received;
            if now != received {
                (received, changed) = (now, Instant::now());
            }
        }
        let counts = self.subscriptions.last().map(|last| last.counts());
        let by_transport = counts.map_or(ByTransport::default(), |counts| ByTransport {
            intra_process: counts.intra_process.messages,
            shared_memory: counts.shared_memory.messages,
            network: counts.network.messages,
        });
        let record = record.lock();
        let report = Report {
            received: record.received,
            transport: by_transport.name().to_owned(),
            latency: record.latency.summary(),
        };
        serde_json::to_string(&report).map_err(CliError::failed)
    }
}

fn note(record: &Shared, payload: &[u8], warmup: u64) {
    let now = monotonic_nanos();
    if let Some((sent, sequence)) = read_stamp(payload)
        && sequence >= warmup
    {
        let mut record = record.lock();
        record.latency.record(now.saturating_sub(sent));
        record.received += 1;
    }
}
