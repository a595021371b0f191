//! Quality of service across the bridge.
//!
//! Publishers belong to the same class if a single subscription can receive from all of them and
//! still request everything that each of them offers. Each class of a topic is bridged separately,
//! so that a best-effort publisher does not degrade a reliable publisher.

use feros_engine::{Durability, History, QosDuration, QosProfile, Reliability};

/// The policies of a publisher that determine the policies that the bridge's subscription requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Class {
    is_reliable: bool,
    is_transient_local: bool,
    keeps_all: bool,
}

/// The depth of the bridge's subscription to a latched topic. It is large because the histories of
/// all publishers arrive in one queue.
const LATCHED_DEPTH: usize = 1000;

/// The limit on the depth of the history that the bridge's publisher keeps.
const DEEPEST: usize = 10_000;

impl Class {
    /// Returns the class of a publisher with these policies.
    pub(crate) fn of(offered: &QosProfile) -> Self {
        Self {
            is_reliable: offered.reliability == Reliability::Reliable,
            is_transient_local: offered.durability == Durability::TransientLocal,
            keeps_all: offered.history == History::KeepAll,
        }
    }

    pub(crate) fn keeps_all(self) -> bool {
        self.keeps_all
    }

    /// Returns the policies that the bridge's subscription requests.
    pub(crate) fn requested(self, queue_len: usize) -> QosProfile {
        let depth = if self.is_transient_local { queue_len.max(LATCHED_DEPTH) } else { queue_len };
        let history = if self.keeps_all { History::KeepAll } else { History::KeepLast };
        let qos = QosProfile { history, ..QosProfile::keep_last(depth) };
        let qos = if self.is_reliable { qos } else { qos.best_effort() };
        if self.is_transient_local { qos.transient_local() } else { qos }
    }
}

/// Returns the policies that the bridge offers on behalf of a publisher. They are the publisher's
/// own policies. If the publisher does not announce its history, the bridge offers the default
/// depth for latched topics, and the queue length for other topics.
pub(crate) fn mirrored(offered: &QosProfile, queue_len: usize) -> QosProfile {
    let is_latched = Class::of(offered).is_transient_local;
    let unknown = if is_latched { QosProfile::default().depth } else { queue_len };
    let (history, depth) = match offered.history {
        History::KeepAll => (History::KeepAll, offered.depth),
        History::KeepLast if offered.depth > 0 => (History::KeepLast, offered.depth.min(DEEPEST)),
        _ => (History::KeepLast, unknown),
    };
    let known = |duration: QosDuration| match duration {
        QosDuration::BestAvailable => QosDuration::Infinite,
        known => known,
    };
    QosProfile {
        history,
        depth,
        deadline: known(offered.deadline),
        lifespan: known(offered.lifespan),
        liveliness_lease_duration: known(offered.liveliness_lease_duration),
        avoid_ros_namespace_conventions: false,
        ..*offered
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_class_requests_qos_that_its_publishers_offer() {
        let table = [
            QosProfile::default(),
            QosProfile::sensor_data(),
            QosProfile::action_status_default(),
            QosProfile::keep_all(),
            QosProfile::keep_last(3).deadline(Duration::from_millis(100)),
            QosProfile::rosout_default(),
        ];
        for offered in table {
            let requested = Class::of(&offered).requested(7);
            assert_eq!(offered.incompatibilities(&requested), [], "{offered:?}");
            assert_eq!(Class::of(&requested), Class::of(&offered));
            assert_eq!(mirrored(&offered, 7), offered);
        }
    }

    #[test]
    fn a_history_that_nobody_announced_is_bounded() {
        let of = |qos: QosProfile| {
            let offered = QosProfile { history: History::Unknown, depth: 0, ..qos };
            mirrored(&offered, 7).depth
        };
        assert_eq!(of(QosProfile::default().transient_local()), 10);
        assert_eq!(of(QosProfile::default()), 7);
        assert_eq!(mirrored(&QosProfile::keep_last(usize::MAX), 7).depth, DEEPEST);
    }
}
