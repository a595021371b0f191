//! Measures RustDDS itself, through its own API, without a client library above it. The contract is
//! in ../README.md.
//!
//! Fairness: nothing is configured. Messages are Rust structures with a vector of octets or a
//! string, serialized with serde by RustDDS's own CDR, as its examples do. `write` takes a message
//! by value, so each message is created anew before its stamp is written; a thread of RustDDS sends
//! it. Subscriptions are its asynchronous streams; `single` (the default) polls all of them on one
//! thread; `isolated`, and every node of a chain, uses a thread for each.
//!
//! RustDDS uses only the network: even within a process (`composed`) a message goes through UDP.
//! There is no shared memory, and no `intra`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use feros_lab_contract::{
    Arguments, Durability, Ended, Executor, Failure, History, MessageType, Output, Placement,
    Program, PublishMode, Published, Reliability, Role, Samples, now_nanos, wait_received,
};
use futures::channel::oneshot;
use futures::stream::{StreamExt, select_all};
use rustdds::dds::statusevents::DataWriterStatus;
use rustdds::no_key::{DataReader, DataWriter};
use rustdds::policy;
use rustdds::{
    CDRDeserializerAdapter, CDRSerializerAdapter, DomainParticipant, QosPolicies, QosPolicyBuilder,
    StatusEvented, Topic, TopicKind,
};
use serde::{Deserialize, Serialize};

const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(2);
/// The time that the sending thread gets for its remaining messages.
const GONE_WITHIN: Duration = Duration::from_millis(200);
/// The time that a relay waits for a subscription to its output, for which the talker cannot wait.
const ONWARD_WITHIN: Duration = Duration::from_secs(5);
const MAX_BLOCKING: rustdds::Duration = rustdds::Duration::from_millis(100);

fn main() -> ExitCode {
    Program { system: "rustdds", version: "RustDDS 0.15.1", extras: &[] }.run(
        |arguments, output| match arguments.payload {
            MessageType::Bytes => run::<Octets>(arguments, output),
            MessageType::String => run::<Text>(arguments, output),
        },
    )
}

/// A message with room for a stamp.
trait Message: Serialize + for<'de> Deserialize<'de> + Clone + Send + Sync + 'static {
    const TYPE: &'static str;
    fn new(arguments: &Arguments) -> Self;
    fn stamp(&mut self, arguments: &Arguments, number: u64) -> u64;
    fn payload(&self) -> &[u8];
}

#[derive(Clone, Serialize, Deserialize)]
struct Octets {
    data: Vec<u8>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Text {
    data: String,
}

impl Message for Octets {
    const TYPE: &'static str = "feros_lab::Bytes";

    fn new(arguments: &Arguments) -> Self {
        Self { data: arguments.payload() }
    }

    fn stamp(&mut self, arguments: &Arguments, number: u64) -> u64 {
        arguments.stamp(&mut self.data, number)
    }

    fn payload(&self) -> &[u8] {
        &self.data
    }
}

impl Message for Text {
    const TYPE: &'static str = "feros_lab::String";

    fn new(arguments: &Arguments) -> Self {
        Self { data: arguments.text_payload() }
    }

    fn stamp(&mut self, arguments: &Arguments, number: u64) -> u64 {
        arguments.stamp_text(&mut self.data, number)
    }

    fn payload(&self) -> &[u8] {
        self.data.as_bytes()
    }
}

/// A writer, and the number of readers that it has found, which RustDDS reports only as events.
struct Writer<M: Message> {
    writer: DataWriter<M, CDRSerializerAdapter<M>>,
    readers: AtomicI32,
}

impl<M: Message> Writer<M> {
    fn readers(&self) -> usize {
        while let Some(status) = self.writer.try_recv_status() {
            if let DataWriterStatus::PublicationMatched { current, .. } = status {
                self.readers.store(current.count(), Ordering::Relaxed);
            }
        }
        usize::try_from(self.readers.load(Ordering::Relaxed)).unwrap_or(0)
    }

    fn write(&self, message: M) -> bool {
        self.writer.write(message, None).is_ok()
    }
}

type Reader<M> = DataReader<M, CDRDeserializerAdapter<M>>;

fn run<M: Message>(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    if arguments.placement == Placement::Intra {
        return Err(Failure::unsupported("RustDDS sends over the network even within a process"));
    }
    if arguments.publish == PublishMode::Sync {
        return Err(Failure::unsupported("a thread of RustDDS sends, not the publisher's"));
    }
    if arguments.executor == Executor::Multi {
        return Err(Failure::unsupported("RustDDS has no executor"));
    }
    let peer = Peer { participant: participant()?, arguments };
    match arguments.role {
        Role::Talker => talker::<M>(&peer, output),
        Role::Listener | Role::Relay => listener::<M>(&peer, output),
        Role::Pair => pair::<M>(&peer, output),
        Role::Chain => chain::<M>(&peer, output),
        Role::Nodes => nodes(&peer, output),
        _ => Err(Failure::unsupported("RustDDS has no such role")),
    }
}

fn participant() -> Result<DomainParticipant, Failure> {
    let domain =
        std::env::var("ROS_DOMAIN_ID").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    Ok(DomainParticipant::new(domain)?)
}

struct Peer<'a> {
    participant: DomainParticipant,
    arguments: &'a Arguments,
}

impl Peer<'_> {
    fn qos(&self) -> QosPolicies {
        let arguments = self.arguments;
        let qos = QosPolicyBuilder::new()
            .reliability(match arguments.reliability {
                Reliability::Reliable => {
                    policy::Reliability::Reliable { max_blocking_time: MAX_BLOCKING }
                }
                Reliability::BestEffort => policy::Reliability::BestEffort,
            })
            .durability(match arguments.durability {
                Durability::TransientLocal => policy::Durability::TransientLocal,
                Durability::Volatile => policy::Durability::Volatile,
            })
            .history(match arguments.history {
                History::KeepLast => policy::History::KeepLast {
                    depth: i32::try_from(arguments.depth).unwrap_or(i32::MAX),
                },
                History::KeepAll => policy::History::KeepAll,
            });
        match arguments.deadline {
            Some(period) => qos.deadline(policy::Deadline(rustdds::Duration::from(period))).build(),
            None => qos.build(),
        }
    }

    fn topic<M: Message>(&self, name: &str) -> Result<Topic, Failure> {
        Ok(self.participant.create_topic(
            name.to_owned(),
            M::TYPE.to_owned(),
            &self.qos(),
            TopicKind::NoKey,
        )?)
    }

    fn writer<M: Message>(&self, topic: &str) -> Result<Writer<M>, Failure> {
        let publisher = self.participant.create_publisher(&self.qos())?;
        let writer = publisher.create_datawriter_no_key_cdr::<M>(&self.topic::<M>(topic)?, None)?;
        Ok(Writer { writer, readers: AtomicI32::new(0) })
    }

    fn reader<M: Message>(&self, topic: &str) -> Result<Reader<M>, Failure> {
        let subscriber = self.participant.create_subscriber(&self.qos())?;
        Ok(subscriber.create_datareader_no_key_cdr::<M>(&self.topic::<M>(topic)?, None)?)
    }

    fn wait_for_matches<M: Message>(
        &self,
        writer: &Writer<M>,
        wanted: usize,
    ) -> Result<(), Failure> {
        while writer.readers() < wanted {
            if self.arguments.wait_stopped(Duration::from_millis(2)) {
                return Err(Failure::not_matched("the subscriptions were not found in time"));
            }
        }
        Ok(())
    }

    /// Waits until the published messages have arrived, or can no longer arrive.
    fn wait_delivered<M: Message>(&self, writer: &Writer<M>) {
        if self.arguments.reliability == Reliability::Reliable {
            // A timeout is not an error here: the other side counts missing messages as lost.
            drop(writer.writer.wait_for_acknowledgments(ACKNOWLEDGED_WITHIN));
        }
        std::thread::sleep(GONE_WITHIN);
    }

    fn publish_all<M: Message>(&self, writer: &Writer<M>, output: &Output) -> Published {
        let published = self.arguments.published();
        let filled = M::new(self.arguments);
        let mut refused = 0_u64;
        output.ready();
        for number in self.arguments.pace() {
            let mut message = filled.clone();
            let at = message.stamp(self.arguments, number);
            if writer.write(message) {
                published.note(number, at);
            } else {
                refused += 1;
            }
        }
        if refused > 0 {
            eprintln!("rustdds: {refused} messages were refused by write()");
        }
        published
    }
}

/// The callback for a message and the time of its receipt.
type Callback<M> = Box<dyn FnMut(&M, u64) + Send>;

/// A subscription: its reader and the callback for each message.
struct Subscription<M: Message> {
    reader: Reader<M>,
    callback: Callback<M>,
}

/// A thread that polls some subscriptions. Dropping this value ends the thread.
struct Spin {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spin {
    fn start<M: Message>(subscriptions: Vec<Subscription<M>>) -> Result<Self, Failure> {
        let (end, ended) = oneshot::channel();
        let thread = Builder::new().name("subscriptions".into()).spawn(move || {
            let (mut streams, mut callbacks) = (Vec::new(), Vec::new());
            for (index, Subscription { reader, callback }) in subscriptions.into_iter().enumerate()
            {
                streams.push(Box::pin(
                    reader.async_sample_stream().map(move |sample| (index, sample)),
                ));
                callbacks.push(callback);
            }
            let mut samples = select_all(streams).take_until(ended);
            futures::executor::block_on(async {
                while let Some((index, sample)) = samples.next().await {
                    let now = now_nanos();
                    match sample {
                        Ok(sample) => callbacks[index](sample.value(), now),
                        Err(error) => eprintln!("rustdds: a message could not be read: {error}"),
                    }
                }
            });
        })?;
        Ok(Self { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Spin {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has reported its panic.
            drop(thread.join());
        }
    }
}

fn noting<M: Message>(samples: &Samples) -> Callback<M> {
    let samples = samples.clone();
    Box::new(move |message, now| {
        samples.note(message.payload(), now);
    })
}

fn passing_on<M: Message>(
    arguments: &Arguments,
    samples: &Samples,
    published: &Published,
    writer: Arc<Writer<M>>,
) -> Callback<M> {
    let (arguments, samples, published) = (arguments.clone(), samples.clone(), published.clone());
    Box::new(move |message, now| {
        if writer.write(message.clone())
            && let Some((_, number)) = arguments.read_stamp(message.payload())
        {
            published.note(number, now);
        }
        samples.note(message.payload(), now);
    })
}

fn talker<M: Message>(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let writer = peer.writer::<M>(&peer.arguments.topic)?;
    peer.wait_for_matches(&writer, peer.arguments.matched)?;
    let published = peer.publish_all(&writer, output);
    peer.wait_delivered(&writer);
    Ok(output.end(Some(&published), &[]))
}

fn listener<M: Message>(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let arguments = peer.arguments;
    let samples = arguments.samples(arguments.index);
    let relayed = (arguments.role == Role::Relay).then(|| arguments.published());
    let mut onward = None;
    let callback = match &relayed {
        None => noting(&samples),
        Some(published) => {
            let writer = Arc::new(peer.writer::<M>(&arguments.to)?);
            arguments.wait_until(ONWARD_WITHIN, || writer.readers() > 0);
            onward = Some(writer.clone());
            passing_on(arguments, &samples, published, writer)
        }
    };
    let spin =
        Spin::start(vec![Subscription { reader: peer.reader::<M>(&arguments.topic)?, callback }])?;
    output.ready();
    while !samples.is_done() && !arguments.wait_stopped(Duration::from_millis(50)) {}
    drop(spin);
    if let Some(writer) = onward {
        peer.wait_delivered(&writer);
    }
    Ok(output.end(relayed.as_ref(), &[samples]))
}

fn pair<M: Message>(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let arguments = peer.arguments;
    let writer = peer.writer::<M>(&arguments.topic)?;
    let all: Vec<Samples> =
        (0..arguments.subscriptions).map(|index| arguments.samples(index)).collect();
    let mut subscriptions = Vec::new();
    for samples in &all {
        subscriptions.push(Subscription {
            reader: peer.reader::<M>(&arguments.topic)?,
            callback: noting(samples),
        });
    }
    let spins = match arguments.executor {
        Executor::Isolated => subscriptions
            .into_iter()
            .map(|one| Spin::start(vec![one]))
            .collect::<Result<Vec<_>, _>>()?,
        _ => vec![Spin::start(subscriptions)?],
    };
    peer.wait_for_matches(&writer, arguments.subscriptions)?;
    let published = peer.publish_all(&writer, output);
    wait_received(arguments, &all, published.sent());
    drop(spins);
    Ok(output.end(Some(&published), &all))
}

fn chain<M: Message>(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let arguments = peer.arguments;
    let counting = arguments.without_samples();
    let topic = |link: usize| format!("{}_{link}", arguments.topic);
    let last = arguments.samples(0);
    let links = arguments.nodes - 1;
    let mut writers = Vec::new();
    for link in 0..links {
        writers.push(Arc::new(peer.writer::<M>(&topic(link))?));
    }
    let mut spins = Vec::new();
    for link in 0..links {
        let callback = match writers.get(link + 1) {
            None => noting(&last),
            Some(onward) => {
                passing_on(&counting, &counting.samples(0), &counting.published(), onward.clone())
            }
        };
        spins.push(Spin::start(vec![Subscription {
            reader: peer.reader::<M>(&topic(link))?,
            callback,
        }])?);
    }
    for writer in &writers {
        peer.wait_for_matches(writer, 1)?;
    }
    let published = peer.publish_all(&writers[0], output);
    wait_received(arguments, std::slice::from_ref(&last), published.sent());
    drop(spins);
    Ok(output.end(Some(&published), &[last]))
}

/// DDS has no nodes: a participant is the closest equivalent, so this creates N participants.
fn nodes(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let more = (1..peer.arguments.nodes).map(|_| participant()).collect::<Result<Vec<_>, _>>()?;
    output.ready();
    while !peer.arguments.wait_stopped(Duration::from_secs(3600)) {}
    drop(more);
    Ok(output.end(None, &[]))
}
