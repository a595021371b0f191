//! Maps numbers to positions on an axis, and chooses readable ticks.

use super::quantity::{LARGEST, Unit};
use crate::record::Value;

/// An axis, which maps a number to its position between the ends, from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    Linear {
        low: f64,
        high: f64,
    },
    Log {
        low: f64,
        high: f64,
    },
    /// This many positions at equal distances; numbers are their indices.
    Places(usize),
}

/// If the largest number is at least this multiple of the smallest, a logarithmic axis is easier to
/// read.
pub(crate) const LOG_FROM: f64 = 20.0;

impl Scale {
    /// An axis on which these numbers fit.
    pub(crate) fn of_values(numbers: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers.filter(|number| number.is_finite()) {
            low = low.min(number);
            high = high.max(number);
        }
        if low > high {
            return Self::Linear { low: 0.0, high: 1.0 };
        }
        if low > 0.0 && high / low >= LOG_FROM {
            return Self::Log { low: low * 0.85, high: high * 1.15 };
        }
        let top = if high > 0.0 { high * 1.06 } else { 1.0 };
        Self::Linear { low: low.min(0.0), high: top.max(f64::MIN_POSITIVE) }
    }

    /// A linear axis from 0 on which these numbers fit.
    pub(crate) fn from_zero(numbers: impl Iterator<Item = f64>) -> Self {
        let high = numbers.filter(|number| number.is_finite()).fold(0.0, f64::max);
        Self::Linear { low: 0.0, high: if high > 0.0 { high * 1.05 } else { 1.0 } }
    }

    /// The axis of a dimension: logarithmic for a wide range of numbers, equal distances for words.
    pub(crate) fn of_dimension(values: &[Value]) -> Self {
        let numbers: Option<Vec<f64>> = values
            .iter()
            .map(|value| match value {
                Value::Number(number) if number.abs() <= LARGEST => Some(*number),
                _ => None,
            })
            .collect();
        match numbers.as_deref() {
            Some([low, .., high]) if *low > 0.0 && high / low >= LOG_FROM => {
                Self::Log { low: *low, high: *high }
            }
            Some([low, .., high]) if high > low => Self::Linear { low: *low, high: *high },
            _ => Self::Places(values.len()),
        }
    }

    /// The position of a number.
    pub(crate) fn at(&self, number: f64) -> f64 {
        match *self {
            Self::Linear { low, high } => (number - low) / (high - low).max(f64::MIN_POSITIVE),
            Self::Log { low, high } => {
                (number.max(f64::MIN_POSITIVE).ln() - low.ln())
                    / (high.ln() - low.ln()).max(f64::MIN_POSITIVE)
            }
            Self::Places(count) => (number + 0.5) / count.max(1) as f64,
        }
    }

    /// The position of a dimension's value.
    pub(crate) fn at_value(&self, index: usize, value: &Value) -> f64 {
        match (self, value) {
            (Self::Places(_), _) | (_, Value::Text(_)) => self.at(index as f64),
            (_, Value::Number(number)) => self.at(*number),
        }
    }

    /// The ticks with their labels. Their number is close to `about`.
    pub(crate) fn ticks(&self, unit: Unit, about: usize) -> Vec<(f64, String)> {
        let numbers = match *self {
            Self::Linear { low, high } => linear_ticks(low, high, unit, about),
            Self::Log { low, high } if unit.is_binary() => binary_ticks(low, high, about),
            Self::Log { low, high } => decimal_ticks(low, high, about),
            Self::Places(_) => Vec::new(),
        };
        numbers.into_iter().map(|number| (number, unit.show(number))).collect()
    }
}

fn linear_ticks(low: f64, high: f64, unit: Unit, about: usize) -> Vec<f64> {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return vec![low];
    }
    let wanted = span / about.max(1) as f64;
    // Steps are round numbers in the unit that is shown, such as KB or MB, and not thousands of
    // bytes.
    let factor =
        if unit.is_binary() { 1024_f64.powf((wanted.log2() / 10.0).floor().max(0.0)) } else { 1.0 };
    let decade = 10_f64.powf((wanted / factor).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|round| round * decade * factor)
        .into_iter()
        .find(|step| *step >= wanted)
        .unwrap_or(wanted);
    let first = (low / step).ceil() as i64;
    (0..=2 * about as i64 + 2)
        .map(|index| (first + index) as f64 * step)
        .take_while(|tick| *tick <= high)
        .collect()
}

fn decimal_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let every = |rounds: &[f64], step: usize| -> Vec<f64> {
        (first..=last)
            .filter(|exponent| exponent.rem_euclid(step as i32) == 0)
            .flat_map(|exponent| rounds.iter().map(move |round| round * 10_f64.powi(exponent)))
            .filter(|tick| (low..=high).contains(tick))
            .collect()
    };
    let decades = last.abs_diff(first) as usize + 1;
    let every_so_many = decades.div_ceil(about.max(1)).max(2);
    let choices = [
        every(&[1.0, 2.0, 5.0], 1),
        every(&[1.0, 3.0], 1),
        every(&[1.0], 1),
        every(&[1.0], every_so_many),
    ];
    let fitting = choices.iter().find(|ticks| ticks.len() <= about + 1).or(choices.last());
    fitting.cloned().unwrap_or_default()
}

fn binary_ticks(low: f64, high: f64, about: usize) -> Vec<f64> {
    let (first, last) = (low.log2().ceil() as i32, high.log2().floor() as i32);
    let count = (last - first + 1).max(1) as usize;
    let step = [1, 2, 4, 5, 10]
        .into_iter()
        .find(|step| count.div_ceil(*step) <= about + 1)
        .unwrap_or_else(|| count.div_ceil(about.max(1)).max(1));
    (first..=last)
        .filter(|exponent| exponent.rem_euclid(step as i32) == 0)
        .map(|exponent| 2_f64.powi(exponent))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: &Scale, unit: Unit) -> Vec<String> {
        scale.ticks(unit, 6).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_in_their_unit() {
        let times = Scale::of_values([18_000.0, 2_400_000.0].into_iter());
        assert_eq!(
            texts(&times, Unit::Nanos),
            ["20 µs", "50 µs", "100 µs", "200 µs", "500 µs", "1 ms", "2 ms"]
        );
        let sizes = Scale::Log { low: 256.0, high: 4_194_304.0 };
        assert_eq!(texts(&sizes, Unit::Bytes), ["256 B", "4 KB", "64 KB", "1 MB"]);
        let memory = Scale::of_values([3e6, 2.5e7].into_iter());
        assert_eq!(texts(&memory, Unit::Bytes), ["0", "5 MB", "10 MB", "15 MB", "20 MB", "25 MB"]);
        let wide = Scale::of_values([1.0, 1e12].into_iter());
        assert!(wide.ticks(Unit::Count, 6).len() <= 7);
    }

    #[test]
    fn axes_hold_everything_and_odd_numbers_do_no_harm() {
        for numbers in [
            vec![],
            vec![0.0],
            vec![5.0],
            vec![-3.0, 4.0],
            vec![f64::NAN, 2.0],
            vec![1e300, 1e-300],
            vec![f64::MAX],
        ] {
            let scale = Scale::of_values(numbers.iter().copied());
            for number in numbers.iter().filter(|number| number.is_finite()) {
                let at = scale.at(*number);
                assert!((-1e-9..=1.0 + 1e-9).contains(&at), "{number} lies at {at} of {scale:?}");
            }
            assert!(scale.ticks(Unit::Nanos, 6).len() < 20);
        }
    }

    #[test]
    fn dimensions_have_the_scale_that_fits() {
        let numbers =
            |values: &[f64]| values.iter().map(|value| Value::Number(*value)).collect::<Vec<_>>();
        assert!(matches!(Scale::of_dimension(&numbers(&[256.0, 1048576.0])), Scale::Log { .. }));
        assert!(matches!(Scale::of_dimension(&numbers(&[3.0, 5.0, 23.0])), Scale::Linear { .. }));
        assert_eq!(Scale::of_dimension(&numbers(&[5.0])), Scale::Places(1));
        assert_eq!(
            Scale::of_dimension(&[Value::Text("a".into()), Value::Text("b".into())]),
            Scale::Places(2)
        );
        assert_eq!(Scale::Places(2).at_value(1, &Value::Text("b".into())), 0.75);
    }
}
