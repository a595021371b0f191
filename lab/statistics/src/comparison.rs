//! Decides whether the median of one system is smaller than the median of another system, or
//! whether no difference can be shown.

use hdrhistogram::Histogram;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::Distribution;
use crate::resample::{self, MedianOfResample, Ranked};

/// With one repetition, the spread between repetitions is unknown. A ratio closer to 1 than this
/// margin then does not count as a difference.
const MARGIN_OF_ONE_REPETITION: f64 = 0.10;

/// A value outside this range is not a measurement, and ratios with it could overflow.
const SMALLEST: f64 = 1e-18;
const LARGEST: f64 = 1e18;

/// The median of one repetition and its interval, ready to be resampled.
pub struct Repetition {
    median: f64,
    source: Source,
}

enum Source {
    Samples(MedianOfResample<Ranks>),
    /// Only the quantiles are known, so the draws lie between the edges of the interval.
    Interval(f64, f64),
}

impl Repetition {
    /// Returns `None` if there are no samples, or if their median is not above 0, since a ratio to
    /// it would be meaningless.
    pub fn of(distribution: &Distribution) -> Option<Self> {
        let usable = distribution.count > 0 && (SMALLEST..LARGEST).contains(&distribution.p50);
        if !usable {
            return None;
        }
        let source = distribution
            .histogram()
            .ok()
            .and_then(|histogram| MedianOfResample::new(Ranks::of(&histogram)));
        Some(Self {
            median: distribution.p50,
            source: match source {
                Some(samples) => Source::Samples(samples),
                None => Source::Interval(
                    distribution.median_interval.0.clamp(SMALLEST, distribution.p50),
                    distribution.median_interval.1.clamp(distribution.p50, LARGEST),
                ),
            },
        })
    }

    /// Makes a repetition of a quantity with one number per repetition; `None` if a ratio to it
    /// would be meaningless.
    pub fn of_number(number: f64) -> Option<Self> {
        (SMALLEST..LARGEST)
            .contains(&number)
            .then_some(Self { median: number, source: Source::Interval(number, number) })
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> f64 {
        match &self.source {
            Source::Samples(samples) => samples.draw(random),
            Source::Interval(low, high) => low + (high - low) * random.random::<f64>(),
        }
    }
}

/// The samples of a histogram in order: (number of samples up to this value, value).
struct Ranks(Vec<(u64, u64)>);

impl Ranks {
    fn of(histogram: &Histogram<u64>) -> Self {
        let mut until = 0_u64;
        let steps = histogram.iter_recorded().map(|step| {
            until = until.saturating_add(step.count_since_last_iteration());
            (until, histogram.median_equivalent(step.value_iterated_to()))
        });
        Self(steps.collect())
    }
}

impl Ranked for Ranks {
    fn count(&self) -> u64 {
        self.0.last().map_or(0, |&(until, _)| until)
    }

    fn at_rank(&self, rank: u64) -> f64 {
        let step = self.0.partition_point(|&(until, _)| until <= rank);
        self.0[step.min(self.0.len() - 1)].1 as f64
    }
}

/// The conclusion about which of two systems has the smaller median.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The first has the smaller median.
    Smaller,
    /// The first has the larger median.
    Larger,
    /// No difference: the interval of the ratio contains 1, or too little is known.
    NoDifference,
}

/// The first median divided by the second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The geometric mean of the first system's medians, divided by the geometric mean of the
    /// second system's medians.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub interval: (f64, f64),
    /// The conclusion from the ratio and its interval.
    pub verdict: Verdict,
    /// The number of repetitions of the system that has fewer. If it is 1, the interval does not
    /// cover the spread between repetitions.
    pub repetitions: usize,
}

/// Compares two systems, or one system in two runs, by their repetitions; `None` if either side has
/// no repetition.
///
/// Repetitions are drawn first, then samples within each. Few repetitions underestimate their own
/// spread, so the interval is widened by the factor that Student's distribution gives for their
/// number. The same input and seed give the same answer.
pub fn compare(first: &[Repetition], second: &[Repetition], seed: u64) -> Option<Comparison> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let mut random = resample::random(seed);
    let estimate = mean_log(first) - mean_log(second);
    let draws = (0..resample::resamples())
        .map(|_| drawn_mean_log(first, &mut random) - drawn_mean_log(second, &mut random))
        .collect();
    let (low, high) = resample::percentile_interval(draws);
    let repetitions = first.len().min(second.len());
    let widened = widening(repetitions, first.len() + second.len() - 2);
    let interval = (
        (estimate - (estimate - low).max(0.0) * widened).exp(),
        (estimate + (high - estimate).max(0.0) * widened).exp(),
    );
    let ratio = estimate.exp();
    Some(Comparison {
        ratio,
        interval,
        verdict: verdict(ratio, interval, repetitions),
        repetitions,
    })
}

/// A system's median over its repetitions and the 95 % interval, computed as in [`compare`]; `None`
/// if there are no repetitions.
pub fn median_over_repetitions(repetitions: &[Repetition], seed: u64) -> Option<(f64, (f64, f64))> {
    if repetitions.is_empty() {
        return None;
    }
    let mut random = resample::random(seed);
    let estimate = mean_log(repetitions);
    let draws =
        (0..resample::resamples()).map(|_| drawn_mean_log(repetitions, &mut random)).collect();
    let (low, high) = resample::percentile_interval(draws);
    let widened = widening(repetitions.len(), repetitions.len() - 1);
    let edge = |distance: f64| (estimate + distance * widened).exp();
    Some((estimate.exp(), (edge((low - estimate).min(0.0)), edge((high - estimate).max(0.0)))))
}

fn verdict(ratio: f64, interval: (f64, f64), repetitions: usize) -> Verdict {
    let too_near = repetitions < 2 && ratio.ln().abs() < (1.0 + MARGIN_OF_ONE_REPETITION).ln();
    match interval {
        _ if too_near => Verdict::NoDifference,
        (_, high) if high < 1.0 => Verdict::Smaller,
        (low, _) if low > 1.0 => Verdict::Larger,
        _ => Verdict::NoDifference,
    }
}

fn mean_log(repetitions: &[Repetition]) -> f64 {
    repetitions.iter().map(|repetition| repetition.median.ln()).sum::<f64>()
        / repetitions.len() as f64
}

/// The same mean over the same number of repetitions, drawn with replacement. Each repetition
/// contributes the median of one resample.
fn drawn_mean_log(repetitions: &[Repetition], random: &mut ChaCha8Rng) -> f64 {
    let count = repetitions.len();
    let sum: f64 = (0..count)
        .map(|_| {
            let drawn = &repetitions[random.random_range(0..count)];
            // A resample may consist of zeros only; the logarithm must stay finite.
            drawn.draw(random).max(SMALLEST).ln()
        })
        .sum();
    sum / count as f64
}

/// The factor by which a percentile-bootstrap interval over this many repetitions is too narrow:
/// the bootstrap uses the normal distribution instead of Student's and divides the variance by n
/// instead of n - 1.
///
/// `freedom`: the degrees of freedom of the spread between repetitions; in a comparison, the sum of
/// the degrees of both systems.
fn widening(repetitions: usize, freedom: usize) -> f64 {
    // The 97.5 % quantiles of Student's distribution with 1, 2, ... degrees of freedom.
    const STUDENT: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    const NORMAL: f64 = 1.960;
    if repetitions < 2 {
        return 1.0;
    }
    let student =
        STUDENT.get(freedom - 1).copied().unwrap_or(NORMAL * (1.0 + 1.3 / freedom as f64));
    student / NORMAL * (repetitions as f64 / (repetitions - 1) as f64).sqrt()
}
