//! Traced programs. The test runs itself as a child process, whose trace is always on.

use std::io::{BufRead as _, Write as _};
use std::path::{Path as FilePath, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use feros_trace::{Endpoint, Event, Kind, MessageId, Point, Transport};
use feros_trace_analysis::Layer;

pub(crate) const PUBLISHER: [u8; 16] = [1; 16];
pub(crate) const SUBSCRIPTION: [u8; 16] = [2; 16];

/// The variables for the child: the half of the messages that it records, and the folder.
const HALF: &str = "TRACE_TEST_HALF";

fn record(
    point: Point,
    transport: Option<Transport>,
    endpoint: &Endpoint,
    message: u64,
    at_nanos: u64,
) {
    let message =
        MessageId { publisher: PUBLISHER, stamp: 1_000 + message as i64, number: message };
    feros_trace::record(Event { at_nanos, point, transport, message, endpoint: endpoint.number() });
}

/// Message n is published at `begin + 1000 n`. Its time in each layer is n times the layer's value
/// in [`LAYERS`].
fn record_half(half: &str, messages: std::ops::RangeInclusive<u64>, begin: u64) {
    let publisher = Endpoint::new(Kind::Publisher, PUBLISHER, "/chatter");
    let subscription = Endpoint::new(Kind::Subscription, SUBSCRIPTION, "/chatter");
    let by = Some(Transport::SharedMemory);
    for n in messages {
        let at = begin + 1000 * n;
        if half != "listener" {
            record(Point::Publish, None, &publisher, n, at);
            record(Point::SerializeBegin, None, &publisher, n, at + n);
            record(Point::SerializeEnd, None, &publisher, n, at + 3 * n);
            record(Point::WriteBegin, by, &publisher, n, at + 4 * n);
            record(Point::WriteEnd, by, &publisher, n, at + 8 * n);
            record(Point::Announced, by, &subscription, n, at + 16 * n);
            record(Point::PublishEnd, None, &publisher, n, at + 20 * n);
        }
        if half != "talker" {
            record(Point::Found, by, &subscription, n, at + 32 * n);
            record(Point::TurnBegin, by, &subscription, n, at + 64 * n);
            record(Point::Taken, by, &subscription, n, at + 65 * n);
            record(Point::DeserializeBegin, by, &subscription, n, at + 66 * n);
            record(Point::Callback, by, &subscription, n, at + 70 * n);
            record(Point::CallbackEnd, by, &subscription, n, at + 90 * n);
        }
    }
}

/// The time of message 1 in each layer. Message n takes n times as long.
pub(crate) const LAYERS: [(Layer, u64); 9] = [
    (Layer::Client, 2),
    (Layer::Serialize, 2),
    (Layer::EngineWrite, 4),
    (Layer::Wire, 8),
    (Layer::Notification, 16),
    (Layer::Queue, 32),
    (Layer::Take, 1),
    (Layer::Dispatch, 1),
    (Layer::Deserialize, 4),
];

/// The child process of the tests, which is not a test itself.
#[test]
fn child() {
    let Ok(half) = std::env::var(HALF) else { return };
    feros_trace::enable_from_environment(|error| panic!("{error}")).unwrap();
    assert!(feros_trace::is_on());
    let (half, end) = half.split_once('-').unwrap();
    if end == "running" {
        return record_as_told(half);
    }
    record_half(half, 1..=10, 0);
    if end == "twice" {
        feros_trace::write().unwrap();
        record_half(half, 1..=5, 0);
    }
    if end != "killed" {
        feros_trace::write().unwrap();
    }
}

/// Each line of the input has the first and the last message, and the time `begin`; one thread
/// records the messages of a line.
fn record_as_told(half: &str) {
    for line in std::io::stdin().lock().lines() {
        let numbers = line.unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
        let numbers: Vec<u64> = numbers;
        let [first, last, begin] = numbers[..] else { panic!("{numbers:?}") };
        let messages = first..=last;
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("records".into());
            thread.spawn_scoped(scope, || record_half(half, messages, begin)).unwrap();
        });
    }
    feros_trace::write().unwrap();
}

fn command(half: &str, folder: &FilePath, variables: &[(&str, &str)]) -> Command {
    let mut command = feros_test_support::this_program();
    command.args(["program::child", "--exact", "--nocapture"]);
    for variable in ["EVENTS", "PERIOD", "BYTES"] {
        command.env_remove(format!("FEROS_TRACE_{variable}"));
    }
    command.env(HALF, half).env("FEROS_TRACE", folder).envs(variables.iter().copied());
    command
}

pub(crate) fn run(half: &str, folder: &FilePath, variables: &[(&str, &str)]) -> Output {
    command(half, folder, variables).output().unwrap()
}

pub(crate) fn run_well(half: &str, folder: &FilePath) {
    let output = run(half, folder, &[]);
    assert!(output.status.success(), "{output:?}");
}

/// A program that records messages on request, and writes while it runs.
pub(crate) struct Running {
    child: Child,
    orders: Option<ChildStdin>,
}

impl Running {
    pub(crate) fn start(half: &str, folder: &FilePath, bytes: u64) -> Self {
        let bytes = bytes.to_string();
        let variables = [("FEROS_TRACE_PERIOD", "10ms"), ("FEROS_TRACE_BYTES", &*bytes)];
        let mut child = command(&format!("{half}-running"), folder, &variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let orders = child.stdin.take();
        Self { child, orders }
    }

    pub(crate) fn record(&mut self, first: u64, last: u64, begin: u64) {
        writeln!(self.orders.as_ref().unwrap(), "{first} {last} {begin}").unwrap();
    }

    /// Ends the program in the regular way.
    pub(crate) fn end(mut self) {
        self.orders = None;
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it has ended, unless a test failed
        let _ = self.child.wait();
    }
}

pub(crate) fn files(folder: &FilePath) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
