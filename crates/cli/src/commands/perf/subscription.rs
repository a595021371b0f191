//! The receiving end of a measurement: counts messages and how long they took.

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::msgs::std_msgs::msg::{UInt8MultiArray, UInt64};
use feros::{
    Executor, Node, Publisher, SerializedMessage, Subscription, SubscriptionOptions, View, message,
};

use super::Kind;
use super::options::{Form, Limit, Options};
use super::payload::{monotonic_nanos, read_stamp};
use super::protocol::{ByTransport, Received};
use super::statistics::Durations;
use super::tally::{Arrival, Tally};
use super::usage::CpuMeter;
use feros_sync::Mutex;

use crate::error::CliError;

/// What was sent may still be on its way: so long without a message means that none will come any
/// more.
const QUIET: Duration = Duration::from_secs(1);

/// The topic on which each message is answered, where the answers set the pace.
pub(super) fn answer_topic(topic: &str) -> String {
    format!("{topic}/answer")
}

/// Whether messages are answered.
pub(super) fn is_answered(kind: Kind, options: &Options) -> bool {
    kind == Kind::Latency && options.rate_hz(kind) == 0.0
}

/// Receives messages for as long as it lives.
pub(super) struct Receiver {
    subscription: Subscription<UInt8MultiArray>,
    executor: Executor,
    record: Arc<Mutex<Record>>,
    answers: Option<Publisher<UInt64>>,
}

/// What was received so far.
struct Record {
    tally: Tally,
    latency: Durations,
    first_nanos: u64,
    last_nanos: u64,
    /// From the first measured message on.
    cpu: Option<CpuMeter>,
    /// Processor time by the end of the measurement.
    cpu_percent: f64,
}

impl Record {
    fn new(options: &Options, kind: Kind) -> Self {
        let expected = match options.limit(kind) {
            Limit::Count(count) => count,
            Limit::Time(_) => 1 << 20,
        };
        Self {
            tally: Tally::new(options.warmup, expected),
            latency: Durations::new(),
            first_nanos: 0,
            last_nanos: 0,
            cpu: None,
            cpu_percent: 0.0,
        }
    }

    /// Notes a payload that came at `now`; returns its number.
    fn note(&mut self, payload: &[u8], now: u64) -> Option<u64> {
        let (sent, sequence) = read_stamp(payload)?;
        if self.tally.note(sequence) == Arrival::New {
            self.latency.record(now.saturating_sub(sent));
            self.last_nanos = now;
            if self.cpu.is_none() {
                self.first_nanos = now;
                self.cpu = Some(CpuMeter::start());
            }
        }
        Some(sequence)
    }

    fn report(&self, by_transport: ByTransport) -> Received {
        let mut usage = self.cpu.map(|cpu| cpu.usage()).unwrap_or_default();
        usage.cpu_percent = self.cpu_percent;
        Received {
            received: self.tally.received(),
            duplicates: self.tally.duplicates(),
            reordered: self.tally.reordered(),
            by_transport,
            seconds: self.last_nanos.saturating_sub(self.first_nanos) as f64 / 1e9,
            latency: self.latency.summary(),
            usage,
        }
    }
}

impl Receiver {
    /// Subscribes; nothing is received until it spins.
    pub(super) fn new(node: &Node, kind: Kind, options: &Options) -> Result<Self, CliError> {
        let record = Arc::new(Mutex::new(Record::new(options, kind)));
        let answers = is_answered(kind, options)
            .then(|| node.create_publisher::<UInt64>(&answer_topic(&options.topic), options.qos()))
            .transpose()?;
        let note = {
            let (record, answers) = (record.clone(), answers.clone());
            move |payload: &[u8], now: u64| {
                let sequence = record.lock().note(payload, now);
                if let (Some(answers), Some(data)) = (&answers, sequence)
                    && let Err(error) = answers.publish(UInt64 { data })
                {
                    eprintln!("warning: {error}");
                }
            }
        };
        let topic = options.topic.as_str();
        // The report says what was lost; a notice in between would only cost time that is being
        // measured.
        let how = SubscriptionOptions::from(options.qos())
            .log_lost_messages(false)
            .transports(options.transport.allowed());
        // The time is read before anything else: from here on it is the user's code that runs.
        let subscription = match options.form() {
            Form::View => {
                node.create_subscription(topic, how, move |message: View<UInt8MultiArray>| {
                    let now = monotonic_nanos();
                    note(message.get().data, now);
                })
            }
            Form::Owned => node.create_subscription(topic, how, move |message: UInt8MultiArray| {
                let now = monotonic_nanos();
                note(&message.data, now);
            }),
            Form::Raw => node.create_subscription(topic, how, move |message: SerializedMessage| {
                let now = monotonic_nanos();
                if let Ok(view) = message::view::<UInt8MultiArray>(&message) {
                    note(view.data, now);
                }
            }),
        }?;
        let executor = Executor::new();
        executor.add_node(node)?;
        Ok(Self { subscription, executor, record, answers })
    }

    /// Waits until the publisher is there.
    pub(super) fn wait_for_match(&self, timeout: Duration) -> Result<(), CliError> {
        self.subscription.wait_for_publishers(1, timeout)?;
        if let Some(answers) = &self.answers {
            answers.wait_for_subscriptions(1, timeout)?;
        }
        Ok(())
    }

    /// Runs the callback until the closure of [`Receiver::finisher`] ends that.
    pub(super) fn spin(&self) -> Result<(), CliError> {
        Ok(self.executor.spin()?)
    }

    /// A closure for another thread: takes how many measured messages were sent, waits until they
    /// are here or will not come any more, and ends spinning.
    pub(super) fn finisher(&self) -> impl Fn(u64) + Send + 'static {
        let (record, stopper) = (self.record.clone(), self.executor.stopper());
        move |sent| {
            let mut received = {
                let mut record = record.lock();
                record.cpu_percent = record.cpu.map_or(0.0, |cpu| cpu.cpu_percent());
                record.tally.received()
            };
            let mut changed = Instant::now();
            while received < sent && changed.elapsed() < QUIET {
                std::thread::sleep(Duration::from_millis(10));
                let now = record.lock().tally.received();
                if now != received {
                    (received, changed) = (now, Instant::now());
                }
            }
            stopper.stop();
        }
    }

    /// What was received.
    pub(super) fn report(&self) -> Received {
        let counts = self.subscription.counts();
        self.record.lock().report(ByTransport {
            intra_process: counts.intra_process.messages,
            shared_memory: counts.shared_memory.messages,
            network: counts.network.messages,
        })
    }
}
