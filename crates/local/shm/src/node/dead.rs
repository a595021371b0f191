//! Removes the files that killed processes have left.
//!
//! The files of an iceoryx2 service list the processes that take part in it, and iceoryx2 trusts
//! these files. A process that was killed, or that overwrote the files, may have left them in any
//! state, and reading them may crash the reader. So a dead process is taken out of a service only
//! by processes that take part in this service, and that read its files anyway. If no live process
//! takes part in a service, its files are removed without being read, because their names identify
//! them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use iceoryx2::identifiers::UniqueNodeId;
use iceoryx2::node::NodeView;
use iceoryx2::prelude::{CallbackProgression, Config, Node, NodeState};
use iceoryx2::service::internal::ServiceInternal;
use iceoryx2::service::service_hash::ServiceHash;
use iceoryx2_bb_posix::unique_system_id::UniqueSystemId;

use super::space::{LOCK_TIMEOUT, Space, SpaceLock};
use super::sweep::{LIFE_SIGNS, between, incomplete_nodes, is_number, names, sweep};
use crate::ipc::Ipc;
use crate::peers::ProcessHandle;

/// The results of [`Cleaner::clean_up`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanUp {
    /// The number of dead processes that were removed completely.
    pub removed: u64,
    /// The number of dead processes of which something is left, because it could not be removed, or
    /// because another process has to remove it.
    pub left: u64,
    /// The number of times that something of a dead process could not be removed.
    pub failed: u64,
    /// The number of removed files that no longer belonged to any process.
    pub swept: u64,
}

impl CleanUp {
    /// Whether nothing of a dead process is left, as far as this process knows.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.left == 0 && self.failed == 0
    }
}

/// Removes what killed processes of this user have left: shared memory, slots at publishers, and
/// files.
///
/// It does not own the node of this process. If a thread in the background owned the node while it
/// cleans up, the program could drop the node meanwhile and end before that thread has removed the
/// node's files.
pub struct Cleaner {
    space: Space,
    /// The configuration and the identifier of the node of this process.
    config: Config,
    own: UniqueNodeId,
}

impl Cleaner {
    pub(super) fn new(space: Space, config: Config, own: UniqueNodeId) -> Self {
        Self { space, config, own }
    }

    pub(super) fn space(&self) -> &Space {
        &self.space
    }

    /// Removes what killed processes of this user have left.
    ///
    /// This crate calls this when a node or a publisher is made, and when a publisher has no slot
    /// left for a subscription. Users of the crate should call this when they notice that another
    /// process has been killed. It checks one small file for each process of this user.
    pub fn clean_up(&self) -> CleanUp {
        match self.space.exclusive(LOCK_TIMEOUT) {
            Ok(lock) => {
                let found = self.clean_up_locked(&lock);
                lock.finish();
                found
            }
            Err(error) => {
                tracing::debug!(target: "feros::shm", %error, "shared memory of ended processes is \
                                                               not cleaned up now");
                CleanUp { failed: 1, ..CleanUp::default() }
            }
        }
    }

    /// Removes what killed processes have left, if any process seems to have been killed. When many
    /// processes start or end together, each of them holds the lock for this check, so it is short.
    pub(super) fn clean_up_if_needed(&self, lock: &SpaceLock) {
        let nodes = self.space.folder.join("nodes");
        let mut running =
            names(&nodes).filter(|name| is_number(name)).map(|name| is_running(&name));
        if !running.all(|running| running)
            || !incomplete_nodes(&nodes, &self.space.prefix).is_empty()
        {
            self.clean_up_locked(lock);
        }
    }

    /// Removes what this process can remove.
    pub(super) fn clean_up_locked(&self, _lock: &SpaceLock) -> CleanUp {
        let mut found = CleanUp::default();
        let mut dead = Vec::new();
        let listed = Node::<Ipc>::list(&self.config, |state| {
            if let NodeState::Dead(node) = state {
                dead.push(*node.id());
            }
            CallbackProgression::Continue
        });
        if let Err(cause) = listed {
            tracing::debug!(target: "feros::shm", ?cause, "not all processes could be checked");
            found.failed += 1;
        }
        // Only a killed process leaves files. If many processes ended at the same time and each of
        // them listed all files of this user, they would all wait for the lock for a long time.
        if dead.is_empty()
            && incomplete_nodes(&self.space.folder.join("nodes"), &self.space.prefix).is_empty()
        {
            return found;
        }
        let survivors = Survivors::find(&self.space, &self.own, &dead);
        for id in &dead {
            let is_out = survivors.take_out(id, &self.config, &mut found);
            let is_removed = is_out && survivors.remove_node(id);
            found.removed += u64::from(is_removed);
            found.left += u64::from(!is_removed);
        }
        found.swept = sweep(&self.space.folder, &self.space.prefix);
        found
    }
}

/// Whether the process of this node is running, as far as the id of the process tells. If it is not
/// known here, as that of another container, the clean-up decides. If another process has got the
/// same id, a later clean-up does: those who shared memory with the killed process call one.
fn is_running(node: &str) -> bool {
    let Ok(id) = node.parse::<u128>() else { return false };
    let pid = UniqueSystemId::from(id).pid().value().cast_unsigned();
    ProcessHandle::open(pid).is_ok_and(|process| process.is_alive())
}

/// The services of the processes that are alive.
struct Survivors<'a> {
    space: &'a Space,
    nodes: PathBuf,
    of_this: HashSet<String>,
    of_others: HashSet<String>,
}

impl<'a> Survivors<'a> {
    fn find(space: &'a Space, own: &UniqueNodeId, dead: &[UniqueNodeId]) -> Self {
        let nodes = space.folder.join("nodes");
        let (this, dead): (String, Vec<String>) =
            (own.value().to_string(), dead.iter().map(|id| id.value().to_string()).collect());
        let (mut of_this, mut of_others) = (HashSet::new(), HashSet::new());
        for node in names(&nodes).filter(|name| is_number(name) && !dead.contains(name)) {
            let services = services_of(&nodes.join(&node), &space.prefix);
            if node == this { &mut of_this } else { &mut of_others }.extend(services);
        }
        Self { space, nodes, of_this, of_others }
    }

    /// Takes a dead node out of its services. Returns whether the node is now out of all its
    /// services.
    fn take_out(&self, id: &UniqueNodeId, config: &Config, found: &mut CleanUp) -> bool {
        let folder = self.nodes.join(id.value().to_string());
        let mut all_left = true;
        for service in services_of(&folder, &self.space.prefix) {
            let is_out = if self.of_this.contains(&service) {
                let taken_out = ServiceHash::try_from(service.as_str())
                    .map_err(|error| format!("{error:?}"))
                    .and_then(|hash| {
                        Ipc::__internal_remove_node_from_service(id, &hash, config)
                            .map_err(|error| format!("{error:?}"))
                    });
                if let Err(cause) = &taken_out {
                    tracing::debug!(target: "feros::shm", %cause, "a killed process could not be taken out of a service");
                    found.failed += 1;
                }
                taken_out.is_ok()
            } else if self.of_others.contains(&service) {
                false // one of the other processes in the service takes the node out
            } else {
                let tag = folder.join(format!("{}{service}.service_tag", self.space.prefix));
                fs::remove_file(tag).is_ok()
            };
            all_left &= is_out;
        }
        all_left
    }

    /// Removes the files of a node that takes part in no service. After that, the files of its
    /// ports have no owner, so [`sweep`] removes them.
    fn remove_node(&self, id: &UniqueNodeId) -> bool {
        let id = id.value();
        let folder = self.nodes.join(id.to_string());
        let is_gone = |path: &Path| !path.exists();
        let _ = fs::remove_dir_all(&folder);
        let life_signs =
            LIFE_SIGNS.map(|sign| self.nodes.join(format!("{}{id}{sign}", self.space.prefix)));
        for sign in &life_signs {
            let _ = fs::remove_file(sign);
        }
        is_gone(&folder) && life_signs.iter().all(|sign| is_gone(sign))
    }
}

fn services_of(node: &Path, prefix: &str) -> Vec<String> {
    names(node)
        .filter_map(|name| between(&name, prefix, ".service_tag").map(str::to_owned))
        .collect()
}
