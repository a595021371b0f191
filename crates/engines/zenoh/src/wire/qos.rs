//! The policies in a token. A policy's field is empty if the value is `rmw_zenoh`'s default
//! (`ros2/rmw_zenoh:rmw_zenoh_cpp/src/detail/liveliness_utils.cpp`, `qos_to_keyexpr` and
//! `keyexpr_to_qos`).

use std::time::Duration;

use feros_engine::{Durability, History, Liveliness, QosDuration, QosProfile, Reliability};

/// The default depth of `rmw_zenoh`.
pub const DEFAULT_DEPTH: usize = 42;

/// `RMW_DURATION_INFINITE`, the infinite duration of `rmw`.
const INFINITE: Duration = Duration::new(9_223_372_036, 854_775_807);

/// Writes the policies in this order: reliability, durability, history with depth, deadline,
/// lifespan, liveliness with its lease.
pub fn encode(qos: &QosProfile) -> String {
    let reliability = if qos.reliability == Reliability::BestEffort { "2" } else { "" };
    let durability = if qos.durability == Durability::TransientLocal { "1" } else { "" };
    let history = if qos.history == History::KeepAll { "2" } else { "" };
    let depth = if qos.depth == DEFAULT_DEPTH { String::new() } else { qos.depth.to_string() };
    let liveliness = if qos.liveliness == Liveliness::ManualByTopic { "3" } else { "" };
    let [deadline, lifespan, lease] =
        [qos.deadline, qos.lifespan, qos.liveliness_lease_duration].map(encode_duration);
    format!(
        "{reliability}:{durability}:{history},{depth}:{deadline}:{lifespan}:{liveliness},{lease}"
    )
}

fn encode_duration(duration: QosDuration) -> String {
    let Some(duration) = duration.finite() else { return ",".into() };
    let unless = |number: u64, default: u64| {
        if number == default { String::new() } else { number.to_string() }
    };
    format!(
        "{},{}",
        unless(duration.as_secs(), INFINITE.as_secs()),
        unless(duration.subsec_nanos().into(), INFINITE.subsec_nanos().into())
    )
}

/// Reads policies. Returns `None` for a string that `rmw_zenoh` also refuses.
pub fn decode(text: &str) -> Option<QosProfile> {
    let mut groups = text.split(':');
    let mut group = || groups.next();
    let reliability = match group()? {
        "" | "1" | "0" => Reliability::Reliable,
        "2" => Reliability::BestEffort,
        _ => return None,
    };
    let durability = match group()? {
        "" | "2" | "0" => Durability::Volatile,
        "1" => Durability::TransientLocal,
        _ => return None,
    };
    let (history, depth) = group()?.split_once(',')?;
    let history = match history {
        "" | "1" | "0" => History::KeepLast,
        "2" => History::KeepAll,
        _ => return None,
    };
    let depth = if depth.is_empty() { DEFAULT_DEPTH } else { depth.parse().ok()? };
    let (deadline, lifespan) = (decode_duration(group()?)?, decode_duration(group()?)?);
    let (liveliness, lease) = group()?.split_once(',')?;
    let liveliness = match liveliness {
        "" | "1" | "0" => Liveliness::Automatic,
        "3" => Liveliness::ManualByTopic,
        _ => return None,
    };
    Some(QosProfile {
        history,
        depth,
        reliability,
        durability,
        deadline,
        lifespan,
        liveliness,
        liveliness_lease_duration: decode_duration(lease)?,
        avoid_ros_namespace_conventions: false,
    })
}

fn decode_duration(text: &str) -> Option<QosDuration> {
    let (seconds, nanos) = text.split_once(',')?;
    let or = |text: &str, default: u64| {
        if text.is_empty() { Some(default) } else { text.parse().ok() }
    };
    let seconds = or(seconds, INFINITE.as_secs())?;
    let nanos = u32::try_from(or(nanos, INFINITE.subsec_nanos().into())?).ok()?;
    // The nanoseconds may be more than a second, so they are added as a duration.
    let duration = Duration::from_secs(seconds).checked_add(Duration::from_nanos(nanos.into()))?;
    Some(if duration >= INFINITE { QosDuration::Infinite } else { duration.into() })
}

#[cfg(test)]
mod tests {
    use feros_engine::QosPolicy;

    use super::*;

    /// Strings that `rmw_zenoh_cpp` itself writes. They are from its `docs/design.md`, and from the
    /// golden values of hiroz-protocol (`tests/fixtures/rmw_zenoh_qos`).
    #[test]
    fn policies_are_written_as_rmw_zenoh_writes_them() {
        let base = QosProfile::default();
        let seconds = Duration::from_secs;
        let table = [
            (base, "::,10:,:,:,,"),
            (QosProfile::keep_last(7), "::,7:,:,:,,"),
            (QosProfile::keep_last(42), "::,:,:,:,,"),
            (QosProfile::keep_last(1).transient_local(), ":1:,1:,:,:,,"),
            (base.best_effort(), "2::,10:,:,:,,"),
            (QosProfile { depth: 0, ..QosProfile::keep_all() }, "::2,0:,:,:,,"),
            (base.deadline(Duration::from_millis(1500)), "::,10:1,500000000:,:,,"),
            (base.lifespan(seconds(10)), "::,10:,:10,0:,,"),
            (base.liveliness(Liveliness::ManualByTopic, seconds(3)), "::,10:,:,:3,3,0"),
        ];
        for (qos, text) in table {
            assert_eq!(encode(&qos), text);
            let read = decode(text).expect("it is well-formed");
            let expected =
                QosProfile { liveliness: qos.with_system_defaults_resolved().liveliness, ..qos };
            assert_eq!(read, expected, "{text}");
        }
        assert_eq!(decode("1:1:1,5:,:,:1,,"), decode(":1:,5:,:,:,,"), "defaults may be written");
    }

    #[test]
    fn tokens_have_every_policy() {
        let lost = QosPolicy::lost_in(|given| decode(&encode(given)).expect("it is well-formed"));
        // The policy does not need to be in the token, because the key of a topic contains the
        // unchanged name, no matter whether the name follows the ROS conventions.
        assert_eq!(lost, [QosPolicy::AvoidRosNamespaceConventions]);
    }

    #[test]
    fn others_are_refused() {
        for bad in [
            "",
            ":::,:,:,,",
            "::",
            "::,10:,:,",
            "9::,10:,:,:,,",
            "::,x:,:,:,,",
            "::,10:,x:,:,,",
            "::,10:,:,:2,,",
            "::,-1:,:,:,,",
            "::,10:,:,:",
        ] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
