//! Tests of the rules of the DDS specification and of rmw, written as tables.
use std::time::Duration;

use super::*;

fn policies(offered: QosProfile, requested: QosProfile) -> Vec<QosPolicyKind> {
    offered.incompatibilities(&requested).into_iter().map(|i| i.policy).collect()
}

#[test]
fn request_and_offer_follow_the_dds_rules() {
    let base = QosProfile::default();
    let ms = Duration::from_millis;
    let manual = |lease| base.liveliness(Liveliness::ManualByTopic, lease);
    let table = [
        (base, base, vec![]),
        (base, base.best_effort(), vec![]),
        (base.best_effort(), base, vec![QosPolicyKind::Reliability]),
        (base.transient_local(), base, vec![]),
        (base, base.transient_local(), vec![QosPolicyKind::Durability]),
        (base, base.deadline(ms(100)), vec![QosPolicyKind::Deadline]),
        (base.deadline(ms(100)), base.deadline(ms(100)), vec![]),
        (base.deadline(ms(101)), base.deadline(ms(100)), vec![QosPolicyKind::Deadline]),
        (base.deadline(ms(50)), base, vec![]),
        (base, manual(Duration::ZERO), vec![QosPolicyKind::Liveliness]),
        (manual(ms(10)), base, vec![]),
        (manual(ms(30)), manual(ms(20)), vec![QosPolicyKind::Liveliness]),
        (QosProfile::system_default(), base, vec![]),
        (
            base.best_effort(),
            base.transient_local(),
            vec![QosPolicyKind::Reliability, QosPolicyKind::Durability],
        ),
    ];
    for (offered, requested, expected) in table {
        assert_eq!(policies(offered, requested), expected, "{offered:?} -> {requested:?}");
    }
}

#[test]
fn best_available_subscription_takes_what_all_publishers_offer() {
    let strict = QosProfile::default().transient_local().deadline(Duration::from_millis(10));
    let loose = QosProfile::default().best_effort().deadline(Duration::from_millis(30));
    let resolved = QosProfile::best_available().resolved_for_subscription([strict].iter());
    assert_eq!(
        (resolved.reliability, resolved.durability),
        (Reliability::Reliable, Durability::TransientLocal)
    );
    assert_eq!(resolved.deadline, QosDuration::Finite(Duration::from_millis(10)));

    let both = [strict, loose];
    let resolved = QosProfile::best_available().resolved_for_subscription(both.iter());
    assert_eq!(
        (resolved.reliability, resolved.durability),
        (Reliability::BestEffort, Durability::Volatile)
    );
    assert_eq!(resolved.deadline, QosDuration::Finite(Duration::from_millis(30)));
    for publisher in both {
        assert_eq!(publisher.incompatibilities(&resolved), vec![]);
    }
}

#[test]
fn best_available_publisher_matches_every_subscription() {
    let subscriptions = [
        QosProfile::default().transient_local(),
        QosProfile::sensor_data().deadline(Duration::from_millis(5)),
        QosProfile::default().liveliness(Liveliness::ManualByTopic, Duration::from_millis(7)),
    ];
    let resolved = QosProfile::best_available().resolved_for_publisher(subscriptions.iter());
    for subscription in &subscriptions {
        assert_eq!(resolved.incompatibilities(subscription), vec![]);
    }
}

#[test]
fn an_unknown_history_becomes_the_default_history() {
    for depth in [0, 1] {
        let unknown = QosProfile { history: History::Unknown, depth, ..QosProfile::default() };
        for resolved in [unknown.with_system_defaults_resolved(), unknown.resolved_for_service()] {
            assert_eq!((resolved.history, resolved.depth), (History::KeepLast, 10), "{depth}");
        }
    }
    let unset = QosProfile { history: History::SystemDefault, ..QosProfile::keep_last(0) };
    let resolved = unset.with_system_defaults_resolved();
    assert_eq!((resolved.history, resolved.depth), (History::KeepLast, 1));
}

#[test]
fn words_of_the_command_line_are_read_and_refused() {
    assert_eq!("best_effort".parse(), Ok(Reliability::BestEffort));
    assert_eq!("TRANSIENT_LOCAL".parse(), Ok(Durability::TransientLocal));
    let error = "besteffort".parse::<Reliability>().expect_err("not a word of the policy");
    assert!(error.to_string().contains("best_effort"), "{error}");
}

#[test]
fn zero_durations_are_unspecified() {
    assert_eq!(QosProfile::default().deadline(Duration::ZERO), QosProfile::default());
}

#[test]
fn three_policies_require_that_the_engine_writes_each_message() {
    let requiring: Vec<_> =
        QosPolicy::ALL.into_iter().filter(|policy| policy.varied().requires_each_write()).collect();
    assert_eq!(requiring, [QosPolicy::Durability, QosPolicy::Deadline, QosPolicy::Liveliness]);
    assert!(!QosProfile::default().requires_each_write());
}

#[test]
fn a_mismatch_names_the_policy_that_differs() {
    let default = QosProfile::default();
    let mut preventing = Vec::new();
    for policy in QosPolicy::ALL {
        let (one, other) = (default, policy.varied());
        let found = [policies(one, other), policies(other, one)].concat();
        assert!(found.iter().all(|kind| Some(*kind) == QosPolicyKind::of(policy)), "{policy:?}");
        preventing.extend((!found.is_empty()).then_some(policy));
    }
    let expected = [
        QosPolicy::Reliability,
        QosPolicy::Durability,
        QosPolicy::Deadline,
        QosPolicy::Liveliness,
        QosPolicy::LivelinessLeaseDuration,
    ];
    assert_eq!(preventing, expected);
}
