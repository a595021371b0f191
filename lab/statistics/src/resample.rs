//! Draws medians of resamples without resampling.
//!
//! A resample of n sorted samples takes the sample at `floor(n * U)` for n uniform numbers U. Its
//! k-th smallest is therefore the sample at `floor(n * B)`, where B is the k-th smallest of n
//! uniform numbers, which is known to follow Beta(k, n + 1 - k). One draw gives what drawing and
//! sorting n samples would give, so a hundred thousand samples cost as much as ten.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution as _};

/// The number of draws, which is enough to keep the third digit of the interval's edges steady.
const RESAMPLES: usize = 2000;

/// The source of a median: sorted samples, or a histogram of them.
pub(super) trait Ranked {
    /// The number of samples.
    fn count(&self) -> u64;
    /// The sample at this index in sorted order.
    fn at_rank(&self, rank: u64) -> f64;
}

impl Ranked for &[u64] {
    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn at_rank(&self, rank: u64) -> f64 {
        self[rank as usize] as f64
    }
}

/// Draws medians of resamples of one set of samples.
pub(super) struct MedianOfResample<R> {
    samples: R,
    lower: Beta<f64>,
    /// The step from the lower of two middle samples to the upper middle sample; `None` if there is
    /// only one middle sample.
    step: Option<Beta<f64>>,
}

impl<R: Ranked> MedianOfResample<R> {
    /// Returns `None` if there are no samples.
    pub(super) fn new(samples: R) -> Option<Self> {
        let count = samples.count();
        if count == 0 {
            return None;
        }
        let middle = count.div_ceil(2) as f64;
        let above = count as f64 - middle;
        let lower = Beta::new(middle, above + 1.0).ok()?;
        let step = if count.is_multiple_of(2) { Some(Beta::new(1.0, above).ok()?) } else { None };
        Some(Self { samples, lower, step })
    }

    /// Draws the median of one resample.
    pub(super) fn draw(&self, random: &mut ChaCha8Rng) -> f64 {
        let lower = self.lower.sample(random);
        match &self.step {
            None => self.sample_at(lower),
            Some(step) => {
                let upper = lower + (1.0 - lower) * step.sample(random);
                (self.sample_at(lower) + self.sample_at(upper)) / 2.0
            }
        }
    }

    fn sample_at(&self, share: f64) -> f64 {
        let count = self.samples.count();
        self.samples.at_rank(((share * count as f64) as u64).min(count - 1))
    }
}

/// A generator whose numbers are the same on every machine and with every version of the library.
pub(super) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The 95 % percentile-bootstrap interval of the median of at least one sample.
pub(super) fn median_interval(sorted: &[u64], seed: u64) -> (f64, f64) {
    let Some(median) = MedianOfResample::new(sorted) else { return (f64::NAN, f64::NAN) };
    let mut random = random(seed);
    percentile_interval((0..RESAMPLES).map(|_| median.draw(&mut random)).collect())
}

/// The bounds between which 95 % of the draws lie.
pub(super) fn percentile_interval(mut draws: Vec<f64>) -> (f64, f64) {
    draws.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let position = (share * (draws.len() - 1) as f64).round() as usize;
        draws[position]
    };
    (at(0.025), at(0.975))
}

/// The number of draws that make an interval.
pub(super) fn resamples() -> usize {
    RESAMPLES
}
