//! Trace points with the real engine. Each process has one trace, so each test runs this program
//! again in child processes.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path as FilePath;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use feros::engine::SessionOptions;
use feros::msgs::sensor_msgs::msg::{Image, ImageShape};
use feros::msgs::std_msgs::msg::HeaderShape;
use feros::trace::{self, Point};
use feros::{
    Arguments, Context, ContextOptions, Dispatch, Executor, Publisher, PublisherOptions,
    Subscription, SubscriptionOptions, Transport, TransportSet,
};
use feros_test_support::{Background, ReservedDomain, TestProcess, WATCHDOG, eventually, until};
use feros_trace_analysis::{Delivery, Figure6, Figure11, Layer, Summary, Trace};

/// The variable with the role of a child process.
const ROLE: &str = "FEROS_TRACE_TEST_ROLE";
/// The variable with the domain of a child process.
const DOMAIN: &str = "FEROS_TRACE_TEST_DOMAIN";
const MESSAGES: u32 = 20;

fn context() -> Context {
    let session = SessionOptions::localhost(std::env::var(DOMAIN).unwrap().parse().unwrap());
    let arguments = Arguments::default();
    Context::new(ContextOptions { arguments, ..ContextOptions::new(session) }).unwrap()
}

fn image(number: u32) -> Image {
    Image { height: number, data: vec![7; 20_000], ..Image::default() }
}

/// A subscription that reports the numbers of its messages. A separate thread spins it until it is
/// dropped.
struct Listener {
    numbers: Receiver<(u32, u64)>,
    _spinning: Background,
    _subscription: Subscription<Image>,
    _context: Context,
}

impl Listener {
    fn new(context: &Context, options: SubscriptionOptions) -> Self {
        let node = context.create_node("listener").unwrap();
        let (sender, numbers) = sync_channel(10_000);
        let callback = move |image: Image| sender.send((image.height, trace::now_nanos())).unwrap();
        let subscription = node.create_subscription("image", options, callback).unwrap();
        let executor = Executor::new();
        executor.add_node(&node).unwrap();
        let stopper = executor.stopper();
        let spin = move || executor.spin().unwrap();
        let _spinning = Background::start("spins", spin, move || stopper.stop());
        Self { numbers, _spinning, _subscription: subscription, _context: context.clone() }
    }

    fn wait_for(&self, wanted: u32) -> u64 {
        loop {
            let (number, at) = self.numbers.recv_timeout(WATCHDOG).expect("the watchdog bit");
            if number == wanted {
                return at;
            }
        }
    }
}

/// Waits until messages of this size take the transport. The first message may take the network:
/// the pool may have to grow for it, and cannot grow while another process makes or removes shared
/// memory.
fn wait_for_transport(publisher: &Publisher<Image>, transport: Transport) {
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    eventually(|| {
        let found = publisher.transports();
        let is_found = found.iter().any(|found| found.transport == Some(transport));
        let is_used = || publisher.counts().shared_memory.messages > 0;
        if is_found && (transport != Transport::SharedMemory || is_used()) {
            return Ok(());
        }
        publisher.publish(image(0)).unwrap();
        Err(format!("{found:?}"))
    });
}

fn transports(transport: Transport) -> TransportSet {
    match transport {
        Transport::IntraProcess => TransportSet::ALL,
        Transport::SharedMemory => TransportSet::ALL.without(Transport::IntraProcess),
        Transport::Network => {
            TransportSet::ALL.without(Transport::IntraProcess).without(Transport::SharedMemory)
        }
    }
}

/// Publishes each message after the previous message has arrived, and prints the latency of each
/// message as the program itself measures it.
fn pair(
    transport: Transport,
    subscription: SubscriptionOptions,
    publisher: PublisherOptions,
    is_built: bool,
) {
    let (here, there) = (context(), context());
    let talker = here.create_node("talker").unwrap();
    let publisher = talker
        .create_publisher::<Image>("image", publisher.transports(transports(transport)))
        .unwrap();
    let listener = Listener::new(&there, subscription.transports(transports(transport)));
    wait_for_transport(&publisher, transport);
    for number in 1..=MESSAGES {
        let begin;
        if is_built {
            let header = HeaderShape { frame_id: "" };
            let mut loan =
                publisher.loan(&ImageShape { header, encoding: "", data: 20_000 }).unwrap();
            *loan.fields().unwrap().height = number;
            begin = trace::now_nanos();
            loan.publish().unwrap();
        } else {
            let message = image(number);
            begin = trace::now_nanos();
            publisher.publish(message).unwrap();
        }
        println!("measured {number} {}", listener.wait_for(number) - begin);
    }
}

/// The entry point of the child processes of the tests below; not a test itself.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match role.as_str() {
        "process" => pair(Transport::IntraProcess, 10.into(), 10.into(), false),
        "direct" => {
            let direct = SubscriptionOptions::from(10).dispatch(Dispatch::PublishingThread);
            pair(Transport::IntraProcess, direct, 10.into(), false);
        }
        "host" => pair(Transport::SharedMemory, 10.into(), 10.into(), false),
        "built" => pair(Transport::SharedMemory, 10.into(), 10.into(), true),
        "network" => pair(Transport::Network, 10.into(), 10.into(), false),
        "asynchronous" => {
            pair(Transport::Network, 10.into(), PublisherOptions::from(10).asynchronous(10), false)
        }
        "off" => {
            assert!(!trace::is_on());
            pair(Transport::SharedMemory, 10.into(), 10.into(), false);
            assert_eq!((trace::drain(), trace::file()), (vec![], None));
        }
        // These children end when their standard input ends.
        "talker" => {
            let context = context();
            let node = context.create_node("talker").unwrap();
            let publisher = node.create_publisher::<Image>("image", 10).unwrap();
            wait_for_transport(&publisher, Transport::SharedMemory);
            for number in 1..=MESSAGES {
                publisher.publish(image(number)).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
            say_done_and_wait();
        }
        "listener" => {
            let context = context();
            let listener = Listener::new(&context, 100.into()); // room for all messages
            listener.wait_for(MESSAGES);
            say_done_and_wait();
        }
        other => panic!("{other}"),
    }
}

fn say_done_and_wait() {
    println!("done");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().lines().next();
}

fn child_of(role: &str, folder: Option<&FilePath>) -> Command {
    let mut command = feros_test_support::this_program();
    command.args(["child", "--exact", "--nocapture"]).env(ROLE, role);
    // All children of a test share one domain. Tests run in parallel, and the name of the thread
    // identifies the test.
    static HELD: Mutex<BTreeMap<String, ReservedDomain>> = Mutex::new(BTreeMap::new());
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let domain = HELD.lock().unwrap().entry(test).or_default().id();
    command.env(DOMAIN, domain.to_string());
    command.env_remove("FEROS_TRACE").envs(folder.map(|folder| ("FEROS_TRACE", folder)));
    command
}

/// Runs a pair and returns its deliveries on the wanted transport, each with the latency that the
/// program measured.
fn run_pair(role: &str, transport: trace::Transport) -> Vec<(Delivery, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let output = child_of(role, Some(folder.path())).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let measured = text
        .lines()
        .filter_map(|line| line.split("measured ").nth(1)?.split(' ').nth(1)?.parse().ok());
    let measured: Vec<u64> = measured.collect();
    assert_eq!(measured.len(), MESSAGES as usize);
    let trace = Trace::read(folder.path()).unwrap();
    assert_eq!((trace.processes.len(), trace.incomplete().count()), (1, 0));
    let deliveries = trace.deliveries();
    assert_eq!(deliveries.without_publisher.len(), 0, "{:?}", deliveries.without_publisher);
    let last = deliveries.whole.len().checked_sub(MESSAGES as usize).unwrap();
    let last = deliveries.whole[last..].to_vec();
    for delivery in &last {
        assert_eq!((delivery.topic.as_str(), delivery.transport), ("/image", transport));
    }
    last.into_iter().zip(measured).collect()
}

/// Checks that the messages passed exactly these layers, and that the layers add up.
///
/// A subscription that is still checking for more messages may take a message before the executor
/// has found the subscription's ready flag. The trace of such a message has no layer for the
/// notification.
fn assert_layers(messages: &[(Delivery, u64)], expected: &[Layer]) {
    let passed = |layer: &Layer| {
        messages.iter().any(|(one, _)| one.way.breakdown().unwrap().nanos(*layer).is_some())
    };
    assert_eq!(Layer::ALL.into_iter().filter(passed).collect::<Vec<_>>(), expected);
    for (delivery, measured) in messages {
        let breakdown = delivery.way.breakdown().unwrap();
        for layer in expected.iter().filter(|layer| **layer != Notification) {
            assert!(breakdown.nanos(*layer).is_some(), "{layer:?}: {:?}", delivery.way);
        }
        let between = |from, to| delivery.way.at(to).unwrap() - delivery.way.at(from).unwrap();
        assert_eq!(breakdown.end_to_end_nanos(), between(Point::Publish, Point::Callback));
        assert!(breakdown.end_to_end_nanos() <= *measured, "{measured}: {:?}", delivery.way);
        let figure = Figure6::new(&breakdown, *measured);
        assert_eq!(figure.parts().iter().map(|(_, nanos)| nanos).sum::<u64>(), *measured);
        let figure = Figure11::new(&breakdown);
        assert_eq!(
            figure.parts().iter().map(|(_, nanos)| nanos).sum::<u64>(),
            breakdown.end_to_end_nanos()
        );
        assert!(delivery.way.at(Point::CallbackEnd) >= delivery.way.at(Point::Callback));
        assert!(delivery.way.at(Point::PublishEnd) > delivery.way.at(Point::Publish));
    }
}

use Layer::{
    Client, Deserialize, Dispatch as Dispatching, EngineReceive, EngineWrite, Notification, Queue,
    SendQueue, Serialize, Take, Wire,
};

#[test]
fn the_intra_process_transport_has_every_layer_but_bytes_and_engine() {
    let messages = run_pair("process", trace::Transport::IntraProcess);
    assert_layers(
        &messages,
        &[Client, EngineWrite, Notification, Queue, Take, Dispatching, Deserialize],
    );
}

#[test]
fn with_direct_dispatch_there_is_no_notification() {
    let messages = run_pair("direct", trace::Transport::IntraProcess);
    let count = messages.len();
    // If the executor's thread is running the subscription at that moment, that thread takes the
    // message, as it would without direct dispatch.
    let is_direct =
        |(one, _): &(Delivery, u64)| one.way.breakdown().unwrap().nanos(Notification).is_none();
    let direct: Vec<_> = messages.into_iter().filter(is_direct).collect();
    assert!(2 * direct.len() > count, "{} of {count} were dispatched directly", direct.len());
    assert_layers(&direct, &[Client, EngineWrite, Queue, Take, Dispatching, Deserialize]);
}

#[test]
fn the_shared_memory_transport_has_every_layer_but_the_engine_s_receiving() {
    let layers =
        [Client, Serialize, EngineWrite, Wire, Notification, Queue, Take, Dispatching, Deserialize];
    assert_layers(&run_pair("host", trace::Transport::SharedMemory), &layers);
}

#[test]
fn a_message_built_in_place_is_not_serialized() {
    let layers = [Client, EngineWrite, Wire, Notification, Queue, Take, Dispatching, Deserialize];
    assert_layers(&run_pair("built", trace::Transport::SharedMemory), &layers);
}

#[test]
fn the_network_transport_has_every_layer() {
    let layers = [
        Client,
        Serialize,
        EngineWrite,
        Wire,
        EngineReceive,
        Notification,
        Queue,
        Take,
        Dispatching,
        Deserialize,
    ];
    assert_layers(&run_pair("network", trace::Transport::Network), &layers);
}

#[test]
fn an_asynchronous_publisher_has_a_send_queue_besides() {
    assert_layers(&run_pair("asynchronous", trace::Transport::Network), &Layer::ALL);
    assert!(Layer::ALL.contains(&SendQueue));
}

#[test]
fn off_nothing_is_recorded() {
    let output = child_of("off", None).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn start(role: &str, folder: &FilePath) -> TestProcess {
    TestProcess::of(child_of(role, Some(folder)))
}

#[test]
fn two_processes_are_joined_and_one_that_is_killed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut listener = start("listener", folder.path());
    let mut talker = start("talker", folder.path());
    talker.said("done");
    listener.said("done");
    // This listener starts only after all messages have arrived. Earlier, it would be a second
    // match whose transport the talker could mistake for that of the first.
    let mut doomed = start("listener", folder.path());
    let is_begun =
        |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().metadata().unwrap().len() > 0;
    until("its file", || {
        std::fs::read_dir(folder.path()).unwrap().map(is_begun).filter(|begun| *begun).count() >= 3
    });
    doomed.kill();
    talker.end();
    listener.end();
    let trace = Trace::read(folder.path()).unwrap();
    assert_eq!(trace.processes.len(), 3);
    let [killed] = trace.incomplete().collect::<Vec<_>>()[..] else {
        panic!("one was killed: {trace:?}")
    };
    assert_eq!(killed.process, doomed.id());
    let summary = Summary::of(&trace);
    let host = summary
        .topics
        .iter()
        .find(|topic| topic.topic == "/image" && topic.transport == "shared_memory")
        .unwrap();
    assert!(host.end_to_end.count >= u64::from(MESSAGES), "{summary:?}");
    let names: Vec<_> = host.layers.iter().map(|layer| layer.name).collect();
    // On a busy machine, the listener may be awake all the time, so there may be no notification.
    for layer in [Client, Serialize, EngineWrite, Wire, Queue, Take, Dispatching, Deserialize] {
        assert!(names.contains(&layer.name()), "{names:?}");
    }
    for topic in &summary.topics {
        let parts: f64 = topic.layers.iter().map(|layer| layer.share_percent).sum();
        assert!((parts - 100.0).abs() < 1e-6, "{topic:?}");
    }
}
