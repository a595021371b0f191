//! Macros that log on a condition: only the first time, every time but the first, at most once per
//! period, or if an expression is true. Each macro call in the source code has its own state.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use feros_executor::Time;

/// Distinguishes the first call from all later calls.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct First(AtomicBool);

impl First {
    /// The state before the first call.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Returns whether this is the first call.
    pub fn is_first(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }
}

/// Lets at most one message pass per period.
#[doc(hidden)]
#[derive(Debug)]
pub struct Throttle(AtomicI64);

impl Throttle {
    const NEVER: i64 = i64::MIN;

    /// The state before the first message.
    pub const fn new() -> Self {
        Self(AtomicI64::new(Self::NEVER))
    }

    /// Returns whether a period has passed since this function last returned true. It also returns
    /// true after time has jumped back, for example because the playback of a recording has started
    /// over.
    pub fn is_due(&self, now: Time, period: Duration) -> bool {
        let last = self.0.load(Ordering::Relaxed);
        let (now_nanos, then) = (now.as_nanos(), Time::from_nanos(last));
        if last != Self::NEVER && now >= then && now < then + period {
            return false;
        }
        // If several threads call this function at the same time, only one thread may log its
        // message.
        self.0.compare_exchange(last, now_nanos, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl Default for Throttle {
    fn default() -> Self {
        Self::new()
    }
}

/// Defines the macros of one level. `$d` is the dollar sign for use within the defined macros.
macro_rules! conditional_macros {
    ($d:tt $level:ident $once:ident $skip_first:ident $throttle:ident $skip_first_throttle:ident $expression:ident) => {
        #[doc = concat!("Like [`", stringify!($level), "!`](crate::", stringify!($level), "), the first time only.")]
        #[macro_export]
        macro_rules! $once {
            ($d node:expr, $d($d text:tt)+) => {{
                static FIRST: $crate::logging::First = $crate::logging::First::new();
                if FIRST.is_first() {
                    $crate::$level!($d node, $d($d text)+);
                }
            }};
        }

        #[doc = concat!("Like [`", stringify!($level), "!`](crate::", stringify!($level), "), but not the first time.")]
        #[macro_export]
        macro_rules! $skip_first {
            ($d node:expr, $d($d text:tt)+) => {{
                static FIRST: $crate::logging::First = $crate::logging::First::new();
                if !FIRST.is_first() {
                    $crate::$level!($d node, $d($d text)+);
                }
            }};
        }

        #[doc = concat!("Like [`", stringify!($level), "!`](crate::", stringify!($level), "), at most once per period of a clock:")]
        #[doc = concat!("`feros::", stringify!($throttle), "!(node, node.clock(), Duration::from_secs(1), \"text\")`.")]
        #[macro_export]
        macro_rules! $throttle {
            ($d node:expr, $d clock:expr, $d period:expr, $d($d text:tt)+) => {{
                static THROTTLE: $crate::logging::Throttle = $crate::logging::Throttle::new();
                if THROTTLE.is_due($d clock.now(), $d period) {
                    $crate::$level!($d node, $d($d text)+);
                }
            }};
        }

        #[doc = concat!("Like [`", stringify!($throttle), "!`](crate::", stringify!($throttle), "), but not the first time.")]
        #[macro_export]
        macro_rules! $skip_first_throttle {
            ($d node:expr, $d clock:expr, $d period:expr, $d($d text:tt)+) => {{
                static FIRST: $crate::logging::First = $crate::logging::First::new();
                static THROTTLE: $crate::logging::Throttle = $crate::logging::Throttle::new();
                if THROTTLE.is_due($d clock.now(), $d period) && !FIRST.is_first() {
                    $crate::$level!($d node, $d($d text)+);
                }
            }};
        }

        #[doc = concat!("Like [`", stringify!($level), "!`](crate::", stringify!($level), "), if an expression holds:")]
        #[doc = concat!("`feros::", stringify!($expression), "!(node, speed > 1.0, \"fast\")`.")]
        #[macro_export]
        macro_rules! $expression {
            ($d node:expr, $d condition:expr, $d($d text:tt)+) => {{
                if $d condition {
                    $crate::$level!($d node, $d($d text)+);
                }
            }};
        }
    };
}

conditional_macros!($ debug debug_once debug_skip_first debug_throttle debug_skip_first_throttle debug_expression);
conditional_macros!($ info info_once info_skip_first info_throttle info_skip_first_throttle info_expression);
conditional_macros!($ warn warn_once warn_skip_first warn_throttle warn_skip_first_throttle warn_expression);
conditional_macros!($ error error_once error_skip_first error_throttle error_skip_first_throttle error_expression);
conditional_macros!($ fatal fatal_once fatal_skip_first fatal_throttle fatal_skip_first_throttle fatal_expression);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_passes_per_period_and_again_after_a_jump_back() {
        let throttle = Throttle::new();
        let at = |seconds: i64| {
            throttle.is_due(Time::from_nanos(seconds * 1_000_000_000), Duration::from_secs(10))
        };
        let passed: Vec<i64> = [0, 1, 9, 10, 15, 20, 25, 3, 4, 13]
            .into_iter()
            .filter(|&seconds| at(seconds))
            .collect();
        assert_eq!(passed, [0, 10, 20, 3, 13]);
    }
}
