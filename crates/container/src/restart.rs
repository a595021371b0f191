//! When a failed component is started again: after a pause that doubles with each failure, and
//! begins anew after a good run.

use std::time::Duration;

/// The pause after the first failure.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(10);
/// A component that ran this long has recovered: its failures are forgotten.
const RECOVERED: Duration = Duration::from_secs(60);

/// Whether and how often components are started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestartPolicy {
    /// A failed component stays listed as failed until it is unloaded.
    #[default]
    Never,
    /// It is started again, at most so many times in a row without a good run.
    OnFailure {
        /// How many times; `None` knows no end.
        limit: Option<u32>,
    },
}

/// Failures of one component in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Failures(u32);

impl Failures {
    /// Counts a failure after a run of this length; the pause before the next start, if there is to
    /// be one.
    pub(crate) fn next_pause(&mut self, policy: RestartPolicy, ran: Duration) -> Option<Duration> {
        if ran >= RECOVERED {
            self.0 = 0;
        }
        self.0 = self.0.saturating_add(1);
        let RestartPolicy::OnFailure { limit } = policy else { return None };
        let doubled = FIRST.saturating_mul(2_u32.saturating_pow(self.0 - 1)).min(LONGEST);
        limit.is_none_or(|limit| self.0 <= limit).then_some(doubled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_double_up_to_a_limit() {
        let policy = RestartPolicy::OnFailure { limit: None };
        let mut failures = Failures::default();
        let pauses: Vec<_> =
            (0..9).map(|_| failures.next_pause(policy, SHORT).unwrap().as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        let mut failures = Failures(u32::MAX);
        assert_eq!(failures.next_pause(policy, SHORT), Some(LONGEST));
    }

    #[test]
    fn a_good_run_is_a_new_beginning() {
        let policy = RestartPolicy::OnFailure { limit: Some(2) };
        let mut failures = Failures::default();
        assert!(failures.next_pause(policy, SHORT).is_some());
        assert!(failures.next_pause(policy, SHORT).is_some());
        assert_eq!(failures.next_pause(policy, SHORT), None, "twice is enough");
        assert_eq!(failures.next_pause(policy, RECOVERED), Some(FIRST));
    }

    #[test]
    fn without_a_policy_nothing_is_started_again() {
        assert_eq!(Failures::default().next_pause(RestartPolicy::Never, RECOVERED), None);
    }
}
