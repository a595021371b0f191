//! Replaces system-default and best-available policies by actual policies, as in
//! `rmw_dds_common/src/qos.cpp`.

use super::policy::{Durability, History, Liveliness, QosDuration, Reliability};
use super::profile::QosProfile;

impl QosProfile {
    /// Replaces the policies that are left to the engine with the defaults of Feros: keep last,
    /// reliable, volatile, automatic. A depth of 0 becomes 1, and an unknown history becomes the
    /// history of [`QosProfile::default`].
    pub fn with_system_defaults_resolved(mut self) -> Self {
        if self.history == History::Unknown {
            self.depth = Self::default().depth;
        }
        choose(&mut self.history, History::Unknown, History::KeepLast);
        choose(&mut self.history, History::SystemDefault, History::KeepLast);
        choose(&mut self.reliability, Reliability::SystemDefault, Reliability::Reliable);
        choose(&mut self.durability, Durability::SystemDefault, Durability::Volatile);
        choose(&mut self.liveliness, Liveliness::SystemDefault, Liveliness::Automatic);
        self.depth = self.depth.max(1);
        self
    }

    /// Resolves all policies for a service or client. Best-available policies become the policies
    /// of [`QosProfile::services_default`].
    pub fn resolved_for_service(mut self) -> Self {
        choose(&mut self.reliability, Reliability::BestAvailable, Reliability::Reliable);
        choose(&mut self.durability, Durability::BestAvailable, Durability::Volatile);
        choose(&mut self.liveliness, Liveliness::BestAvailable, Liveliness::Automatic);
        for duration in [&mut self.deadline, &mut self.liveliness_lease_duration] {
            if *duration == QosDuration::BestAvailable {
                *duration = QosDuration::Infinite;
            }
        }
        self.with_system_defaults_resolved()
    }

    /// Resolves best-available policies for a subscription, given the publishers that are known at
    /// present. Each such policy becomes the strictest policy that all these publishers satisfy.
    pub fn resolved_for_subscription<'a>(
        mut self,
        publishers: impl Iterator<Item = &'a QosProfile> + Clone,
    ) -> Self {
        let any = publishers.clone().next().is_some();
        if self.reliability == Reliability::BestAvailable {
            let all = any && publishers.clone().all(|p| p.reliability == Reliability::Reliable);
            self.reliability = if all { Reliability::Reliable } else { Reliability::BestEffort };
        }
        if self.durability == Durability::BestAvailable {
            let all = any && publishers.clone().all(|p| p.durability == Durability::TransientLocal);
            self.durability = if all { Durability::TransientLocal } else { Durability::Volatile };
        }
        if self.liveliness == Liveliness::BestAvailable {
            let all = any && publishers.clone().all(|p| p.liveliness == Liveliness::ManualByTopic);
            self.liveliness = if all { Liveliness::ManualByTopic } else { Liveliness::Automatic };
        }
        let largest = |of: fn(&QosProfile) -> QosDuration| {
            publishers
                .clone()
                .map(of)
                .max_by_key(|d| d.nanos_or_max())
                .unwrap_or(QosDuration::Infinite)
        };
        if self.deadline == QosDuration::BestAvailable {
            self.deadline = largest(|p| p.deadline);
        }
        if self.liveliness_lease_duration == QosDuration::BestAvailable {
            self.liveliness_lease_duration = largest(|p| p.liveliness_lease_duration);
        }
        self
    }

    /// Resolves best-available policies for a publisher, given the subscriptions that are known at
    /// present. Each such policy becomes a policy that satisfies all these subscriptions.
    pub fn resolved_for_publisher<'a>(
        mut self,
        subscriptions: impl Iterator<Item = &'a QosProfile> + Clone,
    ) -> Self {
        choose(&mut self.reliability, Reliability::BestAvailable, Reliability::Reliable);
        choose(&mut self.durability, Durability::BestAvailable, Durability::TransientLocal);
        if self.liveliness == Liveliness::BestAvailable {
            let manual = subscriptions.clone().any(|s| s.liveliness == Liveliness::ManualByTopic);
            self.liveliness =
                if manual { Liveliness::ManualByTopic } else { Liveliness::Automatic };
        }
        let smallest = |of: fn(&QosProfile) -> QosDuration| {
            subscriptions
                .clone()
                .map(of)
                .min_by_key(|d| d.nanos_or_max())
                .unwrap_or(QosDuration::Infinite)
        };
        if self.deadline == QosDuration::BestAvailable {
            self.deadline = smallest(|s| s.deadline);
        }
        if self.liveliness_lease_duration == QosDuration::BestAvailable {
            self.liveliness_lease_duration = smallest(|s| s.liveliness_lease_duration);
        }
        self
    }
}

/// Replaces a value that leaves the choice to the engine.
fn choose<T: PartialEq>(policy: &mut T, open: T, chosen: T) {
    if *policy == open {
        *policy = chosen;
    }
}
