//! What the three paths have to reach: each row is Feros and the reference that it is measured
//! beside.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::child::{RunError, Running};
use crate::contract::Measured;
use crate::latency::median;
use crate::peer::{self, NotInstalled};

/// A program that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Feros: the path, what is sent (as `peers/feros_paths.rs` names it), and to how many
    /// subscriptions.
    Feros(&'static str, &'static str, u32),
    /// A floor of the host, as `peers/floors.c` names it.
    Floor(&'static str),
    /// iceoryx2 with its own event.
    Iceoryx2,
    /// Stock ROS 2 Kilted through `rcl` in C.
    Rcl,
}

/// What is compared, and with which result it is good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The median is at most so many times that of the reference, and at most [`FLAT`] apart from
    /// size to size.
    FlatAtMost(f64),
    /// The median is at most so many times that of the reference.
    AtMost(f64),
    /// The median is below so many microseconds, and flat.
    FlatBelowMicros(f64),
    /// The reference's median is at least so many times ours.
    TimesFaster(f64),
    /// What passes a second is at least that part of the reference's.
    Share(f64),
    /// The slowest of several subscriptions has at most so many times the median of the fastest.
    Spread(f64),
}

/// Medians over all sizes are at most this far apart where a row has to be flat.
pub const FLAT: f64 = 1.3;

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, for the reader.
    pub title: &'static str,
    /// Feros.
    pub ours: Program,
    /// What it is measured beside.
    pub reference: Option<Program>,
    /// The reference, for the reader.
    pub reference_title: &'static str,
    /// Payloads, with messages a second and messages in a run.
    pub cells: &'static [Cell],
    /// What is to be reached.
    pub goal: Goal,
}

/// A payload with messages a second and messages in a run.
pub type Cell = (usize, u32, u32);

const EVERY_SIZE: &[Cell] = &[
    (256, 1000, 1000),
    (4 << 10, 1000, 1000),
    (64 << 10, 1000, 1000),
    (1 << 20, 1000, 1000),
    (4 << 20, 1000, 1000),
];
/// Messages that are copied: the large ones at a rate that leaves most of the time free.
const COPIED: &[Cell] = &[
    (256, 1000, 1000),
    (4 << 10, 1000, 1000),
    (64 << 10, 1000, 1000),
    (1 << 20, 500, 500),
    (4 << 20, 200, 200),
];
/// The rates at which stock ROS 2 does not queue, as in `network_latency`.
const STOCK: &[Cell] = &[(1 << 20, 40, 80), (4 << 20, 10, 40)];
const FIVE: &[Cell] = &[(4 << 10, 500, 500), (1 << 20, 100, 100)];
const GOODPUT: &[Cell] = &[(1 << 20, 1000, 3000)];

/// The rows of the table, in its order.
pub const ROWS: [Row; 11] = [
    Row {
        name: "process",
        title: "process, thread to thread, message given away",
        ours: Program::Feros("process", "given", 1),
        reference: Some(Program::Floor("thread")),
        reference_title: "futex hand-over of a pointer, two threads",
        cells: EVERY_SIZE,
        goal: Goal::FlatAtMost(1.3),
    },
    Row {
        name: "direct",
        title: "process, callback on the publishing thread",
        ours: Program::Feros("process", "direct", 1),
        reference: Some(Program::Floor("call")),
        reference_title: "call through a pointer to a function",
        cells: EVERY_SIZE,
        goal: Goal::FlatBelowMicros(1.0),
    },
    Row {
        name: "built",
        title: "host, built in place",
        ours: Program::Feros("host", "built", 1),
        reference: Some(Program::Floor("futex")),
        reference_title: "futex hand-over, two processes",
        cells: EVERY_SIZE,
        goal: Goal::FlatAtMost(1.5),
    },
    Row {
        name: "owned",
        title: "host, owned message",
        ours: Program::Feros("host", "lent", 1),
        reference: Some(Program::Floor("copy")),
        reference_title: "futex hand-over after one memcpy, two processes",
        cells: COPIED,
        goal: Goal::AtMost(1.5),
    },
    Row {
        name: "raw",
        title: "host, raw bytes",
        ours: Program::Feros("host", "raw", 1),
        reference: Some(Program::Iceoryx2),
        reference_title: "iceoryx2 0.10 with its own event",
        cells: COPIED,
        goal: Goal::AtMost(1.0),
    },
    Row {
        name: "stock",
        title: "host, owned message, beside stock ROS 2",
        ours: Program::Feros("host", "lent", 1),
        reference: Some(Program::Rcl),
        reference_title: "ROS 2 Kilted, rcl, default settings",
        cells: STOCK,
        goal: Goal::TimesFaster(20.0),
    },
    Row {
        name: "goodput",
        title: "process, goodput, each message filled, in memory",
        ours: Program::Feros("process", "stream-memory", 1),
        reference: Some(Program::Floor("fill_memory")),
        reference_title: "filling the same memory",
        cells: GOODPUT,
        goal: Goal::Share(0.9),
    },
    Row {
        name: "goodput-cache",
        title: "process, goodput, each message filled, in the cache",
        ours: Program::Feros("process", "stream", 1),
        reference: Some(Program::Floor("fill")),
        reference_title: "filling the same memory",
        cells: GOODPUT,
        goal: Goal::Share(0.9),
    },
    Row {
        name: "five-process",
        title: "five subscriptions, process",
        ours: Program::Feros("process", "given", 5),
        reference: None,
        reference_title: "the fastest of the five",
        cells: FIVE,
        goal: Goal::Spread(1.5),
    },
    Row {
        name: "five-host",
        title: "five subscriptions in another process, host",
        ours: Program::Feros("host", "lent", 5),
        reference: None,
        reference_title: "the fastest of the five",
        cells: FIVE,
        goal: Goal::Spread(1.5),
    },
    Row {
        name: "five-network",
        title: "five subscriptions in another process, network",
        ours: Program::Feros("network", "lent", 5),
        reference: None,
        reference_title: "the fastest of the five",
        cells: FIVE,
        goal: Goal::Spread(1.5),
    },
];

/// Why a run gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A program did not end well.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It did not print what was agreed.
    #[error("a program printed no result: {source} in {output:?}")]
    Output {
        /// What is wrong with the output.
        source: serde_json::Error,
        /// The output.
        output: String,
    },
    /// It lost messages although delivery is reliable and there was time for each.
    #[error("{lost} messages were lost")]
    Lost {
        /// So many.
        lost: u64,
    },
}

/// The programs, ready to be run.
#[derive(Debug)]
pub struct Bench {
    feros: PathBuf,
    iceoryx2: PathBuf,
    rcl: Result<PathBuf, NotInstalled>,
    domain: u32,
}

impl Bench {
    /// With Feros and iceoryx2 as cargo has built them; builds the program for stock ROS 2.
    pub fn prepare(feros: &str, iceoryx2: &str, domain: u32) -> Self {
        Self { feros: feros.into(), iceoryx2: iceoryx2.into(), rcl: peer::rcl_latency(), domain }
    }

    /// Why stock ROS 2 cannot be measured, if so.
    pub fn not_installed(&self) -> Option<&NotInstalled> {
        self.rcl.as_ref().err()
    }

    /// Runs a program once; `None` when it is not installed.
    ///
    /// # Errors
    /// [`MeasureError`] when it failed, lost messages, or printed something else than its result.
    pub fn measure(&self, program: Program, cell: Cell) -> Result<Option<Measured>, MeasureError> {
        let output = match program {
            Program::Feros(path, send, subscriptions) => {
                self.run_feros((path, send, subscriptions), cell)
            }
            Program::Floor(kind) => {
                let mut command = Command::new(peer::FLOORS);
                command.arg(kind).args(arguments(cell));
                finish(Running::start(&mut command)?, cell)
            }
            Program::Iceoryx2 => self.run_iceoryx2(cell),
            Program::Rcl => match &self.rcl {
                Ok(program) => {
                    self.run_pair(program, &["--domain", &self.domain.to_string()], cell)
                }
                Err(_) => return Ok(None),
            },
        }?;
        let measured: Measured = serde_json::from_str(&output)
            .map_err(|source| MeasureError::Output { source, output })?;
        match measured.lost {
            0 => Ok(Some(measured)),
            lost => Err(MeasureError::Lost { lost }),
        }
    }

    fn run_feros(
        &self,
        (path, send, subscriptions): (&str, &str, u32),
        cell: Cell,
    ) -> Result<String, RunError> {
        let topic = format!("/feros_lab/run_{}_{}", std::process::id(), unique());
        let subscriptions = subscriptions.to_string();
        let how =
            ["--path", path, "--send", send, "--topic", &topic, "--subscriptions", &subscriptions];
        if path == "process" {
            let mut command = self.command(&self.feros, path);
            command.args(["--role", "both"]).args(how).args(arguments(cell));
            return finish(Running::start(&mut command)?, cell);
        }
        self.run_pair_on(path, &self.feros, &how, cell)
    }

    fn run_iceoryx2(&self, cell: Cell) -> Result<String, RunError> {
        let name = format!("feros_lab_{}_{}_", std::process::id(), unique());
        let space = std::env::temp_dir().join(&name);
        let output = self.run_pair(&self.iceoryx2, &["--space", &space.to_string_lossy()], cell);
        // iceoryx2 leaves its folder and one segment behind. What is not there needs no removal.
        let _ = std::fs::remove_dir_all(&space);
        for entry in std::fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&name) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        output
    }

    fn run_pair(&self, program: &Path, how: &[&str], cell: Cell) -> Result<String, RunError> {
        self.run_pair_on("", program, how, cell)
    }

    fn run_pair_on(
        &self,
        path: &str,
        program: &Path,
        how: &[&str],
        cell: Cell,
    ) -> Result<String, RunError> {
        let start = |role: &str| {
            let mut command = self.command(program, path);
            Running::start(command.args(["--role", role]).args(how).args(arguments(cell)))
        };
        let subscription = start("sub")?;
        let publisher = start("pub")?;
        // A publisher that fails says why; its subscription would only say that nothing came.
        finish(publisher, cell)?;
        finish(subscription, cell)
    }

    /// A command in an environment that is the same for all. `path` is the one that Feros may take;
    /// empty: not said.
    fn command(&self, program: &Path, path: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            .env("ROS_DOMAIN_ID", self.domain.to_string());
        for variable in [
            "CYCLONEDDS_URI",
            "FASTRTPS_DEFAULT_PROFILES_FILE",
            "FEROS_ENGINE",
            "FEROS_TRANSPORTS",
            "RMW_IMPLEMENTATION",
            "ROS_LOCALHOST_ONLY",
            "ROS_STATIC_PEERS",
        ] {
            command.env_remove(variable);
        }
        if path == "network" {
            command.env("FEROS_TRANSPORTS", path); // the others are taken by themselves
        }
        command
    }
}

fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Sending takes count / rate; start, discovery, slow systems and a busy machine get a generous
/// minute on top.
fn time_limit((_, rate_hz, count): Cell) -> Duration {
    Duration::from_secs(60 + u64::from(count) * 3 / u64::from(rate_hz.max(1)))
}

fn finish(running: Running, cell: Cell) -> Result<String, RunError> {
    running.finish(time_limit(cell))
}

fn arguments(cell: Cell) -> [String; 8] {
    let (size_bytes, rate_hz, count) = cell;
    let timeout = time_limit(cell).as_secs() - 20;
    let pairs = [
        ("--size", size_bytes as u64),
        ("--rate", rate_hz.into()),
        ("--count", count.into()),
        ("--timeout", timeout),
    ];
    let words: Vec<String> =
        pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value.to_string()]).collect();
    words.try_into().expect("four pairs are eight words")
}

/// The runs of Feros and of the reference at one size, round by round; `None` is a run that failed.
#[derive(Clone, Debug, Default)]
pub struct Rounds(pub Vec<[Option<Measured>; 2]>);

impl Rounds {
    /// The median over the rounds of a value of Feros (0) or the reference (1).
    pub fn median(&self, which: usize, value: impl Fn(&Measured) -> f64) -> Option<f64> {
        median(self.0.iter().filter_map(|round| round[which].as_ref()).map(value).collect())
    }

    /// The number that the goal is about: the median of what the rounds gave, because what disturbs
    /// a host for a while disturbs the runs of the same round alike.
    pub fn result(&self, goal: Goal) -> Option<f64> {
        let of_both = |value: fn(&Measured, &Measured) -> f64| {
            let pairs = self
                .0
                .iter()
                .filter_map(|[ours, reference]| Some((ours.as_ref()?, reference.as_ref()?)));
            median(pairs.map(|(ours, reference)| value(ours, reference)).collect())
        };
        match goal {
            Goal::FlatAtMost(_) | Goal::AtMost(_) => {
                of_both(|ours, reference| ours.p50_us / reference.p50_us)
            }
            Goal::FlatBelowMicros(_) => self.median(0, |ours| ours.p50_us),
            Goal::TimesFaster(_) => of_both(|ours, reference| reference.p50_us / ours.p50_us),
            Goal::Share(_) => of_both(|ours, reference| {
                ours.payload_bytes_per_second / reference.payload_bytes_per_second
            }),
            Goal::Spread(_) => self.median(0, |ours| spread(&ours.medians_us)),
        }
    }
}

/// The greatest of some numbers, divided by the least.
pub fn spread(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    values.iter().copied().fold(0.0, f64::max) / least
}

impl Goal {
    /// Whether the number of [`Rounds::result`] reaches it.
    pub fn is_reached_by(self, result: f64) -> bool {
        match self {
            Self::FlatAtMost(most)
            | Self::AtMost(most)
            | Self::FlatBelowMicros(most)
            | Self::Spread(most) => result <= most,
            Self::TimesFaster(least) | Self::Share(least) => result >= least,
        }
    }

    /// Whether sizes must not matter.
    pub fn is_flat(self) -> bool {
        matches!(self, Self::FlatAtMost(_) | Self::FlatBelowMicros(_))
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&match self {
            Self::FlatAtMost(most) | Self::AtMost(most) | Self::Spread(most) => {
                format!("<= {most}")
            }
            Self::FlatBelowMicros(most) => format!("< {most} us"),
            Self::TimesFaster(least) => format!(">= {least} x"),
            Self::Share(least) => format!(">= {least}"),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn measured(p50_us: f64) -> Option<Measured> {
        let medians_us = vec![p50_us, 2.0 * p50_us];
        Some(Measured {
            p50_us,
            medians_us,
            payload_bytes_per_second: 1.0 / p50_us,
            ..Measured::default()
        })
    }

    #[test]
    fn results_are_of_rounds_and_skip_failed_ones() {
        let rounds = Rounds(vec![
            [measured(2.0), measured(1.0)],
            [measured(30.0), measured(10.0)],
            [measured(8.0), measured(2.0)],
            [measured(1000.0), None],
        ]);
        assert_eq!(rounds.result(Goal::AtMost(1.3)), Some(3.0));
        assert_eq!(rounds.result(Goal::TimesFaster(20.0)), Some(1.0 / 3.0));
        assert_eq!(rounds.result(Goal::Share(0.9)), Some(1.0 / 3.0));
        assert_eq!(rounds.result(Goal::Spread(1.5)), Some(2.0));
        assert_eq!(rounds.result(Goal::FlatBelowMicros(1.0)), Some(19.0));
        assert_eq!(Rounds::default().result(Goal::AtMost(1.0)), None);
    }

    #[test]
    fn goals_are_reached_from_the_right_side() {
        for (goal, good, bad) in [
            (Goal::AtMost(1.5), 1.5, 1.51),
            (Goal::TimesFaster(20.0), 20.0, 19.9),
            (Goal::Share(0.9), 0.95, 0.89),
            (Goal::FlatBelowMicros(1.0), 0.9, 1.1),
        ] {
            assert!(goal.is_reached_by(good) && !goal.is_reached_by(bad), "{goal:?}");
        }
        assert!(
            !Goal::AtMost(1.0).is_reached_by(f64::NAN) && !Goal::Share(0.9).is_reached_by(f64::NAN)
        );
    }

    #[test]
    fn floors_print_what_is_read() {
        let bench = Bench::prepare("", "", 0);
        for floor in ["thread", "call", "futex", "copy"] {
            let measured = bench.measure(Program::Floor(floor), (4096, 1000, 20)).unwrap().unwrap();
            assert!(
                measured.p50_us > 0.0 && measured.p99_us >= measured.p50_us,
                "{floor}: {measured:?}"
            );
        }
        let filled = bench.measure(Program::Floor("fill"), (4096, 1000, 20)).unwrap().unwrap();
        assert!(filled.payload_bytes_per_second > 0.0, "{filled:?}");
    }
}
