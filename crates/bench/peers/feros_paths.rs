//! Feros on one path, measured from the call that publishes to the callback. The path is waited
//! for, and proven afterwards.
//!
//! ```text
//! feros_paths --role both|pub|sub --path process|host|network --topic NAME --send WHAT --subscriptions N
//!             --size BYTES --rate HZ --count N --timeout SECONDS
//! ```
//!
//! `WHAT`: `given` (a message that is given away), `lent` (a reference), `built` (in place, the
//! bulk not written), `raw` (serialized bytes), `direct` (given, with the callback on the
//! publishing thread), `stream` (filled and given as fast as can be, eight messages in turn),
//! `stream-memory` (the same with more messages in turn than caches hold).

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use feros::msgs::sensor_msgs::msg::{Image, ImageShape};
use feros::msgs::std_msgs::msg::HeaderShape;
use feros::{
    Context, Dispatch, Executor, MatchTransport, Node, Publisher, SerializedMessage, Subscription,
    SubscriptionOptions, Transport, View, message,
};
use feros_bench::contract::{
    Failure, Load, Measured, Samples, WARM_UP, monotonic_nanos, run, stamp, stamp_with,
};

/// How long matches may take, and the path after them.
const MATCH_LIMIT: Duration = Duration::from_secs(30);
/// How long a publisher stays after its last message.
const LINGER: Duration = Duration::from_secs(2);
/// So much waits where a busy host holds the receiver up: what is pushed out cannot be measured.
const DEPTH: usize = 100;
/// Messages that are filled and given in turn.
const PAYLOADS: usize = 8;
const PAYLOADS_IN_MEMORY: usize = 96;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Send {
    Given,
    Lent,
    Built,
    Raw,
    Direct,
    Stream { payloads: usize },
}

struct Task {
    path: Transport,
    topic: String,
    send: Send,
    subscriptions: usize,
    load: Load,
}

fn main() -> ExitCode {
    run(|arguments| {
        let task = Task {
            path: match arguments.text("--path")? {
                "process" => Transport::IntraProcess,
                "host" => Transport::SharedMemory,
                _ => Transport::Network,
            },
            topic: arguments.text("--topic")?.to_owned(),
            send: match arguments.text("--send")? {
                "given" => Send::Given,
                "lent" => Send::Lent,
                "built" => Send::Built,
                "raw" => Send::Raw,
                "direct" => Send::Direct,
                "stream" => Send::Stream { payloads: PAYLOADS },
                "stream-memory" => Send::Stream { payloads: PAYLOADS_IN_MEMORY },
                other => return Err(format!("--send {other} is not known").into()),
            },
            subscriptions: arguments.number("--subscriptions")?,
            load: arguments.load()?,
        };
        let (context, _) = Context::from_args(std::iter::empty())?;
        match arguments.text("--role")? {
            "both" => both(&context, &task).map(Some),
            "pub" => Outgoing::new(&context, &task)?.send_all().map(|()| None),
            "sub" => Incoming::new(&context, &task)?.receive_all().map(Some),
            other => Err(format!("--role {other} is not known").into()),
        }
    })
}

fn both(context: &Context, task: &Task) -> Result<Measured, Failure> {
    let incoming = Incoming::new(context, task)?;
    let outgoing =
        Outgoing { payloads: incoming.payloads.clone(), ..Outgoing::new(context, task)? };
    let stopper = incoming.executor.stopper();
    thread::scope(|scope| {
        let receiving = thread::Builder::new()
            .name("executor".into())
            .spawn_scoped(scope, || incoming.receive_all())?;
        let sent = outgoing.send_all();
        if sent.is_err() {
            stopper.stop();
        }
        let received = receiving.join().map_err(|_| "the receiving thread panicked")?;
        sent.and(received)
    })
}

/// Messages whose memory is used again, in turn: making them is not what is measured.
type Payloads = Arc<Mutex<VecDeque<Image>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn image(size_bytes: usize) -> Image {
    let mut image =
        Image { data: vec![0x5a; size_bytes], encoding: "mono8".into(), ..Image::default() };
    (image.height, image.width, image.step) = (1, size_bytes as u32, size_bytes as u32);
    image.header.frame_id = "camera".into();
    image
}

struct Outgoing<'a> {
    task: &'a Task,
    publisher: Publisher<Image>,
    payloads: Payloads,
    _node: Node,
}

impl<'a> Outgoing<'a> {
    fn new(context: &Context, task: &'a Task) -> Result<Self, Failure> {
        let node = context.create_node("lab_publisher")?;
        let publisher = node.create_publisher(&task.topic, DEPTH)?;
        Ok(Self { task, publisher, payloads: Payloads::default(), _node: node })
    }

    fn send_all(&self) -> Result<(), Failure> {
        let Task { load, path, subscriptions, .. } = self.task;
        self.wait_for_path()?;
        match self.task.send {
            Send::Given | Send::Direct => self.send_given()?,
            Send::Lent => self.send_lent()?,
            Send::Built => self.send_built()?,
            Send::Raw => self.send_raw()?,
            Send::Stream { payloads } => self.stream(payloads)?,
        }
        let counts = self.publisher.counts();
        let (messages, deliveries) = (load.messages(), load.messages() * *subscriptions as u64);
        let by_path =
            [counts.intra_process.messages, counts.shared_memory.messages, counts.network.messages];
        let (wanted, skipped) = match path {
            Transport::IntraProcess => ([deliveries, 0, 0], messages),
            Transport::SharedMemory => ([0, deliveries, 0], messages),
            Transport::Network => ([0, 0, messages], 0),
        };
        if (by_path, counts.skipped_engine_writes) != (wanted, skipped) {
            return Err(format!("not every message took the path {path}: {counts:?}").into());
        }
        // The subscriptions leave with the last message.
        let leave = Instant::now() + LINGER;
        while self.publisher.subscription_count() > 0 && Instant::now() < leave {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn wait_for_path(&self) -> Result<(), Failure> {
        let Task { path, subscriptions, .. } = self.task;
        self.publisher.wait_for_subscriptions(*subscriptions, MATCH_LIMIT)?;
        let until = Instant::now() + MATCH_LIMIT;
        loop {
            let paths = self.publisher.transports();
            let is_wanted = |found: &MatchTransport| found.transport == Some(*path);
            if paths.len() == *subscriptions && paths.iter().all(is_wanted) {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("the path {path} is not taken: {paths:?}").into());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn send_given(&self) -> Result<(), Failure> {
        let size_bytes = self.task.load.size_bytes;
        self.task.load.pace(|number| {
            let ready = lock(&self.payloads).pop_front();
            let mut message = ready.unwrap_or_else(|| image(size_bytes));
            stamp(&mut message.data, number);
            Ok(self.publisher.publish(message)?)
        })
    }

    fn send_lent(&self) -> Result<(), Failure> {
        let mut message = image(self.task.load.size_bytes);
        self.task.load.pace(|number| {
            stamp(&mut message.data, number);
            Ok(self.publisher.publish(&message)?)
        })
    }

    fn send_built(&self) -> Result<(), Failure> {
        let size_bytes = self.task.load.size_bytes;
        let shape = ImageShape {
            header: HeaderShape { frame_id: "camera" },
            encoding: "mono8",
            data: size_bytes,
        };
        self.task.load.pace(|number| {
            // Asking for the memory is part of what a message costs.
            let now = monotonic_nanos();
            let mut loan = self.publisher.loan(&shape)?;
            let fields = loan.fields()?;
            (*fields.height, *fields.width, *fields.step) =
                (1, size_bytes as u32, size_bytes as u32);
            stamp_with(fields.data, number, now);
            Ok(loan.publish()?)
        })
    }

    fn send_raw(&self) -> Result<(), Failure> {
        let mut bytes = message::to_vec(&image(self.task.load.size_bytes))?;
        let data = bytes.len() - self.task.load.size_bytes; // the last field
        self.task.load.pace(|number| {
            stamp(&mut bytes[data..], number);
            Ok(self.publisher.publish_serialized(&bytes)?)
        })
    }

    fn stream(&self, payloads: usize) -> Result<(), Failure> {
        let Task { load, .. } = self.task;
        lock(&self.payloads).extend((0..payloads).map(|_| image(load.size_bytes)));
        for number in 0..load.messages() {
            let mut message = loop {
                if let Some(message) = lock(&self.payloads).pop_front() {
                    break message;
                }
                thread::yield_now();
            };
            message.data.fill(number as u8);
            stamp(&mut message.data, number);
            self.publisher.publish(message)?;
        }
        Ok(())
    }
}

struct Incoming<'a> {
    task: &'a Task,
    subscriptions: Vec<Subscription<Image>>,
    samples: Vec<Arc<Mutex<Samples>>>,
    /// Subscriptions that have the last message.
    done: Arc<AtomicUsize>,
    payloads: Payloads,
    /// When the first measured message came and when the last one did.
    period_nanos: Arc<[AtomicU64; 2]>,
    executor: Executor,
    _node: Node,
}

impl<'a> Incoming<'a> {
    fn new(context: &Context, task: &'a Task) -> Result<Self, Failure> {
        let node = context.create_node("lab_subscription")?;
        let mut incoming = Self {
            task,
            subscriptions: Vec::new(),
            samples: Vec::new(),
            done: Arc::default(),
            payloads: Arc::default(),
            period_nanos: Arc::default(),
            executor: Executor::new(),
            _node: node.clone(),
        };
        for _ in 0..task.subscriptions {
            let subscription = incoming.subscribe(&node)?;
            incoming.subscriptions.push(subscription);
        }
        incoming.executor.add_node(&node)?;
        Ok(incoming)
    }

    /// The time is read before anything else: from there on it is the user's code that runs.
    fn subscribe(&mut self, node: &Node) -> Result<Subscription<Image>, Failure> {
        let Task { topic, load, send, .. } = self.task;
        let samples = Arc::new(Mutex::new(Samples::new(load)));
        self.samples.push(samples.clone());
        let (all, stopper) = (self.task.subscriptions, self.executor.stopper());
        let (done, payloads, period) =
            (self.done.clone(), self.payloads.clone(), self.period_nanos.clone());
        let size_bytes = load.size_bytes;
        let note = move |payload: &[u8], now: u64| {
            if lock(&samples).note(payload, now) && done.fetch_add(1, Ordering::Relaxed) + 1 == all
            {
                stopper.stop();
            }
        };
        let mut options = SubscriptionOptions::from(DEPTH).log_lost_messages(false);
        if *send == Send::Direct {
            options = options.dispatch(Dispatch::PublishingThread);
        }
        Ok(match send {
            Send::Given if self.task.subscriptions > 1 => {
                node.create_subscription(topic, options, move |message: Arc<Image>| {
                    let now = monotonic_nanos();
                    note(&message.data, now);
                })?
            }
            Send::Given | Send::Direct => {
                node.create_subscription(topic, options, move |message: Image| {
                    let now = monotonic_nanos();
                    note(&message.data, now);
                    lock(&payloads).push_back(message);
                })?
            }
            Send::Stream { .. } => {
                let mut messages = 0;
                node.create_subscription(topic, options, move |message: Image| {
                    messages += 1;
                    if messages == WARM_UP {
                        period[0].store(monotonic_nanos(), Ordering::Relaxed);
                    }
                    period[1].store(monotonic_nanos(), Ordering::Relaxed);
                    note(&message.data, monotonic_nanos());
                    lock(&payloads).push_back(message);
                })?
            }
            Send::Lent | Send::Built => {
                node.create_subscription(topic, options, move |message: View<Image>| {
                    let now = monotonic_nanos();
                    note(message.get().data, now);
                })?
            }
            Send::Raw => {
                node.create_subscription(topic, options, move |message: SerializedMessage| {
                    let now = monotonic_nanos();
                    note(&message[message.len() - size_bytes..], now);
                })?
            }
        })
    }

    fn receive_all(&self) -> Result<Measured, Failure> {
        self.executor.spin()?;
        let mut results = Vec::new();
        for (subscription, samples) in self.subscriptions.iter().zip(&self.samples) {
            let counts = subscription.counts();
            let result = lock(samples).result();
            let by_path = [
                counts.intra_process.messages,
                counts.shared_memory.messages,
                counts.network.messages,
            ];
            let at_wanted = by_path[self.task.path as usize - 1];
            if by_path.iter().sum::<u64>() != at_wanted || counts.duplicates != 0 {
                return Err(format!(
                    "not every message came by the path {}: {counts:?}",
                    self.task.path
                )
                .into());
            }
            results.push(result);
        }
        let mut measured = Measured::of_all(&results);
        if matches!(self.task.send, Send::Stream { .. }) {
            let [first, last] =
                [0, 1].map(|index| self.period_nanos[index].load(Ordering::Relaxed));
            let bytes = (self.task.load.count * self.task.load.size_bytes as u64) as f64;
            measured.payload_bytes_per_second =
                bytes * 1e9 / last.saturating_sub(first).max(1) as f64;
        }
        Ok(measured)
    }
}
