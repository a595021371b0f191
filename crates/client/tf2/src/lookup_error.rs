//! Why a lookup failed, in words that name frames and times.

use feros_executor::Time;

/// Why a lookup failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No frame can have this name: `tf2::InvalidArgumentException`.
    #[error(
        "Invalid argument \"{frame}\" passed to lookupTransform argument {argument} - in tf2 \
         frame_ids cannot {}",
        rule_for(frame)
    )]
    InvalidFrame {
        /// The argument: `target_frame`, `source_frame` or `fixed_frame`.
        argument: &'static str,
        /// The name.
        frame: String,
    },
    /// The buffer knows no frame of this name: `tf2::LookupException`.
    #[error(
        "\"{frame}\" passed to lookupTransform argument {argument} does not exist{}",
        did_you_mean(nearest.as_deref())
    )]
    UnknownFrame {
        /// The argument: `target_frame`, `source_frame` or `fixed_frame`.
        argument: &'static str,
        /// The name.
        frame: String,
        /// The name of a known frame that is similar.
        nearest: Option<String>,
    },
    /// No chain of frames connects the two frames: `tf2::ConnectivityException`.
    #[error(
        "Could not find a connection between '{target}' and '{source_frame}' because they are not \
         part of the same tree: the root of '{target}' is '{target_root}', that of \
         '{source_frame}' is '{source_root}'. A node has to publish the transform from one root to \
         a frame of the other tree"
    )]
    NotConnected {
        /// The target frame.
        target: String,
        /// The source frame.
        source_frame: String,
        /// The root of the tree of the target.
        target_root: String,
        /// The root of the tree of the source.
        source_root: String,
    },
    /// The time is after the newest sample: `tf2::ExtrapolationException`.
    #[error(
        "Lookup would require extrapolation into the future. Requested time {} but the latest data \
         of frame [{frame}] is at time {}, when looking up transform from frame [{source_frame}] to \
         frame [{target}]",
        seconds(*requested),
        seconds(*latest)
    )]
    Future {
        /// The target frame.
        target: String,
        /// The source frame.
        source_frame: String,
        /// The frame of the chain that has no transform for the time.
        frame: String,
        /// The time of the lookup.
        requested: Time,
        /// The time of the frame's newest sample.
        latest: Time,
    },
    /// The time is before the oldest sample: `tf2::ExtrapolationException`.
    #[error(
        "Lookup would require extrapolation into the past. Requested time {} but the earliest data \
         of frame [{frame}] is at time {}, when looking up transform from frame [{source_frame}] to \
         frame [{target}]",
        seconds(*requested),
        seconds(*earliest)
    )]
    Past {
        /// The target frame.
        target: String,
        /// The source frame.
        source_frame: String,
        /// The frame of the chain that has no transform for the time.
        frame: String,
        /// The time of the lookup.
        requested: Time,
        /// The time of the frame's oldest sample.
        earliest: Time,
        /// The time of the frame's newest sample.
        latest: Time,
    },
    /// The only sample has another time: `tf2::ExtrapolationException`.
    #[error(
        "Lookup would require extrapolation at time {}, but only time {} of frame [{frame}] is in \
         the buffer, when looking up transform from frame [{source_frame}] to frame [{target}]",
        seconds(*requested),
        seconds(*only)
    )]
    OneSample {
        /// The target frame.
        target: String,
        /// The source frame.
        source_frame: String,
        /// The frame of the chain that has no transform for the time.
        frame: String,
        /// The time of the lookup.
        requested: Time,
        /// The time of the frame's only sample.
        only: Time,
    },
    /// The frames form a loop at that time, since parents changed: `tf2::LookupException`.
    #[error(
        "The tf tree is invalid because it contains a loop at time {}: {}. Two publishers disagree \
         about which frame is the parent",
        seconds(*requested),
        chain.join(" -> ")
    )]
    Loop {
        /// The time of the lookup.
        requested: Time,
        /// The frames upwards from one frame of the loop, until that frame appears again.
        chain: Vec<String>,
    },
    /// The chain has more frames than a lookup may follow.
    #[error(
        "The chain of frames upwards from '{frame}' has more than {deepest} frames: look for a \
         publisher that sends a new parent frame each time"
    )]
    TooDeep {
        /// The frame at which the chain begins.
        frame: String,
        /// The limit on frames that a lookup follows.
        deepest: usize,
    },
}

impl LookupError {
    /// Whether no later transform can make the same lookup succeed: a name is wrong, or `asked` is
    /// further in the past than the buffer keeps transforms. A lookup at [`Time::ZERO`], the newest
    /// time, may always succeed later.
    #[must_use]
    pub fn is_final(&self, asked: Time, cache: std::time::Duration) -> bool {
        match self {
            Self::InvalidFrame { .. } => true,
            Self::Past { latest, .. } | Self::OneSample { only: latest, .. } => {
                asked != Time::ZERO && asked < *latest - cache
            }
            _ => false,
        }
    }
}

fn rule_for(frame: &str) -> &'static str {
    if frame.is_empty() { "be empty" } else { "start with a '/'" }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

/// Formats a time in seconds, with all digits.
pub(crate) fn seconds(time: Time) -> String {
    let nanos = time.as_nanos();
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    format!("{sign}{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_to_the_nanosecond() {
        assert_eq!(seconds(Time::from_nanos(1_500_000_001)), "1.500000001");
        assert_eq!(seconds(Time::from_nanos(-1_500_000_000)), "-1.500000000");
        assert_eq!(seconds(Time::from_nanos(i64::MIN)), "-9223372036.854775808");
    }
}
