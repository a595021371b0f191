//! What `feros perf latency` and `feros perf throughput` take.

use std::time::Duration;

use clap::ValueEnum;
use feros::{Durability, History, PublishMode, QosProfile, Reliability, Transport, TransportSet};

use super::Kind;
use super::payload::STAMP_BYTES;

/// The largest payload that is measured.
const MAX_SIZE_BYTES: usize = 256 << 20;

/// Options of a measurement.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Options {
    /// The transport that messages take: within a process, in the host's shared memory, or through
    /// the engine. Without it, the shortest that is possible; the report says which. A transport
    /// that is not possible is an error
    #[arg(long, value_enum, default_value_t = TransportChoice::Auto)]
    pub(super) transport: TransportChoice,

    /// Payload of one message in bytes, or as 64K or 1M (1024 based); several are measured one
    /// after the other
    #[arg(long, value_name = "BYTES", value_delimiter = ',', num_args = 1.., default_value = "256", value_parser = parse_size)]
    pub(super) size_bytes: Vec<usize>,

    /// Messages a second; 0 is as fast as they are answered (latency) or published (throughput)
    /// [default: 100 for latency, 0 for throughput]
    #[arg(long, value_name = "HZ", value_parser = parse_rate)]
    rate_hz: Option<f64>,

    /// Messages that are measured [default: 200 for latency, as many as `--seconds` allow for
    /// throughput]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    count: Option<u64>,

    /// How long a throughput is measured when no `--count` is given
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,

    /// Messages that are sent before and not measured
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub(super) warmup: u64,

    /// reliable or best_effort
    #[arg(long, default_value = "reliable")]
    reliability: Reliability,

    /// volatile or transient_local
    #[arg(long, default_value = "volatile")]
    durability: Durability,

    /// keep_last or keep_all
    #[arg(long, default_value = "keep_last")]
    history: History,

    /// Messages that are kept with keep_last
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    depth: u32,

    /// What runs the callback; `single` is the one that there is so far
    #[arg(long, value_enum, default_value_t = Executor::Single)]
    pub(super) executor: Executor,

    /// Whether the publishing thread sends (sync), or a thread of the publisher (async)
    #[arg(long, value_enum, default_value_t = Mode::Sync)]
    publish_mode: Mode,

    /// What is published: a message that is given away, one that is lent, one that is built in
    /// place (its payload is not filled), or raw bytes [default: given within a process, else lent]
    #[arg(long, value_enum)]
    send: Option<Send>,

    /// What the callback takes: a view into the received bytes, an owned message, or the raw bytes
    /// [default: owned within a process, else view]
    #[arg(long, value_enum)]
    form: Option<Form>,

    /// 2: publisher and subscription in a process each. 1: both in one, on a thread each [default:
    /// 1 for the transport process, else 2]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=2))]
    processes: Option<u8>,

    /// Print one JSON object a size instead of a table
    #[arg(long)]
    pub(super) json: bool,

    /// What this process is in the measurement; set by the process that coordinates it.
    #[arg(long, hide = true, value_enum)]
    pub(super) role: Option<Role>,

    /// The topic of the measurement; set by the process that coordinates it.
    #[arg(long, hide = true, default_value = "feros_perf")]
    pub(super) topic: String,
}

/// The transport that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TransportChoice {
    /// The shortest that is possible.
    Auto,
    /// Pointers, within a process.
    #[value(name = "intra_process")]
    IntraProcess,
    /// Shared memory.
    #[value(name = "shared_memory")]
    SharedMemory,
    /// The engine.
    Network,
}

impl TransportChoice {
    /// The one transport that was asked for, if it was.
    pub(super) fn only(self) -> Option<Transport> {
        match self {
            Self::Auto => None,
            Self::IntraProcess => Some(Transport::IntraProcess),
            Self::SharedMemory => Some(Transport::SharedMemory),
            Self::Network => Some(Transport::Network),
        }
    }

    /// What the endpoints are allowed.
    pub(super) fn allowed(self) -> TransportSet {
        self.only().map_or(TransportSet::ALL, TransportSet::from)
    }
}

/// What is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Send {
    /// A message that is moved in.
    Given,
    /// A message that the publisher keeps.
    Lent,
    /// A message that is built in the memory that the transport lends.
    Loan,
    /// Serialized bytes.
    Raw,
}

/// What runs the callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Executor {
    /// One thread that sleeps until a message is there.
    Single,
}

/// Which thread sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Mode {
    /// The one that publishes.
    Sync,
    /// One of the publisher.
    Async,
}

/// What the callback takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Fields in place.
    View,
    /// A struct of its own.
    Owned,
    /// Serialized bytes.
    Raw,
}

/// What a process is in a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Role {
    /// It publishes.
    Publisher,
    /// It receives.
    Subscription,
    /// It does both.
    Both,
}

/// When a publisher has sent enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// After that many measured messages.
    Count(u64),
    /// After that time.
    Time(Duration),
}

impl Options {
    /// Messages a second; 0 is as fast as possible.
    pub(super) fn rate_hz(&self, kind: Kind) -> f64 {
        self.rate_hz.unwrap_or(match kind {
            Kind::Latency => 100.0,
            Kind::Throughput => 0.0,
        })
    }

    /// When enough was sent.
    pub(super) fn limit(&self, kind: Kind) -> Limit {
        match (self.count, kind) {
            (Some(count), _) => Limit::Count(count),
            (None, Kind::Latency) => Limit::Count(200),
            (None, Kind::Throughput) => Limit::Time(Duration::from_secs(self.seconds)),
        }
    }

    /// How long sending takes when all goes well; unknown where the speed of the answers decides.
    pub(super) fn expected_duration(&self, kind: Kind) -> Option<Duration> {
        match (self.limit(kind), self.rate_hz(kind)) {
            (Limit::Time(duration), _) => Some(duration),
            (Limit::Count(_), 0.0) => None,
            (Limit::Count(count), rate) => {
                Some(Duration::from_secs_f64((count + self.warmup) as f64 / rate))
            }
        }
    }

    /// The policies of both endpoints.
    pub(super) fn qos(&self) -> QosProfile {
        QosProfile {
            reliability: self.reliability,
            durability: self.durability,
            history: self.history,
            depth: self.depth as usize,
            ..QosProfile::default()
        }
    }

    /// How many processes take part.
    pub(super) fn processes(&self) -> u8 {
        self.processes.unwrap_or(if self.transport == TransportChoice::IntraProcess {
            1
        } else {
            2
        })
    }

    /// What is published: within a process, what costs no copy there.
    pub(super) fn send(&self) -> Send {
        self.send.unwrap_or(if self.passes_pointers() { Send::Given } else { Send::Lent })
    }

    /// What the callback takes.
    pub(super) fn form(&self) -> Form {
        self.form.unwrap_or(if self.passes_pointers() { Form::Owned } else { Form::View })
    }

    fn passes_pointers(&self) -> bool {
        self.processes() == 1 && self.transport.allowed().contains(Transport::IntraProcess)
    }

    /// How the publisher sends.
    pub(super) fn publish_mode(&self) -> PublishMode {
        match self.publish_mode {
            Mode::Sync => PublishMode::Synchronous,
            Mode::Async => PublishMode::Asynchronous { queue_depth: self.depth as usize },
        }
    }

    /// The command line, after the program's name, of a process that plays `role` at one size.
    pub(super) fn command_line(
        &self,
        kind: Kind,
        role: Role,
        size_bytes: usize,
        topic: &str,
    ) -> Vec<String> {
        let word = |value: Option<clap::builder::PossibleValue>| {
            value.map(|value| value.get_name().to_owned()).unwrap_or_default()
        };
        let mut line = vec!["perf".to_owned(), kind.word().to_owned()];
        let mut add = |name: &str, value: String| line.extend([name.to_owned(), value]);
        add("--transport", word(self.transport.to_possible_value()));
        add("--size-bytes", size_bytes.to_string());
        add("--rate-hz", self.rate_hz(kind).to_string());
        match self.limit(kind) {
            Limit::Count(count) => add("--count", count.to_string()),
            Limit::Time(duration) => add("--seconds", duration.as_secs().to_string()),
        }
        add("--warmup", self.warmup.to_string());
        add("--reliability", self.reliability.to_string());
        add("--durability", self.durability.to_string());
        add("--history", self.history.to_string());
        add("--depth", self.depth.to_string());
        add("--executor", word(self.executor.to_possible_value()));
        add("--publish-mode", word(self.publish_mode.to_possible_value()));
        add("--processes", self.processes().to_string());
        add("--send", word(self.send().to_possible_value()));
        add("--form", word(self.form().to_possible_value()));
        add("--role", word(role.to_possible_value()));
        add("--topic", topic.to_owned());
        line
    }

    /// The policies in words, for people.
    pub(super) fn qos_in_words(&self) -> String {
        let plain = |text: String| text.to_lowercase().replace('_', " ");
        let history = match self.history {
            History::KeepLast => format!("keep last {}", self.depth),
            other => plain(other.to_string()),
        };
        format!(
            "{}, {}, {history}",
            plain(self.reliability.to_string()),
            plain(self.durability.to_string())
        )
    }
}

pub(super) fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.trim().to_ascii_uppercase() {
        text if text.ends_with(['K', 'M']) => {
            let (digits, unit) = text.split_at(text.len() - 1);
            (digits.to_owned(), if unit == "K" { 1 << 10 } else { 1 << 20 })
        }
        text => (text, 1),
    };
    let size = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    size.filter(|size| (STAMP_BYTES..=MAX_SIZE_BYTES).contains(size)).ok_or(format!(
        "it takes a number of bytes from {STAMP_BYTES} (time stamp and number are in the payload) to {}M, such as 256, 64K or 1M",
        MAX_SIZE_BYTES >> 20
    ))
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate == 0.0 || (0.1..=1e6).contains(rate));
    rate.ok_or("it takes 0 (as fast as possible) or a rate from 0.1 to 1000000".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::Parser;

    use super::super::{Args, Command};
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn parse(words: &str) -> Result<(Kind, Options), String> {
        let line = std::iter::once("perf").chain(words.split_whitespace());
        match Line::try_parse_from(line).map_err(|error| error.to_string())?.args.command {
            Command::Latency(options) => Ok((Kind::Latency, options)),
            Command::Throughput(options) => Ok((Kind::Throughput, options)),
            _ => Err("not a measurement of messages".to_owned()),
        }
    }

    #[test]
    fn sizes_with_units_and_as_a_list() {
        let sizes = |words: &str| parse(words).unwrap().1.size_bytes;
        assert_eq!(sizes("latency"), [256]);
        assert_eq!(sizes("latency --size-bytes 16,4k,64K,1M"), [16, 4096, 65536, 1 << 20]);
        assert_eq!(sizes("latency --size-bytes 256 4K --json"), [256, 4096]);
        for wrong in ["15", "0", "-1", "1G", "K", "1.5M", "257M", "99999999999999999999"] {
            let error = parse(&format!("latency --size-bytes={wrong}")).unwrap_err();
            assert!(error.contains("number of bytes"), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_path_decides_what_is_not_said() {
        let decided = |words: &str| {
            let options = parse(&format!("latency {words}")).unwrap().1;
            (options.transport.only(), options.processes(), options.send(), options.form())
        };
        assert_eq!(decided(""), (None, 2, Send::Lent, Form::View));
        assert_eq!(
            decided("--transport intra_process"),
            (Some(Transport::IntraProcess), 1, Send::Given, Form::Owned)
        );
        assert_eq!(
            decided("--transport shared_memory"),
            (Some(Transport::SharedMemory), 2, Send::Lent, Form::View)
        );
        assert_eq!(decided("--processes 1"), (None, 1, Send::Given, Form::Owned));
        assert_eq!(
            decided("--processes 1 --transport network"),
            (Some(Transport::Network), 1, Send::Lent, Form::View)
        );
        let said = "--transport intra_process --processes 2 --send loan --form raw";
        assert_eq!(decided(said), (Some(Transport::IntraProcess), 2, Send::Loan, Form::Raw));
        let error = parse("latency --transport tunnel").unwrap_err();
        assert!(
            error.contains("tunnel") && error.contains("process") && error.contains("host"),
            "{error}"
        );
    }

    #[test]
    fn defaults_differ_by_kind() {
        let (kind, latency) = parse("latency").unwrap();
        assert_eq!((latency.rate_hz(kind), latency.limit(kind)), (100.0, Limit::Count(200)));
        assert_eq!(latency.expected_duration(kind), Some(Duration::from_millis(2100)));
        let (kind, throughput) = parse("throughput --seconds 5").unwrap();
        assert_eq!(
            (throughput.rate_hz(kind), throughput.limit(kind)),
            (0.0, Limit::Time(Duration::from_secs(5)))
        );
        let (kind, answered) = parse("latency --rate-hz 0").unwrap();
        assert_eq!(answered.expected_duration(kind), None);
    }

    #[test]
    fn rates_that_mean_nothing_are_refused() {
        for wrong in ["-1", "nan", "inf", "0.01", "1e9", "fast"] {
            let error = parse(&format!("latency --rate-hz={wrong}")).unwrap_err();
            assert!(error.contains("as fast as possible"), "{wrong}: {error}");
        }
    }

    /// What the coordinating process hands on is what the processes of the roles read.
    #[test]
    fn command_line_of_a_role_says_the_same() {
        let words = "throughput --size-bytes 1M --rate-hz 12.5 --seconds 7 --warmup 3 --reliability BEST_EFFORT \
                     --durability transient_local --history keep_all --depth 4 --publish-mode async --form raw --transport shared_memory";
        let (kind, options) = parse(words).unwrap();
        let line = options.command_line(kind, Role::Both, 4096, "the_topic");
        let (same_kind, same) = parse(&line[1..].join(" ")).unwrap();
        assert_eq!(kind, same_kind);
        assert_eq!((same.role, same.topic.as_str()), (Some(Role::Both), "the_topic"));
        assert_eq!(same.size_bytes, [4096]);
        assert_eq!(
            (same.rate_hz(kind), same.limit(kind)),
            (options.rate_hz(kind), options.limit(kind))
        );
        assert_eq!((same.qos(), same.publish_mode()), (options.qos(), options.publish_mode()));
        assert_eq!(
            (same.form(), same.send(), same.warmup),
            (options.form(), options.send(), options.warmup)
        );
        assert_eq!(same.transport, TransportChoice::SharedMemory);
        assert_eq!(same.qos().reliability, Reliability::BestEffort);
    }

    #[test]
    fn policies_in_words() {
        assert_eq!(parse("latency").unwrap().1.qos_in_words(), "reliable, volatile, keep last 10");
        let (_, options) = parse("latency --history keep_all --reliability best_effort").unwrap();
        assert_eq!(options.qos_in_words(), "best effort, volatile, keep all");
    }
}
