//! Removes the few files that the clean-up of iceoryx2 misses, or on which it fails, after a
//! process was killed at an unlucky moment. These files belong to an unfinished tag (which is not
//! listed, and which prevents the removal of its folder), to a connection that neither side has
//! entered yet, to a service whose last owner was leaving, or to a node that is incomplete.
//!
//! A process makes such files only while it holds the lock of the space, and this lock is released
//! when the process is killed. So if the holder of the lock finds unfinished files, they were left
//! by killed processes. The owner of any other file follows from its name: iceoryx2 makes the tag
//! of a port before the port's other files and removes the tag last, and it makes the tag of a
//! service before the service's files. So a file without a tag has no owner, or is being removed.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::storage::populate::SHM;

/// The files that show that a node is alive.
pub(crate) const LIFE_SIGNS: [&str; 3] =
    [".node_monitor", ".node_monitor_context", ".node_monitor_owner_lock"];

/// Removes unfinished files. Call this while you hold the lock, before any iceoryx2 call that opens
/// or lists files.
pub(crate) fn sweep_unfinished(folder: &Path) -> u64 {
    // iceoryx2 first makes a file readable and writable, then fills it, and then makes it
    // read-only. Until that last step, iceoryx2 does not list the file.
    let file = |found: &Metadata| found.is_file() && found.mode() & 0o200 != 0;
    // iceoryx2 first makes a life sign write-only. Until the life sign is readable, iceoryx2
    // assumes that the node is starting.
    let life_sign = |found: &Metadata| found.is_file() && found.mode() & 0o400 == 0;
    let nodes = folder.join("nodes");
    let of_nodes = names(&nodes)
        .filter(|name| is_number(name))
        .map(|node| remove_if(&nodes.join(node), file))
        .sum::<u64>();
    remove_if(&nodes, life_sign) + remove_if(&folder.join("services"), file) + of_nodes
}

fn remove_if(folder: &Path, unfinished: impl Fn(&Metadata) -> bool) -> u64 {
    names(folder)
        .map(|name| folder.join(name))
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|found| unfinished(&found)))
        .map(|path| remove(&path))
        .sum()
}

/// Removes files without an owner. Call this while you hold the lock, after the clean-up of
/// iceoryx2.
pub(crate) fn sweep(folder: &Path, prefix: &str) -> u64 {
    let found = InSharedMemory::list(prefix);
    let services = folder.join("services");
    let service_hashes: Vec<String> = names(&services)
        .filter_map(|name| between(&name, prefix, ".service").map(str::to_owned))
        .collect();
    let nodes = folder.join("nodes");
    let mut removed: u64 = incomplete_nodes(&nodes, prefix).iter().map(|path| remove(path)).sum();
    let tags = tags(&nodes, prefix);
    for (name, port) in &found.of_ports {
        if !tags.contains(port) {
            removed += remove(&Path::new(SHM).join(name));
        }
    }
    let file_of = |hash: &str| services.join(format!("{prefix}{hash}.service"));
    let id_of = |hash: &str| service_id(&fs::read_to_string(file_of(hash)).unwrap_or_default());
    // Each service has one file in shared memory. It is made after the description of the service,
    // and both are removed at about the same time.
    let all_described = found.of_services.len() <= service_hashes.len();
    let owned = |hash: &String| tags.contains(hash);
    if !all_described || !service_hashes.iter().all(owned) {
        let wanted: HashSet<String> = service_hashes
            .iter()
            .filter(|hash| owned(hash))
            .filter_map(|hash| id_of(hash))
            .collect();
        for (name, _) in found.of_services.iter().filter(|(_, id)| !wanted.contains(id)) {
            removed += remove(&Path::new(SHM).join(name));
        }
        removed += service_hashes
            .iter()
            .filter(|hash| !owned(hash))
            .map(|hash| remove(&file_of(hash)))
            .sum::<u64>();
    }
    removed
}

/// Removes a file or folder. Returns the number of removed entries, which is one or zero.
fn remove(path: &Path) -> u64 {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    if removed.is_ok() {
        tracing::debug!(target: "feros::shm", path = %path.display(), "removed files that a killed \
                                                                       process had left");
    }
    u64::from(removed.is_ok())
}

/// The files in `/dev/shm`, with their owners.
struct InSharedMemory {
    /// The data segments and connections, each with the port that it depends on. A connection
    /// depends on its receiver, because the receiver makes the connection, and the sender opens it
    /// only while the receiver is registered.
    of_ports: Vec<(String, String)>,
    of_services: Vec<(String, String)>,
}

impl InSharedMemory {
    fn list(prefix: &str) -> Self {
        let mut this = Self { of_ports: Vec::new(), of_services: Vec::new() };
        for name in names(Path::new(SHM)) {
            let of = |suffix| Some(between(&name, prefix, suffix)?.rsplit('_').next()?.to_owned());
            if let Some(port) = of(".data").or_else(|| of(".connection")) {
                this.of_ports.push((name, port));
            } else if let Some(service) = of(".dynamic") {
                this.of_services.push((name, service));
            }
        }
        this
    }
}

/// The tags of the ports (numbers) and the services (hashes) of all nodes.
fn tags(nodes: &Path, prefix: &str) -> HashSet<String> {
    let of_node = |node: String| {
        names(&nodes.join(node)).filter_map(|name| {
            let tag = between(&name, prefix, ".port_tag");
            tag.or_else(|| between(&name, prefix, ".service_tag")).map(str::to_owned)
        })
    };
    names(nodes).filter(|name| is_number(name)).flat_map(of_node).collect()
}

/// The folders and files of nodes that lack at least one of their life signs.
pub(crate) fn incomplete_nodes(nodes: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut of_nodes: HashMap<String, Vec<PathBuf>> = HashMap::new();
    let mut life_signs: HashMap<String, usize> = HashMap::new();
    for name in names(nodes) {
        let path = nodes.join(&name);
        if let Some(node) = LIFE_SIGNS.iter().find_map(|suffix| between(&name, prefix, suffix)) {
            *life_signs.entry(node.to_owned()).or_default() += 1;
            of_nodes.entry(node.to_owned()).or_default().push(path);
        } else if is_number(&name) {
            of_nodes.entry(name).or_default().push(path);
        }
    }
    of_nodes.retain(|node, _| life_signs.get(node) != Some(&LIFE_SIGNS.len()));
    of_nodes.into_values().flatten().collect()
}

pub(crate) fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the id of a service from its description. The name of the service's file in shared memory
/// contains this id.
fn service_id(description: &str) -> Option<String> {
    let section = description.split_once("[unique_service_id]")?.1;
    let number = |key: &str| -> Option<u64> {
        section.split_once(key)?.1.lines().next()?.trim().parse().ok()
    };
    let id = u128::from(number("payload_value =")?) | u128::from(number("unique_value =")?) << 64;
    Some(id.to_string())
}

pub(crate) fn between<'name>(name: &'name str, prefix: &str, suffix: &str) -> Option<&'name str> {
    name.strip_prefix(prefix)?.strip_suffix(suffix)
}

pub(crate) fn names(folder: &Path) -> impl Iterator<Item = String> + use<> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use super::{SHM, sweep, sweep_unfinished};

    #[test]
    fn only_unfinished_files_and_files_without_a_tag_go() {
        let folder = Path::new(SHM).join(format!("feros-test-{}-sweep", std::process::id()));
        let prefix = format!("feros_test_{}_", std::process::id());
        let (nodes, services) = (folder.join("nodes"), folder.join("services"));
        let shm = |name: &str| Path::new(SHM).join(format!("{prefix}{name}"));
        for made in [nodes.join("10"), nodes.join("11"), services.clone()] {
            fs::create_dir_all(made).unwrap();
        }
        let finished = |path: PathBuf, content: &str| {
            fs::write(&path, content).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap();
        };
        for life_sign in [
            "10.node_monitor",
            "10.node_monitor_context",
            "10.node_monitor_owner_lock",
            "12.node_monitor_context",
        ] {
            fs::write(nodes.join(format!("{prefix}{life_sign}")), "").unwrap();
        }
        let starting = nodes.join(format!("{prefix}13.node_monitor_context"));
        fs::write(&starting, "").unwrap();
        fs::set_permissions(starting, fs::Permissions::from_mode(0o200)).unwrap();
        finished(nodes.join(format!("10/{prefix}77.port_tag")), "");
        finished(nodes.join(format!("10/{prefix}aa.service_tag")), "");
        fs::write(nodes.join(format!("10/{prefix}78.port_tag")), "").unwrap();
        let description = |low: u64| {
            format!("[unique_service_id]\npayload_value = {low}\nunique_value = 1\n\n[more]\n")
        };
        finished(services.join(format!("{prefix}aa.service")), &description(5));
        finished(services.join(format!("{prefix}bb.service")), &description(6));
        fs::write(services.join(format!("{prefix}cc.service")), "").unwrap();
        let stay = ["h_77.data", "h_78_77.connection", "h_18446744073709551621.dynamic"];
        let go =
            ["h_78.data", "h_77_78.connection", "h_18446744073709551622.dynamic", "h_9.dynamic"];
        for name in stay.iter().chain(&go) {
            fs::write(shm(name), "x").unwrap();
        }
        assert_eq!(sweep_unfinished(&folder), 3, "a tag, a service, a life sign");
        assert_eq!(sweep(&folder, &prefix), 4 + 3, "the four, the service bb, the nodes 11 and 12");
        assert!(stay.iter().all(|name| shm(name).exists()));
        assert!(!go.iter().any(|name| shm(name).exists()));
        assert!(nodes.join("10").exists() && !nodes.join("11").exists());
        assert_eq!(fs::read_dir(services).unwrap().count(), 1);
        assert_eq!(
            (sweep_unfinished(&folder), sweep(&folder, &prefix)),
            (0, 0),
            "the second sweep finds nothing"
        );
        for name in stay {
            fs::remove_file(shm(name)).unwrap();
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
