//! The features of systems: what their documentation says, and a run cannot show.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Manifest, Peers, SystemRef};
use crate::contract::{Placement, Role};
use crate::record::{Declaration, Feature};

/// Declares the words of a key: each with its meaning for people.
macro_rules! facts {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $variant:ident = $word:literal, $title:literal;)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            /// The words for people.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title),+
                }
            }
        }
    };
}

facts! {
    /// An operating system for which a system is released, not only planned.
    OperatingSystem {
        /// Linux.
        Linux = "linux", "Linux";
        /// macOS.
        Macos = "macos", "macOS";
        /// Windows.
        Windows = "windows", "Windows";
        /// A system of the BSD family.
        Bsd = "bsd", "BSD";
        /// QNX.
        Qnx = "qnx", "QNX";
        /// Another real-time operating system.
        Rtos = "rtos", "another RTOS";
        /// No operating system.
        BareMetal = "bare_metal", "no operating system";
    }
}

facts! {
    /// A language for which the system's own project has an interface.
    Language {
        /// C.
        C = "c", "C";
        /// C++.
        Cpp = "cpp", "C++";
        /// C#.
        Csharp = "csharp", "C#";
        /// Java.
        Java = "java", "Java";
        /// Kotlin.
        Kotlin = "kotlin", "Kotlin";
        /// Lisp.
        Lisp = "lisp", "Lisp";
        /// Python.
        Python = "python", "Python";
        /// Rust.
        Rust = "rust", "Rust";
    }
}

facts! {
    /// How programs find each other, as the system is configured by default.
    Discovery {
        /// Each program finds the others itself.
        Distributed = "distributed", "distributed";
        /// A master has to run.
        Master = "master", "through a master";
        /// A daemon of the host has to run.
        Daemon = "daemon", "through a daemon of the host";
        /// Files that all programs of a host see.
        Files = "files", "through files of the host";
        /// The user gives addresses.
        Addresses = "addresses", "by addresses that the user gives";
    }
}

facts! {
    /// A way that messages can take to another process.
    Transport {
        /// Shared memory.
        SharedMemory = "shared_memory", "shared memory";
        /// UDP.
        Udp = "udp", "UDP";
        /// TCP.
        Tcp = "tcp", "TCP";
        /// TLS.
        Tls = "tls", "TLS";
        /// QUIC.
        Quic = "quic", "QUIC";
        /// WebSocket.
        Websocket = "websocket", "WebSocket";
        /// Sockets of the host.
        UnixSocket = "unix_socket", "Unix sockets";
    }
}

facts! {
    /// The form of messages between processes.
    Serialization {
        /// The Common Data Representation of DDS.
        Cdr = "cdr", "CDR";
        /// The format of ROS 1.
        Ros1 = "ros1", "that of ROS 1";
        /// Protobuf.
        Protobuf = "protobuf", "Protobuf";
        /// The library carries bytes.
        Program = "program", "left to the program";
        /// Messages are memory, and stay as they are.
        None = "none", "none";
    }
}

facts! {
    /// A policy of QoS that ROS 2 has too, for which the system has a setting.
    Policy {
        /// Whether lost messages are sent again.
        Reliability = "reliability", "reliability";
        /// Which messages a late subscription gets.
        Durability = "durability", "durability";
        /// How many messages are kept.
        History = "history", "history";
        /// The longest time between messages.
        Deadline = "deadline", "deadline";
        /// The time after which messages are old.
        Lifespan = "lifespan", "lifespan";
        /// How a publisher shows that it is alive.
        Liveliness = "liveliness", "liveliness";
    }
}

facts! {
    /// Whether class and priority of the threads by which the library sends and receives can be
    /// set.
    Scheduling {
        /// There is a documented setting.
        Settable = "settable", "can be set";
        /// There is no documented setting.
        NotSettable = "not_settable", "cannot be set";
        /// The library starts no threads.
        NoThreads = "no_threads", "it starts no threads";
    }
}

/// The facts that the documentation of a system states. Each key is mandatory, so a system that
/// lacks a feature says so.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// The pages that state the facts.
    pub sources: Vec<String>,
    /// The licence, as an SPDX expression or `proprietary`.
    pub licence: String,
    /// The operating systems.
    pub systems: Vec<OperatingSystem>,
    /// The programming languages.
    pub languages: Vec<Language>,
    /// How programs find each other.
    pub discovery: Discovery,
    /// The transports between processes.
    pub transports: Vec<Transport>,
    /// The form of messages between processes.
    pub serialization: Serialization,
    /// The policies that the system shares with the QoS of ROS 2.
    pub policies: Vec<Policy>,
    /// Whether the system has calls with a response.
    pub calls: bool,
    /// Whether the scheduling of the library's threads can be set.
    pub scheduling: Scheduling,
}

impl Features {
    /// The first key that has no value although each system has one.
    fn empty_key(&self) -> Option<&'static str> {
        let keys = [
            ("sources", self.sources.iter().all(|source| source.trim().is_empty())),
            ("licence", self.licence.trim().is_empty()),
            ("systems", self.systems.is_empty()),
            ("languages", self.languages.is_empty()),
            ("transports", self.transports.is_empty()),
        ];
        keys.into_iter().find(|(_, is_empty)| *is_empty).map(|(key, _)| key)
    }

    /// The facts as words for people.
    fn words(&self) -> BTreeMap<Feature, Vec<String>> {
        let policies = match self.policies.as_slice() {
            [] => vec!["none of ROS 2".to_owned()],
            policies => policies.iter().map(|one| one.title().to_owned()).collect(),
        };
        [
            (Feature::Calls, yes_or_no(self.calls)),
            (Feature::Qos, policies),
            (Feature::Transports, titles(&self.transports, Transport::title)),
            (Feature::Discovery, vec![self.discovery.title().to_owned()]),
            (Feature::Serialization, vec![self.serialization.title().to_owned()]),
            (Feature::RealTime, vec![self.scheduling.title().to_owned()]),
            (Feature::Systems, titles(&self.systems, OperatingSystem::title)),
            (Feature::Languages, titles(&self.languages, Language::title)),
            (Feature::Licence, vec![self.licence.clone()]),
        ]
        .into()
    }
}

fn titles<T: Copy>(facts: &[T], title: fn(T) -> &'static str) -> Vec<String> {
    facts.iter().map(|one| title(*one).to_owned()).collect()
}

fn yes_or_no(is_so: bool) -> Vec<String> {
    vec![if is_so { "yes" } else { "no" }.to_owned()]
}

/// The mistake in a manifest's facts, if there is one; `described` says whether a peer has a
/// section `[features]`.
pub(super) fn mistake(manifest: &Manifest, described: impl Fn(&str) -> bool) -> Option<String> {
    if let Some(key) = manifest.features.as_ref().and_then(Features::empty_key) {
        return Some(format!("`{key}` in [features] has no value; name at least one"));
    }
    if manifest.features.is_some() && manifest.features_of.is_some() {
        return Some(
            "both [features] and `features_of`: a peer either describes a system or names the \
             peers that do; remove one of them"
                .to_owned(),
        );
    }
    let of_variants = manifest.variant.iter().filter_map(|variant| variant.features_of.as_ref());
    let mut named = manifest.features_of.iter().chain(of_variants).flatten();
    let unknown = named.find(|name| !described(name))?;
    Some(format!("`features_of` names {unknown}, but no such peer has a section [features]"))
}

impl Peers {
    /// The systems that a program stands for, with what manifests declare about them.
    pub fn declarations(&self, system: SystemRef<'_>) -> Vec<Declaration> {
        let manifest = &system.peer.manifest;
        let of_variant = system.variant.and_then(|variant| variant.features_of.as_ref());
        let named = match (of_variant.or(manifest.features_of.as_ref()), &manifest.features) {
            (Some(names), _) => names.clone(),
            (None, Some(_)) => vec![system.peer.name.clone()],
            (None, None) => Vec::new(),
        };
        let described = named.iter().filter_map(|name| self.by_name.get(name));
        described
            .filter_map(|peer| {
                let mut features = peer.manifest.features.as_ref()?.words();
                features.extend(measurable(system));
                let (name, title) = (peer.name.clone(), peer.manifest.title.clone());
                Some(Declaration { name, title, features })
            })
            .collect()
    }
}

/// The features that follow from the roles and placements of a program. A system that no machine
/// can measure has no roles, and so no such features.
fn measurable(system: SystemRef<'_>) -> BTreeMap<Feature, Vec<String>> {
    if system.roles().is_empty() {
        return BTreeMap::new();
    }
    let has = |role: &Role| system.roles().contains(role);
    let is_in = |placement: &Placement| system.placements().contains(placement);
    [
        (
            Feature::PublishSubscribe,
            [Role::Talker, Role::Listener, Role::Pair, Role::Graph].iter().any(has),
        ),
        (Feature::Hosts, is_in(&Placement::Remote)),
        (Feature::Pointers, is_in(&Placement::Intra)),
    ]
    .map(|(feature, is_so)| (feature, yes_or_no(is_so)))
    .into()
}

#[cfg(test)]
mod tests;
