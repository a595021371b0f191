//! Systems under test: what their manifests say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::contract::{
    Durability, Fill, History, MessageType, Placement, PublishMode, Reliability, Role,
};
use crate::document::{Document, DocumentError};
use crate::record::CallbackThread;
use feros_wording::did_you_mean;

/// `peer.toml` of a system.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// For people.
    pub title: String,
    /// Makes the programs: run in the peer's folder, with FEROS_LAB_OUT.
    #[serde(default)]
    pub build: Vec<String>,
    /// What is started; the contract's arguments are appended.
    #[serde(default)]
    pub program: Vec<String>,
    /// The command that installs what is missing.
    pub install: Option<String>,
    /// Why it cannot be measured anywhere.
    pub unavailable: Option<String>,
    /// What its program can be.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// Where it can be measured.
    #[serde(default)]
    pub placements: Vec<Placement>,
    /// Whether it is a limit of the machine and no middleware: a cell that has none like it is
    /// left out, since nothing is missing there.
    #[serde(default)]
    pub is_floor: bool,
    /// What it can send.
    #[serde(default = "bytes_only")]
    pub types: Vec<MessageType>,
    /// What it can write of each payload.
    #[serde(default = "stamps_only")]
    pub fill: Vec<Fill>,
    /// The transport that messages take in each placement, where its program counts them by
    /// transport: a cell in which they took another one is marked.
    #[serde(default)]
    pub transports: BTreeMap<Placement, String>,
    /// What it can do.
    #[serde(default)]
    pub qos: Abilities,
    /// Which thread calls back within a process, with the default executor.
    pub callback: Option<CallbackThread>,
    /// Programs that run beside it.
    #[serde(default)]
    pub server: Vec<Server>,
    /// Environment of all its programs.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Beginnings of the names of files that its programs make in `/dev/shm`, with a `*` before it
    /// an end of them, or `{group}`: the name of the user's group. Those that nobody has open are
    /// removed after a cell: who was killed could not.
    #[serde(default)]
    pub shared_memory: Vec<String>,
    /// Configurations beside the default one.
    #[serde(default)]
    pub variant: Vec<Variant>,
}

fn bytes_only() -> Vec<MessageType> {
    vec![MessageType::Bytes]
}

fn stamps_only() -> Vec<Fill> {
    vec![Fill::None]
}

/// What a system can do of QoS; what is absent is skipped with that reason.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Abilities {
    /// Of reliability.
    pub reliability: Vec<Reliability>,
    /// Of durability.
    pub durability: Vec<Durability>,
    /// Of history.
    pub history: Vec<History>,
    /// Of who sends.
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

/// A program that must run beside the system's: a master, a router, a broker of shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// What is started.
    pub program: Vec<String>,
    /// It is ready when it has written this.
    pub ready: Option<String>,
    /// It is ready when this file exists.
    pub ready_file: Option<String>,
    /// It is ready when this TCP port takes connections.
    pub ready_port: Option<Port>,
    /// Environment of its own.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// A port, or a word to be replaced by one: `{port}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Port {
    /// A number.
    Number(u16),
    /// With a placeholder.
    Text(String),
}

/// A configuration beside the default one: `rcl:recommended`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// As scenarios name it.
    pub name: String,
    /// For people.
    #[serde(default)]
    pub title: String,
    /// Why it is so: what its vendor's page says and where.
    #[serde(default)]
    pub why: String,
    /// Makes what this configuration needs beside the peer's own programs, as the peer's `build`
    /// does.
    #[serde(default)]
    pub build: Vec<String>,
    /// Arguments, after those of the program and before those of the contract.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Environment on top.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Where it can be measured, if not everywhere.
    pub placements: Option<Vec<Placement>>,
    /// What its program can be, if not everything.
    pub roles: Option<Vec<Role>>,
    /// The transport in each placement, where it is another one.
    #[serde(default)]
    pub transports: BTreeMap<Placement, String>,
    /// What it can do of QoS, if not the same.
    pub qos: Option<Abilities>,
    /// Which thread calls back within a process, if not the same.
    pub callback: Option<CallbackThread>,
}

/// A peer: its manifest and its folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    /// The folder's name, which scenarios use.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// What it says.
    pub manifest: Manifest,
}

impl Peer {
    /// The peer in each of its configurations, the default one first.
    pub fn systems(&self) -> impl Iterator<Item = SystemRef<'_>> {
        let variants = self.manifest.variant.iter().map(Some);
        std::iter::once(None).chain(variants).map(|variant| SystemRef { peer: self, variant })
    }
}

/// All peers of a folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Peers {
    by_name: BTreeMap<String, Peer>,
}

/// A system: a peer in one of its configurations.
#[derive(Debug, Clone, Copy)]
pub struct SystemRef<'a> {
    /// The peer.
    pub peer: &'a Peer,
    /// Its configuration; `None`: the default.
    pub variant: Option<&'a Variant>,
}

impl SystemRef<'_> {
    /// As scenarios name it: `rcl`, `rcl:recommended`.
    pub fn name(&self) -> String {
        match self.variant {
            None => self.peer.name.clone(),
            Some(variant) => format!("{}:{}", self.peer.name, variant.name),
        }
    }

    /// For people: `ROS 2 Kilted through rcl, as its vendor recommends`.
    pub fn title(&self) -> String {
        let title = &self.peer.manifest.title;
        match self.variant {
            None => title.clone(),
            Some(variant) if variant.title.is_empty() => format!("{title}, {}", variant.name),
            Some(variant) => format!("{title}, {}", variant.title),
        }
    }

    /// Why it is configured so; empty for the default.
    pub fn why(&self) -> &str {
        self.variant.map_or("", |variant| &variant.why)
    }

    /// Which thread calls back within a process.
    pub fn callback(&self) -> Option<CallbackThread> {
        self.variant.and_then(|variant| variant.callback).or(self.peer.manifest.callback)
    }

    /// Where it can be measured.
    pub fn placements(&self) -> &[Placement] {
        self.variant
            .and_then(|variant| variant.placements.as_deref())
            .unwrap_or(&self.peer.manifest.placements)
    }

    /// What it can do of QoS.
    pub fn qos(&self) -> &Abilities {
        self.variant.and_then(|variant| variant.qos.as_ref()).unwrap_or(&self.peer.manifest.qos)
    }

    /// The transport that its messages take in a placement, where the manifest says it.
    pub fn transport(&self, placement: Placement) -> Option<&str> {
        let of_variant = self.variant.and_then(|variant| variant.transports.get(&placement));
        of_variant.or_else(|| self.peer.manifest.transports.get(&placement)).map(String::as_str)
    }

    /// What its program can be.
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
    /// A folder that cannot be read, and whatever a manifest says that is not understood, with its
    /// line.
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
        Ok(Self { by_name })
    }

    /// All peers, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.by_name.values()
    }

    /// The system of a name: `rcl`, `rcl:recommended`.
    ///
    /// # Errors
    /// A sentence that says which names there are.
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

    use super::Peers;
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

    /// The report puts nobody beside another whose callback is on another kind of thread.
    #[test]
    fn who_is_measured_within_a_process_says_which_thread_calls_back() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers");
        let peers = Peers::read(&folder).unwrap();
        let variants = |peer: &super::Peer| -> Vec<String> {
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
