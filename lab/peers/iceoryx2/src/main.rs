//! Measures iceoryx2 alone, with its own event: bytes are copied once into its shared memory, and a
//! notification wakes the listener.
//!
//! The placement `intra` uses the service for threads of one process; the other placements use the
//! service for processes. There are no callbacks: a thread waits and takes. Every thread has its
//! own node, because the ports of a service cannot leave their thread.

mod endpoints;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use feros_lab_contract::{
    Arguments, Ended, Executor, Failure, Output, Placement, Program, Published, Role, Samples,
    now_nanos, wait_received,
};
use iceoryx2::prelude::{LogLevel, ipc, local, set_log_level};
use iceoryx2::service::Service;

use endpoints::{Reception, Sender, Topic};

/// A relay is ready once it has a subscriber, or after this time.
const ONWARD_WITHIN: Duration = Duration::from_secs(5);
/// The time that a sender waits for the messages in its memory to be read; receivers leave after
/// the last message.
const LINGER: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    set_log_level(LogLevel::Error);
    Program { system: "iceoryx2", version: "iceoryx2 0.10", extras: &[] }.run(
        |arguments, output| match arguments.placement {
            Placement::Remote => Err(Failure::unsupported("it has no network")),
            Placement::Intra => run::<local::Service>(arguments, output),
            Placement::Local | Placement::Composed => run::<ipc::Service>(arguments, output),
        },
    )
}

fn run<S: Service + 'static>(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    match arguments.role {
        Role::Talker => talker::<S>(arguments, output),
        Role::Listener => listener::<S>(arguments, output),
        Role::Relay => relay::<S>(arguments, output),
        Role::Pair => pair::<S>(arguments, output),
        Role::Chain => chain::<S>(arguments, output),
        Role::Nodes => nodes::<S>(arguments, output),
        other => Err(Failure::unsupported(format!("there is no role {}", other.word()))),
    }
}

fn wait_for<S: Service>(
    arguments: &Arguments,
    topic: &Topic<S>,
    wanted: usize,
) -> Result<(), Failure> {
    while topic.receivers() < wanted {
        if arguments.wait_stopped(Duration::from_millis(1)) {
            return Err(Failure::not_matched(format!(
                "{} of {wanted} subscribers were found in time",
                topic.receivers()
            )));
        }
    }
    Ok(())
}

fn send_all<S: Service>(
    arguments: &Arguments,
    sender: &Sender<S>,
    published: &Published,
) -> Result<(), Failure> {
    let mut payload = arguments.payload();
    for number in arguments.pace() {
        let at = arguments.stamp(&mut payload, number);
        sender.send(&payload)?;
        published.note(number, at);
    }
    Ok(())
}

fn linger<S: Service>(arguments: &Arguments, topic: &Topic<S>) {
    arguments.wait_until(LINGER, || topic.receivers() == 0);
}

fn talker<S: Service>(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    let topic = Topic::<S>::open(arguments, &arguments.topic)?;
    let (sender, published) = (topic.sender(arguments)?, arguments.published());
    wait_for(arguments, &topic, arguments.matched)?;
    output.ready();
    send_all(arguments, &sender, &published)?;
    linger(arguments, &topic);
    Ok(output.end(Some(&published), &[]))
}

fn listener<S: Service>(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    let topic = Topic::<S>::open(arguments, &arguments.topic)?;
    let (receiver, samples) = (topic.receiver(arguments)?, arguments.samples(arguments.index));
    output.ready();
    let is_over = || samples.is_done() || arguments.is_stopped();
    receiver.until(is_over, |_, payload, now| {
        samples.note(payload, now);
        Ok(())
    })?;
    Ok(output.end(None, &[samples]))
}

fn relay<S: Service>(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    let (from, to) = (
        Topic::<S>::open(arguments, &arguments.topic)?,
        Topic::<S>::open(arguments, &arguments.to)?,
    );
    let (receiver, sender) = (from.receiver(arguments)?, to.sender(arguments)?);
    let (samples, published) = (arguments.samples(0), arguments.published());
    arguments.wait_until(ONWARD_WITHIN, || to.receivers() > 0);
    output.ready();
    let is_over = || samples.is_done() || arguments.is_stopped();
    receiver.until(is_over, |_, payload, now| {
        samples.note(payload, now);
        let at = now_nanos();
        sender.send(payload)?;
        published.note(published.sent(), at);
        Ok(())
    })?;
    linger(arguments, &to);
    Ok(output.end(Some(&published), &[samples]))
}

/// Threads that receive until they are stopped.
struct Threads {
    is_over: Arc<AtomicBool>,
    running: Vec<JoinHandle<Result<(), String>>>,
}

impl Threads {
    fn new() -> Self {
        Self { is_over: Arc::default(), running: Vec::new() }
    }

    fn start(
        &mut self,
        name: String,
        body: impl FnOnce(&AtomicBool) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let is_over = self.is_over.clone();
        let run = move || body(&is_over).map_err(|failure| failure.to_string());
        self.running.push(thread::Builder::new().name(name).spawn(run)?);
        Ok(())
    }

    fn end(self) -> Result<(), Failure> {
        self.is_over.store(true, Ordering::Release);
        for thread in self.running {
            thread.join().map_err(|_| "a receiving thread panicked")??;
        }
        Ok(())
    }
}

/// One thread waits for all subscribers, on an event that they share; with `--executor multi` or
/// `isolated`, each subscriber has its own thread.
fn pair<S: Service + 'static>(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    let topic = Topic::<S>::open(arguments, &arguments.topic)?;
    let (sender, published) = (topic.sender(arguments)?, arguments.published());
    let samples =
        (0..arguments.subscriptions).map(|index| arguments.samples(index)).collect::<Vec<_>>();
    let has_one_each = matches!(arguments.executor, Executor::Multi | Executor::Isolated);
    let per_thread = if has_one_each { 1 } else { samples.len() };
    let mut threads = Threads::new();
    for (index, own) in samples.chunks(per_thread).enumerate() {
        let (arguments, own) = (arguments.clone(), own.to_vec());
        threads.start(format!("receiver_{index}"), move |is_over| {
            receive_in_thread::<S>(&arguments, &own, is_over)
        })?;
    }
    wait_for(arguments, &topic, samples.len())?;
    output.ready();
    send_all(arguments, &sender, &published)?;
    wait_received(arguments, &samples, published.sent());
    threads.end()?;
    Ok(output.end(Some(&published), &samples))
}

fn receive_in_thread<S: Service>(
    arguments: &Arguments,
    samples: &[Samples],
    is_over: &AtomicBool,
) -> Result<(), Failure> {
    let topic = Topic::<S>::open(arguments, &arguments.topic)?;
    let reception = Reception::new(&topic, arguments, samples.len())?;
    reception.until(
        || is_over.load(Ordering::Acquire),
        |index, payload, now| {
            samples[index].note(payload, now);
            Ok(())
        },
    )
}

fn chain<S: Service + 'static>(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    let name = |index: usize| format!("{}_{index}", arguments.topic);
    let first = Topic::<S>::open(arguments, &name(0))?;
    let (sender, published) = (first.sender(arguments)?, arguments.published());
    let last = arguments.samples(0);
    let quiet = arguments.without_samples();
    let mut threads = Threads::new();
    let mut links = Vec::new();
    for index in 1..arguments.nodes {
        let own = if index + 1 == arguments.nodes { last.clone() } else { quiet.samples(0) };
        let to = (index + 1 < arguments.nodes).then(|| name(index));
        let (arguments, from) = (arguments.clone(), name(index - 1));
        links.push(Topic::<S>::open(&arguments, &from)?);
        threads.start(format!("node_{index}"), move |is_over| {
            let from = Topic::<S>::open(&arguments, &from)?;
            let to = to.map(|name| Topic::<S>::open(&arguments, &name)).transpose()?;
            let sender = to.as_ref().map(|topic| topic.sender(&arguments)).transpose()?;
            let is_over = || is_over.load(Ordering::Acquire);
            from.receiver(&arguments)?.until(is_over, |_, payload, now| {
                own.note(payload, now);
                sender.as_ref().map_or(Ok(()), |sender| sender.send(payload))
            })
        })?;
    }
    for link in &links {
        wait_for(arguments, link, 1)?;
    }
    output.ready();
    send_all(arguments, &sender, &published)?;
    wait_received(arguments, std::slice::from_ref(&last), published.sent());
    threads.end()?;
    Ok(output.end(Some(&published), &[last]))
}

fn nodes<S: Service>(arguments: &Arguments, output: &Output) -> Result<Ended, Failure> {
    let nodes =
        (0..arguments.nodes).map(|_| endpoints::new_node::<S>()).collect::<Result<Vec<_>, _>>()?;
    output.ready();
    while !arguments.wait_stopped(Duration::from_secs(1)) {}
    drop(nodes);
    Ok(output.end(None, &[]))
}
