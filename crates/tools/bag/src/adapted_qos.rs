//! QoS for the recorder's subscriptions, which have to match the publishers, and for the player's
//! publishers, which have to offer what the recorded ones did.

use feros::{Durability, History, Liveliness, QosProfile, Reliability};

/// The queue length of each recording subscription, for messages that wait while the disk is slow.
/// 128 is the longest queue that shared memory can hold; a longer history would switch to the
/// network transport.
pub(crate) const RECORDING_DEPTH: usize = 128;

/// Returns policies that match all of these publishers and ask for as much as they all offer.
pub(crate) fn for_subscription(offered: &[QosProfile]) -> QosProfile {
    let all = |has: fn(&QosProfile) -> bool| !offered.is_empty() && offered.iter().all(has);
    let mut qos = QosProfile::keep_last(RECORDING_DEPTH).best_effort();
    if offered.is_empty() || all(|qos| qos.reliability == Reliability::Reliable) {
        qos = qos.reliable();
    }
    if all(|qos| qos.durability == Durability::TransientLocal) {
        qos = qos.transient_local();
    }
    qos
}

/// Whether a subscription with these policies receives messages of a publisher with this offer.
pub(crate) fn is_received(subscription: &QosProfile, offered: &QosProfile) -> bool {
    let is_reliable = subscription.reliability != Reliability::Reliable
        || offered.reliability != Reliability::BestEffort;
    let is_durable = subscription.durability != Durability::TransientLocal
        || offered.durability == Durability::TransientLocal;
    is_reliable && is_durable
}

/// Returns the recorded profile if all publishers had the same one; otherwise the default profile,
/// which every subscription can match. The default is made transient local if all publishers were
/// transient local.
///
/// An unknown history (Fast DDS does not announce it) becomes the default history, which `ros2 bag
/// play` uses for all topics (`default_history` in rosbag2_transport's `qos.hpp`). One publisher
/// stands in for all: it keeps as many messages for late subscriptions as all the recorded ones
/// together.
pub(crate) fn for_publisher(recorded: &[QosProfile]) -> QosProfile {
    let Some(first) = recorded.first() else { return QosProfile::default() };
    let is_transient = recorded.iter().all(|qos| qos.durability == Durability::TransientLocal);
    let mut qos = if recorded.iter().all(|qos| qos == first) {
        *first
    } else if is_transient {
        QosProfile::default().transient_local()
    } else {
        QosProfile::default()
    };
    if known_depth(&qos).is_none() && qos.history != History::KeepAll {
        qos.history = History::KeepLast;
        qos.depth = QosProfile::default().depth;
    }
    if is_transient && qos.history == History::KeepLast {
        let together = recorded.iter().map(|qos| known_depth(qos).unwrap_or(1));
        qos.depth = qos.depth.max(together.fold(0, usize::saturating_add));
    }
    // A player does not assert its liveliness itself, so the engine has to.
    if qos.liveliness == Liveliness::ManualByTopic {
        qos.liveliness = Liveliness::Automatic;
    }
    qos
}

/// The number of messages that a publisher keeps, if the number was announced and is finite.
fn known_depth(qos: &QosProfile) -> Option<usize> {
    (qos.history == History::KeepLast && qos.depth > 0).then_some(qos.depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_match_every_publisher() {
        let (reliable, latched) =
            (QosProfile::default(), QosProfile::keep_last(1).transient_local());
        let best_effort = QosProfile::sensor_data();
        let qos = for_subscription(&[latched, latched]);
        assert_eq!((qos.reliability, qos.durability), (latched.reliability, latched.durability));
        for offered in [vec![reliable, latched], vec![best_effort, latched], vec![]] {
            let qos = for_subscription(&offered);
            assert!(offered.iter().all(|offered| is_received(&qos, offered)), "{offered:?}");
            assert_eq!(qos.durability, Durability::Volatile);
        }
        assert!(!is_received(&for_subscription(&[reliable]), &best_effort));
        assert!(!is_received(&for_subscription(&[latched]), &reliable));
    }

    #[test]
    fn publishers_are_what_was_recorded() {
        let latched = QosProfile::keep_last(1).transient_local();
        assert_eq!(for_publisher(&[latched]), latched);
        let both = QosProfile::keep_last(2).transient_local();
        assert_eq!(for_publisher(&[latched, latched]), both);
        assert_eq!(for_publisher(&[]), QosProfile::default());
        let mixed = for_publisher(&[latched, QosProfile::keep_last(5).transient_local()]);
        assert_eq!(mixed.durability, Durability::TransientLocal);
        // Depth 1 is tested too, since older metadata states it with an unknown history.
        for depth in [0, 1] {
            let unknown = QosProfile { history: History::Unknown, depth, ..QosProfile::default() };
            assert_eq!(for_publisher(&[unknown]), QosProfile::default());
            let latched = unknown.transient_local();
            assert_eq!(for_publisher(&[latched; 3]), QosProfile::default().transient_local());
            assert_eq!(for_publisher(&[latched; 12]).depth, 12);
        }
        assert_eq!(for_publisher(&[QosProfile::keep_all()]), QosProfile::keep_all());
    }
}
