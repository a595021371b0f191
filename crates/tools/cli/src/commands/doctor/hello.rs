//! `feros doctor hello`: started on several machines, it shows which other machines each of them
//! hears: over a topic, which needs discovery and a network path for data, and over bare multicast,
//! which needs only the network.
//!
//! It can exchange greetings with `ros2 doctor hello` on another machine, since the texts are the
//! same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feros::msgs::std_msgs::msg::String as Text;
use feros::{Executor, MessageInfo, Outcome, SerializedMessage, TypeIdentity};
use feros_engine::{DiscoveryRange, SessionOptions};
use feros_sync::Mutex;
use serde_json::json;

use super::super::multicast::group::GroupArgs;
use crate::connection::Connection;
use crate::error::CliError;
use crate::output::{self, foreign};
use crate::value_parsers::parse_seconds;

/// The time within which the thread that listens for multicast notices that it must end.
const POLL_PERIOD: Duration = Duration::from_millis(100);
/// The limit on senders that are counted separately; this command is not for larger networks.
const MAX_SENDERS: usize = 1024;

/// Say hello to other machines by a topic and by multicast, and show which of them say hello too
#[derive(clap::Args)]
#[command(
    after_help = "Start it on each machine. With ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST nothing leaves this machine.\n\n\
                        Example:\n  feros doctor hello"
)]
pub(crate) struct Args {
    /// The topic
    #[arg(short, long, value_name = "TOPIC", default_value = "/canyouhearme")]
    topic: String,
    /// Time between two greetings
    #[arg(long, value_name = "SECONDS", default_value = "0.1", value_parser = parse_period)]
    emit_period: Duration,
    /// Time between two tables
    #[arg(long, value_name = "SECONDS", default_value = "1.0", value_parser = parse_period)]
    print_period: Duration,
    /// Number of routers that a datagram may pass
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    ttl: Option<u32>,
    /// Print one table and end
    #[arg(short = '1', long)]
    once: bool,
    /// Print a JSON object instead of each table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    group: GroupArgs,
}

fn parse_period(text: &str) -> Result<Duration, String> {
    match parse_seconds(text)? {
        Duration::ZERO => Err("expected more than 0 seconds".to_owned()),
        period => Ok(period),
    }
}

pub(super) fn run(args: &Args) -> Result<(), CliError> {
    let stays_here = SessionOptions::from_variables(|name| std::env::var_os(name))
        .is_ok_and(|options| options.discovery_range == DiscoveryRange::Localhost);
    let group = if stays_here { args.group.or_on_loopback() } else { args.group };
    let ttl = if stays_here { Some(0) } else { args.ttl };
    let greeting = format!("hello, it's me {}", host_name());
    let summary = Arc::new(Mutex::new(Summary::default()));

    let connection = Connection::open()?;
    let topic = connection.topic_name(&args.topic)?;
    let failed = |error: std::io::Error| {
        CliError::failed(format!("group {group} cannot be used: {error}; `feros doctor` says more"))
    };
    let sender = group.sender(ttl).map_err(failed)?;
    let own_port = sender.local_addr().map_err(failed)?.port();
    let listening = Listening::start(group.receiver().map_err(failed)?, own_port, &summary)?;

    let publisher = connection.node.create_publisher::<Text>(&topic, 10)?;
    let identity = TypeIdentity { name: "std_msgs/msg/String".to_owned(), hash: None };
    let _subscription = connection.node.create_generic_subscription(&topic, &identity, 10, {
        let summary = summary.clone();
        move |message: SerializedMessage, info: MessageInfo| {
            if let (false, Ok(text)) = (info.from_same_session, message.decode::<Text>()) {
                summary.lock().heard.count(&text.data);
            }
        }
    })?;
    let _timer = connection.node.create_wall_timer(args.emit_period, {
        let summary = summary.clone();
        move || {
            // A greeting that cannot be sent is not counted, and the table shows that.
            let published = publisher.publish(Text { data: greeting.clone() }).is_ok();
            let sent = sender.send(greeting.as_bytes()).is_ok();
            let mut summary = summary.lock();
            summary.published += u64::from(published);
            summary.sent += u64::from(sent);
        }
    })?;

    let executor = Executor::new();
    executor.add_node(&connection.node)?;
    // Ctrl-C stops the executor.
    while let Outcome::TimedOut = executor.spin_until(Some(args.print_period), || false)? {
        let summary = std::mem::take(&mut *summary.lock());
        if args.json {
            output::print_json(&summary.object())?;
        } else {
            output::print(&summary.text(&topic, &group, args.print_period))?;
        }
        if args.once {
            break;
        }
    }
    drop(listening);
    Ok(())
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The thread that listens for multicast; it ends when this value is dropped.
struct Listening {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Listening {
    fn start(
        socket: UdpSocket,
        own_port: u16,
        summary: &Arc<Mutex<Summary>>,
    ) -> Result<Self, CliError> {
        let failed = |error| CliError::failed(format!("failed to listen for multicast: {error}"));
        socket.set_read_timeout(Some(POLL_PERIOD)).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, summary) = (stop.clone(), summary.clone());
        let listen = move || {
            let mut buffer = [0; 4096];
            while !stopped.load(Ordering::Relaxed) {
                let Ok((size, from)) = socket.recv_from(&mut buffer) else { continue };
                // Datagrams of this process come back to it.
                if from.port() != own_port {
                    let text = String::from_utf8_lossy(&buffer[..size]);
                    summary.lock().received.count(&text);
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("hello-multicast".into())
            .spawn(listen)
            .map_err(failed)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The result does not matter: the thread has ended.
            let _ = thread.join();
        }
    }
}

/// Greetings since the last table.
#[derive(Default)]
struct Summary {
    published: u64,
    sent: u64,
    heard: Greetings,
    received: Greetings,
}

/// The number of greetings from each host.
#[derive(Default)]
struct Greetings(BTreeMap<String, u64>);

impl Greetings {
    /// Counts a greeting, whose last word is the name of its host. Only the beginning of that
    /// untrusted text is stored.
    fn count(&mut self, greeting: &str) {
        let host = greeting.split_whitespace().next_back().unwrap_or("");
        let host: String = host.chars().take(64).collect();
        if self.0.len() < MAX_SENDERS || self.0.contains_key(&host) {
            *self.0.entry(host).or_default() += 1;
        }
    }

    fn write(&self, text: &mut String, seconds: f64) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:15} {:20} Msg Count /{seconds:?}s", "", "Hostname");
        for (host, count) in &self.0 {
            let _ = writeln!(text, "{:15} {:20} {count}", "", foreign(host));
        }
    }
}

impl Summary {
    fn object(&self) -> serde_json::Value {
        json!({
            "published": self.published, "heard": self.heard.0, "sent": self.sent,
            "received": self.received.0,
        })
    }

    /// The table of `ros2 doctor hello`.
    fn text(&self, topic: &str, group: &GroupArgs, period: Duration) -> String {
        let seconds = period.as_secs_f64();
        let mut text = format!(
            "MULTIMACHINE COMMUNICATION SUMMARY\nTopic: {topic}, Published Msg Count: {}\nSubscribed from:\n",
            self.published
        );
        self.heard.write(&mut text, seconds);
        let _ = writeln!(
            text,
            "Multicast Group/Port: {group}, Sent Msg Count: {}\nReceived from:",
            self.sent
        );
        self.received.write(&mut text, seconds);
        let _ = writeln!(text, "{}", "-".repeat(60));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_are_counted_by_host() {
        let mut greetings = Greetings::default();
        for text in ["hello, it's me robot", "hello, it's me robot", "hello, it's me laptop", ""] {
            greetings.count(text);
        }
        greetings.count("evil \x1b[2Jname");
        let hosts: Vec<(&str, u64)> =
            greetings.0.iter().map(|(host, count)| (host.as_str(), *count)).collect();
        assert_eq!(hosts, [("", 1), ("\u{1b}[2Jname", 1), ("laptop", 1), ("robot", 2)]);
        for number in 0..2 * MAX_SENDERS {
            greetings.count(&format!("host{number}"));
        }
        assert_eq!(greetings.0.len(), MAX_SENDERS);
    }
}
