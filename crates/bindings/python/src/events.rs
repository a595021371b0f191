//! Events of endpoints, as a name and a dict of numbers, with the names of `rmw`.

use feros::{MatchedStatus, PublisherEvent, SubscriptionEvent};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Event<'py> = Option<(&'static str, Bound<'py, PyDict>)>;

fn dict<'py, const N: usize>(
    py: Python<'py>,
    items: [(&str, i64); N],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in items {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}

fn matched<'py>(py: Python<'py>, status: MatchedStatus) -> PyResult<Bound<'py, PyDict>> {
    dict(
        py,
        [
            ("total_count", status.total.into()),
            ("total_count_change", status.total_change.into()),
            ("current_count", status.current.into()),
            ("current_count_change", status.current_change.into()),
        ],
    )
}

fn counted<'py>(py: Python<'py>, total: u32, change: u32) -> PyResult<Bound<'py, PyDict>> {
    dict(py, [("total_count", total.into()), ("total_count_change", change.into())])
}

fn incompatible<'py>(
    py: Python<'py>,
    total: u32,
    change: u32,
    policy: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let status = counted(py, total, change)?;
    status.set_item("last_policy_kind", policy)?;
    Ok(status)
}

/// The name and status of a publisher event; `None` if the event has no name yet.
pub(crate) fn publisher_event(py: Python<'_>, event: PublisherEvent) -> PyResult<Event<'_>> {
    Ok(Some(match event {
        PublisherEvent::Matched(status) => ("matched", matched(py, status)?),
        PublisherEvent::OfferedQosIncompatible { total, change, last_policy } => {
            let policy = format!("{last_policy:?}");
            ("incompatible_qos", incompatible(py, total, change, &policy)?)
        }
        PublisherEvent::OfferedDeadlineMissed { total, change } => {
            ("deadline", counted(py, total, change)?)
        }
        PublisherEvent::LivelinessLost { total, change } => {
            ("liveliness", counted(py, total, change)?)
        }
        PublisherEvent::IncompatibleType { total, change } => {
            ("incompatible_type", counted(py, total, change)?)
        }
        _ => return Ok(None),
    }))
}

/// The name and status of a subscription event; `None` if the event has no name yet.
pub(crate) fn subscription_event(py: Python<'_>, event: SubscriptionEvent) -> PyResult<Event<'_>> {
    Ok(Some(match event {
        SubscriptionEvent::Matched(status) => ("matched", matched(py, status)?),
        SubscriptionEvent::RequestedQosIncompatible { total, change, last_policy } => {
            let policy = format!("{last_policy:?}");
            ("incompatible_qos", incompatible(py, total, change, &policy)?)
        }
        SubscriptionEvent::RequestedDeadlineMissed { total, change } => {
            ("deadline", counted(py, total, change)?)
        }
        SubscriptionEvent::LivelinessChanged {
            alive,
            not_alive,
            alive_change,
            not_alive_change,
        } => {
            let status = dict(
                py,
                [
                    ("alive_count", alive.into()),
                    ("not_alive_count", not_alive.into()),
                    ("alive_count_change", alive_change.into()),
                    ("not_alive_count_change", not_alive_change.into()),
                ],
            )?;
            ("liveliness", status)
        }
        SubscriptionEvent::MessageLost { total, change } => {
            let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
            let status = [("total_count", number(total)), ("total_count_change", number(change))];
            ("message_lost", dict(py, status)?)
        }
        SubscriptionEvent::IncompatibleType { total, change } => {
            ("incompatible_type", counted(py, total, change)?)
        }
        _ => return Ok(None),
    }))
}
