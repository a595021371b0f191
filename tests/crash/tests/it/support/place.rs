//! The `/dev/shm` that the processes of a test see: either the `/dev/shm` of this host, or a
//! separate one in a mount namespace.
//!
//! In a separate `/dev/shm`, all leftovers come from these processes, and the folder can be small,
//! full, read-only or missing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use feros_interop::Domain;
use serde_json::json;

use super::Peer;

/// The `/dev/shm` to mount for the processes of a test.
pub(crate) enum DevShm {
    /// A memory file system of this many bytes.
    OfBytes(u64),
    /// A read-only memory file system.
    ReadOnly,
    /// No folder `/dev/shm`.
    Missing,
}

/// The place where the processes of a test run: a DDS domain and a `/dev/shm`.
pub(crate) struct Place {
    domain: Domain,
    /// The process that keeps the mount namespace in existence by running in it.
    keeper: Option<Child>,
    /// Whether the processes find each other in shared memory.
    with_neighbours: bool,
}

/// Whether this process may make namespaces and start processes of other users.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Reports that a test, or the named part of it, has been skipped.
#[track_caller]
pub(crate) fn skipped(what: &str, why: &str) {
    feros_test_support::skip(format!("{what}: {why}"));
}

impl Place {
    /// A place with the `/dev/shm` of this host.
    pub(crate) fn of_host() -> Self {
        Self { domain: Domain::reserve_without_ros2(), keeper: None, with_neighbours: true }
    }

    /// Like [`Place::of_host`], for stock nodes too. Returns `None`, and reports the skip, if stock
    /// nodes are disabled.
    pub(crate) fn with_ros2() -> Option<Self> {
        Some(Self { domain: Domain::reserve()?, keeper: None, with_neighbours: true })
    }

    /// A place with a separate `/dev/shm`, or with the `/dev/shm` of this host if this process may
    /// not make a separate one. The test cannot check the host's `/dev/shm` for leftovers, because
    /// other processes use it too.
    pub(crate) fn own_if_possible() -> Self {
        Self::own(&DevShm::OfBytes(1 << 30)).unwrap_or_else(|why| {
            skipped("what is left in /dev/shm", &why);
            Self::of_host()
        })
    }

    /// A place with a separate `/dev/shm`; an error gives the reason why it cannot be made.
    pub(crate) fn own(kind: &DevShm) -> Result<Self, String> {
        if !is_root() {
            return Err("a /dev/shm of its own needs a mount namespace; run it as root".to_owned());
        }
        let mount = match kind {
            DevShm::OfBytes(size) => {
                format!("mount -t tmpfs -o size={size},mode=1777 tmpfs /dev/shm")
            }
            DevShm::ReadOnly => "mount -t tmpfs -o ro,mode=1777 tmpfs /dev/shm".to_owned(),
            // A `/dev` without the folder `shm`, but with the devices that any program needs.
            DevShm::Missing => {
                "mount -t tmpfs -o mode=755 tmpfs /dev && mknod -m 666 /dev/null c 1 3 \
                                && mknod -m 666 /dev/urandom c 1 9"
                    .to_owned()
            }
        };
        let mut keeper = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "--", "sh", "-c"])
            .arg(format!("{mount} && echo ready && exec cat"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("unshare: {error}"))?;
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.trim() != "ready" {
            drop(keeper.stdin.take());
            let status = keeper.wait().unwrap();
            return Err(format!("a mount namespace cannot be made; run it as root: {status}"));
        }
        let domain = Domain::reserve_without_ros2();
        Ok(Self { domain, keeper: Some(keeper), with_neighbours: true })
    }

    /// The same place, where processes find each other by the network alone.
    pub(crate) fn without_neighbours(mut self) -> Self {
        self.with_neighbours = false;
        self
    }

    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    pub(crate) fn is_own(&self) -> bool {
        self.keeper.is_some()
    }

    /// A command that runs `program` in this place.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = match &self.keeper {
            None => feros_test_support::command_of(program),
            Some(keeper) => {
                let mut command = Command::new("nsenter");
                command.arg(format!("--mount=/proc/{}/ns/mnt", keeper.id())).arg("--");
                command.args(feros_test_support::words_of(program));
                command
            }
        };
        command.env("ROS_DOMAIN_ID", self.domain.id().to_string());
        for variable in [
            "FEROS_TRANSPORTS",
            "FEROS_MAX_SUBSCRIPTIONS",
            "ROS_STATIC_PEERS",
            "ROS_LOCALHOST_ONLY",
            "CYCLONEDDS_URI",
            "FEROS_NEIGHBOURS",
        ] {
            command.env_remove(variable);
        }
        if !self.with_neighbours {
            command.env("FEROS_NEIGHBOURS", "0");
        }
        command
    }

    /// The path at which this process finds the `/dev/shm` of the processes of this place.
    pub(crate) fn dev_shm(&self) -> PathBuf {
        match &self.keeper {
            None => PathBuf::from("/dev/shm"),
            Some(keeper) => PathBuf::from(format!("/proc/{}/root/dev/shm", keeper.id())),
        }
    }

    /// All files in the `/dev/shm` of this place, without those by which processes find each other.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        fn under(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_name().to_string_lossy().contains("-neighbours-") {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    under(&entry.path(), found);
                } else {
                    found.push(entry.path());
                }
            }
        }
        let mut found = Vec::new();
        under(&self.dev_shm(), &mut found);
        found.sort();
        found
    }

    /// Call this when all processes have ended, the last of them cleanly unless they used the
    /// `/dev/shm` of the host. Checks that nothing is left behind: a process that has used shared
    /// memory and ends also removes what killed processes have left.
    #[track_caller]
    pub(crate) fn must_be_swept(&self) {
        if !self.is_own() {
            return self.sweep(); // other processes have files there too
        }
        let entries = fs::read_dir(self.dev_shm()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<_> = names.filter(|name| name != "filler").collect();
        assert!(left.is_empty(), "left in /dev/shm: {left:?}, {:#?}", self.files());
    }

    /// Removes what killed processes have left. A process without a match would not use shared
    /// memory.
    fn sweep(&self) {
        let mut talker = Peer::start(self, "sweeper");
        talker.ask("publisher", json!({"name": "pub", "topic": "swept", "id": 1}));
        let mut listener = Peer::start(self, "swept");
        listener.ask("listen", json!({"name": "sub", "topic": "swept"}));
        talker.until_transport("pub", 1, "shared_memory");
        [listener, talker].into_iter().for_each(Peer::end);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(keeper) = &mut self.keeper {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }
}
