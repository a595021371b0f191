//! Converts policies to the shim's format and back.
//!
//! Fast DDS does not announce histories, so Feros endpoints announce their history in USER_DATA, in
//! the form `history=all;` or `history=<depth>;`. Other implementations ignore this entry.

use std::time::Duration;

use feros_engine::{
    Durability, History, KEEP_ALL_LIMIT, Liveliness, QosDuration, QosProfile, Reliability,
};
use feros_fastdds_sys as sys;

/// The USER_DATA entry of an endpoint that ignores samples from its own session.
const IGNORES_LOCAL: &str = "local=ignored;";

fn nanos(duration: QosDuration) -> i64 {
    let finite = duration.finite().filter(|finite| !finite.is_zero());
    finite.map_or(sys::INFINITE, |finite| i64::try_from(finite.as_nanos()).unwrap_or(sys::INFINITE))
}

fn duration(nanos: i64) -> QosDuration {
    u64::try_from(nanos).map_or(QosDuration::Infinite, |n| Duration::from_nanos(n).into())
}

/// Converts a resolved profile to the shim's format.
pub(crate) fn to_shim(profile: &QosProfile) -> sys::qos {
    let keeps_all = profile.history == History::KeepAll;
    let depth = if keeps_all { KEEP_ALL_LIMIT } else { profile.depth.max(1) };
    sys::qos {
        deadline: nanos(profile.deadline),
        lifespan: nanos(profile.lifespan),
        lease: nanos(profile.liveliness_lease_duration),
        depth: i32::try_from(depth).unwrap_or(i32::MAX),
        reliable: u8::from(profile.reliability != Reliability::BestEffort),
        transient_local: u8::from(profile.durability == Durability::TransientLocal),
        keep_all: u8::from(keeps_all),
        liveliness: if profile.liveliness == Liveliness::ManualByTopic { 2 } else { 0 },
    }
}

/// Returns the USER_DATA entry for the history. If the endpoint ignores its own session, also
/// returns the entry for this.
pub(crate) fn extras(profile: &QosProfile, ignores_local: bool) -> String {
    let history = match profile.history {
        History::KeepAll => "history=all;".to_owned(),
        _ => format!("history={};", profile.depth.max(1)),
    };
    if ignores_local { history + IGNORES_LOCAL } else { history }
}

/// Whether the USER_DATA of an endpoint says that the endpoint ignores samples from its own
/// session.
pub(crate) fn ignores_local(user_data: &[u8]) -> bool {
    user_data.windows(IGNORES_LOCAL.len()).any(|text| text == IGNORES_LOCAL.as_bytes())
}

fn announced_history(user_data: &[u8]) -> Option<(History, usize)> {
    let text = std::str::from_utf8(user_data).ok()?;
    match text.split(';').find_map(|entry| entry.strip_prefix("history="))? {
        "all" => Some((History::KeepAll, 0)),
        depth => Some((History::KeepLast, depth.parse().ok()?)),
    }
}

/// Returns the policies of a discovered endpoint.
pub(crate) fn profile(qos: &sys::qos, user_data: &[u8]) -> QosProfile {
    let discovered = match (qos.keep_all, usize::try_from(qos.depth)) {
        (0, Ok(depth)) if depth > 0 => (History::KeepLast, depth),
        (0, _) => (History::Unknown, 0),
        _ => (History::KeepAll, 0),
    };
    let (history, depth) = announced_history(user_data).unwrap_or(discovered);
    QosProfile {
        history,
        depth,
        reliability: if qos.reliable != 0 {
            Reliability::Reliable
        } else {
            Reliability::BestEffort
        },
        durability: if qos.transient_local != 0 {
            Durability::TransientLocal
        } else {
            Durability::Volatile
        },
        deadline: duration(qos.deadline),
        lifespan: duration(qos.lifespan),
        liveliness: match qos.liveliness {
            0 => Liveliness::Automatic,
            _ => Liveliness::ManualByTopic, // this includes manual-by-participant, which ROS 2 does not have
        },
        liveliness_lease_duration: duration(qos.lease),
        ..QosProfile::default()
    }
}

#[cfg(test)]
mod tests {
    use feros_engine::QosPolicy;

    use super::*;

    #[test]
    fn profiles_survive_the_shim() {
        let ms = Duration::from_millis;
        for profile in [
            QosProfile::default(),
            QosProfile::sensor_data(),
            QosProfile::keep_last(3).deadline(ms(5)).lifespan(ms(7)),
            QosProfile::default().liveliness(Liveliness::ManualByTopic, ms(9)).transient_local(),
        ] {
            let profile = profile.with_system_defaults_resolved();
            let said = extras(&profile, false);
            assert_eq!(super::profile(&to_shim(&profile), said.as_bytes()), profile);
            assert!(!ignores_local(said.as_bytes()));
        }
        let keeps_all = super::profile(&to_shim(&QosProfile::keep_all()), b"history=all;");
        assert_eq!(keeps_all.history, History::KeepAll);
        assert!(ignores_local(extras(&keeps_all, true).as_bytes()));
    }

    #[test]
    fn the_engine_has_every_policy() {
        let lost =
            QosPolicy::lost_in(|given| profile(&to_shim(given), extras(given, false).as_bytes()));
        // The profile does not need to contain this policy, because the prefix of the topic name
        // shows whether the name follows the ROS conventions.
        assert_eq!(lost, [QosPolicy::AvoidRosNamespaceConventions]);
    }

    #[test]
    fn nonsense_about_histories_is_passed_over() {
        let qos = sys::qos { depth: 0, ..to_shim(&QosProfile::default()) };
        for said in [&b"history=x;"[..], b"history=;", b"history", b"\xff;history=3;", b""] {
            assert_eq!(profile(&qos, said).history, History::Unknown);
        }
    }
}
