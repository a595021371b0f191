//! What the measured programs in Rust have in common, as `peers/latency.h` for those in C:
//! arguments, stamps, pace, output.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// Messages that go before the measured ones, as in `latency.h`.
pub const WARM_UP: u64 = 10;

/// Time and number at the beginning of each payload.
pub const STAMP_BYTES: usize = 16;

/// Why a program gives no result; its text is what is printed.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// `--name value` pairs of a command line.
#[derive(Debug)]
pub struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// What this process was started with.
    ///
    /// # Errors
    /// When it is not pairs of a name and a value.
    pub fn of_this_process() -> Result<Self, Failure> {
        let mut words = std::env::args().skip(1);
        let mut pairs = BTreeMap::new();
        while let Some(name) = words.next() {
            let value = words.next().ok_or_else(|| format!("{name} has no value"))?;
            pairs.insert(name, value);
        }
        Ok(Self(pairs))
    }

    /// A value as text.
    ///
    /// # Errors
    /// When it is not there.
    pub fn text(&self, name: &str) -> Result<&str, Failure> {
        Ok(self.0.get(name).ok_or_else(|| format!("{name} is missing"))?)
    }

    /// A value as a number.
    ///
    /// # Errors
    /// When it is not there or no such number.
    pub fn number<N: std::str::FromStr<Err: Display>>(&self, name: &str) -> Result<N, Failure> {
        let text = self.text(name)?;
        text.parse().map_err(|error| format!("{name} {text}: {error}").into())
    }

    /// What is sent.
    ///
    /// # Errors
    /// When one of `--size`, `--rate`, `--count`, `--timeout` is missing or makes no sense.
    pub fn load(&self) -> Result<Load, Failure> {
        let load = Load {
            size_bytes: self.number("--size")?,
            rate_hz: self.number("--rate")?,
            count: self.number("--count")?,
            timeout: Duration::from_secs(self.number("--timeout")?),
        };
        if load.size_bytes < STAMP_BYTES || !(0.1..=1e6).contains(&load.rate_hz) || load.count == 0
        {
            return Err(format!("{load:?} cannot be measured").into());
        }
        Ok(load)
    }
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Payload of a message.
    pub size_bytes: usize,
    /// Messages a second.
    pub rate_hz: f64,
    /// Messages that are measured.
    pub count: u64,
    /// When the receiving side gives up.
    pub timeout: Duration,
}

impl Load {
    /// All messages, those that are not measured included.
    pub fn messages(&self) -> u64 {
        WARM_UP + self.count
    }

    /// Calls `publish` with the number of each message when it is due, however long the earlier
    /// ones took.
    ///
    /// # Errors
    /// The first failure of `publish`.
    pub fn pace(&self, mut publish: impl FnMut(u64) -> Result<(), Failure>) -> Result<(), Failure> {
        let begin = monotonic_nanos() + 100_000_000;
        for number in 0..self.messages() {
            sleep_until(begin + (number as f64 * 1e9 / self.rate_hz) as u64);
            publish(number)?;
        }
        Ok(())
    }
}

/// CLOCK_MONOTONIC, the same in all processes of a host.
pub fn monotonic_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

fn sleep_until(nanos: u64) {
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX);
    let time = Timespec { tv_sec: seconds, tv_nsec: (nanos % 1_000_000_000) as i64 };
    // The one error that can come is an interruption by a signal.
    while clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &time).is_err() {}
}

/// Writes a number and the time, the time last.
///
/// # Panics
/// When the payload is shorter than [`STAMP_BYTES`].
pub fn stamp(payload: &mut [u8], number: u64) {
    stamp_with(payload, number, monotonic_nanos());
}

/// Writes a number and a time that was taken before.
///
/// # Panics
/// When the payload is shorter than [`STAMP_BYTES`].
pub fn stamp_with(payload: &mut [u8], number: u64, nanos: u64) {
    payload[8..STAMP_BYTES].copy_from_slice(&number.to_le_bytes());
    payload[..8].copy_from_slice(&nanos.to_le_bytes());
}

/// What was received.
#[derive(Debug, Clone)]
pub struct Samples {
    load: Load,
    nanos: Vec<u64>,
}

impl Samples {
    /// Room for all messages of a load.
    pub fn new(load: &Load) -> Self {
        Self { load: *load, nanos: Vec::with_capacity(load.count as usize) }
    }

    /// Notes a message that came at `now`; says whether it was the last.
    ///
    /// # Panics
    /// When it does not have the size that was sent: then it is another message.
    pub fn note(&mut self, payload: &[u8], now: u64) -> bool {
        assert_eq!(payload.len(), self.load.size_bytes, "size of the payload");
        let word =
            |at: usize| payload[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (sent, number) = (word(0), word(8));
        if number >= WARM_UP && self.nanos.len() < self.nanos.capacity() {
            self.nanos.push(now.saturating_sub(sent));
        }
        number + 1 >= self.load.messages()
    }

    /// Measured messages that came.
    pub fn received(&self) -> u64 {
        self.nanos.len() as u64
    }

    /// The result of this receiver.
    pub fn result(&self) -> Measured {
        let mut sorted = self.nanos.clone();
        sorted.sort_unstable();
        // Nearest rank: the smallest sample that at least that part of all samples does not exceed.
        let percentile = |part: f64| {
            let rank = ((part * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len().max(1));
            sorted.get(rank - 1).map_or(0.0, |nanos| *nanos as f64 / 1000.0)
        };
        let (p50_us, p99_us) = (percentile(0.5), percentile(0.99));
        Measured {
            lost: self.load.count.saturating_sub(self.received()),
            p50_us,
            p99_us,
            medians_us: vec![p50_us],
            ..Measured::default()
        }
    }
}

/// What one run of one program gave; a program that measures something else leaves the rest 0.
/// Every program prints it as one JSON object; those in C print more and less.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Measured {
    /// Messages that did not arrive.
    pub lost: u64,
    /// Median, in microseconds.
    pub p50_us: f64,
    /// 99th percentile, in microseconds.
    pub p99_us: f64,
    /// The medians of several receivers.
    pub medians_us: Vec<f64>,
    /// How much passed, or was filled, a second.
    pub payload_bytes_per_second: f64,
}

impl Measured {
    /// Several receivers of the same messages as one: medians of each, quantiles of the slowest.
    pub fn of_all(results: &[Self]) -> Self {
        let most = |value: fn(&Self) -> f64| results.iter().map(value).fold(0.0, f64::max);
        Self {
            lost: results.iter().map(|result| result.lost).sum(),
            p50_us: most(|result| result.p50_us),
            p99_us: most(|result| result.p99_us),
            medians_us: results.iter().flat_map(|result| result.medians_us.clone()).collect(),
            payload_bytes_per_second: 0.0,
        }
    }
}

/// Runs a program: its result on standard output, or its failure on standard error and exit code 1.
pub fn run(
    program: impl FnOnce(&Arguments) -> Result<Option<Measured>, Failure>,
) -> std::process::ExitCode {
    let result = Arguments::of_this_process().and_then(|arguments| {
        let measured = program(&arguments)?;
        measured.map(|measured| serde_json::to_string(&measured)).transpose().map_err(Failure::from)
    });
    match result {
        Ok(text) => {
            if let Some(text) = text {
                println!("{text}");
            }
            std::process::ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load =
        Load { size_bytes: 20, rate_hz: 1000.0, count: 100, timeout: Duration::from_secs(1) };

    #[test]
    fn quantiles_are_of_the_measured_messages_alone() {
        let mut samples = Samples::new(&LOAD);
        let mut payload = [0; 20];
        for number in 0..WARM_UP + 99 {
            stamp_with(&mut payload, number, 1000);
            // The number is the latency in microseconds.
            assert!(!samples.note(&payload, 1000 + (number + 1 - WARM_UP.min(number)) * 1000));
        }
        let result = samples.result();
        assert_eq!((samples.received(), result.lost), (99, 1));
        assert_eq!((result.p50_us, result.p99_us), (50.0, 99.0));
        stamp_with(&mut payload, WARM_UP + 99, 1000);
        assert!(samples.note(&payload, 2000), "the last message");
    }

    #[test]
    fn nothing_received_is_no_median() {
        let result = Samples::new(&LOAD).result();
        assert_eq!((result.lost, result.p50_us), (100, 0.0));
    }

    #[test]
    fn of_several_receivers_the_slowest_counts() {
        let result =
            |p50_us| Measured { p50_us, lost: 1, medians_us: vec![p50_us], ..Measured::default() };
        let all = Measured::of_all(&[result(2.0), result(3.0)]);
        assert_eq!(
            (all.p50_us, all.lost, all.medians_us.as_slice()),
            (3.0, 2, [2.0, 3.0].as_slice())
        );
    }

    #[test]
    fn every_message_has_its_turn() {
        let mut numbers = Vec::new();
        let load = Load { rate_hz: 1e6, count: 5, ..LOAD };
        load.pace(|number| {
            numbers.push(number);
            Ok(())
        })
        .expect("nothing fails");
        assert_eq!(numbers, (0..15).collect::<Vec<_>>());
    }
}
