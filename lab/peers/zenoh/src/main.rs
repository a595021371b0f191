//! Measures Zenoh itself, through its Rust API, without a client library above it. The contract is
//! in ../README.md.
//!
//! Fairness: peers without a router find each other by multicast, as in the default
//! configuration; only the multicast port is private to this run, so that runs do not affect each
//! other. The variant `as-feros` reads the file of `ZENOH_SESSION_CONFIG_URI`, like `feros_zenoh`;
//! `in-one-piece` does so too, and notes a message only once it is a single slice of bytes. Shared
//! memory is off unless the variant `shm` turns it on, because the crate's default features do not
//! include it. Payloads are octets: Zenoh has no types, so nothing is serialized.
//!
//! QoS is mapped as in rmw_zenoh: `reliable` and `keep_all` block the publisher when the link is
//! full, every other QoS drops messages. Acknowledgements and deadlines do not exist, and the
//! transmission queue has its own depth. Transient local needs an extension (zenoh-ext) and is
//! absent. A publisher puts messages into a queue, which a task of Zenoh sends.
//!
//! Callbacks are Zenoh's: its receiving task calls them. Within a process (`composed`: one
//! session), the publisher's own thread calls them, with a reference to the payload; Zenoh has no
//! other transport there, so there is no `intra`. `--executor isolated`, and every node of a chain,
//! uses Zenoh's default channel and a thread that reads it.

use std::process::ExitCode;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use feros_lab_contract::{
    Arguments, Ended, Executor, Extra, Failure, History, Output, Placement, Program, PublishMode,
    Published, Reliability, Role, Samples, now_nanos, wait_received,
};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::shm::{
    BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder,
};
use zenoh::{Config, Session, Wait};

const EXTRAS: &[Extra<'static>] = &[Extra {
    name: "--variant",
    allowed: &["default", "as-feros", "in-one-piece", "express", "shm"],
    default: "default",
}];
/// The time that a talker waits for its last messages to be sent.
const LINGER: [(Reliability, Duration); 2] = [
    (Reliability::Reliable, Duration::from_secs(2)),
    (Reliability::BestEffort, Duration::from_millis(200)),
];
/// The time that a relay waits for a subscription to its output, for which the talker cannot wait.
const ONWARD_WITHIN: Duration = Duration::from_secs(5);
const POOL_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    Program { system: "zenoh", version: "Zenoh 1.10.2", extras: EXTRAS }.run(run)
}

fn run(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    if arguments.placement == Placement::Intra {
        return Err(Failure::unsupported(
            "within a process a session only has the placement `composed`",
        ));
    }
    if arguments.publish == PublishMode::Sync {
        return Err(Failure::unsupported("a task of Zenoh sends, not the publisher's thread"));
    }
    if matches!(arguments.executor, Executor::Single | Executor::Multi) {
        return Err(Failure::unsupported("Zenoh has no executor"));
    }
    let peer = Peer { session: open(arguments)?, arguments };
    let ended = match arguments.role {
        Role::Talker => talker(&peer, output),
        Role::Listener | Role::Relay => listener(&peer, output),
        Role::Pair => pair(&peer, output),
        Role::Chain => chain(&peer, output),
        Role::Nodes => nodes(&peer, output),
        _ => Err(Failure::unsupported("Zenoh has no such role")),
    }?;
    // Threads that read a channel keep their subscription alive, which keeps the session alive.
    peer.session.close().wait()?;
    Ok(ended)
}

fn open(arguments: &Arguments) -> Result<Session, Failure> {
    let mut config = match arguments.extra("--variant") {
        "as-feros" | "in-one-piece" => {
            Config::from_file(std::env::var("ZENOH_SESSION_CONFIG_URI")?)?
        }
        _ => Config::default(),
    };
    let shares_memory = arguments.extra("--variant") == "shm";
    config.insert_json5(
        "transport/shared_memory/enabled",
        if shares_memory { "true" } else { "false" },
    )?;
    if let Ok(port) = std::env::var("FEROS_LAB_PORT") {
        config.insert_json5("scouting/multicast/address", &format!("\"224.0.0.224:{port}\""))?;
    }
    Ok(zenoh::open(config).wait()?)
}

/// A sender, which sends from a buffer that is copied, or from shared memory that is written
/// directly.
struct Sender<'a> {
    publisher: Publisher<'a>,
    pool: Option<ShmProvider<PosixShmProviderBackend>>,
}

impl Sender<'_> {
    fn has_match(&self) -> Result<bool, Failure> {
        Ok(self.publisher.matching_status().wait()?.matching())
    }

    /// Waits until the queue has sent the last messages, since the session closes when this program
    /// ends.
    fn linger(&self, arguments: &Arguments) {
        let most = LINGER.iter().find(|(reliability, _)| *reliability == arguments.reliability);
        let most = most.map_or(Duration::ZERO, |(_, most)| *most);
        arguments.wait_until(most, || !self.has_match().unwrap_or(false));
    }

    fn publish_all(&self, arguments: &Arguments, output: &Output) -> Result<Published, Failure> {
        let published = arguments.published();
        let mut payload = arguments.payload();
        output.ready();
        for number in arguments.pace() {
            let at = match &self.pool {
                None => {
                    let at = arguments.stamp(&mut payload, number);
                    self.publisher.put(payload.as_slice()).wait()?;
                    at
                }
                Some(pool) => {
                    let asked = now_nanos();
                    let mut loan = pool
                        .alloc(payload.len())
                        .with_policy::<BlockOn<GarbageCollect>>()
                        .wait()?;
                    let at = arguments.stamp_loan(&mut loan, number, asked);
                    self.publisher.put(loan).wait()?;
                    at
                }
            };
            published.note(number, at);
        }
        Ok(published)
    }
}

/// A subscription with its callback or its thread; the token shows talkers that the subscription
/// exists.
struct Receiver {
    _subscriber: Option<Subscriber<()>>,
    _thread: Option<JoinHandle<()>>,
    _token: LivelinessToken,
}

struct Peer<'a> {
    session: Session,
    arguments: &'a Arguments,
}

impl Peer<'_> {
    fn sender(&self, topic: &str) -> Result<Sender<'static>, Failure> {
        let variant = self.arguments.extra("--variant");
        let blocks = self.arguments.reliability == Reliability::Reliable
            && self.arguments.history == History::KeepAll;
        let publisher = self
            .session
            .declare_publisher(topic.to_owned())
            .congestion_control(if blocks {
                CongestionControl::Block
            } else {
                CongestionControl::Drop
            })
            .reliability(match self.arguments.reliability {
                Reliability::Reliable => zenoh::qos::Reliability::Reliable,
                Reliability::BestEffort => zenoh::qos::Reliability::BestEffort,
            })
            .express(variant == "express")
            .wait()?;
        let pool = match variant {
            "shm" => Some(ShmProviderBuilder::default_backend(POOL_BYTES).wait()?),
            _ => None,
        };
        Ok(Sender { publisher, pool })
    }

    fn receiver(
        &self,
        topic: &str,
        own_thread: bool,
        callback: impl Fn(&Sample) + Send + Sync + 'static,
    ) -> Result<Receiver, Failure> {
        let declared = self.session.declare_subscriber(topic.to_owned());
        let (subscriber, thread) = if own_thread {
            let subscriber = declared.wait()?;
            let thread = Builder::new().name("subscription".into()).spawn(move || {
                while let Ok(sample) = subscriber.recv() {
                    callback(&sample);
                }
            })?;
            (None, Some(thread))
        } else {
            (Some(declared.callback(move |sample| callback(&sample)).wait()?), None)
        };
        let name = format!("{}/{}", presence(topic), self.session.zid());
        let token = self.session.liveliness().declare_token(name).wait()?;
        Ok(Receiver { _subscriber: subscriber, _thread: thread, _token: token })
    }

    /// A publisher knows whether there is a subscription, but not how many there are, so this
    /// counts the tokens of subscriptions.
    fn wait_for_matches(&self, topic: &str, wanted: usize) -> Result<(), Failure> {
        loop {
            let present = self.session.liveliness().get(format!("{}/*", presence(topic))).wait()?;
            if present.into_iter().filter(|reply| reply.result().is_ok()).count() >= wanted {
                return Ok(());
            }
            if self.arguments.wait_stopped(Duration::from_millis(10)) {
                return Err(Failure::not_matched("the subscriptions were not found in time"));
            }
        }
    }
}

fn presence(topic: &str) -> String {
    format!("feros_lab_presence/{topic}")
}

/// The callback of a subscription. Zenoh hands over a large message in pieces; a reader that needs
/// one slice has the message only once the pieces have been copied together.
fn noting(
    arguments: &Arguments,
    samples: &Samples,
) -> impl Fn(&Sample) + Send + Sync + 'static + use<> {
    let samples = samples.clone();
    let in_one_piece = arguments.extra("--variant") == "in-one-piece";
    move |sample| {
        let received = now_nanos();
        let bytes = sample.payload().to_bytes();
        samples.note(&bytes, if in_one_piece { now_nanos() } else { received });
    }
}

/// The callback of a relay, which passes the payload on unchanged.
fn passing_on(
    arguments: &Arguments,
    samples: &Samples,
    published: &Published,
    sender: Sender<'static>,
) -> impl Fn(&Sample) + Send + Sync + 'static {
    let (arguments, samples, published) = (arguments.clone(), samples.clone(), published.clone());
    move |sample| {
        let now = now_nanos();
        let is_sent = sender.publisher.put(sample.payload().clone()).wait().is_ok();
        let payload = sample.payload().to_bytes();
        if is_sent && let Some((_, number)) = arguments.read_stamp(&payload) {
            published.note(number, now);
        }
        samples.note(&payload, now);
    }
}

fn talker(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let sender = peer.sender(&peer.arguments.topic)?;
    peer.wait_for_matches(&peer.arguments.topic, peer.arguments.matched)?;
    while peer.arguments.matched > 0 && !sender.has_match()? {
        if peer.arguments.wait_stopped(Duration::from_millis(2)) {
            return Err(Failure::not_matched("the subscriptions were not found in time"));
        }
    }
    let published = sender.publish_all(peer.arguments, output)?;
    sender.linger(peer.arguments);
    Ok(output.end(Some(&published), &[]))
}

fn listener(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let arguments = peer.arguments;
    let own_thread = arguments.executor == Executor::Isolated;
    let samples = arguments.samples(arguments.index);
    let relayed = (arguments.role == Role::Relay).then(|| arguments.published());
    let _receiver = if let Some(published) = &relayed {
        let sender = peer.sender(&arguments.to)?;
        arguments.wait_until(ONWARD_WITHIN, || sender.has_match().unwrap_or(true));
        peer.receiver(
            &arguments.topic,
            own_thread,
            passing_on(arguments, &samples, published, sender),
        )?
    } else {
        peer.receiver(&arguments.topic, own_thread, noting(arguments, &samples))?
    };
    output.ready();
    while !samples.is_done() && !arguments.wait_stopped(Duration::from_millis(50)) {}
    if relayed.is_some() {
        // The last messages are still in the queue.
        std::thread::sleep(LINGER[1].1);
    }
    Ok(output.end(relayed.as_ref(), &[samples]))
}

fn pair(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let arguments = peer.arguments;
    let sender = peer.sender(&arguments.topic)?;
    let all: Vec<Samples> =
        (0..arguments.subscriptions).map(|index| arguments.samples(index)).collect();
    let own_thread = arguments.executor == Executor::Isolated;
    let receivers = all
        .iter()
        .map(|samples| peer.receiver(&arguments.topic, own_thread, noting(arguments, samples)))
        .collect::<Result<Vec<_>, _>>()?;
    let published = sender.publish_all(arguments, output)?;
    wait_received(arguments, &all, published.sent());
    drop(receivers);
    Ok(output.end(Some(&published), &all))
}

fn chain(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let arguments = peer.arguments;
    let counting = arguments.without_samples();
    let topic = |link: usize| format!("{}_{link}", arguments.topic);
    let last = arguments.samples(0);
    let links = arguments.nodes - 1;
    let mut receivers = vec![peer.receiver(&topic(links - 1), true, noting(arguments, &last))?];
    for link in (0..links - 1).rev() {
        let (samples, published) = (counting.samples(0), counting.published());
        let callback = passing_on(&counting, &samples, &published, peer.sender(&topic(link + 1))?);
        receivers.push(peer.receiver(&topic(link), true, callback)?);
    }
    let published = peer.sender(&topic(0))?.publish_all(arguments, output)?;
    wait_received(arguments, std::slice::from_ref(&last), published.sent());
    drop(receivers);
    Ok(output.end(Some(&published), &[last]))
}

/// Zenoh has no nodes: a session is the closest equivalent, so this creates N sessions.
fn nodes(peer: &Peer<'_>, output: &Output) -> Result<Ended, Failure> {
    let more =
        (1..peer.arguments.nodes).map(|_| open(peer.arguments)).collect::<Result<Vec<_>, _>>()?;
    output.ready();
    while !peer.arguments.wait_stopped(Duration::from_secs(3600)) {}
    drop(more);
    Ok(output.end(None, &[]))
}
