//! Converts QoS policies to and from Python. Here a profile is a tuple with the numbers of `rmw`;
//! the class `QoSProfile` is written in Python.

use std::time::Duration;

use feros::engine::QosDuration;
use feros::{Durability, History, Liveliness, QosProfile, Reliability};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A profile: history, depth, reliability, durability, deadline, lifespan, liveliness, liveliness
/// lease, and whether the engine uses names without ROS's prefixes. Durations are in nanoseconds; a
/// negative duration means no limit.
pub(crate) type QosTuple = (u8, usize, u8, u8, i64, i64, u8, i64, bool);

fn no_value(policy: &str, number: u8) -> PyErr {
    PyValueError::new_err(format!("{number} is not a value of the policy {policy}"))
}

fn duration(nanos: i64) -> QosDuration {
    match u64::try_from(nanos) {
        Ok(nanos) if nanos < i64::MAX as u64 => Duration::from_nanos(nanos).into(),
        _ => QosDuration::Infinite,
    }
}

fn nanos(duration: QosDuration) -> i64 {
    match duration.finite() {
        Some(duration) => i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX),
        None => -1,
    }
}

/// Converts a tuple to a profile.
pub(crate) fn profile(tuple: QosTuple) -> PyResult<QosProfile> {
    let (history, depth, reliability, durability, deadline, lifespan, liveliness, lease, avoid) =
        tuple;
    Ok(QosProfile {
        history: match history {
            0 => History::SystemDefault,
            1 => History::KeepLast,
            2 => History::KeepAll,
            other => return Err(no_value("history", other)),
        },
        depth,
        reliability: match reliability {
            0 => Reliability::SystemDefault,
            1 => Reliability::Reliable,
            2 => Reliability::BestEffort,
            4 => Reliability::BestAvailable,
            other => return Err(no_value("reliability", other)),
        },
        durability: match durability {
            0 => Durability::SystemDefault,
            1 => Durability::TransientLocal,
            2 => Durability::Volatile,
            4 => Durability::BestAvailable,
            other => return Err(no_value("durability", other)),
        },
        deadline: duration(deadline),
        lifespan: duration(lifespan),
        liveliness: match liveliness {
            0 => Liveliness::SystemDefault,
            1 => Liveliness::Automatic,
            3 => Liveliness::ManualByTopic,
            5 => Liveliness::BestAvailable,
            other => return Err(no_value("liveliness", other)),
        },
        liveliness_lease_duration: duration(lease),
        avoid_ros_namespace_conventions: avoid,
    })
}

/// Converts a profile to a tuple.
pub(crate) fn tuple(profile: &QosProfile) -> QosTuple {
    let history = match profile.history {
        History::SystemDefault => 0,
        History::KeepLast => 1,
        History::KeepAll => 2,
        History::Unknown => 3,
    };
    let reliability = match profile.reliability {
        Reliability::SystemDefault => 0,
        Reliability::Reliable => 1,
        Reliability::BestEffort => 2,
        Reliability::BestAvailable => 4,
    };
    let durability = match profile.durability {
        Durability::SystemDefault => 0,
        Durability::TransientLocal => 1,
        Durability::Volatile => 2,
        Durability::BestAvailable => 4,
    };
    let liveliness = match profile.liveliness {
        Liveliness::SystemDefault => 0,
        Liveliness::Automatic => 1,
        Liveliness::ManualByTopic => 3,
        Liveliness::BestAvailable => 5,
    };
    (
        history,
        profile.depth,
        reliability,
        durability,
        nanos(profile.deadline),
        nanos(profile.lifespan),
        liveliness,
        nanos(profile.liveliness_lease_duration),
        profile.avoid_ros_namespace_conventions,
    )
}
