//! Decides when failed components are restarted: after a delay that doubles with each failure,
//! until a long run resets it.

use std::time::Duration;

/// The delay after the first failure.
const FIRST_DELAY: Duration = Duration::from_millis(100);
/// The longest delay.
const MAX_DELAY: Duration = Duration::from_secs(10);
/// A component that ran this long is stable: its earlier failures no longer count.
const STABLE_AFTER: Duration = Duration::from_secs(60);

/// Whether and how many times components are restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestartPolicy {
    /// A failed component stays listed as failed until it is unloaded.
    #[default]
    Never,
    /// A failed component is restarted, at most `limit` times in a row without a stable run.
    OnFailure {
        /// The limit; `None` for no limit.
        limit: Option<u32>,
    },
}

/// The number of consecutive failures of one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Failures(u32);

impl Failures {
    /// Counts a failure after a run of this length. Returns the delay before the restart, or `None`
    /// if the component is not to be restarted.
    pub(crate) fn next_delay(&mut self, policy: RestartPolicy, ran: Duration) -> Option<Duration> {
        if ran >= STABLE_AFTER {
            self.0 = 0;
        }
        self.0 = self.0.saturating_add(1);
        let RestartPolicy::OnFailure { limit } = policy else { return None };
        let doubled = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(self.0 - 1)).min(MAX_DELAY);
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
            (0..9).map(|_| failures.next_delay(policy, SHORT).unwrap().as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        let mut failures = Failures(u32::MAX);
        assert_eq!(failures.next_delay(policy, SHORT), Some(MAX_DELAY));
    }

    #[test]
    fn a_good_run_is_a_new_beginning() {
        let policy = RestartPolicy::OnFailure { limit: Some(2) };
        let mut failures = Failures::default();
        assert!(failures.next_delay(policy, SHORT).is_some());
        assert!(failures.next_delay(policy, SHORT).is_some());
        assert_eq!(failures.next_delay(policy, SHORT), None, "twice is enough");
        assert_eq!(failures.next_delay(policy, STABLE_AFTER), Some(FIRST_DELAY));
    }

    #[test]
    fn without_a_policy_nothing_is_started_again() {
        assert_eq!(Failures::default().next_delay(RestartPolicy::Never, STABLE_AFTER), None);
    }
}
