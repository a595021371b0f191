//! One-way latency between two processes of one host: every system measured in turn, round after
//! round.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use crate::child::{RunError, Running};
use crate::peer::{self, NotInstalled};

/// What is measured, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// `feros perf latency` over the network transport.
    Feros,
    /// A C program on the C API of Cyclone DDS, with the engine configuration of Feros.
    CycloneDds,
    /// Stock ROS 2 Kilted through `rcl` in C.
    Rcl,
    /// Floor: a loopback socket.
    Udp,
    /// Floor: a wake-up from process to process, without payload.
    Futex,
    /// Floor: one copy of the payload.
    Memcpy,
}

impl System {
    /// All systems: those that carry messages, then the floors.
    pub const ALL: [Self; 6] =
        [Self::Feros, Self::CycloneDds, Self::Rcl, Self::Udp, Self::Futex, Self::Memcpy];

    /// The heading of the system in a table.
    pub fn title(self) -> &'static str {
        match self {
            Self::Feros => "Feros",
            Self::CycloneDds => "Cyclone DDS, C API",
            Self::Rcl => "ROS 2 Kilted, rcl",
            Self::Udp => "floor: UDP",
            Self::Futex => "floor: futex",
            Self::Memcpy => "floor: memcpy",
        }
    }
}

/// One cell of the experiment.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Payload of one message.
    pub size_bytes: usize,
    /// Messages a second.
    pub rate_hz: u32,
    /// Messages that are measured.
    pub count: u32,
    /// Reliable, or best effort.
    pub reliable: bool,
    /// DDS domain of the run.
    pub domain: u32,
}

impl Cell {
    fn reliability(&self) -> &'static str {
        if self.reliable { "reliable" } else { "best_effort" }
    }

    /// Sending takes count / rate; start, discovery, slow systems and a busy machine get a generous
    /// minute on top.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(60)
            + Duration::from_secs(u64::from(self.count) * 3 / u64::from(self.rate_hz.max(1)))
    }
}

/// What one run of one system gave. All programs print at least these fields as one JSON object.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Latencies {
    /// Messages that did not arrive.
    pub lost: u64,
    /// Median, in microseconds.
    pub p50_us: f64,
    /// 99th percentile, in microseconds.
    pub p99_us: f64,
}

/// Why one run of one system gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A program of the system did not end well.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The program ended well but did not print what was agreed.
    #[error("{program} printed no result: {source} in {output:?}")]
    Output {
        /// The program.
        program: String,
        /// What is wrong with the output.
        source: serde_json::Error,
        /// The output.
        output: String,
    },
}

/// The systems that are there, ready to be run.
#[derive(Debug)]
pub struct Bench {
    feros: Result<PathBuf, NotInstalled>,
    rcl: Result<PathBuf, NotInstalled>,
}

impl Bench {
    /// Looks for the systems and builds the program for stock ROS 2.
    pub fn prepare() -> Self {
        Self { feros: peer::feros(), rcl: peer::rcl_latency() }
    }

    /// Why a system cannot be measured here, if so.
    pub fn not_installed(&self, system: System) -> Option<&NotInstalled> {
        match system {
            System::Feros => self.feros.as_ref().err(),
            System::Rcl => self.rcl.as_ref().err(),
            _ => None,
        }
    }

    /// Runs one system once; `None` when it is not installed.
    ///
    /// # Errors
    /// [`MeasureError`] when it failed, did not end in time, or printed something else than its
    /// result.
    pub fn measure(&self, system: System, cell: &Cell) -> Result<Option<Latencies>, MeasureError> {
        let measured = match system {
            System::Feros => self.feros.as_ref().ok().map(|program| run_feros(program, cell)),
            System::CycloneDds => Some(run_pair(Path::new(peer::CYCLONEDDS_LATENCY), cell)),
            System::Rcl => self.rcl.as_ref().ok().map(|program| run_pair(program, cell)),
            System::Udp => Some(run_floor("udp", cell)),
            System::Futex => Some(run_floor("futex", cell)),
            System::Memcpy => Some(run_floor("memcpy", cell)),
        };
        measured.transpose()
    }
}

/// A command in the environment that is the same for every system.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("CYCLONEDDS_URI", peer::cyclonedds_uri())
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
    for variable in [
        "ROS_STATIC_PEERS",
        "ROS_LOCALHOST_ONLY",
        "FASTRTPS_DEFAULT_PROFILES_FILE",
        "RMW_IMPLEMENTATION",
    ] {
        command.env_remove(variable);
    }
    command
}

fn run_feros(program: &Path, cell: &Cell) -> Result<Latencies, MeasureError> {
    let mut command = command(program);
    command
        .env("ROS_DOMAIN_ID", cell.domain.to_string())
        .args(["perf", "latency", "--transport", "network", "--json"])
        .args(["--size-bytes", &cell.size_bytes.to_string()])
        .args(["--rate-hz", &cell.rate_hz.to_string()])
        .args(["--count", &cell.count.to_string()])
        .args(["--reliability", cell.reliability()]);
    parse(program, Running::start(&mut command)?.finish(cell.time_limit())?)
}

fn run_pair(program: &Path, cell: &Cell) -> Result<Latencies, MeasureError> {
    let start = |role: &str| {
        let mut command = command(program);
        command.env("CYCLONEDDS_URI", peer::cyclonedds_uri());
        command.args(["--role", role, "--domain", &cell.domain.to_string()]).args(arguments(cell));
        Running::start(&mut command)
    };
    let subscription = start("sub")?;
    let publisher = start("pub")?;
    let output = subscription.finish(cell.time_limit())?;
    publisher.finish(cell.time_limit())?;
    parse(program, output)
}

fn run_floor(kind: &str, cell: &Cell) -> Result<Latencies, MeasureError> {
    let program = Path::new(peer::FLOORS);
    let mut command = command(program);
    command.arg(kind).args(arguments(cell));
    parse(program, Running::start(&mut command)?.finish(cell.time_limit())?)
}

fn arguments(cell: &Cell) -> [String; 10] {
    let timeout_seconds = cell.time_limit().as_secs().saturating_sub(20);
    [
        "--size".into(),
        cell.size_bytes.to_string(),
        "--rate".into(),
        cell.rate_hz.to_string(),
        "--count".into(),
        cell.count.to_string(),
        "--reliability".into(),
        cell.reliability().into(),
        "--timeout".into(),
        timeout_seconds.to_string(),
    ]
}

fn parse(program: &Path, output: String) -> Result<Latencies, MeasureError> {
    serde_json::from_str(&output).map_err(|source| MeasureError::Output {
        program: program.display().to_string(),
        source,
        output,
    })
}

/// The results of one system at one size, round by round; `None` is a round that failed.
#[derive(Clone, Debug, Default)]
pub struct Rounds(pub Vec<Option<Latencies>>);

impl Rounds {
    /// The median over the rounds of a value.
    pub fn median(&self, value: impl Fn(&Latencies) -> f64) -> Option<f64> {
        median(self.0.iter().flatten().map(value).collect())
    }

    /// Messages lost in all rounds.
    pub fn lost(&self) -> u64 {
        self.0.iter().flatten().map(|latencies| latencies.lost).sum()
    }

    /// How much slower than `other` the median of this system is: the median of the ratios of the
    /// rounds, because what disturbs a host for a while disturbs the runs of the same round alike.
    pub fn ratio_to(&self, other: &Self) -> Option<f64> {
        let pairs = self.0.iter().zip(&other.0);
        median(
            pairs
                .filter_map(|(own, other)| Some(own.as_ref()?.p50_us / other.as_ref()?.p50_us))
                .collect(),
        )
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        return values.get(middle).copied();
    }
    Some((values.get(middle.checked_sub(1)?)? + values.get(middle)?) / 2.0)
}

/// A number of bytes as people say it.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub usize);

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            bytes if bytes >= 1 << 20 => format!("{} MB", bytes >> 20),
            bytes if bytes >= 1 << 10 => format!("{} KB", bytes >> 10),
            bytes => format!("{bytes} B"),
        };
        formatter.pad(&text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn rounds(medians: &[f64]) -> Rounds {
        Rounds(
            medians
                .iter()
                .map(|&p50_us| Some(Latencies { lost: 1, p50_us, p99_us: p50_us * 2.0 }))
                .collect(),
        )
    }

    #[test]
    fn median_of_odd_even_and_no_rounds() {
        assert_eq!(rounds(&[3.0, 1.0, 2.0]).median(|l| l.p50_us), Some(2.0));
        assert_eq!(rounds(&[4.0, 1.0, 2.0, 3.0]).median(|l| l.p99_us), Some(5.0));
        assert_eq!(rounds(&[]).median(|l| l.p50_us), None);
    }

    #[test]
    fn ratio_is_of_rounds_and_skips_failed_ones() {
        let mut own = rounds(&[2.0, 40.0, 6.0]);
        let other = rounds(&[1.0, 20.0, 2.0]);
        assert_eq!(own.ratio_to(&other), Some(2.0));
        own.0[0] = None;
        assert_eq!(own.ratio_to(&other), Some(2.5));
        assert_eq!(own.ratio_to(&Rounds::default()), None);
    }

    /// The programs themselves, briefly: what they print is what `Latencies` reads, and nothing is
    /// lost.
    #[test]
    fn programs_measure_both_ways() {
        let domain = 100 + std::process::id() % 20;
        let bench = Bench { feros: peer::feros(), rcl: Err(missing()) };
        for reliable in [true, false] {
            let cell = Cell { size_bytes: 4096, rate_hz: 200, count: 20, reliable, domain };
            for system in [System::CycloneDds, System::Udp, System::Futex, System::Memcpy] {
                let latencies = bench.measure(system, &cell).unwrap().unwrap();
                assert!(
                    latencies.p50_us > 0.0 && latencies.p99_us >= latencies.p50_us,
                    "{system:?} {latencies:?}"
                );
                assert!(latencies.lost == 0 || !reliable, "{system:?} {latencies:?}");
            }
            assert!(bench.measure(System::Rcl, &cell).unwrap().is_none());
        }
    }

    fn missing() -> NotInstalled {
        NotInstalled { install_with: "nothing", reason: "left out of the test".into() }
    }

    #[test]
    fn program_that_prints_nonsense_is_an_error() {
        let error = parse(Path::new("program"), "nonsense".into()).unwrap_err();
        assert!(
            error.to_string().contains("program") && error.to_string().contains("nonsense"),
            "{error}"
        );
    }

    #[test]
    fn sizes_as_people_say_them() {
        assert_eq!(
            [256, 4096, 4 << 20].map(|bytes| Size(bytes).to_string()),
            ["256 B", "4 KB", "4 MB"]
        );
    }
}
