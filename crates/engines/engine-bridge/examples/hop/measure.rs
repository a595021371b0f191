//! Measures the latency from this process to another process in three configurations in turn:
//! within one side, within the other side, and from one side to the other through a bridge in a
//! third process. The latency is half of a round trip.
//!
//! Each output line is `way,bytes,microseconds`. Medians and 99th percentiles are printed to
//! standard error.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use feros_engine::{
    NodeName, Publisher, PublisherOptions, Session, Subscription, SubscriptionOptions, copied,
};
use feros_engine_bridge::{Bridge, BridgeOptions};

/// The size in bytes, the number of messages per turn, and the pause between two messages.
const SIZES: [(usize, usize, Duration); 2] =
    [(256, 400, Duration::from_millis(2)), (1_000_000, 100, Duration::from_millis(10))];
const TURNS: usize = 10;
const TYPE: &str = "std_msgs/msg/UInt8MultiArray";

/// A function that opens a session on the named side.
type Open = fn(&str) -> Arc<dyn Session>;

/// Acts on the command line: measures, or plays one of the helper processes.
pub(crate) fn run(usage: &str, open: Open) {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["pong", way, side] => pong(way, &open(side)),
        ["bridge", a, b] => bridge([a, b].map(|side| (side.to_owned(), open(side)))),
        [a, b] => measure(open, [a, b]),
        _ => eprintln!("{usage}"),
    }
}

/// One end of a connection that is measured. It sends messages on one topic, and receives them back
/// on another topic.
struct End {
    publisher: Arc<dyn Publisher>,
    subscription: Arc<dyn Subscription>,
    arrived: Receiver<()>,
}

impl End {
    fn new(session: &Arc<dyn Session>, way: &str, [out, back]: [&str; 2]) -> Self {
        let node = session.create_node(&NodeName::new("/", way).unwrap()).unwrap();
        let (ring, arrived): (SyncSender<()>, _) = sync_channel(1);
        let (out, back) = (format!("/{way}/{out}"), format!("/{way}/{back}"));
        let publisher = session.create_publisher(PublisherOptions::new(node, &out, TYPE));
        let subscription = session.create_subscription(SubscriptionOptions {
            ignore_local_publications: true,
            // If the channel is full, there is already a pending notification, and no further
            // notification is needed.
            on_data: Arc::new(move || ring.try_send(()).unwrap_or(())),
            ..SubscriptionOptions::new(node, &back, TYPE)
        });
        Self { publisher: publisher.unwrap(), subscription: subscription.unwrap(), arrived }
    }

    fn send(&self, bytes: &[u8]) {
        self.publisher.publish(bytes.len(), &mut copied(bytes)).unwrap();
    }

    fn next(&self) -> feros_engine::Sample {
        loop {
            if let Some(sample) = self.subscription.take().unwrap() {
                return sample;
            }
            self.arrived.recv_timeout(Duration::from_secs(10)).expect("a message was lost");
        }
    }
}

fn end_with_input() {
    let wait = || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new()); // waits for the end of the input
        std::process::exit(0);
    };
    std::thread::Builder::new().name("input".to_owned()).spawn(wait).unwrap();
}

/// Sends received messages back until the input of this process ends.
fn pong(way: &str, session: &Arc<dyn Session>) {
    let end = End::new(session, way, ["back", "out"]);
    end_with_input();
    loop {
        if let Some(sample) = end.subscription.take().unwrap() {
            end.send(&sample.payload);
        } else {
            let _ = end.arrived.recv_timeout(Duration::from_secs(1)); // the loop checks again
        }
    }
}

fn bridge(sides: [(String, Arc<dyn Session>); 2]) {
    let mut bridge = Bridge::new(sides.into(), BridgeOptions::default()).unwrap();
    end_with_input();
    loop {
        bridge.update();
        bridge.wait_for_change(Duration::from_millis(100));
    }
}

/// Another process of this program. It ends when its input is closed.
struct Other(Child, Option<ChildStdin>);

impl Other {
    fn start(words: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let mut child = command.args(words).stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take();
        Self(child, input)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.1.take());
        let _ = self.0.wait();
    }
}

fn measure(open: Open, [near, far]: [&str; 2]) {
    let ways = [("near", near), ("far", far), ("bridged", far)];
    let _pongs = ways.map(|(way, side)| Other::start(&["pong", way, side]));
    let _bridge = Other::start(&["bridge", near, far]);
    let (session, on_far) = (open(near), open(far));
    let ends = ways.map(|(way, _)| {
        End::new(if way == "far" { &on_far } else { &session }, way, ["out", "back"])
    });
    for end in &ends {
        while end.publisher.matched_subscriptions() == 0
            || end.subscription.matched_publishers() == 0
        {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    std::thread::sleep(Duration::from_secs(1));
    let mut out = std::io::stdout().lock();
    for (bytes, count, pause) in SIZES {
        let mut message = vec![7; bytes];
        message[..4].copy_from_slice(&[0, 1, 0, 0]);
        let mut times = ways.map(|_| Vec::new());
        for turn in 0..=TURNS {
            for (way, end) in ends.iter().enumerate() {
                for _ in 0..count {
                    let began = Instant::now();
                    end.send(&message);
                    drop(end.next());
                    let half = began.elapsed().as_secs_f64() * 1e6 / 2.0;
                    // The first turn only warms up.
                    if turn > 0 {
                        times[way].push(half);
                        writeln!(out, "{},{bytes},{half:.2}", ways[way].0).unwrap();
                    }
                    std::thread::sleep(pause);
                }
            }
        }
        for ((way, _), times) in ways.iter().zip(&mut times) {
            times.sort_unstable_by(f64::total_cmp);
            let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
            eprintln!("{way:8} {bytes:8} B: median {:8.1} us, p99 {:8.1} us", at(0.5), at(0.99));
        }
    }
}
