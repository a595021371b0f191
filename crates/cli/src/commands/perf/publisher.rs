//! The sending end of a measurement: stamps and publishes at the wanted pace.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use feros::msgs::std_msgs::msg::{
    MultiArrayLayoutShape, UInt8MultiArray, UInt8MultiArrayShape, UInt64,
};
use feros::{
    Executor, MatchTransport, Node, Publisher, PublisherOptions, Reason, Reliability, Subscription,
    message,
};

use super::Kind;
use super::options::{Limit, Options, Send};
use super::payload::{monotonic_nanos, sleep_until, stamp, stamp_with};
use super::protocol::Published;
use super::statistics::Durations;
use super::subscription::{answer_topic, is_answered};
use super::usage::CpuMeter;
use crate::error::CliError;

/// The first message is due that long after the order, when both processes have come to rest.
const REST_NANOS: u64 = 100_000_000;

/// An answer that takes longer was lost, or its message was.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);

/// How often the transport is looked at while it is being set up.
const PATH_INTERVAL: Duration = Duration::from_millis(5);

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
        let subscription = node.create_subscription(
            &answer_topic(&options.topic),
            options.qos(),
            move |answer: UInt64| {
                note.fetch_max(answer.data.saturating_add(1), Ordering::Relaxed);
            },
        )?;
        let executor = Executor::new();
        executor.add_node(node)?;
        Ok(Self { subscription, executor, answered })
    }

    /// Waits until message `sequence` was answered, or will not be.
    fn wait_for(&self, sequence: u64) -> Result<(), CliError> {
        self.executor
            .spin_until(Some(ANSWER_LIMIT), || self.answered.load(Ordering::Relaxed) > sequence)?;
        Ok(())
    }
}

impl<'a> Sender<'a> {
    /// Announces the publisher; nothing is sent yet.
    pub(super) fn new(node: &'a Node, kind: Kind, options: &'a Options) -> Result<Self, CliError> {
        let endpoint = PublisherOptions {
            qos: options.qos(),
            mode: options.publish_mode(),
            transports: options.transport.allowed(),
            ..PublisherOptions::default()
        };
        let publisher = node.create_publisher(&options.topic, endpoint)?;
        let answers =
            is_answered(kind, options).then(|| Answers::new(node, options)).transpose()?;
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

    /// Waits until the transport to the subscription is set up.
    pub(super) fn wait_for_transport(&self, timeout: Duration) -> Result<(), CliError> {
        let until = Instant::now() + timeout;
        loop {
            let transports = self.publisher.transports();
            let is_pending = |found: &MatchTransport| found.reason == Some(Reason::Pending);
            let is_settled = !transports.is_empty() && !transports.iter().any(is_pending);
            if !is_settled && Instant::now() < until {
                std::thread::sleep(PATH_INTERVAL);
                continue;
            }
            let wanted = self.options.transport.only();
            return match transports.iter().find(|found| {
                found.transport.is_none() || wanted.is_some() && found.transport != wanted
            }) {
                Some(found) => Err(not_possible(self.options, found)),
                None => Ok(()),
            };
        }
    }

    /// Why the transport is not a shorter one.
    fn transport_reason(&self) -> Option<String> {
        self.publisher
            .transports()
            .into_iter()
            .find_map(|found| found.reason)
            .map(|reason| reason.to_string())
    }

    /// Publishes all messages.
    pub(super) fn send(&self) -> Result<Published, CliError> {
        let (warmup, rate_hz) = (self.options.warmup, self.options.rate_hz(self.kind));
        let size_bytes = self.options.size_bytes.first().copied().unwrap_or_default();
        let mut outgoing = Outgoing::new(self.options.send(), size_bytes)?;
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
            let before = outgoing.publish(&self.publisher, sequence)?;
            if sequence >= warmup {
                calls.record(monotonic_nanos() - before);
            }
            outgoing.prepare();
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
            transport_reason: self.transport_reason(),
            publish_call: calls.summary(),
            usage: super::usage::Usage { cpu_percent, ..cpu.usage() },
        })
    }

    fn is_enough(&self, sent: u64, since_nanos: u64) -> bool {
        match self.options.limit(self.kind) {
            Limit::Count(count) => sent >= count,
            Limit::Time(duration) => {
                u128::from(monotonic_nanos() - since_nanos) >= duration.as_nanos()
            }
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

/// Says which transport is taken instead of the one that was asked for, and why.
fn not_possible(options: &Options, found: &MatchTransport) -> CliError {
    let wanted =
        options.transport.only().map_or("any".to_owned(), |transport| transport.to_string());
    let reason = found.reason.as_ref().map_or(String::new(), |reason| format!(" because {reason}"));
    let processes = match options.processes() {
        1 => "publisher and subscription are in one process",
        _ => "publisher and subscription are in two processes",
    };
    match found.transport {
        Some(transport) => CliError::failed(format!(
            "messages take the transport {transport}, not {wanted}{reason} ({processes})"
        )),
        None => CliError::failed(format!(
            "messages cannot take the transport {wanted}{reason} ({processes})"
        )),
    }
}

/// The messages of a measurement, in the form in which they are published.
enum Outgoing {
    Given { next: UInt8MultiArray, size_bytes: usize },
    Lent(UInt8MultiArray),
    Loan { size_bytes: usize },
    Raw { bytes: Vec<u8>, size_bytes: usize },
}

fn message_of(size_bytes: usize) -> UInt8MultiArray {
    UInt8MultiArray { data: vec![0x5a; size_bytes], ..UInt8MultiArray::default() }
}

impl Outgoing {
    fn new(send: Send, size_bytes: usize) -> Result<Self, CliError> {
        let message = message_of(size_bytes);
        Ok(match send {
            Send::Given => Self::Given { next: message, size_bytes },
            Send::Lent => Self::Lent(message),
            Send::Loan => Self::Loan { size_bytes },
            Send::Raw => Self::Raw {
                bytes: message::to_vec(&message).map_err(CliError::failed)?,
                size_bytes,
            },
        })
    }

    /// Makes the next message if the last one was given away: that is not part of publishing it.
    fn prepare(&mut self) {
        if let Self::Given { next, size_bytes } = self {
            *next = message_of(*size_bytes);
        }
    }

    /// Publishes the message of this number; returns when that began.
    fn publish(
        &mut self,
        publisher: &Publisher<UInt8MultiArray>,
        sequence: u64,
    ) -> Result<u64, CliError> {
        match self {
            Self::Given { next, .. } => {
                let mut message = std::mem::take(next);
                let before = stamp(&mut message.data, sequence);
                publisher.publish(message)?;
                Ok(before)
            }
            Self::Lent(message) => {
                let before = stamp(&mut message.data, sequence);
                publisher.publish(&*message)?;
                Ok(before)
            }
            Self::Loan { size_bytes } => {
                let before = monotonic_nanos();
                let layout = MultiArrayLayoutShape { dim: &[] };
                let mut loan =
                    publisher.loan(&UInt8MultiArrayShape { layout, data: *size_bytes })?;
                stamp_with(loan.fields()?.data, sequence, before);
                loan.publish()?;
                Ok(before)
            }
            Self::Raw { bytes, size_bytes } => {
                let payload = bytes.len() - *size_bytes; // the last field
                let before = stamp(&mut bytes[payload..], sequence);
                publisher.publish_serialized(bytes)?;
                Ok(before)
            }
        }
    }
}
