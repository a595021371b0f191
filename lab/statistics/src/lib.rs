//! Statistics of samples: quantiles, the interval of the median, and whether two systems differ.
//!
//! Samples of one process are closer to each other than to samples of another process of the same
//! program. So a comparison draws from both levels: whole repetitions first, then samples within
//! each. It reports "no difference" when the data do not show one.
//!
//! This is a separate crate because tests spend most of their time in it: it is small, and always
//! built with optimization.

mod comparison;
mod histogram;
mod line;
mod resample;

pub use comparison::{Comparison, Repetition, Verdict, compare, median_over_repetitions};
pub use histogram::HistogramError;
pub use line::{Line, growth_exponent, power_law};

use hdrhistogram::Histogram;

use serde::{Deserialize, Serialize};

/// A distribution of numbers, such as times or sizes; all values are in the unit of the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The number of samples.
    pub count: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The smallest sample.
    pub min: f64,
    /// The 5th percentile: 5 % of the samples are no larger.
    pub p5: f64,
    /// The lower edge of a box: the first quartile.
    pub p25: f64,
    /// The median.
    pub p50: f64,
    /// The upper edge of a box: the third quartile.
    pub p75: f64,
    /// The 95th percentile: 95 % of the samples are no larger.
    pub p95: f64,
    /// The 99th percentile: 99 % of the samples are no larger.
    pub p99: f64,
    /// The largest sample.
    pub max: f64,
    /// The 95 % bootstrap confidence interval of the median.
    pub median_interval: (f64, f64),
    /// All samples as an HDR histogram (V2, deflated, base64).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
}

impl Distribution {
    /// The distribution of these samples; `None` if there are no samples.
    ///
    /// Quantiles between two samples lie on the line that joins them (type 7 of Hyndman and Fan,
    /// the default of R and NumPy). The interval of the median is the percentile-bootstrap
    /// interval; the same samples and seed give the same interval.
    pub fn of(samples: &[u64], seed: u64) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let sum: u128 = sorted.iter().map(|&sample| u128::from(sample)).sum();
        Some(Self {
            count: sorted.len() as u64,
            mean: sum as f64 / sorted.len() as f64,
            min: min as f64,
            p5: quantile(&sorted, 0.05),
            p25: quantile(&sorted, 0.25),
            p50: quantile(&sorted, 0.50),
            p75: quantile(&sorted, 0.75),
            p95: quantile(&sorted, 0.95),
            p99: quantile(&sorted, 0.99),
            max: max as f64,
            median_interval: resample::median_interval(&sorted, seed),
            histogram: Some(histogram::encode(&sorted)),
        })
    }

    /// All samples, with a precision of three digits.
    ///
    /// # Errors
    /// If there is no histogram, or it is not an HDR histogram (V2, deflated, base64).
    pub fn histogram(&self) -> Result<Histogram<u64>, HistogramError> {
        histogram::decode(self.histogram.as_deref().ok_or(HistogramError::Absent)?)
    }

    /// Merges distributions into one; `None` if there are no samples. Quantiles come from the
    /// histograms if all parts have a histogram. Otherwise, quantiles are the means of the parts'
    /// quantiles, weighted by count. The interval of the median spans the intervals of all parts.
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let parts: Vec<&Self> = parts.into_iter().filter(|part| part.count > 0).collect();
        match parts.as_slice() {
            [] => return None,
            [one] => return Some((*one).clone()),
            _ => {}
        }
        let count: u64 = parts.iter().map(|part| part.count).fold(0, u64::saturating_add);
        let weighted = |of: fn(&Self) -> f64| {
            parts.iter().map(|part| of(part) * part.count as f64).sum::<f64>() / count as f64
        };
        let extreme = |of: fn(&Self) -> f64, pick: fn(f64, f64) -> f64| {
            parts.iter().map(|part| of(part)).reduce(pick).unwrap_or(f64::NAN)
        };
        let together = histogram::sum(&parts);
        let at = |share: f64, of: fn(&Self) -> f64| match &together {
            Some(histogram) => histogram.value_at_quantile(share) as f64,
            None => weighted(of),
        };
        Some(Self {
            count,
            mean: weighted(|part| part.mean),
            min: extreme(|part| part.min, f64::min),
            p5: at(0.05, |part| part.p5),
            p25: at(0.25, |part| part.p25),
            p50: at(0.50, |part| part.p50),
            p75: at(0.75, |part| part.p75),
            p95: at(0.95, |part| part.p95),
            p99: at(0.99, |part| part.p99),
            max: extreme(|part| part.max, f64::max),
            median_interval: (
                extreme(|part| part.median_interval.0, f64::min),
                extreme(|part| part.median_interval.1, f64::max),
            ),
            histogram: together.as_ref().map(histogram::text),
        })
    }
}

/// The quantile of type 7: interpolated linearly between the two neighbouring samples.
fn quantile(sorted: &[u64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize] as f64;
    let above = sorted[position.ceil() as usize] as f64;
    below + (above - below) * position.fract()
}

#[cfg(test)]
mod tests;
