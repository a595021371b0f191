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

/// Converts a policy by its number.
fn policy<P>(name: &str, number: u8, read: impl FnOnce(u8) -> Option<P>) -> PyResult<P> {
    read(number).ok_or_else(|| {
        PyValueError::new_err(format!("{number} is not a value of the policy {name}"))
    })
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
    let of_endpoint =
        |number| History::from_number(number).filter(|history| *history != History::Unknown);
    Ok(QosProfile {
        history: policy("history", history, of_endpoint)?,
        depth,
        reliability: policy("reliability", reliability, Reliability::from_number)?,
        durability: policy("durability", durability, Durability::from_number)?,
        deadline: duration(deadline),
        lifespan: duration(lifespan),
        liveliness: policy("liveliness", liveliness, Liveliness::from_number)?,
        liveliness_lease_duration: duration(lease),
        avoid_ros_namespace_conventions: avoid,
    })
}

/// Converts a profile to a tuple.
pub(crate) fn tuple(profile: &QosProfile) -> QosTuple {
    (
        profile.history.number(),
        profile.depth,
        profile.reliability.number(),
        profile.durability.number(),
        nanos(profile.deadline),
        nanos(profile.lifespan),
        profile.liveliness.number(),
        nanos(profile.liveliness_lease_duration),
        profile.avoid_ros_namespace_conventions,
    )
}
