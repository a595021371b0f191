//! The newest measurements and their statistics.

use std::collections::VecDeque;

/// The newest values, up to a limit.
#[derive(Debug)]
pub(in crate::commands) struct Window {
    values: VecDeque<f64>,
    size: usize,
}

/// Statistics of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::commands) struct Statistics {
    pub(in crate::commands) mean: f64,
    pub(in crate::commands) min: f64,
    pub(in crate::commands) max: f64,
    pub(in crate::commands) std_dev: f64,
    pub(in crate::commands) count: usize,
}

impl Window {
    /// An empty window for `size` values, at least 1.
    pub(in crate::commands) fn new(size: usize) -> Self {
        Self { values: VecDeque::new(), size: size.max(1) }
    }

    /// Adds a value; if the window is full, the oldest value is dropped.
    pub(in crate::commands) fn push(&mut self, value: f64) {
        if self.values.len() == self.size {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    /// Forgets all values.
    pub(in crate::commands) fn clear(&mut self) {
        self.values.clear();
    }

    /// The oldest value.
    pub(in crate::commands) fn oldest(&self) -> Option<f64> {
        self.values.front().copied()
    }

    /// The statistics of the values in the window, if there are any.
    pub(in crate::commands) fn statistics(&self) -> Option<Statistics> {
        let count = self.values.len();
        if count == 0 {
            return None;
        }
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        let n = count as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        let variance = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        let min = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some(Statistics { mean, min, max, std_dev: variance.sqrt(), count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_values_make_room() {
        let mut window = Window::new(3);
        assert_eq!(window.statistics(), None);
        [100.0, 1.0, 2.0, 3.0].into_iter().for_each(|value| window.push(value));
        assert_eq!(window.oldest(), Some(1.0));
        let expected =
            Statistics { mean: 2.0, min: 1.0, max: 3.0, std_dev: (2.0_f64 / 3.0).sqrt(), count: 3 };
        assert_eq!(window.statistics(), Some(expected));
        window.clear();
        assert_eq!(window.statistics(), None);
    }
}
