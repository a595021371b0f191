//! What manifests declare about systems, for the comparison of systems by feature.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A system as a manifest declares it. A program that stands for several systems, such as a bridge,
/// declares each of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// The name of the peer that describes the system.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// The declared words about each feature, for people.
    pub features: BTreeMap<Feature, Vec<String>>,
}

/// A feature, in the order in which the comparison shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Publishers and subscriptions.
    PublishSubscribe,
    /// Calls: a request and its response.
    Calls,
    /// Messages between two hosts.
    Hosts,
    /// Messages that are passed by pointer within a process.
    Pointers,
    /// The policies of QoS.
    Qos,
    /// The transports.
    Transports,
    /// How programs find each other.
    Discovery,
    /// The form of messages between processes.
    Serialization,
    /// Whether the scheduling of the library's own threads can be set.
    RealTime,
    /// The least memory of a process.
    Memory,
    /// The operating systems.
    Systems,
    /// The programming languages.
    Languages,
    /// The licence.
    Licence,
}

impl Feature {
    /// All features, in the order of the comparison.
    pub const ALL: [Self; 13] = [
        Self::PublishSubscribe,
        Self::Calls,
        Self::Hosts,
        Self::Pointers,
        Self::Qos,
        Self::Transports,
        Self::Discovery,
        Self::Serialization,
        Self::RealTime,
        Self::Memory,
        Self::Systems,
        Self::Languages,
        Self::Licence,
    ];

    /// The heading for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::PublishSubscribe => "publish/subscribe",
            Self::Calls => "calls",
            Self::Hosts => "between hosts",
            Self::Pointers => "by pointer within a process",
            Self::Qos => "QoS",
            Self::Transports => "transports",
            Self::Discovery => "discovery",
            Self::Serialization => "serialization",
            Self::RealTime => "scheduling of its threads",
            Self::Memory => "least memory of a process",
            Self::Systems => "operating systems",
            Self::Languages => "languages",
            Self::Licence => "licence",
        }
    }
}
