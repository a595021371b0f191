//! The sending end of a measurement: stamps and publishes at the wanted pace.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use feros::msgs::std_msgs::msg::{UInt8MultiArray, UInt64};
use feros::{Executor, Node, Publisher, PublisherOptions, Reliability, Subscription};

use super::Kind;
use super::options::{Limit, Options};
use super::payload::{monotonic_nanos, sleep_until, stamp};
use super::protocol::Published;
use super::statistics::Durations;
use super::subscription::{answer_topic, is_answered};
use super::usage::CpuMeter;
use crate::error::CliError;

/// The first message is due that long after the order, when both processes have come to rest.
const REST_NANOS: u64 = 100_000_000;

/// An answer that takes longer was lost, or its message was.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);

/// How long acknowledgements may take after the last message.
const ACKNOWLEDGE_LIMIT: Duration = Duration::from_secs(20);

/// Publishes the messages of a measurement.
pub(super) struct Sender<'a> {
    node: &'a Node,
    kind: Kind,
    options: &'a Options,
    publisher: Publisher<UInt8MultiArray>,
    answers: Option<Answers>,
}

/// Waits for the answers to messages, where they set the pace.
struct Answers {
    subscription: Subscription<UInt64>,
    executor: Executor,
    /// One more than the number of the last message that was answered.
    answered: Arc<AtomicU64>,
}

impl Answers {
    fn new(node: &Node, options: &Options) -> Result<Self, CliError> {
        let answered = Arc::new(AtomicU64::new(0));
        let note = answered.clone();
        let subscription =
            node.create_subscription(&answer_topic(&options.topic), options.qos(), move |answer: UInt64| {
                note.fetch_max(answer.data.saturating_add(1), Ordering::Relaxed);
            })?;
        let executor = Executor::new();
        executor.add_node(node)?;
        Ok(Self { subscription, executor, answered })
    }

    /// Waits until message `sequence` was answered, or will not be.
    fn wait_for(&self, sequence: u64) -> Result<(), CliError> {
        self.executor.spin_until(Some(ANSWER_LIMIT), || self.answered.load(Ordering::Relaxed) > sequence)?;
        Ok(())
    }
}

impl<'a> Sender<'a> {
    /// Announces the publisher; nothing is sent yet.
    pub(super) fn new(node: &'a Node, kind: Kind, options: &'a Options) -> Result<Self, CliError> {
        let endpoint = PublisherOptions {
            qos: options.qos(),
            mode: options.publish_mode(),
            ..PublisherOptions::default()
        };
        let publisher = node.create_publisher(&options.topic, endpoint)?;
        let answers = is_answered(kind, options).then(|| Answers::new(node, options)).transpose()?;
        Ok(Self { node, kind, options, publisher, answers })
    }

    /// Waits until the subscription is there.
    pub(super) fn wait_for_match(&self, timeout: Duration) -> Result<(), CliError> {
        self.publisher.wait_for_subscriptions(1, timeout)?;
        if let Some(answers) = &self.answers {
            answers.subscription.wait_for_publishers(1, timeout)?;
        }
        Ok(())
    }

    /// Publishes all messages.
    pub(super) fn send(&self) -> Result<Published, CliError> {
        let (warmup, rate_hz) = (self.options.warmup, self.options.rate_hz(self.kind));
        let size_bytes = self.options.size_bytes.first().copied().unwrap_or_default();
        let mut message = UInt8MultiArray { data: vec![0x5a; size_bytes], ..UInt8MultiArray::default() };
        let mut calls = Durations::new();
        let mut cpu = CpuMeter::start();
        let begin = monotonic_nanos() + REST_NANOS;
        let mut measured_since = begin;
        let mut sequence = 0;
        loop {
            if sequence == warmup {
                cpu = CpuMeter::start();
                measured_since = monotonic_nanos();
            }
            if sequence >= warmup && self.is_enough(sequence - warmup, measured_since) {
                break;
            }
            if !self.node.context().is_ok() {
                return Err(CliError::Interrupted);
            }
            if rate_hz > 0.0 || sequence == 0 {
                sleep_until(begin + (sequence as f64 * 1e9 / rate_hz.max(0.1)) as u64);
            }
            let before = stamp(&mut message.data, sequence);
            self.publisher.publish(&message)?;
            if sequence >= warmup {
                calls.record(monotonic_nanos() - before);
            }
            if let Some(answers) = &self.answers {
                answers.wait_for(sequence)?;
            }
            sequence += 1;
        }
        let cpu_percent = cpu.cpu_percent();
        self.wait_for_acknowledgements();
        Ok(Published {
            sent: sequence - warmup,
            dropped: self.publisher.dropped_messages(),
            publish_call: calls.summary(),
            usage: super::usage::Usage { cpu_percent, ..cpu.usage() },
        })
    }

    fn is_enough(&self, sent: u64, since_nanos: u64) -> bool {
        match self.options.limit(self.kind) {
            Limit::Count(count) => sent >= count,
            Limit::Time(duration) => u128::from(monotonic_nanos() - since_nanos) >= duration.as_nanos(),
        }
    }

    fn wait_for_acknowledgements(&self) {
        if self.publisher.qos().reliability != Reliability::Reliable {
            return;
        }
        // What is missing then is counted as lost on the other side.
        if let Err(error) = self.publisher.wait_for_all_acked(ACKNOWLEDGE_LIMIT) {
            eprintln!("warning: {error}");
        }
    }
}
