//! Systems under test, which their manifests describe.

mod features;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use self::features::{
    Discovery, Features, Language, OperatingSystem, Policy, Scheduling, Serialization, Transport,
};
use serde::Deserialize;

use crate::contract::{
    Durability, Fill, History, MessageType, Placement, PublishMode, Reliability, Role,
};
use crate::document::{Document, DocumentError};
use crate::record::CallbackThread;
use feros_wording::did_you_mean;

/// The `peer.toml` of a system.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The title for people.
    pub title: String,
    /// The command that builds the programs: it runs in the peer's folder, with FEROS_LAB_OUT.
    #[serde(default)]
    pub build: Vec<String>,
    /// The command to start; the contract's arguments are appended.
    #[serde(default)]
    pub program: Vec<String>,
    /// The command that installs missing requirements.
    pub install: Option<String>,
    /// The reason why the system cannot be measured on any machine.
    pub unavailable: Option<String>,
    /// The roles that the system's program supports.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// The placements in which the system can be measured.
    #[serde(default)]
    pub placements: Vec<Placement>,
    /// Whether the system is a floor, that is, measures the machine's own cost and not an engine.
    /// Cells that a floor does not support are left out without a notice, since nothing is missing
    /// from the results.
    #[serde(default)]
    pub is_floor: bool,
    /// The message types that the system can send.
    #[serde(default = "bytes_only")]
    pub types: Vec<MessageType>,
    /// The parts of the payload that the system can write anew for each message.
    #[serde(default = "stamps_only")]
    pub fill: Vec<Fill>,
    /// The graphs that the system's program can run in the role `graph`, by name.
    #[serde(default)]
    pub graphs: Vec<String>,
    /// The transport that messages take in each placement, if the system's program counts messages
    /// by transport. A cell whose messages took another transport is marked.
    #[serde(default)]
    pub transports: BTreeMap<Placement, String>,
    /// The QoS that the system supports.
    #[serde(default)]
    pub qos: Abilities,
    /// The thread that calls the callback within a process, with the default executor.
    pub callback: Option<CallbackThread>,
    /// The programs that must run together with the system's program.
    #[serde(default)]
    pub server: Vec<Server>,
    /// The additional environment variables of all programs of the system.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Patterns for the names of the files that the system's programs create in `/dev/shm`: a
    /// prefix, a suffix after a leading `*`, or `{group}` for the name of the user's group. Files
    /// that no process has open are removed after a cell, since a killed program could not remove
    /// its own.
    #[serde(default)]
    pub shared_memory: Vec<String>,
    /// The prefixes of the environment variables that configure the system, such as `IOX_`. The
    /// programs of all systems run without such variables of the user.
    #[serde(default)]
    pub variables: Vec<String>,
    /// The system's features, as its documentation states them.
    pub features: Option<Features>,
    /// The peers that describe the features instead, if the program stands for their systems.
    pub features_of: Option<Vec<String>>,
    /// The configurations other than the default configuration.
    #[serde(default)]
    pub variant: Vec<Variant>,
}

fn bytes_only() -> Vec<MessageType> {
    vec![MessageType::Bytes]
}

fn stamps_only() -> Vec<Fill> {
    vec![Fill::None]
}

/// The QoS that a system supports; cells with an unsupported QoS are skipped, with that reason.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Abilities {
    /// The supported reliability.
    pub reliability: Vec<Reliability>,
    /// The supported durability.
    pub durability: Vec<Durability>,
    /// The supported history.
    pub history: Vec<History>,
    /// The supported publish modes, which choose the thread that sends.
    pub publish: Vec<PublishMode>,
}

impl Default for Abilities {
    fn default() -> Self {
        Self {
            reliability: vec![Reliability::Reliable],
            durability: vec![Durability::Volatile],
            history: vec![History::KeepLast],
            publish: vec![PublishMode::Default],
        }
    }
}

/// A program that must run together with the system's programs: a master, a router, a broker of
/// shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The command to start.
    pub program: Vec<String>,
    /// The server is ready once it has written this text.
    pub ready: Option<String>,
    /// The server is ready once this file exists.
    pub ready_file: Option<String>,
    /// The server is ready once this TCP port accepts connections.
    pub ready_port: Option<Port>,
    /// The additional environment variables of the server.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// A port number, or the placeholder `{port}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Port {
    /// A number.
    Number(u16),
    /// A text with a placeholder.
    Text(String),
}

/// A configuration other than the default configuration, such as `rcl:recommended`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The name in scenarios.
    pub name: String,
    /// The title for people.
    #[serde(default)]
    pub title: String,
    /// The reason for this configuration: the vendor's advice and its source.
    #[serde(default)]
    pub why: String,
    /// The command that builds what this configuration needs in addition to the peer's own
    /// programs; it runs like the peer's `build`.
    #[serde(default)]
    pub build: Vec<String>,
    /// The arguments that are inserted between the arguments of `program` and the arguments of the
    /// contract.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The additional environment variables of the programs.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The placements in which the configuration can be measured, if they differ from the peer's.
    pub placements: Option<Vec<Placement>>,
    /// The roles that the configuration supports, if they differ from the peer's.
    pub roles: Option<Vec<Role>>,
    /// The transport in each placement, if it differs from the peer's.
    #[serde(default)]
    pub transports: BTreeMap<Placement, String>,
    /// The QoS that the configuration supports, if it differs from the peer's.
    pub qos: Option<Abilities>,
    /// The thread that calls the callback within a process, if it differs from the peer's.
    pub callback: Option<CallbackThread>,
    /// The peers that describe the systems that the configuration stands for, if they differ from
    /// the peer's.
    pub features_of: Option<Vec<String>>,
}

/// A peer: its manifest and its folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    /// The folder's name, which scenarios use.
    pub name: String,
    /// The path of the folder.
    pub folder: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
}

impl Peer {
    /// The systems of this peer: one for each configuration, with the default configuration first.
    pub fn systems(&self) -> impl Iterator<Item = SystemRef<'_>> {
        let variants = self.manifest.variant.iter().map(Some);
        std::iter::once(None).chain(variants).map(|variant| SystemRef { peer: self, variant })
    }
}

/// All peers in a folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Peers {
    by_name: BTreeMap<String, Peer>,
}

/// A system: a peer in one of its configurations.
#[derive(Debug, Clone, Copy)]
pub struct SystemRef<'a> {
    /// The peer.
    pub peer: &'a Peer,
    /// The configuration; `None` means the default configuration.
    pub variant: Option<&'a Variant>,
}

impl SystemRef<'_> {
    /// The name in scenarios, such as `rcl` or `rcl:recommended`.
    pub fn name(&self) -> String {
        match self.variant {
            None => self.peer.name.clone(),
            Some(variant) => format!("{}:{}", self.peer.name, variant.name),
        }
    }

    /// The title for people, such as `ROS 2 Kilted through rcl, as its vendor recommends`.
    pub fn title(&self) -> String {
        let title = &self.peer.manifest.title;
        match self.variant {
            None => title.clone(),
            Some(variant) if variant.title.is_empty() => format!("{title}, {}", variant.name),
            Some(variant) => format!("{title}, {}", variant.title),
        }
    }

    /// The reason for the configuration; empty for the default configuration.
    pub fn why(&self) -> &str {
        self.variant.map_or("", |variant| &variant.why)
    }

    /// The thread that calls the callback within a process.
    pub fn callback(&self) -> Option<CallbackThread> {
        self.variant.and_then(|variant| variant.callback).or(self.peer.manifest.callback)
    }

    /// The placements in which the system can be measured.
    pub fn placements(&self) -> &[Placement] {
        self.variant
            .and_then(|variant| variant.placements.as_deref())
            .unwrap_or(&self.peer.manifest.placements)
    }

    /// The QoS that the system supports.
    pub fn qos(&self) -> &Abilities {
        self.variant.and_then(|variant| variant.qos.as_ref()).unwrap_or(&self.peer.manifest.qos)
    }

    /// The transport that the system's messages take in a placement, if the manifest specifies it.
    pub fn transport(&self, placement: Placement) -> Option<&str> {
        let of_variant = self.variant.and_then(|variant| variant.transports.get(&placement));
        of_variant.or_else(|| self.peer.manifest.transports.get(&placement)).map(String::as_str)
    }

    /// The roles that the system's program supports.
    pub fn roles(&self) -> &[Role] {
        self.variant
            .and_then(|variant| variant.roles.as_deref())
            .unwrap_or(&self.peer.manifest.roles)
    }
}

impl Peers {
    /// Reads every `NAME/peer.toml` of a folder.
    ///
    /// # Errors
    /// If the folder cannot be read, or a manifest is invalid; the error names the line.
    pub fn read(folder: &Path) -> Result<Self, DocumentError> {
        let failed = |error: std::io::Error| DocumentError {
            path: folder.to_owned(),
            line: 1,
            text: format!("the folder of peers cannot be read: {error}"),
        };
        let folder = &folder.canonicalize().map_err(failed)?;
        let mut by_name = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path().join("peer.toml");
            if !path.is_file() {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let document = Document::read(&path)?;
            let manifest: Manifest = document.parse()?;
            if manifest.unavailable.is_none() && manifest.program.is_empty() {
                return Err(document
                    .error(0..0, "neither `program` nor `unavailable`: a peer needs one of them"));
            }
            by_name.insert(name.clone(), Peer { name, folder: entry.path(), manifest });
        }
        let described =
            |name: &str| by_name.get(name).is_some_and(|peer| peer.manifest.features.is_some());
        for peer in by_name.values() {
            if let Some(text) = features::mistake(&peer.manifest, described) {
                return Err(DocumentError { path: peer.folder.join("peer.toml"), line: 1, text });
            }
        }
        Ok(Self { by_name })
    }

    /// All peers, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.by_name.values()
    }

    /// The prefixes of the environment variables that configure any of the systems.
    pub fn variables(&self) -> BTreeSet<&str> {
        self.iter().flat_map(|peer| &peer.manifest.variables).map(String::as_str).collect()
    }

    /// Finds a system by its name, such as `rcl` or `rcl:recommended`.
    ///
    /// # Errors
    /// If there is no such system; the error lists the known names.
    pub fn system(&self, name: &str) -> Result<SystemRef<'_>, String> {
        let (peer_name, variant_name) =
            name.split_once(':').map_or((name, None), |(peer, v)| (peer, Some(v)));
        let peer = self.by_name.get(peer_name).ok_or_else(|| {
            let known: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            format!(
                "no system `{peer_name}`; there are: {}{}",
                known.join(", "),
                did_you_mean(peer_name, known.iter().copied())
            )
        })?;
        let Some(variant_name) = variant_name else { return Ok(SystemRef { peer, variant: None }) };
        let variants = &peer.manifest.variant;
        let variant =
            variants.iter().find(|variant| variant.name == variant_name).ok_or_else(|| {
                let known: Vec<&str> =
                    variants.iter().map(|variant| variant.name.as_str()).collect();
                let allowed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                format!(
                    "`{peer_name}` has no configuration `{variant_name}`; there are: {allowed}{}",
                    did_you_mean(variant_name, known.iter().copied())
                )
            })?;
        Ok(SystemRef { peer, variant: Some(variant) })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Peer, Peers};
    use crate::contract::{Placement, Role};
    use crate::record::CallbackThread;

    #[test]
    fn every_manifest_of_the_repository_is_understood() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers");
        let peers = Peers::read(&folder).unwrap();
        for peer in peers.iter() {
            for variant in &peer.manifest.variant {
                assert!(!variant.why.is_empty(), "{}:{} does not say why", peer.name, variant.name);
                peers.system(&format!("{}:{}", peer.name, variant.name)).unwrap();
            }
        }
    }

    /// If a manifest sets a variable, the user's shell may set it too, or a related variable.
    #[test]
    fn every_variable_that_a_manifest_sets_has_a_prefix_in_a_manifest() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers");
        let peers = Peers::read(&folder).unwrap();
        let prefixes = peers.variables();
        // Another form, such as the empty prefix, would take more from programs than the variables
        // of a library.
        for prefix in &prefixes {
            let word = prefix.strip_suffix('_').unwrap_or_default();
            let is_word = !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            assert!(is_word, "{prefix} is no prefix such as IOX_");
        }
        let set_by = |peer: &Peer| -> Vec<String> {
            let manifest = &peer.manifest;
            let variants = manifest.variant.iter().map(|variant| &variant.environment);
            let servers = manifest.server.iter().map(|server| &server.environment);
            let all = [&manifest.environment].into_iter().chain(variants).chain(servers);
            all.flat_map(|environment| environment.keys().cloned()).collect()
        };
        for name in peers.iter().flat_map(set_by) {
            // The loader's variables configure no system.
            let is_known = prefixes.iter().any(|prefix| name.starts_with(prefix));
            assert!(is_known || name.starts_with("LD_"), "no manifest has a prefix of {name}");
        }
    }

    /// The report never ranks two systems against each other if their callbacks run on different
    /// kinds of threads.
    #[test]
    fn who_is_measured_within_a_process_says_which_thread_calls_back() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers");
        let peers = Peers::read(&folder).unwrap();
        let variants = |peer: &Peer| -> Vec<String> {
            let of = |variant: &super::Variant| format!("{}:{}", peer.name, variant.name);
            peer.manifest.variant.iter().map(of).chain([peer.name.clone()]).collect()
        };
        for name in peers.iter().flat_map(variants) {
            let system = peers.system(&name).unwrap();
            let within = [Placement::Composed, Placement::Intra];
            let is_within = system.placements().iter().any(|one| within.contains(one))
                && system.roles().contains(&Role::Pair);
            assert!(!is_within || system.callback().is_some(), "{name} does not say it");
        }
        let of = |name: &str| peers.system(name).unwrap().callback();
        assert_eq!(of("feros"), Some(CallbackThread::OtherThread));
        assert_eq!(of("feros:direct"), Some(CallbackThread::PublishingThread));
    }
}
